"""Write the results page.

Reads   the validation reports, rankings.json and the tables of RANKINGS_DIR, teams.json, the
        configuration; the tables of SIGNIFICANCE_DIR if they are of these rankings
Writes  RESULTS_MD, with links to the files of DIAGNOSTICS_DIR
Exits   0, 1 if there are no rankings or rankings of another mode, 2 for wrong usage
"""

import argparse
import os
from pathlib import Path

import cli
import names
from build_diagnostics import METRICS_SUFFIX, PAIRS_SUFFIX
from campaign import load_config, load_teams
from files import digest_of_values
from ranking_tables import INDEX, RankingTables
from reports import read_report
from results_page import Findings, page
from significance_index import read_significance
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


def _page(found: Findings) -> bytes:
    return page(found, diagnostics_of).encode()


def main(arguments: argparse.Namespace) -> int:
    """Bring the page up to date; return the exit status."""
    config = load_config(arguments.config)
    cli.require_mode(arguments.at_label_mode, config)
    teams = load_teams(arguments.teams)
    path = arguments.results_md
    reads = ["references", "submissions", "info", "rankings", "significance"]
    with holding(arguments.results_dir, "results-md", reads):
        rankings = RankingTables(arguments.rankings_dir)
        rankings.require_made_with(arguments.at_label_mode, arguments.ties)
        reports = [read_report(arguments.results_dir, name, target) for name, target in REPORTS]
        runs = [e for e in reports[1] if e["kind"] == names.RUN and e["valid"]]
        rankings.require_made_of([(e["file"], e["digests"]["run"]) for e in runs])
        tables = {about["file"]: rankings.rows(about) for about in rankings.all}
        folders = [
            os.path.relpath(folder, path.parent)
            for folder in (
                arguments.rankings_dir,
                arguments.diagnostics_dir,
                arguments.significance_dir,
            )
        ]
        significance = read_significance(
            arguments.significance_dir,
            rankings.digest_of(INDEX),
            config.facts["significance"],
        )
        found = Findings(config, teams, *reports, rankings.index, tables, *folders, significance)
        inputs = {
            "rankings": digest_of_values(Stage("rankings", arguments.rankings_dir).files()),
            "reports": digest_of_values(reports),
            "teams": digest_of_values({key: team._asdict() for key, team in teams.items()}),
            "config": config.digest,
            "folders": digest_of_values(folders),
            "significance": significance and digest_of_values([*significance]),
        }
        build = {"page": Product([path.name], inputs, lambda: {path.name: _page(found)})}
        stage = Stage("results-md", path.parent, manifest_folder=arguments.results_dir)
        outcome = stage.refresh(
            build, code_digest(__file__), only_these=False, only_check=arguments.only_check
        )
    without = "" if significance else ", without intervals (make significance)"
    print(f"results page: {path} {'written' if outcome.built else 'unchanged'}{without}")
    return cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(
        __doc__,
        "--results-dir",
        "--rankings-dir",
        "--diagnostics-dir",
        "--significance-dir",
        "--results-md",
        "--config",
        "--teams",
    )
    cli.add_mode(parser)
    cli.add_ties(parser)
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
