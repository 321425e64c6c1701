"""Resamples of documents and intervals from them, held against scipy."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from bootstrap import (
    BCA,
    PERCENTILE,
    all_once,
    expanded_level,
    in_order,
    intervals,
    leave_one_out,
    number_below,
    number_up_to,
    random_bits,
    resample,
)

LEVEL = 0.95


def scipy_bounds(data, statistic, resampled, method, *, paired=False):
    """Return scipy's interval for one statistic from given resamples."""
    found = stats.bootstrap(
        data,
        statistic,
        n_resamples=0,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=resampled),
        method=method,
        confidence_level=LEVEL,
        vectorized=True,
        paired=paired,
    )
    return found.confidence_interval


def ratio(hits, instances, axis):
    return hits.sum(axis=axis) / instances.sum(axis=axis)


def skewed(seed, documents):
    """Return hits and instances of documents, some much larger than others."""
    chance = np.random.default_rng(seed)
    instances = chance.integers(1, 17, documents).astype(float)
    return chance.binomial(instances.astype(int), chance.beta(4, 2, documents)) * 1.0, instances


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("documents", [5, 19, 30])
def test_intervals_of_a_recall_are_those_of_scipy_from_the_same_resamples(seed, documents):
    hits, instances = skewed(seed, documents)
    weights = resample(documents, 999, seed, "documents")

    def recall(rows):
        return (rows @ hits / (rows @ instances))[:, None]

    resampled = recall(weights)
    left_out = recall(leave_one_out(documents))
    found = intervals(recall(all_once(documents))[0], in_order(resampled), [left_out], LEVEL)
    data = (hits, instances)
    bca = scipy_bounds(data, ratio, resampled[:, 0], "BCa", paired=True)
    plain = scipy_bounds(data, ratio, resampled[:, 0], "percentile", paired=True)
    assert found.method == [BCA]
    # Quantiles are rounded at 9 decimals, which moves a bound by less than 1e-5 of a step.
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(bca), abs=1e-6)
    assert found.percentile_low[0] == pytest.approx(plain.low, abs=1e-12)
    assert found.percentile_high[0] == pytest.approx(plain.high, abs=1e-12)


def mean_of_means(first, second, axis):
    return (first.mean(axis=axis) + second.mean(axis=axis)) / 2


@pytest.mark.parametrize("seed", range(5))
def test_intervals_over_two_files_are_those_of_scipy_for_two_samples(seed):
    chance = np.random.default_rng(seed)
    first, second = chance.gamma(1.0, size=12), chance.gamma(3.0, size=20)
    weights = [resample(len(each), 999, seed, name) for each, name in ((first, "a"), (second, "b"))]

    def mean(rows, others):
        return ((rows @ first / len(first) + others @ second / len(second)) / 2)[:, None]

    def mean_of_weights(rows, others):
        one = rows @ first / rows.sum(axis=1)
        other = others @ second / others.sum(axis=1)
        return ((one + other) / 2)[:, None]

    once = all_once(12), all_once(20)
    resampled = mean(*weights)
    left_out = [
        mean_of_weights(leave_one_out(12), once[1]),
        mean_of_weights(once[0], leave_one_out(20)),
    ]
    found = intervals(mean(*once)[0], in_order(resampled), left_out, LEVEL)
    bca = scipy_bounds((first, second), mean_of_means, resampled[:, 0], "BCa")
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(bca), abs=1e-6)


def test_intervals_are_those_of_scipys_own_resamples_within_their_error():
    hits, instances = skewed(7, 30)
    weights = resample(30, 20_000, 1, "documents")
    resampled = (weights @ hits / (weights @ instances))[:, None]
    rows = leave_one_out(30)
    left_out = (rows @ hits / (rows @ instances))[:, None]
    estimate = np.array([hits.sum() / instances.sum()])
    found = intervals(estimate, in_order(resampled), [left_out], LEVEL)
    theirs = stats.bootstrap(
        (hits, instances),
        ratio,
        paired=True,
        vectorized=True,
        n_resamples=20_000,
        method="BCa",
        rng=np.random.default_rng(2),
    ).confidence_interval
    # A 2.5% quantile of 20,000 draws from about a normal distribution has the standard error
    # sqrt(0.025 * 0.975 / 20,000) / 0.058 = 0.019 deviations (0.058 is the density there); twice
    # that for two sets of draws and the bias that both estimate, and four of them for safety.
    error = 4 * 2 * 0.019 * resampled.std()
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(theirs), abs=error)


def test_several_statistics_have_the_intervals_that_each_has_alone():
    chance = np.random.default_rng(3)
    values = chance.gamma(1.0, size=(15, 4))
    weights = resample(15, 500, 3, "x") / 15
    left_out = leave_one_out(15) @ values / 14
    together = intervals(values.mean(axis=0), in_order(weights @ values), [left_out], LEVEL)
    for column in range(4):
        own = values[:, [column]]
        alone = intervals(own.mean(axis=0), in_order(weights @ own), [left_out[:, [column]]], LEVEL)
        assert together.low[column] == pytest.approx(alone.low[0], abs=1e-12)
        assert together.high[column] == pytest.approx(alone.high[0], abs=1e-12)


