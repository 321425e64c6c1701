"""Per-run results, as the stages after the scoring read them."""

from typing import Any

import orjson

from campaign import BadInput
from problems import Problem
from stage import Stage

Result = dict[str, Any]


def read_results(stage: Stage, mode: str) -> list[Result]:
    """Return the per-run results that a score stage has written, in order of name.

    Raises BadInput if there are none, if one is missing or is not what was written, or if one
    is of another label mode.
    """
    intact = stage.intact()
    folder = str(stage.folder)
    if not intact and not stage.unfinished():
        found = "no scores"
        raise BadInput([Problem(folder, None, "", found, "those of the runs", "run make score")])
    altered = [output for output, _ in stage.files() if output not in intact]
    altered += stage.unfinished()
    if altered:
        found = "no score, or not the one that was written"
        raise BadInput(
            [Problem(output, None, "", found, "the score", "run make score") for output in altered]
        )
    results = [orjson.loads(data) for data in intact.values()]
    others = sorted({result["at_label_mode"] for result in results} - {mode})
    if others:
        found = f"scores in the mode {', '.join(others)}"
        action = "run make score with the same variables"
        raise BadInput([Problem(folder, None, "", found, f"the mode {mode}", action)])
    return results
