"""What can be inferred about a ranking: intervals, tests, and ranks over resamples of documents.

A statistic is a function from weights of the documents of each file to scores: {name of a score:
its values as [row of weights, run]}. The sample, its resamples and the jackknife are rows of
weights, so one function serves all three.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import bootstrap
import paired_tests
import rank_uncertainty
from bootstrap import Intervals
from document_counts import Counts, scores, shares

Weights = list[np.ndarray]
Statistic = Callable[[Weights], dict[str, np.ndarray]]
_PAIRS_AT_A_TIME = 256


class Settings(NamedTuple):
    """The section "significance" of the configuration, and how ties are numbered."""

    seed: int
    level: float
    resamples: int
    draws: int
    ties: str

    @property
    def alpha(self) -> float:
        """Return the level of significance that belongs to the level of the intervals."""
        return round(1 - self.level, 12)

    def swaps(self, documents: int, runs: int) -> paired_tests.Swaps:
        """Return how many swaps of that many documents decide between that many runs."""
        comparisons = runs * (runs - 1) // 2
        return paired_tests.swaps_for(documents, comparisons, self.draws, self.alpha)


def settings_of(facts: dict[str, Any], ties: str) -> Settings:
    """Return the settings of a configuration. facts: its section "significance"."""
    return Settings(facts["seed"], facts["level"], facts["resamples"], facts["draws"], ties)


class Sample(NamedTuple):
    """The files that a ranking is over: their names, and the counts of the ranking's runs."""

    names: list[str]
    counts: list[Counts]

    @property
    def documents(self) -> list[int]:
        """Return how many documents each file has, without those that have no pairs."""
        return [len(each.documents) for each in self.counts]

    @property
    def is_resampled(self) -> bool:
        """Tell whether there is anything to resample: a file with one document has no spread."""
        return min(self.documents) > 1


class Estimate(NamedTuple):
    """A score of all runs: on the sample, in each resample as [resample, run], its intervals.

    left_out: for each file the score without each of its documents, as [document, run]; empty
    for a score that is a rank, which the jackknife says nothing about.
    """

    value: np.ndarray
    resampled: np.ndarray
    left_out: list[np.ndarray]
    intervals: Intervals


def file_statistic(sample: Sample, profile_score: str) -> Statistic:
    """Return the scores of the runs on one file."""
    (counts,) = sample.counts
    return lambda weights: scores(counts, weights[0], profile_score)


def mean_statistic(
    sample: Sample, profile_score: str, languages: list[str], name: str
) -> Statistic:
    """Return the mean of the profile scores over several files, and each of them if several.

    languages: of the files. name: what the mean is called.
    """

    def statistic(weights: Weights) -> dict[str, np.ndarray]:
        pairs = zip(sample.counts, weights, strict=True)
        single = [scores(counts, rows, profile_score)[profile_score] for counts, rows in pairs]
        total = single[0]
        for other in single[1:]:
            total = total + other
        found = {name: total / len(single)}
        for name_of_one, place in scores_of_single_files(profile_score, languages).items():
            # The jackknife of one file leaves the others as they are, in a single row.
            found[name_of_one] = np.broadcast_to(single[place], total.shape)
        return found

    return statistic


def scores_of_single_files(profile_score: str, languages: list[str]) -> dict[str, int]:
    """Return {score beside a mean: place of the file that it is on}; none if there is one file.

    languages: of the files.
    """
    if len(languages) < 2:
        return {}
    return {f"{profile_score}_{language}": place for place, language in enumerate(languages)}


class Efficiency(NamedTuple):
    """What an efficiency profile makes of an accuracy score.

    name: what the mean rank is called. score: the one that is ranked. weight: that of its rank.
    rest: weighted sum of the ranks by size of each run; sizes are known, and are not resampled.
    total: sum of all weights.
    """

    name: str
    score: str
    weight: int
    rest: np.ndarray
    total: int


