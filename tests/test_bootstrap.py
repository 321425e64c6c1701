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


def labelled(seed, documents):
    """Return instances and hits of three labels as [document, label], the second label rare."""
    chance = np.random.default_rng(seed)
    gold = chance.integers([1, 0, 0], [9, 2, 12], (documents, 3))
    gold[:2, 1] = 1
    return gold, chance.binomial(gold, [0.7, 0.4, 0.9])


def recall_of_places(gold, hits):
    """Return macro recall as a statistic of places of documents, as scipy resamples them."""

    def statistic(places, axis=-1):
        instances = np.moveaxis(gold[places.astype(int)], -1, 0).sum(axis=axis)
        right = np.moveaxis(hits[places.astype(int)], -1, 0).sum(axis=axis)
        used = instances > 0
        return np.where(used, right / np.where(used, instances, 1), 0).sum(axis=0) / used.sum(
            axis=0
        )

    return statistic


def places_of(weights):
    """Return the places of the documents of each row of weights, each as often as it weighs."""
    return np.array([np.repeat(np.arange(len(row)), row.astype(int)) for row in weights])


def rounding(resampled):
    """Return how far a bound moves if its quantile is rounded at nine decimals."""
    return 0.5e-9 * (len(resampled) - 1) * np.diff(np.sort(resampled)).max() + 1e-12


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("documents", [4, 19, 57])
def test_intervals_of_a_macro_recall_are_those_of_scipy(seed, documents):
    recall = recall_of_places(*labelled(seed, documents))
    everywhere = np.arange(documents)
    resampled = recall(places_of(resample(documents, 800, seed, "de")))
    left_out = recall(places_of(leave_one_out(documents)))[:, None]
    found = intervals(recall(everywhere[None]), in_order(resampled[:, None]), [left_out], LEVEL)
    theirs = scipy_bounds((everywhere,), recall, resampled, "BCa")
    assert found.method == [BCA]
    bounds = found.low[0], found.high[0]
    assert bounds == pytest.approx(tuple(theirs), abs=rounding(resampled))


@pytest.mark.parametrize("seed", range(4))
def test_intervals_of_a_mean_of_macro_recalls_are_those_of_scipy_for_three_samples(seed):
    sizes = 6, 19, 11
    recalls = [recall_of_places(*labelled(10 * seed + n, size)) for n, size in enumerate(sizes)]

    def mean(*places, axis=-1):
        return sum(recall(own, axis) for recall, own in zip(recalls, places, strict=True)) / 3

    everywhere = [np.arange(size)[None] for size in sizes]
    drawn = [places_of(resample(size, 800, seed, str(n))) for n, size in enumerate(sizes)]
    resampled = mean(*drawn)
    left_out = [
        mean(*everywhere[:n], places_of(leave_one_out(size)), *everywhere[n + 1 :])[:, None]
        for n, size in enumerate(sizes)
    ]
    found = intervals(mean(*everywhere), in_order(resampled[:, None]), left_out, LEVEL)
    theirs = scipy_bounds([np.arange(size) for size in sizes], mean, resampled, "BCa")
    bounds = found.low[0], found.high[0]
    assert bounds == pytest.approx(tuple(theirs), abs=rounding(resampled))


def test_but_for_rounded_quantiles_intervals_are_those_of_scipy_to_the_last_digits(monkeypatch):
    monkeypatch.setattr("bootstrap._DECIMALS_OF_QUANTILES", 15)
    for seed in range(4):
        recall = recall_of_places(*labelled(seed, 19))
        resampled = recall(places_of(resample(19, 999, seed, "de")))
        left_out = recall(places_of(leave_one_out(19)))[:, None]
        estimate = recall(np.arange(19)[None])
        found = intervals(estimate, in_order(resampled[:, None]), [left_out], LEVEL)
        theirs = scipy_bounds((np.arange(19),), recall, resampled, "BCa")
        assert (found.low[0], found.high[0]) == pytest.approx(tuple(theirs), abs=1e-12)


