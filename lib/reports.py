"""Validation reports: the JSON files that later stages read, and what a user sees of them.

A report holds one entry for each file that a validation looked at::

    {"file": ..., "kind": ..., "valid": ..., "digests": {...}, "problems": [...], ...}

``digests`` names all that the entry depends on, so that an entry is only made again when one of
them changes.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from campaign import VERSION, BadInput, Config
from cli import EXIT_BAD_INPUT, EXIT_OK, print_problems
from data_repo import DataRepo
from files import digest_of_values, json_bytes
from problems import ERROR, Problem, is_error, plural
from stage import Product, Stage, code_digest

Entry = dict[str, Any]


def reusable(previous: dict[str, Entry], file: str, digests: dict[str, str | None]) -> Entry | None:
    """Return the previous entry of a file if all that it rests on is still the same.

    Only of a valid file: what is wrong with another may depend on the files around it.
    """
    entry = previous.get(file)
    is_same = entry is not None and entry["valid"] and entry["digests"] == digests
    return entry if is_same else None


def entry_of(
    file: str,
    kind: str,
    problems: list[Problem],
    digests: dict[str, str | None] | None = None,
    **facts: Any,
) -> Entry:
    """Return the entry of a file: what it is, what it rests on, what is wrong with it."""
    return {
        "file": file,
        "kind": kind,
        "valid": not any(map(is_error, problems)),
        **facts,
        "digests": digests or {},
        "problems": [problem._asdict() for problem in problems],
    }


def nothing_in(folder: Path, what: str, variable: str) -> Entry:
    """Return an entry that refuses a folder without a single file of the kind it is for."""
    action = (
        f"put them there as SUBMISSIONS.md says, or set {variable};"
        " make demo evaluates a sample campaign"
    )
    problem = Problem(str(folder), None, "", f"no {what}", "at least one", action)
    return entry_of("", "folder", [problem])


def rules_digest(config: Config, repo: DataRepo) -> str:
    """Return a digest of what decides how a file is judged: configuration, schema, code."""
    return digest_of_values([config.digest, repo.digest, code_digest()])


def problems_of(entries: list[Entry]) -> list[Problem]:
    """Return the problems of all entries, errors before warnings, else in order of file."""
    problems = [Problem(**problem) for entry in entries for problem in entry["problems"]]
    return sorted(problems, key=lambda problem: problem.severity != ERROR)


class Report:
    """``<name>.json`` in the validation folder."""

    def __init__(self, name: str, results: Path) -> None:
        self._name = name
        self.file = f"{name}.json"
        self._stage = Stage(name, results / "validation")

    def previous(self) -> dict[str, Entry]:
        """Return the entries of the last report by file; {} if it is gone or was altered."""
        data = self._stage.intact(self.file)
        return {entry["file"]: entry for entry in orjson.loads(data)["files"]} if data else {}

    def write(self, campaign: str, entries: list[Entry]) -> bool:
        """Write the report if it says anything new, and tell whether it did."""
        report = {"campaign": campaign, "version": VERSION, "files": entries}
        inputs = {"entries": digest_of_values(entries)}
        product = Product([self.file], inputs, lambda: {self.file: json_bytes(report)})
        return bool(self._stage.refresh({self._name: product}).built)


def read_report(results: Path, name: str, target: str) -> list[Entry]:
    """Return the entries of a report that an earlier stage wrote.

    target: the make target that writes it. Raises BadInput where it has not been run.
    """
    path = results / "validation" / f"{name}.json"
    try:
        return orjson.loads(path.read_bytes())["files"]
    except (OSError, orjson.JSONDecodeError):
        raise BadInput(
            [
                Problem(
                    str(path), None, "", "no report", "that of the validation", f"run make {target}"
                )
            ]
        ) from None


def tell(
    title: str,
    entries: list[Entry],
    rows: Callable[[], tuple[list[str], list[list[object]]]],
    *,
    warnings: bool,
) -> int:
    """Print problems and, where there are any, a summary table; return the exit status.

    title: what was validated. rows: returns header and rows of the table, for when it is
    needed. warnings: whether to print them; they are counted in any case.
    """
    problems = problems_of(entries)
    errors = [problem for problem in problems if is_error(problem)]
    print_problems(problems if warnings else errors)
    if (problems and warnings) or errors:
        from tabulate import tabulate  # noqa: PLC0415  (only where there is something to tell)

        header, cells = rows()
        print(tabulate(cells, header, tablefmt="simple", disable_numparse=True), file=sys.stderr)
    counted = sum(entry["valid"] and bool(entry["digests"]) for entry in entries)
    summary = [f"{counted} valid", plural(len(errors), "error")]
    summary.append(plural(len(problems) - len(errors), "warning"))
    print(f"{title}: {', '.join(summary)}")
    return EXIT_BAD_INPUT if errors else EXIT_OK
