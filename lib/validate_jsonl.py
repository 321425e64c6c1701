"""Validate the gold files, or the runs against them.

Reads   references: REFERENCE_DIR, the schema of DATA_REPO, the configuration
        submissions: SUBMISSIONS_DIR, the references and their report, teams.json as well
Writes  RESULTS_DIR/validation/references.json or submissions.json, with the latter <team>.txt, a
        note for each team
Exits   0 if all is valid, 1 with a line for each fault of each file, 2 for wrong usage
"""

import argparse
import sys
from collections import Counter
from functools import cached_property, partial
from pathlib import Path

import cli
import names
import strict_json
from alignment import Index, index_documents
from campaign import Config, load_config, load_teams
from checks import Checker, File
from data_repo import DataRepo, require_digest
from files import digest, digest_of_values
from problems import Problem, quote
from progress import progress
from reports import (
    Entry,
    Report,
    entry_of,
    nothing_in,
    read_report,
    tell,
)
from stage import Product, Stage, code_digest, holding
from team_notes import team_note


def misnamed_run(
    file: str, naming: names.Naming, references: list[str], taken: set[str]
) -> Problem:
    """Say what is wrong with a name that is meant to be a run's, and propose the right one.

    references: stems of the gold files. taken: names that another file has or would get, too.
    """
    proposed = naming.propose_run(file, references)
    found = f"the file name {quote(file, 300)}"
    if proposed is None:
        expected = f"<team>_<reference>_run<1-{naming.max_runs}>{names.RUN_SUFFIX}"
        teams = ", ".join(["team<N>", *sorted(naming.organizers)])
        action = f"team: {teams}; reference: {', '.join(references) or 'none is valid'}"
    else:
        expected = quote(proposed.file, 300)
        is_taken = proposed.file in taken
        action = "another file has or would get this name: keep one" if is_taken else "rename it"
    return Problem(names.display(file), None, "", found, expected, action)


def not_a_file(path: Path) -> Problem:
    """Say that a name is a run's or a gold file's, but not that of a regular file."""
    if path.is_dir():
        found = "a folder"
    elif path.is_symlink() and not path.exists():
        found = "a link to nowhere"
    else:
        found = "a pipe or device"
    action = "put the file itself there"
    return Problem(names.display(path.name), None, "", found, "a regular file", action)


def validate_references(arguments: argparse.Namespace) -> int:
    """Validate the folder of gold files; return the exit status."""
    config = load_config(arguments.config)
    repo = DataRepo(arguments.data_repo, config.facts["schema"])
    checker = Checker(config, repo)
    report = _report(arguments)
    entries = []
    for listed in names.list_references(arguments.reference_dir, names.naming_of(config, {})):
        if listed.kind != names.REFERENCE:
            entries.append(_other_reference(arguments.reference_dir / listed.file, listed, config))
            continue
        path = arguments.reference_dir / listed.file
        file = File(listed.file, path, path.read_bytes())
        digests = {
            "reference": digest(file.data),
            "config": config.digest,
            "data_repo": repo.digest,
        }
        make = partial(_reference_entry, listed.reference, file, checker, config)
        entries.append(report.entry(file.name, digests, make))
    entries += _clashes(entries)
    if not any(entry["kind"] == names.REFERENCE for entry in entries):
        entries.append(nothing_in(arguments.reference_dir, "gold files", "REFERENCE_DIR"))
    report.write(config.facts["campaign"], entries)
    return tell("references", entries, report.made, lambda: _reference_table(entries))


def _reference_entry(
    reference: names.Reference, file: File, checker: Checker, config: Config
) -> Entry:
    facts: dict[str, object] = reference._asdict()
    if reference.dataset not in config.facts["profiles"]:
        known = " or ".join(config.facts["profiles"])
        found = f"the data set {reference.dataset}"
        problems = [Problem(file.name, None, "", found, known, "name it in the configuration")]
    else:
        problems, index, labels = checker.reference(file, reference.dataset)
        if index:
            pairs = sum(len(pairs) for pairs in index.documents.values())
            facts |= {"documents": len(index.documents), "pairs": pairs, "labels": labels}
    return entry_of(file.name, names.REFERENCE, problems, **facts)


def _other_reference(path: Path, listed: names.Listed, config: Config) -> Entry:
    shown = names.display(listed.file)
    problems = []
    if listed.kind == names.NOT_A_FILE:
        problems = [not_a_file(path)]
    elif listed.kind == names.MISNAMED:
        expected = f"{config.facts['campaign']}-<version>-<dataset>-<split>-<language>.jsonl"
        found = f"the file name {quote(listed.file, 300)}"
        problems = [Problem(shown, None, "", found, expected, "rename or remove it")]
    return entry_of(shown, listed.kind, problems)


