"""The rankings, as the stages after them read them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from campaign import BadInput
from files import digest, digest_of_values, parse_tsv
from problems import Problem
from stage import Stage

INDEX = "rankings.json"
Row = dict[str, str]


def runs_digest(runs: Iterable[tuple[str, str]]) -> str:
    """Return a digest of (file name, SHA-256) of runs, in whatever order they come."""
    return digest_of_values(sorted(runs))


class RankingTables:
    """The rankings of a folder, just as their stage wrote them.

    index: content of rankings.json: what each ranking is, how it was made, who is left out and why.
    """

    def __init__(self, folder: Path) -> None:
        """Read them. Raises BadInput if there are none, or others than were written."""
        self._path = folder / INDEX
        self._contents = Stage("rankings", folder).contents("rankings", "rankings")
        self.index: dict[str, Any] = orjson.loads(self._contents[INDEX])

    @property
    def all(self) -> list[dict[str, Any]]:
        """Return what the index says of each ranking."""
        return self.index["rankings"]

    @property
    def by_file(self) -> list[dict[str, Any]]:
        """Return what the index says of each ranking by the score on one reference."""
        return [about for about in self.all if about["kind"] == "files"]

    def rows(self, about: dict[str, Any]) -> list[Row]:
        """Return the rows of a ranking, the best run first."""
        return parse_tsv(self._contents[about["file"]].decode())

    def digest_of(self, file: str) -> str:
        """Return the SHA-256 of a file of the folder."""
        return digest(self._contents[file])

    def require_made_with(self, mode: str, ties: str) -> None:
        """Raise BadInput if they were made with another label mode or way to number ties."""
        made_with = (self.index["at_label_mode"], self.index["ties"])
        if made_with != (mode, ties):
            found = f"rankings made with {made_with[0]} labels and {made_with[1]} ties"
            action = "run make rankings with the same variables"
            raise BadInput([self._problem(found, f"{mode} and {ties}", action)])

    def require_made_of(self, runs: Iterable[tuple[str, str]]) -> None:
        """Raise BadInput if they are not those of these runs, (file name, SHA-256) each."""
        if self.index["runs"] != runs_digest(runs):
            found = "rankings of other runs"
            expected = "those of the runs in the report"
            raise BadInput([self._problem(found, expected, "run make rankings")])

    def _problem(self, found: str, expected: str, action: str) -> Problem:
        return Problem(str(self._path), None, "", found, expected, action)