def efficiency_statistic(accuracy: Statistic, profile: Efficiency, ties: str) -> Statistic:
    """Return the mean rank of an efficiency profile, and the score that it ranks.

    accuracy: statistic that holds the score.
    """

    def statistic(weights: Weights) -> dict[str, np.ndarray]:
        values = accuracy(weights)[profile.score]
        sums = rank_uncertainty.ranks(values, ties) * profile.weight + profile.rest
        return {profile.name: sums / profile.total, profile.score: values}

    return statistic


def estimates(
    statistic: Statistic,
    sample: Sample,
    settings: Settings,
    *,
    unsmooth: str | None = None,
    on_one_file: dict[str, int] | None = None,
) -> dict[str, Estimate]:
    """Return {score: estimate} with intervals. The sample must have something to resample.

    unsmooth: the name of a score that is a rank, if there is one. on_one_file: {score: place of
    the file} of scores that only depend on one file (scores_of_single_files), whose intervals
    are those that the file has alone.
    """
    numbers = sample.documents
    weights = [
        bootstrap.resample(number, settings.resamples, settings.seed, f"resamples of {name}")
        for name, number in zip(sample.names, numbers, strict=True)
    ]
    once = [bootstrap.all_once(number) for number in numbers]
    observed, resampled = statistic(once), statistic(weights)
    left_out = [
        statistic([*once[:place], bootstrap.leave_one_out(number), *once[place + 1 :]])
        for place, number in enumerate(numbers)
    ]
    found = {}
    for name, values in observed.items():
        place = (on_one_file or {}).get(name)
        own = slice(None) if place is None else slice(place, place + 1)
        level = bootstrap.expanded_level(settings.level, numbers[own])
        jackknife = [] if name == unsmooth else [each[name] for each in left_out[own]]
        value = values[0]
        ordered = bootstrap.in_order(resampled[name])
        bounds = bootstrap.intervals(value, ordered, jackknife, level)
        found[name] = Estimate(value, resampled[name], jackknife, bounds)
    return found


class Comparison(NamedTuple):
    """Differences of every two runs, in the order of paired_tests.all_pairs, with intervals."""

    difference: np.ndarray
    intervals: Intervals
    p_bootstrap: np.ndarray


def compare(estimate: Estimate, level: float) -> Comparison:
    """Return the paired bootstrap comparison of every two runs by one score.

    level: the nominal level of the intervals (bootstrap.expanded_level).
    """
    first, second = paired_tests.all_pairs(len(estimate.value))
    resampled = np.ascontiguousarray(estimate.resampled.T)
    blocks = []
    # In blocks, because all differences at once would take hundreds of megabytes.
    for start in range(0, len(first), _PAIRS_AT_A_TIME):
        block = slice(start, start + _PAIRS_AT_A_TIME)
        one, other = first[block], second[block]
        ordered = resampled[one]
        ordered -= resampled[other]
        ordered.sort(axis=1)
        observed = estimate.value[one] - estimate.value[other]
        jackknife = [each[:, one] - each[:, other] for each in estimate.left_out]
        bounds = bootstrap.intervals(observed, ordered, jackknife, level)
        blocks.append(Comparison(observed, bounds, paired_tests.bootstrap_test(ordered)))
    return _joined(blocks)


def _joined(blocks: list[Comparison]) -> Comparison:
    bounds = [block.intervals for block in blocks]
    arrays = [
        np.concatenate([getattr(each, name) for each in bounds] or [np.zeros(0)])
        for name in ("low", "high", "percentile_low", "percentile_high")
    ]
    method = [name for each in bounds for name in each.method]
    difference, p_bootstrap = (
        np.concatenate([getattr(block, name) for block in blocks] or [np.zeros(0)])
        for name in ("difference", "p_bootstrap")
    )
    return Comparison(difference, Intervals(*arrays[:2], method, *arrays[2:]), p_bootstrap)


def randomization(sample: Sample, settings: Settings) -> paired_tests.Randomization:
    """Return the p-value of every two runs by the randomization test.

    The score is the mean over the files of their profile scores.
    """
    parts = np.concatenate([shares(counts) / len(sample.counts) for counts in sample.counts])
    generator = bootstrap.random_bits(settings.seed, f"swaps of {' '.join(sample.names)}")
    return paired_tests.randomization_test(parts, settings.swaps(*parts.shape), generator)
