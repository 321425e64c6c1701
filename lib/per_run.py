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
    contents = stage.contents("scores", "score")
    results = [orjson.loads(data) for data in contents.values()]
    others = sorted({result["at_label_mode"] for result in results} - {mode})
    if others:
        found = f"scores in the mode {', '.join(others)}"
        action = "run make score with the same variables"
        raise BadInput([Problem(str(stage.folder), None, "", found, f"the mode {mode}", action)])
    return results
