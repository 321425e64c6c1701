"""Write the results page.

Reads   the validation reports, rankings.json and the tables of RANKINGS_DIR, teams.json, the
        configuration
Writes  RESULTS_MD, with links to the files of DIAGNOSTICS_DIR
Exits   0, 1 if there are no rankings or rankings of another mode, 2 for wrong usage
"""

import argparse
import os
from pathlib import Path

import orjson

import cli
from build_diagnostics import METRICS_SUFFIX, PAIRS_SUFFIX
from campaign import BadInput, load_config, load_teams
from files import digest_of_values, read_tsv
from problems import Problem
from reports import read_report
from results_page import Findings, page
from stage import Product, Stage, code_digest, holding

REPORTS = [
    ("references", "validate-reference"),
    ("submissions", "validate-submissions"),
    ("info", "validate-info"),
]


def diagnostics_of(run_file: str) -> list[tuple[str, str]]:
    """Return (caption, file name) of the two diagnostics files of a run file."""
    stem = Path(run_file).stem
    return [("pairs", stem + PAIRS_SUFFIX), ("metrics", stem + METRICS_SUFFIX)]


def read_rankings(folder: Path, mode: str, ties: str) -> dict:
    """Return the index of the rankings.

    Raises BadInput if there is none, or one that was made with another mode or ties.
    """
    path = folder / "rankings.json"
    try:
        rankings = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        found = "no rankings"
        problem = Problem(str(path), None, "", found, "those of the runs", "run make rankings")
        raise BadInput([problem]) from None
    made_with = (rankings["at_label_mode"], rankings["ties"])
    if made_with != (mode, ties):
        found = f"rankings made with {made_with[0]} labels and {made_with[1]} ties"
        action = "run make rankings with the same variables"
        problem = Problem(str(path), None, "", found, f"{mode} and {ties}", action)
        raise BadInput([problem])
    return rankings


def _page(found: Findings) -> bytes:
    return page(found, diagnostics_of).encode()


def main(arguments: argparse.Namespace) -> int:
    """Bring the page up to date; return the exit status."""
    config = load_config(arguments.config)
    cli.require_mode(arguments.at_label_mode, config)
    teams = load_teams(arguments.teams)
    path = arguments.results_md
    with holding(
        arguments.results_dir, "results-md", reads=["references", "submissions", "info", "rankings"]
    ):
        rankings = read_rankings(arguments.rankings_dir, arguments.at_label_mode, arguments.ties)
        reports = [read_report(arguments.results_dir, name, target) for name, target in REPORTS]
        tables = {
            about["file"]: read_tsv(arguments.rankings_dir / about["file"])
            for about in rankings["rankings"]
        }
        folders = [
            os.path.relpath(folder, path.parent)
            for folder in (arguments.rankings_dir, arguments.diagnostics_dir)
        ]
        found = Findings(config, teams, *reports, rankings, tables, *folders)
        inputs = {
            "rankings": digest_of_values(Stage("rankings", arguments.rankings_dir).files()),
            "reports": digest_of_values(reports),
            "teams": digest_of_values({key: team._asdict() for key, team in teams.items()}),
            "config": config.digest,
            "folders": digest_of_values(folders),
        }
        build = {"page": Product([path.name], inputs, lambda: {path.name: _page(found)})}
        stage = Stage("results-md", path.parent, manifest_folder=arguments.results_dir)
        outcome = stage.refresh(
            build, code_digest(__file__), only_these=False, only_check=arguments.only_check
        )
    print(f"results page: {path} {'written' if outcome.built else 'unchanged'}")
    return cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(
        __doc__,
        "--results-dir",
        "--rankings-dir",
        "--diagnostics-dir",
        "--results-md",
        "--config",
        "--teams",
    )
    cli.add_mode(parser)
    cli.add_ties(parser)
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