def test_an_estimate_that_many_resamples_equal_is_in_the_middle_of_them():
    # Of 200 resamples 20 are below, 100 equal, 80 above: half of the equal ones count as below,
    # so the bias is the quantile of 70 / 200. Without skewness BCa is then at 2 * bias -+ z.
    values = np.concatenate([np.linspace(0.0, 0.4, 20), np.full(100, 0.5), np.linspace(0.6, 1, 80)])
    left_out = np.array([0.45, 0.5, 0.55])[:, None]
    found = intervals(np.array([0.5]), in_order(values[:, None]), [left_out], LEVEL)
    bias = stats.norm.ppf(0.35)
    quantiles = stats.norm.cdf(2 * bias + stats.norm.ppf([0.025, 0.975]))
    expected = np.quantile(values, quantiles)
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(expected), abs=1e-6)


def test_resamples_that_equal_the_estimate_but_for_rounding_give_no_bias():
    # As above with values one step of floats away; exact comparisons would shift the bias.
    about = np.where(np.arange(100) < 70, np.nextafter(0.5, 0), np.nextafter(0.5, 1))
    values = [np.linspace(0.0, 0.4, 20), np.full(100, 0.5), np.linspace(0.6, 1, 80)]
    left_out = np.array([0.45, 0.5, 0.55])[:, None]
    plain, rounded = (
        intervals(np.array([0.5]), in_order(np.concatenate(each)[:, None]), [left_out], LEVEL)
        for each in (values, [values[0], about, values[2]])
    )
    assert rounded.low == pytest.approx(plain.low, abs=1e-12)
    assert rounded.high == pytest.approx(plain.high, abs=1e-12)


def test_documents_that_differ_by_rounding_make_no_difference():
    left_out = 0.7 + np.array([0.0, 1.0, -1.0, 1.0, 0.0])[:, None] * 1e-16
    resampled = np.linspace(0.5, 0.9, 101)[:, None]
    found = intervals(np.array([0.7]), in_order(resampled), [left_out], LEVEL)
    assert found.method == [PERCENTILE]


def test_bounds_never_cross():
    # One document with all the influence: acceleration 0.154. At this level z is 5.2 and the bias
    # 1.5, so 1 - acceleration * (bias + z) is negative and the upper quantile would be 0.
    left_out = np.array([0.0] + [1.0] * 19)[:, None]
    resampled = np.linspace(0, 1, 1001)[:, None]
    found = intervals(np.array([0.9332]), in_order(resampled), [left_out], 1 - 2e-7)
    assert found.method == [PERCENTILE]
    assert found.low[0] == found.percentile_low[0] < found.high[0] == found.percentile_high[0]


def test_the_mirrored_statistic_has_the_mirrored_interval():
    values = np.random.default_rng(8).gamma(1.0, size=(12, 1))
    weights = resample(12, 501, 8, "de") / 12
    left_out = leave_one_out(12) @ values / 11
    plain = intervals(values.mean(axis=0), in_order(weights @ values), [left_out], LEVEL)
    mirrored = intervals(-values.mean(axis=0), in_order(-weights @ values), [-left_out], LEVEL)
    assert plain.method == mirrored.method == [BCA]
    assert mirrored.low == pytest.approx(-plain.high, abs=1e-6)
    assert mirrored.high == pytest.approx(-plain.low, abs=1e-6)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("documents", [[2, 2], [5, 19, 2], [10, 30]])
def test_files_of_any_sizes_add_documents_and_degrees_of_freedom(level, documents):
    free = sum(number - 1 for number in documents)
    quantile = np.sqrt(sum(documents) / free) * stats.t.ppf((1 + level) / 2, free)
    expected = 1 - 2 * stats.norm.sf(quantile)
    assert expanded_level(level, documents) == pytest.approx(expected, abs=0.51e-8)


def test_a_single_document_is_drawn_every_time():
    assert resample(1, 4, 1, "de").tolist() == [[1]] * 4


def test_values_on_either_side_within_rounding_are_equal():
    around = [np.nextafter(0.3, 0), 0.3, np.nextafter(0.3, 1)]
    ordered = np.array([[0.1, *around, 0.4], [0.1, 0.2, 0.3 - 1e-9, 0.3 + 1e-9, 0.4]])
    values = np.array([0.3, 0.3])
    assert number_below(ordered, values).tolist() == [1, 3]
    assert number_up_to(ordered, values).tolist() == [4, 3]
