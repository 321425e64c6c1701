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

import names
from campaign import VERSION
from cli import EXIT_BAD_INPUT, EXIT_OK
from files import digest_of_values, json_bytes
from problems import Problem, is_error, plural
from stage import Product, Stage, Stale

Entry = dict[str, Any]
_COUNTED = (names.REFERENCE, names.RUN, names.INFO)


def entry_of(file: str, kind: str, problems: list[Problem], **facts: Any) -> Entry:
    """Return the entry of a file: what it is and what is wrong with it."""
    return {
        "file": file,
        "kind": kind,
        "valid": not any(map(is_error, problems)),
        **facts,
        "digests": {},
        "problems": [problem._asdict() for problem in problems],
    }


def nothing_in(folder: Path, what: str, variable: str) -> Entry:
    """Return an entry that refuses a folder without a single file of the kind it is for."""
    action = (
        f"put them there as SUBMISSIONS.md says, or set {variable};"
        " make demo evaluates a sample campaign, make clean removes results of withdrawn files"
    )
    problem = Problem(str(folder), None, "", f"no {what}", "at least one", action)
    return entry_of("", "folder", [problem])


class Report:
    """``<name>.json`` in the validation folder, with the entries of its last version."""

    def __init__(self, name: str, results: Path, code: str, *, only_check: bool = False) -> None:
        """Read the last version, if it is there and unaltered.

        code: digest of the code that judges the files. only_check: write nothing, and raise
        Stale where something would have to be judged or written.
        """
        self._name = name
        self._code = code
        self._only_check = only_check
        self._stage = Stage(name, results / "validation")
        data = self._stage.intact().get(self.file)
        entries = orjson.loads(data)["files"] if data else []
        self._previous = {entry["file"]: entry for entry in entries}
        self.made: set[str] = set()

    @property
    def file(self) -> str:
        """Return the name of the report's file."""
        return f"{self._name}.json"

    def entry(self, file: str, digests: dict[str, str | None], make: Callable[[], Entry]) -> Entry:
        """Return the previous entry of a file if all that it rests on is the same, or make it.

        digests: of all that the entry rests on but the code. Only the entry of a valid file is
        kept: what is wrong with another may depend on the files around it.
        """
        digests = {**digests, "code": self._code}
        previous = self._previous.get(file)
        if previous and previous["valid"] and previous["digests"] == digests:
            return previous
        if self._only_check:
            raise Stale(file)
        self.made.add(file)
        return make() | {"digests": digests}

    def write(self, campaign: str, entries: list[Entry]) -> None:
        """Write the report if it says anything new."""
        report = {"campaign": campaign, "version": VERSION, "files": entries}
        product = Product(
            [self.file],
            {"entries": digest_of_values(entries)},
            lambda: {self.file: json_bytes(report)},
        )
        self._stage.refresh({self._name: product}, self._code, only_check=self._only_check)


def read_report(results: Path, name: str, target: str) -> list[Entry]:
    """Return the entries of a report that an earlier stage wrote.

    target: the make target that writes it. Raises BadInput where it has not been run, or
    the report is not what it wrote.
    """
    contents = Stage(name, results / "validation").contents(f"report {name}", target)
    return orjson.loads(contents[f"{name}.json"])["files"]


def tell(
    title: str,
    entries: list[Entry],
    made: set[str],
    rows: Callable[[], tuple[list[str], list[list[object]]]],
) -> int:
    """Print problems and, where there is something to tell, a table; return the exit status.

    title: what was validated. made: files that were judged in this call; of the others only
    errors are printed again, while their warnings are just counted. rows: returns header and
    rows of the table, for when it is needed.
    """
    told = [(Problem(**p), entry["file"]) for entry in entries for p in entry["problems"]]
    errors = [problem for problem, _ in told if is_error(problem)]
    warnings = [(problem, file) for problem, file in told if not is_error(problem)]
    shown = errors + [problem for problem, file in warnings if file in made]
    if shown or len(made) > 1:
        from tabulate import tabulate  # noqa: PLC0415  (only where there is something to tell)

        header, cells = rows()
        table = tabulate(cells, header, tablefmt="simple", disable_numparse=True)
        # In one piece, since another stage may print at the same time.
        print("\n".join([*(problem.text() for problem in shown), table]), file=sys.stderr)
    valid = sum(entry["valid"] and entry["kind"] in _COUNTED for entry in entries)
    counts = [plural(len(errors), "error"), plural(len(warnings), "warning")]
    print(f"{title}: {valid} valid, {', '.join(counts)}")
    return EXIT_BAD_INPUT if errors else EXIT_OK