# The mean of nineteen times 0.7 is not 0.7 in floats: that is no influence of a document.
@pytest.mark.parametrize("score", [1.0, 0.7])
def test_a_score_that_never_varies_has_a_percentile_interval_and_says_so(score):
    resampled, left_out = np.full((100, 1), score), np.full((19, 1), score)
    found = intervals(np.array([score]), in_order(resampled), [left_out], LEVEL)
    assert found.method == [PERCENTILE]
    assert (found.low[0], found.high[0]) == (score, score)


def test_an_estimate_beyond_all_resamples_has_a_percentile_interval():
    resampled = np.linspace(0.1, 0.9, 101)[:, None]
    left_out = np.linspace(0.9, 1.0, 10)[:, None]
    found = intervals(np.ones(1), in_order(resampled), [left_out], LEVEL)
    assert found.method == [PERCENTILE]
    # 2.5% of the way from 0.1 to 0.9.
    assert (found.low[0], found.high[0]) == pytest.approx((0.12, 0.88))


def test_where_one_of_two_is_undefined_the_other_is_not():
    resampled = np.column_stack([np.ones(101), np.linspace(0, 1, 101)])
    left_out = np.column_stack([np.ones(10), np.linspace(0.4, 0.6, 10)])
    found = intervals(np.array([1.0, 0.5]), in_order(resampled), [left_out], LEVEL)
    assert found.method == [PERCENTILE, BCA]
    # Neither bias nor skewness: BCa is the percentile interval.
    assert (found.low[1], found.high[1]) == pytest.approx((0.025, 0.975), abs=1e-6)


def test_a_rank_has_a_percentile_interval():
    resampled = np.repeat([1.0, 2.0, 3.0], [10, 80, 10])[:, None]
    found = intervals(np.array([2.0]), in_order(resampled), [], 0.9)
    assert found.method == [PERCENTILE]
    assert (found.low[0], found.high[0]) == (1.0, 3.0)


@pytest.mark.parametrize("documents", [2, 5, 19, 30, 200])
def test_the_level_is_expanded_as_hesterberg_does(documents):
    quantile = np.sqrt(documents / (documents - 1)) * stats.t.ppf(0.975, documents - 1)
    expected = stats.norm.cdf(quantile) - stats.norm.cdf(-quantile)
    assert expanded_level(0.95, [documents]) == pytest.approx(expected, abs=1e-6)


def test_files_add_their_degrees_of_freedom():
    quantile = np.sqrt(57 / 54) * stats.t.ppf(0.975, 54)
    expected = stats.norm.cdf(quantile) - stats.norm.cdf(-quantile)
    assert expanded_level(0.95, [19, 19, 19]) == pytest.approx(expected, abs=1e-6)


def test_with_many_documents_the_level_stays():
    assert expanded_level(0.95, [1_000_000]) == pytest.approx(0.95, abs=1e-5)
    assert expanded_level(0.95, [10]) > expanded_level(0.95, [20]) > 0.95


def test_a_resample_draws_as_many_documents_as_there_are():
    weights = resample(19, 500, 1, "de")
    assert weights.shape == (500, 19)
    assert (weights.sum(axis=1) == 19).all()
    assert (weights == weights.astype(int)).all()
    assert weights.min() == 0


def test_every_document_is_as_likely_as_any_other():
    weights = resample(10, 40_000, 1, "de")
    # A weight is binomial (10, 1/10): mean 1, variance 0.9; four standard errors.
    assert weights.mean(axis=0) == pytest.approx(1, abs=4 * np.sqrt(0.9 / 40_000))
    # The variance of a variance is (kurtosis - 1) * 0.81 / n, the kurtosis 3 + 0.46 / 0.9.
    assert weights.var(axis=0) == pytest.approx(0.9, abs=4 * np.sqrt(2.51 * 0.81 / 40_000))
    # Two weights of a resample have the covariance -10 / 100.
    assert np.cov(weights[:, 0], weights[:, 1])[0, 1] == pytest.approx(-0.1, abs=0.02)


def test_a_resample_follows_from_the_raw_words_of_pcg64():
    # Both are streams that numpy keeps for all releases; whole numbers of Python cannot overflow.
    seeds = np.random.SeedSequence([5, *b"stem"])
    words = [int(word) for word in np.random.PCG64(seeds).random_raw(3 * 7)]
    drawn = [(word >> 32) * 7 >> 32 for word in words]
    expected = [
        [drawn[7 * row : 7 * row + 7].count(place) for place in range(7)] for row in range(3)
    ]
    assert resample(7, 3, 5, "stem").tolist() == expected


def test_the_same_seed_gives_the_same_resamples_and_another_name_others():
    first = resample(9, 50, 1, "de")
    assert (first == resample(9, 50, 1, "de")).all()
    assert (first != resample(9, 50, 2, "de")).any()
    assert (first != resample(9, 50, 1, "en")).any()
    assert (first == resample(9, 60, 1, "de")[:50]).all()


def test_names_in_any_script_have_streams_of_their_own():
    assert random_bits(1, "é").random_raw() != random_bits(1, "e").random_raw()


def test_the_sample_has_each_document_once_and_the_jackknife_all_but_one():
    assert all_once(3).tolist() == [[1, 1, 1]]
    assert leave_one_out(3).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_values_that_differ_by_rounding_are_equal():
    ordered = np.array([[0.1, 0.3, 0.3 + 1e-16, 0.1 + 0.2, 0.4]])
    assert number_below(ordered, np.array([0.3])).tolist() == [1]
    assert number_up_to(ordered, np.array([0.3])).tolist() == [4]
