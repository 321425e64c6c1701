"""Print where the results are, and the first rows of the overall ranking.

Reads   rankings.json and the tables of RANKINGS_DIR
Writes  nothing
Exits   0, 1 if there are no rankings, 2 for wrong usage
"""

import argparse

from tabulate import tabulate

import cli
from ranking_tables import RankingTables

ROWS = 5


def main(arguments: argparse.Namespace) -> int:
    """Print the paths and the top of the first ranking over several files."""
    rankings = RankingTables(arguments.rankings_dir)
    for about in rankings.all:
        if about["kind"] == "means":
            rows = rankings.rows(about)[:ROWS]
            score = about["score"]
            cells = [[r["rank"], r["team"], r["run"], f"{float(r[score]):.4f}"] for r in rows]
            print(f"\n{about['title']}, the first {len(rows)} of {about['runs']} runs\n")
            print(tabulate(cells, ["rank", "team", "run", score], disable_numparse=True))
            break
    print("\nLook at")
    print(f"  {arguments.results_md}   the results page")
    print(f"  {arguments.rankings_dir}/   the rankings, all digits")
    print(f"  {arguments.diagnostics_dir}/   each run, pair by pair")
    print(f"  {arguments.significance_dir}/   how sure the ranks are")
    print(f"  {arguments.ensemble_dir}/   what runs say together, and the hardest pairs")
    print(f"  {arguments.breakdown_dir}/   where runs fail")
    print(f"  {arguments.results_dir}/validation/   what validation found")
    return cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    return cli.parser_for(
        __doc__,
        "--results-dir",
        "--rankings-dir",
        "--diagnostics-dir",
        "--significance-dir",
        "--ensemble-dir",
        "--breakdown-dir",
        "--results-md",
    )


if __name__ == "__main__":
    cli.run(command_line(), main)