def _clashes(entries: list[Entry]) -> list[Entry]:
    """Return an entry for each two references that would share a ranking."""
    seen: dict[tuple, str] = {}
    clashes = []
    for entry in entries:
        if entry["kind"] != names.REFERENCE:
            continue
        key = (entry["dataset"], entry["split"], entry["language"])
        if key in seen:
            found = f"data set, split and language of {seen[key]}"
            expected = "one version of each reference"
            problem = Problem(entry["file"], None, "", found, expected, "remove one of the two")
            clashes.append(entry_of(entry["file"], "clash", [problem]))
        seen[key] = entry["file"]
    return clashes


def _reference_table(entries: list[Entry]) -> tuple[list[str], list[list[object]]]:
    header = ["reference", "status", "documents", "pairs", "gold labels"]
    rows = []
    for entry in entries:
        if entry["kind"] == names.REFERENCE:
            labels = "; ".join(
                f"{target} " + " ".join(f"{label} {number}" for label, number in counts.items())
                for target, counts in entry.get("labels", {}).items()
            )
            status = "valid" if entry["valid"] else "INVALID"
            rows.append([entry["file"], status, entry.get("documents"), entry.get("pairs"), labels])
    return header, rows


def validate_submissions(arguments: argparse.Namespace) -> int:
    """Validate the folder of runs; return the exit status."""
    config = load_config(arguments.config)
    naming = names.naming_of(config, load_teams(arguments.teams))
    references = {
        entry["file"]: entry
        for entry in read_report(arguments.results_dir, "references", "validate-reference")
        if entry["kind"] == names.REFERENCE and entry["valid"]
    }
    report = _report(arguments)
    runs = _RunEntries(arguments, config, references, report)
    folder = names.list_submissions(arguments.submissions_dir, naming)
    stems = [Path(file).stem for file in references]
    taken = _taken_names(folder, naming, stems)
    entries = []
    for listed in progress(folder, "validating"):
        shown = names.display(listed.file)
        if listed.kind == names.RUN:
            entries.append(runs.entry(listed.run))
        elif listed.kind == names.IGNORED:
            entries.append(entry_of(shown, listed.kind, []))
        elif listed.kind == names.NOT_A_FILE:
            problem = not_a_file(arguments.submissions_dir / listed.file)
            entries.append(entry_of(shown, listed.kind, [problem]))
        elif listed.kind == names.MISNAMED and not names.looks_like_info(listed.file):
            problem = misnamed_run(listed.file, naming, stems, taken)
            meant = naming.propose_run(listed.file, stems)
            facts = {"team": meant.team} if meant else {}
            entries.append(entry_of(shown, listed.kind, [problem], **facts))
    if not any(entry["kind"] == names.RUN for entry in entries):
        entries.append(nothing_in(arguments.submissions_dir, "runs", "SUBMISSIONS_DIR"))
    report.write(config.facts["campaign"], entries)
    write_notes(arguments, config.facts["campaign"], entries)
    ignored = [entry["file"] for entry in entries if entry["kind"] == names.IGNORED]
    if ignored:
        print(f"ignored, neither run nor info file: {', '.join(ignored)}")
    status = tell("runs", entries, report.made, lambda: _team_table(entries))
    any_valid = any(entry["kind"] == names.RUN and entry["valid"] for entry in entries)
    if arguments.skip_invalid and any_valid:
        return cli.EXIT_OK
    if status != cli.EXIT_OK and any_valid:
        print("to go on without invalid runs: make eval-full SKIP_INVALID=1", file=sys.stderr)
    return status


def _taken_names(folder: list[names.Listed], naming: names.Naming, stems: list[str]) -> set[str]:
    """Return the names in the folder, and those that more than one misnamed file would get."""
    misnamed = [listed.file for listed in folder if listed.kind == names.MISNAMED]
    proposed = Counter(run.file for file in misnamed if (run := naming.propose_run(file, stems)))
    wanted = {file for file, number in proposed.items() if number > 1}
    return {listed.file for listed in folder} | wanted


