"""How the best runs vote on each pair, and where they disagree with the gold label."""

from collections import Counter
from typing import NamedTuple

MAJORITY, NO_MAJORITY = "MAJORITY", "NO_MAJORITY"


class Vote(NamedTuple):
    """The outcome of a vote: the label of the majority, or NO_MAJORITY in its place."""

    label: str
    status: str


def vote(labels: list[str]) -> Vote:
    """Return the label that more than half of the runs give, if there is one."""
    label, number = Counter(labels).most_common(1)[0]
    return Vote(label, MAJORITY) if 2 * number > len(labels) else Vote(NO_MAJORITY, NO_MAJORITY)


def is_flagged(gold: str, outcome: Vote) -> bool:
    """Tell whether a pair needs a look: no majority, or one against the gold label."""
    return outcome.label != gold
