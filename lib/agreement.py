"""How runs agree with each other, and what they say together.

Runs and pairs are the axes of a table of labels: labels[run][pair].
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Plurality(NamedTuple):
    """The outcome of a plurality vote: the label, and whether others had as many votes."""

    label: str
    tied: bool


def plurality(votes: Counter) -> Plurality:
    """Return the label with most votes; of several, the first in alphabetical order.

    votes: {label: number}, at least one.
    """
    most = max(votes.values())
    winners = sorted(label for label, number in votes.items() if number == most)
    return Plurality(winners[0], len(winners) > 1)


def krippendorff_alpha(votes: Sequence[Counter], labels: list[str]) -> float | None:
    """Return Krippendorff's alpha for nominal labels (Krippendorff, 2011).

    votes: {label: number of runs} of each pair. None where it is undefined: fewer than two runs,
    or one label throughout.
    """
    import krippendorff  # noqa: PLC0415  (only where agreement is measured)

    table = np.array([[each[label] for label in labels] for each in votes])
    if not len(table) or table.sum(axis=1).max() < 2 or (table.sum(axis=0) > 0).sum() < 2:
        return None
    return float(krippendorff.alpha(value_counts=table, level_of_measurement="nominal"))


class MeanKappa(NamedTuple):
    """The mean of Cohen's kappa over pairs of runs, and of how many pairs it is defined."""

    mean: float | None
    pairs: int


def mean_kappa(labels: Sequence[Sequence[str]], names: list[str]) -> MeanKappa:
    """Return the mean over every two runs of Cohen's kappa (Cohen, 1960).

    labels: of each run, one for each pair. names: the labels there are. Two runs that give one
    and the same label throughout have no kappa and are left out.
    """
    given = np.array(labels)
    one_hot = np.stack([given == name for name in names], axis=-1).astype(float)
    runs, pairs, _ = one_hot.shape
    # Whole numbers, so exact: agreements, and pairs times the agreements expected by chance.
    agreed = np.tensordot(one_hot, one_hot, axes=((1, 2), (1, 2)))
    marginals = one_hot.sum(axis=1)
    expected = marginals @ marginals.T
    one, other = np.triu_indices(runs, 1)
    chance = expected[one, other]
    defined = chance < pairs * pairs
    numerator = pairs * agreed[one, other][defined] - chance[defined]
    kappas = numerator / (pairs * pairs - chance[defined])
    return MeanKappa(float(sum(kappas) / len(kappas)) if len(kappas) else None, len(kappas))
