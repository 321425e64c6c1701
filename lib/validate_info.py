"""Validate the info files beside the runs.

Reads   SUBMISSIONS_DIR, the configuration, teams.json, the report on the references
Writes  RESULTS_DIR/validation/info.json
Exits   0 if all is valid, 1 with a line for each fault of each file, 2 for wrong usage

A run without an info file only earns a warning: its sizes count as unknown.
"""

import argparse
from functools import partial
from pathlib import Path

import cli
import names
import strict_json
from campaign import Config, load_config, load_teams
from files import digest
from problems import WARNING, Problem, quote
from reports import Entry, Report, entry_of, read_report, tell
from stage import code_digest, holding

MISSING = "missing"


def check_info(file: str, data: bytes, facts: dict) -> tuple[dict, list[Problem]]:
    """Return the values of an info file and what is wrong with it.

    file: the name that problems speak of. data: its content. facts: section ``info`` of the
    configuration, which names the organizer's keys (a finite number from 0, or null), the
    team's (anything) and the optional opt-out (true or false).
    """
    values, problems = strict_json.read_object(file, data)
    if problems:
        return values, problems
    required = [*facts["organizer"], *facts["team"]]

    def problem(key: str, found: str, expected: str, action: str = "") -> None:
        line = strict_json.line_of_key(data, key)
        problems.append(Problem(file, line, f"$.{key}", found, expected, action))

    for key in required:
        if key not in values:
            problem(key, "nothing", "this required key")
    for key, value in values.items():
        if key in facts["organizer"] and not _is_size(value):
            action = "the organizers write the number; the team's words go to team_*"
            problem(key, quote(value), "a number from 0, or null", action)
        elif key == facts["opt_out"] and not isinstance(value, bool):
            problem(key, quote(value), "true or false")
        elif key not in required and key != facts["opt_out"]:
            expected = f"only {', '.join([*required, facts['opt_out']])}"
            problem(key, f"the key {quote(key)}", expected, "remove it")
    return values, problems


def _is_size(value: object) -> bool:
    # JSON's true is an int to Python; NaN and infinities do not pass the JSON reader.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (is_number and value >= 0)


def misnamed_info(file: str, naming: names.Naming, references: list[str]) -> Problem:
    """Say what is wrong with a name that is meant to be an info file's."""
    proposed = naming.propose_run(file, references)
    expected = (
        quote(proposed.info_file, 300)
        if proposed
        else f"<team>_<reference>_run<1-{naming.max_runs}>{names.INFO_SUFFIX}"
    )
    found = f"the file name {quote(file, 300)}"
    return Problem(names.display(file), None, "", found, expected, "rename it")


def _info_entry(file: str, data: bytes, run: str | None, config: Config) -> Entry:
    """Return the entry of one info file; run: name of its run, None where that is not there."""
    values, problems = check_info(file, data, config.facts["info"])
    if run is None:
        found = "an info file without its run"
        problems.append(Problem(file, None, "", found, "both", "add the run or remove this"))
    return entry_of(file, names.INFO, problems, values=values)


def _missing_entry(run: names.Run) -> Entry:
    action = "its sizes count as unknown"
    found = "no info file"
    problem = Problem(run.file, None, "", found, run.info_file, action, WARNING)
    return entry_of(run.info_file, MISSING, [problem])


def main(arguments: argparse.Namespace) -> int:
    """Validate the info files of the folder; return the exit status."""
    with holding(arguments.results_dir, "info", reads=["references"]):
        config = load_config(arguments.config)
        naming = names.naming_of(config, load_teams(arguments.teams))
        listed = names.list_submissions(arguments.submissions_dir, naming)
        runs = {found.file for found in listed if found.kind == names.RUN}
        infos = {found.run.file for found in listed if found.kind == names.INFO}
        code = code_digest(__file__)
        report = Report("info", arguments.results_dir, code, only_check=arguments.only_check)
        references = [
            Path(entry["file"]).stem
            for entry in read_report(arguments.results_dir, "references", "validate-reference")
            if entry["kind"] == names.REFERENCE
        ]
        entries = []
        for found in listed:
            if found.kind == names.INFO:
                run = found.run.file if found.run.file in runs else None
                data = (arguments.submissions_dir / found.file).read_bytes()
                digests = {"info": digest(data), "run": run, "config": config.digest}
                make = partial(_info_entry, found.file, data, run, config)
                entries.append(report.entry(found.file, digests, make))
            elif found.kind == names.MISNAMED and names.looks_like_info(found.file):
                problem = misnamed_info(found.file, naming, references)
                entries.append(entry_of(names.display(found.file), found.kind, [problem]))
            elif found.kind == names.RUN and found.file not in infos:
                digests = {"run": found.file, "config": config.digest}
                make = partial(_missing_entry, found.run)
                entries.append(report.entry(found.run.info_file, digests, make))
        report.write(config.facts["campaign"], entries)
        status = tell("info files", entries, report.made, lambda: _table(entries))
        return cli.EXIT_OK if arguments.skip_invalid else status


def _table(entries: list[Entry]) -> tuple[list[str], list[list[object]]]:
    rows = []
    for kind in dict.fromkeys(entry["kind"] for entry in entries):
        own = [entry for entry in entries if entry["kind"] == kind]
        invalid = sum(not entry["valid"] for entry in own)
        rows.append([kind, len(own), len(own) - invalid, invalid])
    return ["info files", "files", "accepted", "invalid"], rows


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(__doc__, "--submissions-dir", "--results-dir", "--config", "--teams")
    cli.add_skip_invalid(parser)
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
