"""rankings.json: what each ranking is, how it was made, who is left out and why."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from campaign import BadInput
from files import digest_of_values
from problems import Problem

INDEX = "rankings.json"


def runs_digest(runs: Iterable[tuple[str, str]]) -> str:
    """Return a digest of (file name, SHA-256) of runs, in whatever order they come."""
    return digest_of_values(sorted(runs))


def read_index(folder: Path) -> dict[str, Any]:
    """Return the index of the rankings in a folder. Raises BadInput if there is none."""
    path = folder / INDEX
    try:
        return orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        problem = Problem(
            str(path), None, "", "no rankings", "those of the runs", "run make rankings"
        )
        raise BadInput([problem]) from None


def require_made_with(index: dict[str, Any], folder: Path, mode: str, ties: str) -> None:
    """Raise BadInput if rankings were made with another label mode or way to number ties."""
    made_with = (index["at_label_mode"], index["ties"])
    if made_with != (mode, ties):
        found = f"rankings made with {made_with[0]} labels and {made_with[1]} ties"
        action = "run make rankings with the same variables"
        raise BadInput(
            [Problem(str(folder / INDEX), None, "", found, f"{mode} and {ties}", action)]
        )


def require_made_of(index: dict[str, Any], folder: Path, runs: Iterable[tuple[str, str]]) -> None:
    """Raise BadInput if rankings are not those of these runs, (file name, SHA-256) each."""
    if index["runs"] != runs_digest(runs):
        found = "rankings of other runs"
        expected = "those of the runs in the report"
        problem = Problem(str(folder / INDEX), None, "", found, expected, "run make rankings")
        raise BadInput([problem])
