"""Say what adjudication changed: ranks and scores of each run, and labels of each reference.

Reads   the rankings of RANKINGS_DIR and of ADJUDICATED_DIR/system-rankings, changes.tsv
Writes  ADJUDICATED_DIR/ranking-changes.md
Exits   0, 1 if there are no rankings or other files than were written, 2 for wrong usage
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import cli
from files import parse_tsv, write_whole
from markdown import code, escape, table
from ranking_tables import RankingTables, Row
from stage import Stage


def moves(old: list[Row], new: list[Row], score: str) -> list[list[str]]:
    """Return a row for each run of two versions of a ranking, in the new order.

    Runs that are in one version only have empty cells for the other and stand at the end.
    """
    before = {(row["team"], row["run"]): row for row in old}
    after = {(row["team"], row["run"]): row for row in new}
    lines = []
    for key in [*after, *(key for key in before if key not in after)]:
        was, now = before.get(key), after.get(key)
        ranks = [row["rank"] if row else "" for row in (was, now)]
        scores = [f"{float(row[score]):.4f}" if row else "" for row in (was, now)]
        lines.append([*map(escape, key), *ranks, _moved(was, now), *scores])
    return lines


def _moved(was: Row | None, now: Row | None) -> str:
    if was is None or now is None:
        return "new" if was is None else "gone"
    steps = int(was["rank"]) - int(now["rank"])
    return "" if steps == 0 else f"{'up' if steps > 0 else 'down'} {abs(steps)}"


def changed_labels(changes: list[Row]) -> list[list[str]]:
    """Return a row for each file, target, old and new label of changes.tsv, with its number."""
    keys = ("file", "target", "old", "new")
    counted = Counter(tuple(change[key] for key in keys) for change in changes)
    return [[*map(escape, key), str(number)] for key, number in sorted(counted.items())]


def page(
    old: dict[str, list[Row]], new: dict[str, list[Row]], index: dict, changes: list[Row]
) -> str:
    """Return ranking-changes.md.

    old, new: {ranking file: rows} before and after. index: of the new rankings.
    """
    parts = ["# What adjudication changed"]
    if changes:
        header = ["Reference", "Target", "Old label", "New label", "Pairs"]
        parts += ["## Labels", table(header, changed_labels(changes), {4})]
    else:
        parts.append("No label changed, so no score and no rank did.")
    header = ["Team", "Run", "Old rank", "New rank", "Moved", "Old score", "New score"]
    for about in index["rankings"]:
        file = about["file"]
        lines = moves(old.get(file, []), new[file], about["score"])
        moved = sum(bool(line[4]) for line in lines)
        parts += [f"## {_title(about)}", f"{moved} of {len(lines)} runs moved ({code(file)})."]
        parts.append(table(header, lines, {2, 3, 5, 6}))
    return "\n\n".join(parts) + "\n"


def _title(about: dict[str, Any]) -> str:
    where = about.get("reference", "").removesuffix(".jsonl")
    return ": ".join(part for part in (about.get("title", ""), where) if part)


def _tables(folder: Path) -> tuple[dict[str, Any], dict[str, list[Row]]]:
    rankings = RankingTables(folder)
    return rankings.index, {about["file"]: rankings.rows(about) for about in rankings.all}


def main(arguments: argparse.Namespace) -> int:
    """Write the comparison; return the exit status."""
    _, old = _tables(arguments.rankings_dir)
    index, new = _tables(arguments.adjudicated_dir / "system-rankings")
    adjudicated = Stage("adjudicated", arguments.adjudicated_dir)
    contents = adjudicated.contents("adjudicated references", "adjudicate")
    changes = parse_tsv(contents["changes.tsv"].decode())
    path = arguments.adjudicated_dir / "ranking-changes.md"
    write_whole(path, page(old, new, index, changes).encode())
    print(f"comparison: {path}")
    return cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    return cli.parser_for(__doc__, "--results-dir", "--rankings-dir", "--adjudicated-dir")


if __name__ == "__main__":
    cli.run(command_line(), main)
