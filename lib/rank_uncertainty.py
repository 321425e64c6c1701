"""How sure a rank is: ranges, groups of runs, and ranks over resamples.

Runs are places in a ranking, the best first.
"""

import numpy as np

from bootstrap import TOLERANCE
from paired_tests import all_pairs

_DECIMALS = 12


def better_than(scores: np.ndarray, significant: np.ndarray) -> np.ndarray:
    """Return whether a run is significantly better than another, as [run, other run].

    scores: of each run. significant: of every two runs, in the order of paired_tests.all_pairs.
    """
    runs = len(scores)
    better = np.zeros((runs, runs), dtype=bool)
    first, second = all_pairs(runs)
    difference = scores[first] - scores[second]
    better[first, second] = significant & (difference > TOLERANCE)
    better[second, first] = significant & (difference < -TOLERANCE)
    return better


def rank_ranges(better: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the best and the worst rank that a run can claim.

    The best is 1 + the number of runs that are significantly better, the worst is the number of
    runs less those that are significantly worse, as in the human evaluation of the Conference
    on Machine Translation (Bojar et al., 2013).
    """
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def clusters(better: np.ndarray) -> list[int]:
    """Return the number of the cluster of each run, from 1; runs in the order of the ranking.

    A new cluster begins where every run above is significantly better than every run from there
    on, so that a rule between two clusters claims no difference that was not found.
    """
    numbers = [1] if len(better) else []
    for place in range(1, len(better)):
        separates = bool(better[:place, place:].all())
        numbers.append(numbers[-1] + separates)
    return numbers


def groups(better: np.ndarray) -> list[tuple[int, int]]:
    """Return the first and the last group, from 1, of each run; runs in the order of the ranking.

    A group is a set of neighbouring runs of which no two differ significantly, and which no
    neighbour could join. Groups overlap: a run can be like the runs above and like those below,
    which differ from each other. (Without rearranging runs, this is the compact letter display
    of Piepho, 2004.)
    """
    differ = better | better.T
    blocks: list[tuple[int, int]] = []
    for start in range(len(better)):
        end = start + 1
        while end < len(better) and not differ[start:end, end].any():
            end += 1
        if not blocks or end > blocks[-1][1]:
            blocks.append((start, end))
    return [
        (min(own), max(own))
        for place in range(len(better))
        for own in [[n for n, (start, end) in enumerate(blocks, 1) if start <= place < end]]
    ]


def tiers(better: np.ndarray) -> list[int]:
    """Return the number of the tier of each run, from 1; runs in the order of the ranking.

    A tier is a group, too, but tiers do not overlap: from the top, each holds as many neighbouring
    runs as there are of which no two differ significantly.
    """
    numbers = []
    number = end = 0
    for first, last in groups(better):
        # Groups are numbered from the top, so the last group of its first run ends a tier.
        if first > end:
            number, end = number + 1, last
        numbers.append(number)
    return numbers


def ranks(scores: np.ndarray, ties: str, *, descending: bool = True) -> np.ndarray:
    """Return the ranks within each row of scores, as [row, run].

    ties: "competition" (1, 1, 3) or "dense" (1, 1, 2).
    """
    order = np.argsort(-scores if descending else scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1)
    is_new = np.ones(ordered.shape, dtype=bool)
    is_new[:, 1:] = np.abs(np.diff(ordered, axis=1)) > TOLERANCE
    if ties == "dense":
        in_order = np.cumsum(is_new, axis=1)
    else:
        places = np.arange(1, ordered.shape[1] + 1)
        in_order = np.maximum.accumulate(np.where(is_new, places, 0), axis=1)
    found = np.empty(ordered.shape, dtype=np.int64)
    np.put_along_axis(found, order, in_order, axis=1)
    return found


def probability_first(ranks: np.ndarray) -> np.ndarray:
    """Return how probable it is that each run is first, from its ranks, as [resample, run].

    Runs that share the first place in a resample share that resample.
    """
    first = ranks == 1
    shared = first / first.sum(axis=1, keepdims=True)
    return np.round(shared.sum(axis=0) / len(ranks), _DECIMALS)


def rank_intervals(ranks: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the range that holds each run's rank in at least the wanted share of resamples.

    ranks: as [resample, run]. level: that share, such as 0.95; at most half of the rest is left
    out on either side.
    """
    ordered = np.sort(ranks, axis=0)
    outside = int(round((1 - level) / 2 * len(ranks), _DECIMALS))
    return ordered[outside], ordered[len(ranks) - 1 - outside]
