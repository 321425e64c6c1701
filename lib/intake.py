"""Put the runs of participants' archives into the folder of runs, under their right names.

Reads   archives (.zip, .tar.gz, .tgz, .tar) and folders, teams.json, the gold files' names, the map
Writes  SUBMISSIONS_DIR, the map (source, target: what went where, and what you decide), and with
        --replace the replaced runs in SUBMISSIONS_DIR-replaced
Exits   0, 1 if anything is refused, undecided or in conflict, 2 for wrong usage

Either all runs of a call are placed or none. What cannot be decided is listed in the map with an
empty target; write the target there, or "-" to leave a file out, and call again.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import orjson

import cli
import names
import strict_json
from archives import Member, Refused, Spool
from campaign import BadInput, Config, Team, load_config, load_teams
from files import digest_of_file, json_bytes, temporary_path, write_whole
from intake_plan import (
    BLOCKING,
    NO_FILE,
    PLACE,
    REPLACE,
    SAME,
    SKIP,
    Step,
    decisions,
    info_from,
    is_metadata,
    is_run_file,
    map_bytes,
    nearest_metadata,
    plan,
    read_map,
)
from problems import Problem
from recognition import Recognizer


class Intake:
    """One call: its folders, and what it read."""

    def __init__(
        self, arguments: argparse.Namespace, config: Config, teams: dict[str, Team]
    ) -> None:
        self._arguments = arguments
        self._config = config
        self._naming = names.naming_of(config, teams)
        folder = arguments.reference_dir
        listed = names.list_references(folder, self._naming)
        self.references = [found.reference for found in listed if found.kind == names.REFERENCE]
        if not self.references:
            found = "no gold or masked files, whose names tell what runs are for"
            action = "put them there or set REFERENCE_DIR"
            raise BadInput([Problem(str(folder), None, "", found, "at least one", action)])
        self.rows = read_map(arguments.map)
        self._template = _template(arguments.info_template)
        stems = [reference.stem for reference in self.references]
        self._recognizer = Recognizer(self._naming, teams, stems)

    def read(self, paths: list[Path], spool: Path) -> list[Member]:
        """Return the members of all archives. Raises BadInput if one of them is refused."""
        reader = Spool(spool, lambda path: is_run_file(path) or is_metadata(path))
        members: list[Member] = []
        refused = []
        for path in paths:
            found = reader.members(path)
            if isinstance(found, Refused):
                expected = "a harmless archive; nothing was placed"
                refused.append(
                    Problem(names.display(path.name), None, "", found.reason, expected, "")
                )
            else:
                members += found
        if refused:
            raise BadInput(refused)
        return members

    def plan(self, members: list[Member]) -> list[Step]:
        """Return a step for each member."""
        folder = self._arguments.submissions_dir
        present = {}
        for found in names.list_submissions(folder, self._naming) if folder.is_dir() else []:
            if found.kind == names.RUN:
                present[found.file] = digest_of_file(folder / found.file)
            elif (folder / found.file).is_dir() or (folder / found.file).is_symlink():
                present[found.file] = NO_FILE
        return plan(
            members,
            self._recognizer,
            self._naming,
            decisions(self.rows),
            present,
            replace=self._arguments.replace,
        )

    def infos(self, steps: list[Step], members: list[Member]) -> dict[str, bytes]:
        """Return {file name: content} of the info files that runs of this call still need."""
        metadata = {m.path: m for m in members if is_metadata(m.path) and m.content}
        needed = {}
        for step in steps:
            if step.action not in (PLACE, REPLACE, SAME) or not step.target:
                continue
            run = self._naming.run(step.target)
            if (self._arguments.submissions_dir / run.info_file).exists():
                continue
            near = nearest_metadata(step.member.path, list(metadata))
            said = _object_in(metadata[near].content) if near else self._template
            needed.setdefault(
                run.info_file, json_bytes(info_from(said, self._config.facts["info"]))
            )
        return needed

    def place(self, steps: list[Step], infos: dict[str, bytes]) -> None:
        """Put all runs, info files and the map under their names, once all of them are written."""
        folder = self._arguments.submissions_dir
        folder.mkdir(parents=True, exist_ok=True)
        runs = {s.target: s for s in steps if s.action in (PLACE, REPLACE)}
        table = self._arguments.map
        table.parent.mkdir(parents=True, exist_ok=True)
        paths = [*(folder / name for name in (*runs, *infos)), table]
        try:
            for target, step in runs.items():
                shutil.copyfile(step.member.content, temporary_path(folder / target))
            for name, data in infos.items():
                temporary_path(folder / name).write_bytes(data)
            temporary_path(table).write_bytes(map_bytes(self.rows, steps, placed=True))
            for target, step in runs.items():
                if step.action == REPLACE:
                    self._keep_replaced(folder / target)
            for path in paths:
                temporary_path(path).replace(path)
        finally:
            for path in paths:
                temporary_path(path).unlink(missing_ok=True)

    def _keep_replaced(self, path: Path) -> None:
        kept = path.parent.with_name(f"{path.parent.name}-replaced")
        name = f"{path.stem}.{digest_of_file(path)[:12]}{path.suffix}"
        write_whole(kept / name, path.read_bytes())

    def coverage(self, steps: list[Step]) -> list[list[str]]:
        """Return a row for each team: its run numbers for each reference, "-" where it has none."""
        folder = self._arguments.submissions_dir
        listed = names.list_submissions(folder, self._naming) if folder.is_dir() else []
        runs = {found.run.file: found.run for found in listed if found.kind == names.RUN}
        runs |= {s.target: self._naming.run(s.target) for s in steps if s.target}
        rows = []
        for team in sorted({run.team for run in runs.values()}, key=names.natural_key):
            own = [run for run in runs.values() if run.team == team]
            numbers = [
                sorted(run.number for run in own if run.reference.stem == reference.stem)
                for reference in self.references
            ]
            rows.append([team, *(" ".join(map(str, found)) or "-" for found in numbers)])
        return rows


def _object_in(path: Path) -> dict[str, Any]:
    try:
        value = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _template(path: Path | None) -> dict[str, Any]:
    """Return the content of the info template. Raises BadInput if it is no JSON object."""
    if path is None:
        return {}
    try:
        value, problems = strict_json.read_object(path.name, path.read_bytes())
    except OSError as error:
        found = (error.strerror or "no file").lower()
        problems = [Problem(str(path), None, "", found, "a file to read", "check its path")]
    if problems:
        raise BadInput(problems)
    return value


def _inputs(arguments: argparse.Namespace) -> list[Path]:
    """Return the archives of the command line, or else all that lies in the inbox."""
    paths = list(arguments.archives)
    if not paths and not arguments.inbox.is_dir():
        raise cli.UsageError(f"INBOX, {arguments.inbox}, is no folder; name archives or make it")
    if not paths:
        paths = sorted(p for p in arguments.inbox.iterdir() if not p.name.startswith("."))
    if not paths:
        raise cli.UsageError(f"INBOX, {arguments.inbox}, is empty; put archives or folders there")
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise cli.UsageError(f"not there: {', '.join(missing)}")
    return paths


def main(arguments: argparse.Namespace) -> int:
    """Take in the archives of the command line; return the exit status."""
    config = load_config(arguments.config)
    intake = Intake(arguments, config, load_teams(arguments.teams))
    with tempfile.TemporaryDirectory() as folder:
        members = intake.read(_inputs(arguments), Path(folder))
        steps = intake.plan(members)
        infos = intake.infos(steps, members)
        blocked = any(step.action in BLOCKING for step in steps)
        if not arguments.dry_run and blocked:
            write_whole(arguments.map, map_bytes(intake.rows, steps, placed=False))
        elif not arguments.dry_run:
            intake.place(steps, infos)
    _tell(steps, infos, arguments, blocked=blocked)
    print(_coverage_table(intake, [] if blocked else steps))
    return cli.EXIT_BAD_INPUT if blocked else cli.EXIT_OK


def _tell(
    steps: list[Step], infos: dict[str, bytes], arguments: argparse.Namespace, *, blocked: bool
) -> None:
    for step in steps:
        target = f" -> {step.target}" if step.target else ""
        note = f" ({step.note})" if step.note else ""
        stream = sys.stderr if step.action in BLOCKING else sys.stdout
        print(f"{step.action}: {names.display(step.member.source)}{target}{note}", file=stream)
    for name in infos:
        print(f"info file: {name}")
    counts = {
        action: sum(step.action == action for step in steps)
        for action in (PLACE, REPLACE, SAME, SKIP, *BLOCKING)
    }
    said = ", ".join(f"{number} {action}" for action, number in counts.items() if number)
    outcome = "nothing was placed" if blocked else "done"
    if blocked and not arguments.dry_run:
        outcome += f"; settle the undecided in {arguments.map} and call again"
    if arguments.dry_run:
        outcome = "a dry run, nothing was written"
    print(f"\n{len(steps)} files: {said}; {outcome}\n")


def _coverage_table(intake: Intake, steps: list[Step]) -> str:
    from tabulate import tabulate  # noqa: PLC0415  (only where there is something to show)

    references = [
        f"{reference.dataset} {reference.split} {reference.language}"
        for reference in intake.references
    ]
    return tabulate(intake.coverage(steps), ["team", *references], disable_numparse=True)


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(__doc__, "--reference-dir", "--submissions-dir", "--config", "--teams")
    parser.add_argument("archives", nargs="*", type=Path, metavar="ARCHIVE_OR_FOLDER")
    parser.add_argument(
        "--inbox",
        type=Path,
        default="data/inbox",
        metavar="PATH",
        help="folder whose entries are taken in if no archive is named (default: %(default)s)",
    )
    parser.add_argument(
        "--map",
        type=Path,
        default="data/intake-map.tsv",
        metavar="PATH",
        help="what went where, and what you decide (default: %(default)s)",
    )
    parser.add_argument(
        "--info-template", type=Path, metavar="PATH", help="JSON for runs without metadata"
    )
    parser.add_argument(
        "--replace", action="store_true", help="let runs take the place of different ones"
    )
    parser.add_argument("--dry-run", action="store_true", help="print the plan, write nothing")
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
