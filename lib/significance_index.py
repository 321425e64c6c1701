"""significance.json and the names of the tables beside it: what was inferred, and of what."""

from pathlib import Path
from typing import Any, NamedTuple

import orjson

from files import parse_tsv
from stage import Stage

INDEX = "significance.json"
Row = dict[str, str]


class Tables(NamedTuple):
    """Names of the tables of one ranking."""

    intervals: str
    ranks: str
    pairwise: str


def tables_of(ranking: str) -> Tables:
    """Return the names of the tables that belong to a ranking file."""
    name = ranking.removeprefix("ranking-")
    return Tables(*(f"{table}-{name}" for table in Tables._fields))


def counts_file(reference: str) -> str:
    """Return the name of the table of counts of a reference file."""
    return f"counts-{Path(reference).stem}.tsv"


class Significance(NamedTuple):
    """What is known of all rankings.

    index: content of significance.json. intervals: {ranking file: rows of its intervals}. ranks:
    {ranking file: rows}.
    """

    index: dict[str, Any]
    intervals: dict[str, list[Row]]
    ranks: dict[str, list[Row]]


def read_significance(folder: Path, rankings: str, settings: dict[str, Any]) -> Significance | None:
    """Return what is known of the rankings, or None if it is not of those that there are now.

    rankings: SHA-256 of rankings.json. settings: the section "significance" of the configuration,
    which may have changed since.
    """
    contents = Stage("significance", folder).intact()
    if INDEX not in contents:
        return None
    index = orjson.loads(contents[INDEX])
    made_with = {key: index.get(key) for key in settings}
    if index.get("made_of") != rankings or made_with != settings:
        return None
    files = [about["ranking"] for about in index["rankings"]]
    if not all(table in contents for file in files for table in tables_of(file)):
        return None
    intervals, ranks = (
        {file: parse_tsv(contents[getattr(tables_of(file), table)].decode()) for file in files}
        for table in ("intervals", "ranks")
    )
    return Significance(index, intervals, ranks)
