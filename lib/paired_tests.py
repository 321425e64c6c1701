"""Is one run better than another? Tests of two runs on the same documents.

Both look at the difference of their scores, document by document: the runs answered the same
pairs, and pairs of one document depend on each other.
"""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from bootstrap import TOLERANCE, number_below, number_up_to

EXACT_UP_TO = 14  # documents: 2^14 ways to swap them are counted, not drawn
_DRAWS_AT_A_TIME = 8192
# How often a comparison at the limit of significance is to be met among the draws.
_HITS_AT_THE_LIMIT = 5

Pairs = tuple[np.ndarray, np.ndarray]


def all_pairs(runs: int) -> Pairs:
    """Return the places of the first and of the second run of every two runs, in order."""
    return np.triu_indices(runs, 1)


class Swaps(NamedTuple):
    """How many swaps a randomization test looks at.

    first: for every two runs. most: for two runs whose p-value after those is below limit, which
    a correction may leave significant; it never makes a p-value smaller. exact: whether first are
    all the swaps that there are.
    """

    first: int
    most: int
    limit: float
    exact: bool


def swaps_for(documents: int, comparisons: int, draws: int, alpha: float) -> Swaps:
    """Return how many swaps decide some comparisons at a level of significance.

    draws: how many are drawn first; up to 14 documents all 2^documents swaps are looked at.
    comparisons: how many p-values are corrected together. Holm's correction multiplies the
    smallest by that number, so with too few draws nothing could ever be significant.
    """
    if documents <= EXACT_UP_TO:
        return Swaps(2**documents, 2**documents, 0.0, exact=True)
    most = math.ceil(_HITS_AT_THE_LIMIT * comparisons / alpha)
    return Swaps(draws, max(draws, most), 2 * alpha, exact=False)


class Randomization(NamedTuple):
    """p-values of every two runs, in the order of all_pairs, and how many swaps each is from."""

    p_values: np.ndarray
    swaps: np.ndarray


def randomization_test(
    shares: np.ndarray, swaps: Swaps, generator: np.random.PCG64
) -> Randomization:
    """Return the two-sided p-value of every two runs.

    shares: what each document adds to the score of each run, as [document, run]; a score is the
    sum of its column. generator: where random signs come from.

    If two runs were equally good, the answers to a document could as well have come from the
    other run. So the difference is computed again with the answers swapped for some of the
    documents, and the p-value is the share of swaps with a difference as large as the observed
    one (Fisher, 1935; Noreen, 1989; Yeh, 2000). To drawn swaps the observed one is added (Phipson
    and Smyth, 2010). The gold is the same for both runs and stays where it is, so a swap only
    changes the sign of what a document adds to the difference.
    """
    observed = shares.sum(axis=0)
    pairs = all_pairs(len(observed))
    if swaps.exact:
        signs: Iterable[np.ndarray] = [_every_sign(len(shares))]
        hits = _hits(shares, signs, pairs)
        return Randomization(hits / swaps.first, np.full(len(hits), swaps.first))
    hits = _hits(shares, _drawn_signs(len(shares), swaps.first, generator), pairs)
    drawn = np.full(len(hits), swaps.first)
    more = swaps.most - swaps.first
    unclear = (hits + 1) / (swaps.first + 1) <= swaps.limit
    if more and unclear.any():
        of_these = pairs[0][unclear], pairs[1][unclear]
        hits[unclear] += _hits(shares, _drawn_signs(len(shares), more, generator), of_these)
        drawn[unclear] += more
    return Randomization((hits + 1) / (drawn + 1), drawn)


def _hits(shares: np.ndarray, signs: Iterable[np.ndarray], pairs: Pairs) -> np.ndarray:
    """Return for some pairs of runs how many swaps have a difference as large as the observed one.

    signs: blocks of rows of signs, one for each document.
    """
    observed = shares.sum(axis=0)
    partners = [
        (run, pairs[1][pairs[0] == run]) for run in range(len(observed)) if (pairs[0] == run).any()
    ]
    limits = [np.abs(observed[run] - observed[others]) - TOLERANCE for run, others in partners]

    found = np.zeros(len(pairs[0]), dtype=np.int64)
    for block in signs:
        swapped = np.ascontiguousarray((block.astype(float) @ shares).T)
        hits = []
        for (run, others), limit in zip(partners, limits, strict=True):
            difference = swapped[others]
            difference -= swapped[run]
            large = np.abs(difference, out=difference) >= limit[:, None]
            hits += [np.count_nonzero(row) for row in large]
        found += np.array(hits, dtype=np.int64)
    return found


def _every_sign(documents: int) -> np.ndarray:
    """Return all ways to give documents a sign, a row each."""
    numbers = np.arange(2**documents)[:, None] >> np.arange(documents)
    return (1 - 2 * (numbers & 1)).astype(np.int8)


def _drawn_signs(documents: int, draws: int, generator: np.random.PCG64) -> Iterator[np.ndarray]:
    """Yield blocks of rows of random signs, as many rows as draws."""
    words = -(-documents // 64)
    for start in range(0, draws, _DRAWS_AT_A_TIME):
        rows = min(_DRAWS_AT_A_TIME, draws - start)
        drawn = generator.random_raw(rows * words).astype("<u8").reshape(rows, words)
        bits = np.unpackbits(drawn.view(np.uint8), axis=1, count=documents)
        yield 1 - 2 * bits.astype(np.int8)


def bootstrap_test(ordered: np.ndarray) -> np.ndarray:
    """Return the two-sided p-value of differences from their resamples (bootstrap.in_order).

    Twice the share of resamples in which the difference is not on its side of 0 (paired
    bootstrap; Koehn, 2004), the sample itself counted as one more.
    """
    pairs, resamples = ordered.shape
    zero = np.zeros(pairs)
    least = np.minimum(number_up_to(ordered, zero), resamples - number_below(ordered, zero))
    return np.minimum(2 * (least + 1) / (resamples + 1), 1.0)


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return p-values that are corrected for their number (Holm, 1979)."""
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    stepwise = np.maximum.accumulate(p_values[order] * factors)
    corrected = np.empty_like(p_values)
    corrected[order] = np.minimum(stepwise, 1.0)
    return corrected
