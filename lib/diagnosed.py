"""Diagnostics files, as the stages after them read them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from build_diagnostics import PAIRS_SUFFIX
from campaign import BadInput
from files import digest, digest_of_values
from problems import Problem
from stage import Stage

Diagnosed = dict[str, Any]


class Diagnostics:
    """The folder of the diagnostics of all runs."""

    def __init__(self, folder: Path, rankings: dict[str, Any]) -> None:
        """Look into the folder. rankings: content of rankings.json.

        Raises BadInput if the diagnostics are not of the scores that were ranked.
        """
        self._folder = folder
        stage = Stage("diagnostics", folder)
        self._digests = dict(stage.files())
        of_scores = sorted(
            (f"{Path(run).stem}.json", score) for run, score in stage.inputs("per_run").items()
        )
        if self._digests and digest_of_values(of_scores) != rankings["scores"]:
            found = "diagnostics of other scores than those that were ranked"
            action = "run make rankings diagnostics with the same variables"
            expected = "those of the ranked runs"
            raise BadInput([Problem(str(folder), None, "", found, expected, action)])

    def digest_of(self, runs: Iterable[str]) -> str:
        """Return a digest of the diagnostics of run files. Raises BadInput if one is missing."""
        files = [_file_of(run) for run in runs]
        missing = [file for file in files if file not in self._digests]
        if missing:
            raise BadInput([_problem(file) for file in missing])
        return digest_of_values([(file, self._digests[file]) for file in files])

    def load(self, run: str) -> Diagnosed:
        """Return the diagnostics of a run file. Raises BadInput if it is not what was written."""
        file = _file_of(run)
        try:
            data = (self._folder / file).read_bytes()
        except FileNotFoundError:
            raise BadInput([_problem(file)]) from None
        if digest(data) != self._digests.get(file):
            raise BadInput([_problem(file)])
        return orjson.loads(data)


def _file_of(run: str) -> str:
    return Path(run).stem + PAIRS_SUFFIX


def _problem(file: str) -> Problem:
    found = "no diagnostics, or not those that were written"
    return Problem(file, None, "", found, "those of the run", "run make diagnostics")