def write_notes(arguments: argparse.Namespace, campaign: str, entries: list[Entry]) -> None:
    """Write a note for each team on what was found in its runs."""
    runs = [entry for entry in entries if "team" in entry]
    products = {}
    for team in sorted({entry["team"] for entry in runs}):
        own = [entry for entry in runs if entry["team"] == team]
        note = team_note(campaign, team, own)
        build = partial(lambda name, text: {name: text.encode()}, f"{team}.txt", note)
        products[team] = Product([f"{team}.txt"], {"entries": digest_of_values(own)}, build)
    Stage("teams", arguments.results_dir / "validation").refresh(
        products, code_digest(__file__), only_check=arguments.only_check
    )


class _RunEntries:
    """Makes the report entries of runs, reading the references only when a run needs them."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        config: Config,
        references: dict[str, Entry],
        report: Report,
    ) -> None:
        self._repo = DataRepo(arguments.data_repo, config.facts["schema"])
        self._folders = (arguments.reference_dir, arguments.submissions_dir)
        self._config = config
        self._checker = Checker(config, self._repo)
        self._references = references
        self._report = report

    def entry(self, run: names.Run) -> Entry:
        """Return the entry of a run, the previous one if nothing that it rests on changed."""
        path = self._folders[1] / run.file
        file = File(run.file, path, path.read_bytes())
        reference = self._references.get(run.reference.file)
        digests = {
            "run": digest(file.data),
            "reference": reference and reference["digests"]["reference"],
            "config": self._config.digest,
            "data_repo": self._repo.digest,
        }
        make = self._checked if reference else self._without_reference
        return self._report.entry(run.file, digests, partial(make, run, file))

    def _without_reference(self, run: names.Run, file: File) -> Entry:
        found = f"a run for {run.reference.stem}, which is no valid reference"
        there = ", ".join(Path(name).stem for name in self._references) or "none"
        problem = Problem(file.name, None, "", found, f"one of: {there}", "rename or remove it")
        return entry_of(file.name, names.RUN, [problem], **_identity(run))

    def _checked(self, run: names.Run, file: File) -> Entry:
        problems, index, found = self._checker.run(file, run, self._golds)
        facts = _identity(run)
        if index and found:
            facts |= {
                "documents": len(index.documents),
                "pairs": sum(len(pairs) for pairs in index.documents.values()),
                "imputed": {
                    "documents": len(found.missing_documents),
                    "pairs": found.missing_pairs,
                    "null_labels": found.null_labels,
                },
                "extra": {"documents": len(found.extra_documents), "pairs": found.extra_pairs},
            }
        return entry_of(file.name, names.RUN, problems, **facts)

    @cached_property
    def _golds(self) -> dict[str, Index]:
        golds = {}
        for file, entry in self._references.items():
            data = (self._folders[0] / file).read_bytes()
            require_digest(file, data, entry["digests"]["reference"])
            lines, _ = strict_json.read_lines(file, data)
            golds[Path(file).stem] = index_documents(file, lines, self._config)[0]
        return golds


def _identity(run: names.Run) -> dict[str, object]:
    return {"team": run.team, "run": run.name, "reference": run.reference.file}


def _report(arguments: argparse.Namespace) -> Report:
    return Report(
        arguments.what,
        arguments.results_dir,
        code_digest(__file__),
        only_check=arguments.only_check,
    )


def _team_table(entries: list[Entry]) -> tuple[list[str], list[list[object]]]:
    runs = [entry for entry in entries if entry["kind"] == names.RUN]
    rows = []
    for team in sorted({entry["team"] for entry in runs}, key=names.natural_key):
        own = [entry for entry in runs if entry["team"] == team]
        valid = [entry for entry in own if entry["valid"]]
        warned = sum(bool(entry["problems"]) for entry in valid)
        rows.append([team, len(own), len(valid), len(own) - len(valid), warned])
    others = sum(not entry["valid"] for entry in entries if entry["kind"] != names.RUN)
    if others:
        rows.append(["not runs", others, 0, others, 0])
    return ["team", "files", "valid", "invalid", "valid with warnings"], rows


def main(arguments: argparse.Namespace) -> int:
    """Validate what the first argument names."""
    validate = {"references": validate_references, "submissions": validate_submissions}
    reads = ["references"] if arguments.what == "submissions" else []
    with holding(arguments.results_dir, arguments.what, reads):
        return validate[arguments.what](arguments)


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(
        __doc__,
        "--reference-dir",
        "--submissions-dir",
        "--results-dir",
        "--data-repo",
        "--config",
        "--teams",
    )
    parser.add_argument("what", choices=["references", "submissions"])
    cli.add_skip_invalid(parser)
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
