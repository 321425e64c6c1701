"""The bootstrap over documents: resamples, and confidence intervals from them.

A resample of a reference draws as many of its documents as it has, with replacement (Efron, 1979).
It is kept as a vector of weights, how often each document was drawn, so that the counts of all
runs in all resamples are one product of matrices. Counts are whole numbers and exact in floats up
to 2^53; what follows them is done element by element. So the figures are the same to the last bit
on every machine, however many threads multiply.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

# Scores that are closer than this are equal: rounding is a thousand times smaller, and one pair
# more or less is a billion times larger.
TOLERANCE = 1e-12
BCA, PERCENTILE = "BCa", "percentile"
# Distribution functions differ in the last digits between machines and releases of scipy; what is
# made of them must not.
_DECIMALS_OF_LEVELS = 8
_DECIMALS_OF_QUANTILES = 9


def random_bits(seed: int, stream: str) -> np.random.PCG64:
    """Return a generator of random 64-bit words, another one for each name of a stream.

    The words are those that numpy guarantees for all its releases, unlike its distributions.
    """
    return np.random.PCG64(np.random.SeedSequence([seed, *stream.encode()]))


def resample(documents: int, resamples: int, seed: int, stream: str) -> np.ndarray:
    """Return how often each document stands in each resample, as [resample, document].

    documents: how many there are, and how many are drawn for a resample.
    """
    words = random_bits(seed, stream).random_raw(resamples * documents)
    # The upper half of a word is a fraction of 2^32; that fraction of the documents is the place.
    drawn = ((words >> np.uint64(32)) * np.uint64(documents)) >> np.uint64(32)
    rows = np.repeat(np.arange(resamples) * documents, documents)
    counts = np.bincount(drawn.astype(np.int64) + rows, minlength=resamples * documents)
    return counts.reshape(resamples, documents).astype(float)


def all_once(documents: int) -> np.ndarray:
    """Return the weights of the sample itself: one row, each document once."""
    return np.ones((1, documents))


def leave_one_out(documents: int) -> np.ndarray:
    """Return the weights of the jackknife: a row for each document, without that one."""
    return 1.0 - np.eye(documents)


def expanded_level(level: float, documents: Sequence[int]) -> float:
    """Return the nominal level at which bootstrap intervals of few documents keep their level.

    level: the wanted coverage, such as 0.95. documents: how many each file has, at least two.
    Resamples vary less than samples by (n - 1) / n, and a normal quantile is too small for a
    spread that is itself estimated. Hesterberg (2015) makes up for both with a quantile of the t
    distribution. Over several files, the degrees of freedom are added.
    """
    free = sum(documents) - len(documents)
    quantile = stdtrit(free, (1 + level) / 2) * np.sqrt(sum(documents) / free)
    return round(float(2 * ndtr(quantile) - 1), _DECIMALS_OF_LEVELS)


class Intervals(NamedTuple):
    """Confidence intervals of several statistics: bounds as arrays, all of the same length.

    Where the BCa interval is undefined, low and high are those of the percentile interval and
    method says so.
    """

    low: np.ndarray
    high: np.ndarray
    method: list[str]
    percentile_low: np.ndarray
    percentile_high: np.ndarray


def in_order(resampled: np.ndarray) -> np.ndarray:
    """Return the sorted values of each statistic, as [statistic, resample].

    resampled: its values, as [resample, statistic].
    """
    return np.sort(np.ascontiguousarray(resampled.T), axis=1)


def number_below(ordered: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return how many of each row of sorted values are below a value, by more than rounding."""
    return _places(ordered, values - TOLERANCE, "left")


def number_up_to(ordered: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return how many of each row of sorted values are below a value or equal but for rounding."""
    return _places(ordered, values + TOLERANCE, "right")


def _places(ordered: np.ndarray, values: np.ndarray, side: Literal["left", "right"]) -> np.ndarray:
    pairs = zip(ordered, values, strict=True)
    return np.array([np.searchsorted(row, value, side) for row, value in pairs], dtype=np.int64)


def intervals(
    estimates: np.ndarray,
    ordered: np.ndarray,
    left_out: Sequence[np.ndarray],
    level: float,
) -> Intervals:
    """Return percentile and BCa intervals (Efron, 1987; Efron and Tibshirani, 1993, ch. 14).

    estimates: the statistics on the sample, as [statistic]. ordered: those of all resamples, from
    in_order. left_out: for each file of the sample the statistics without each of its documents,
    as [document, statistic]; empty for statistics that are not smooth, whose acceleration means
    nothing: they have percentile intervals. level: coverage, such as 0.95.

    BCa is undefined where all resamples lie on one side of the estimate, where no document makes
    a difference, and where the corrected bounds meet or cross.
    """
    alpha = np.full(len(estimates), (1 - level) / 2)
    percentile = _quantiles(ordered, alpha), _quantiles(ordered, 1 - alpha)
    if not left_out:
        return Intervals(*percentile, [PERCENTILE] * len(estimates), *percentile)
    below = number_below(ordered, estimates) + number_up_to(ordered, estimates)
    bias = ndtri(below / (2 * ordered.shape[1]))
    acceleration = _acceleration(left_out)
    bounds = []
    with np.errstate(invalid="ignore"):
        for z in (ndtri(alpha), -ndtri(alpha)):
            adjusted = ndtr(bias + (bias + z) / (1 - acceleration * (bias + z)))
            bounds.append(np.round(adjusted, _DECIMALS_OF_QUANTILES))
        defined = np.isfinite(bias) & np.isfinite(acceleration) & (bounds[0] < bounds[1])
    low, high = (
        np.where(defined, _quantiles(ordered, np.where(defined, bound, 0.0)), plain)
        for bound, plain in zip(bounds, percentile, strict=True)
    )
    method = [BCA if is_defined else PERCENTILE for is_defined in defined]
    return Intervals(low, high, method, *percentile)


def _acceleration(left_out: Sequence[np.ndarray]) -> np.ndarray:
    """Return the acceleration of each statistic from the jackknife of each file.

    Over several files the sums of the files' influences are added, as for several samples in
    Efron and Tibshirani (1993), 15.36. Not a number where no document makes a difference.
    """
    cubes = squares = np.zeros(left_out[0].shape[1])
    for values in left_out:
        documents = len(values)
        influence = (documents - 1) * (values.sum(axis=0) / documents - values)
        # What rounding leaves of equal values is no influence.
        influence[np.abs(influence) < TOLERANCE] = 0.0
        cubes = cubes + (influence * influence * influence).sum(axis=0) / documents**3
        squares = squares + (influence * influence).sum(axis=0) / documents**2
    with np.errstate(invalid="ignore", divide="ignore"):
        return cubes / (6 * squares * np.sqrt(squares))


def _quantiles(ordered: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return a quantile of each row of sorted values, interpolated between neighbours.

    at: the wanted fraction of each row.
    """
    last = ordered.shape[1] - 1
    place = at * last
    lower = np.floor(place).astype(np.int64)
    upper = np.minimum(lower + 1, last)
    rows = np.arange(len(ordered))
    low, high = ordered[rows, lower], ordered[rows, upper]
    return low + (high - low) * (place - lower)
