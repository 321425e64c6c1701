"""Per-run results, as the stages after the scoring read them."""

from typing import Any

import orjson

from campaign import BadInput
from problems import Problem
from stage import Stage

Result = dict[str, Any]


def read_results(stage: Stage, mode: str) -> list[Result]:
    """Return the per-run results that a score stage has written, in order of name.

    Raises BadInput if there are none, or if one is of another label mode.
    """
    results = [orjson.loads(data) for data in stage.intact().values()]
    folder = str(stage.folder)
    if not results:
        found = "no scores"
        raise BadInput([Problem(folder, None, "", found, "those of the runs", "run make score")])
    others = sorted({result["at_label_mode"] for result in results} - {mode})
    if others:
        found = f"scores in the mode {', '.join(others)}"
        action = "run make score with the same variables"
        raise BadInput([Problem(folder, None, "", found, f"the mode {mode}", action)])
    return results
