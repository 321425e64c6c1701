"""Check runs before they are sent: would they be accepted, and what would be counted?

Reads   runs (.jsonl), or folders and archives of runs; the gold or masked files; the schema
Writes  nothing
Exits   0 if all runs would be accepted, 1 if not, 2 for wrong usage

With gold files, whose labels are not null, scores and confusion matrices are printed as well.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tabulate import tabulate

import cli
import names
from archives import Refused, Spool
from campaign import BadInput, Config, load_config, load_teams
from checks import Checker, File
from data_repo import DataRepo
from files import json_bytes
from intake_plan import is_run_file
from problems import Problem, is_error
from run_verdict import ReferenceFile, Verdict, as_json, judge, sentences


def read_references(
    paths: list[Path], checker: Checker, naming: names.Naming
) -> list[ReferenceFile]:
    """Return the gold or masked files among paths, folders searched.

    Raises BadInput for a file that is no valid one, and if there is none.
    """
    files = [
        path
        for given in paths
        for path in (sorted(given.glob("*.jsonl")) if given.is_dir() else [given])
    ]
    known = []
    problems = []
    for path in files:
        reference = naming.reference(path.name.replace("_masked", ""))
        if reference is None:
            found = "the name of no gold or masked file"
            problems.append(Problem(path.name, None, "", found, "its official name", "rename it"))
            continue
        index, found = checker.documents(File(path.name, path, path.read_bytes()))
        problems += [problem for problem in found if is_error(problem)]
        if index is not None:
            known.append(ReferenceFile(reference, index))
    if not files:
        place = ", ".join(map(str, paths))
        found = "no gold or masked files"
        problems.append(
            Problem(place, None, "", found, "at least one", "name them with --reference")
        )
    if problems:
        raise BadInput(problems)
    return known


def read_runs(paths: list[Path], spool: Path) -> list[tuple[str, File]]:
    """Return (place, run) of the runs among paths; folders and archives are searched.

    spool: a folder for what is unpacked. place: the path as given, or the name in an archive.
    Raises BadInput for an archive that is refused or has a part that cannot be looked into, and
    where there is no run.
    """
    runs = []
    reader = Spool(spool, is_run_file)
    problems = []
    for path in paths:
        if path.is_file() and path.name.lower().endswith((names.RUN_SUFFIX, ".json", ".txt")):
            file = File(names.display(path.name), path, path.read_bytes())
            runs.append((names.display(path.as_posix()), file))
            continue
        shown = names.display(path.name)
        members = reader.members(path)
        if isinstance(members, Refused):
            problems.append(Problem(shown, None, "", members.reason, "a harmless archive", ""))
            continue
        for member in members:
            if member.note:
                problems.append(Problem(member.source, None, "", member.note, "runs", ""))
            elif member.content:
                name = names.display(member.path.rsplit("/", maxsplit=1)[-1])
                runs.append((name, File(name, member.content, member.content.read_bytes())))
        if not any(member.content or member.note for member in members):
            problems.append(Problem(shown, None, "", "no run", "a .jsonl file", ""))
    if problems:
        raise BadInput(problems)
    return runs


def report(verdict: Verdict, config: Config) -> str:
    """Return a verdict in plain words."""
    said = "would be accepted" if verdict.accepted else "would NOT be accepted"
    against = f", checked against {verdict.reference}" if verdict.reference else ""
    lines = [f"{verdict.file}: {said}{against}"]
    shown = [p for p in verdict.problems if is_error(p) or p.line is not None]
    lines += [f"  {problem.text_without_file()}" for problem in shown]
    if verdict.labels:
        counted = sentences(verdict, config)
        lines += ["", "What would be counted"]
        lines += [f"  {sentence}" for sentence in counted or ["a label for every pair"]]
        lines += ["", _label_table(verdict)]
    for target, matrix in verdict.matrices.items():
        rows = [[label, *counts.values()] for label, counts in matrix.items()]
        header = [f"{target}: gold \\ run", *matrix]
        lines += ["", tabulate(rows, header, tablefmt="simple")]
    if verdict.scores:
        rows = [[name, f"{value:.4f}"] for name, value in verdict.scores.items()]
        lines += [
            "",
            tabulate(rows, ["score", "value"], disable_numparse=True, colalign=("left", "right")),
        ]
    return "\n".join(lines)


def _label_table(verdict: Verdict) -> str:
    rows = [
        [target, label, number]
        for target, counts in verdict.labels.items()
        for label, number in counts.items()
    ]
    return tabulate(rows, ["target", "label", "pairs"], tablefmt="simple")


def annotation(place: str, problem: Problem) -> str:
    """Return a problem as an annotation that GitHub Actions shows beside the file.

    place: path of the file from the folder where the check runs.
    """
    where = {"file": place, "line": problem.line}
    fields = ",".join(
        f"{key}={_escaped(str(value), ':,')}" for key, value in where.items() if value is not None
    )
    said = problem.text_without_file().removeprefix(f"{problem.severity}: ")
    return f"::{problem.severity} {fields}::{_escaped(said)}"


def _escaped(text: str, also: str = "") -> str:
    # The percent sign first, since it is what the others are written with.
    for character in f"%\r\n{also}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def main(arguments: argparse.Namespace) -> int:
    """Check the runs of the command line; return the exit status."""
    if not arguments.runs or None in arguments.runs:
        raise cli.UsageError("name a run: make check RUN=my_run.jsonl")
    missing = [str(p) for p in [*arguments.runs, *arguments.reference] if not p.exists()]
    if missing:
        raise cli.UsageError(f"not there: {', '.join(missing)}")
    config = load_config(arguments.config)
    naming = names.naming_of(config, load_teams(arguments.teams))
    checker = Checker(config, DataRepo(arguments.data_repo, config.facts["schema"]))
    known = read_references(arguments.reference, checker, naming)
    with tempfile.TemporaryDirectory() as spool:
        runs = read_runs(arguments.runs, Path(spool))
        verdicts = [judge(run, known, checker, naming, config) for _, run in runs]
    if arguments.json:
        sys.stdout.write(json_bytes([as_json(verdict) for verdict in verdicts]).decode())
    elif arguments.github:
        for (place, _), verdict in zip(runs, verdicts, strict=True):
            for problem in verdict.problems:
                print(annotation(place, problem))
    else:
        print("\n\n".join(report(verdict, config) for verdict in verdicts))
    accepted = all(verdict.accepted for verdict in verdicts)
    return cli.EXIT_OK if accepted else cli.EXIT_BAD_INPUT


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(__doc__, "--data-repo", "--config", "--teams")
    parser.add_argument(
        "runs",
        nargs="*",
        # Make passes an empty word where RUN is not set, which Path would take for this folder.
        type=lambda word: Path(word) if word else None,
        metavar="RUN",
        help="run, or folder or archive of runs",
    )
    parser.add_argument(
        "--reference",
        nargs="+",
        type=Path,
        default=[Path("data/reference")],
        metavar="PATH",
        help="gold or masked files, or folders of them (default: data/reference)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON for machines")
    form.add_argument("--github", action="store_true", help="print annotations for GitHub Actions")
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
