"""Tests of two runs, held against scipy, statsmodels and swaps by hand."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from bootstrap import in_order, random_bits
from counting import macro_recall
from document_counts import Counts, shares
from paired_tests import (
    Swaps,
    all_pairs,
    bootstrap_test,
    holm,
    randomization_test,
    swaps_for,
)

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=40)
LABELS = ["TRUE", "FALSE"]


def generator():
    return random_bits(1, "swaps")


def every_swap(documents):
    return swaps_for(documents, 1, 10_000, 0.05)


def scipy_p(first, second):
    def difference(one, other, axis):
        return (one - other).sum(axis=axis)

    found = stats.permutation_test(
        (first, second),
        difference,
        permutation_type="samples",
        alternative="two-sided",
        n_resamples=np.inf,
        vectorized=True,
    )
    return found.pvalue


@pytest.mark.parametrize("documents", [2, 5, 9, 11])
@pytest.mark.parametrize("seed", range(3))
def test_up_to_fourteen_documents_the_p_values_are_those_of_scipy(documents, seed):
    chance = np.random.default_rng(seed)
    # Few different values, so that swaps tie with what was observed; whole numbers for scipy, which
    # only knows ties with zero if they are exact.
    numbers = chance.integers(0, 4, (documents, 4))
    found = randomization_test(numbers / 30, every_swap(documents), generator())
    pairs = zip(*all_pairs(4), strict=True)
    expected = [scipy_p(numbers[:, one], numbers[:, other]) for one, other in pairs]
    assert found.p_values == pytest.approx(expected, abs=1e-12)
    assert found.swaps.tolist() == [2**documents] * 6


def test_fourteen_documents_are_enumerated_and_fifteen_are_drawn():
    assert every_swap(14) == Swaps(2**14, 2**14, 0.0, exact=True)
    assert every_swap(15).first == 10_000
    assert not every_swap(15).exact


def test_with_more_documents_the_p_values_are_near_those_of_all_swaps():
    chance = np.random.default_rng(5)
    parts = chance.normal(size=(16, 3)) + np.array([0.0, 0.3, 0.9])
    found = randomization_test(parts, every_swap(16), generator())
    signs = np.array(list(itertools.product([1, -1], repeat=16)))
    for p_value, one, other in zip(found.p_values, *all_pairs(3), strict=True):
        difference = parts[:, one] - parts[:, other]
        exact = (np.abs(signs @ difference) >= abs(difference.sum()) - 1e-12).mean()
        # Four standard errors of a share of 10,000 draws.
        error = 4 * np.sqrt(exact * (1 - exact) / 10_000)
        assert p_value == pytest.approx(exact, abs=error + 1e-4)


def test_runs_that_answer_alike_have_a_p_value_of_one():
    parts = np.tile(np.array([[0.1], [0.2], [0.0]]), 2)
    assert randomization_test(parts, every_swap(3), generator()).p_values.tolist() == [1.0]
    many = np.tile(np.linspace(0, 1, 20)[:, None], 2)
    assert randomization_test(many, every_swap(20), generator()).p_values.tolist() == [1.0]


def test_a_single_run_has_nobody_to_compare_with():
    found = randomization_test(np.ones((20, 1)), every_swap(20), generator())
    assert found.p_values.tolist() == []
    assert found.swaps.tolist() == []


def test_rounding_does_not_hide_a_tie():
    # 0.1 + 0.2 - 0.3 is not 0 in floats, so swapping the third document must count as a tie.
    parts = np.array([[0.1, 0.0], [0.2, 0.0], [0.3, 0.0]])
    # Of eight swaps those with a difference of 0.6 are none but the observed one and its opposite.
    assert randomization_test(parts, every_swap(3), generator()).p_values.tolist() == [2 / 8]
    zero = np.array([[0.1, 0.0], [0.2, 0.0], [0.0, 0.3]])
    assert randomization_test(zero, every_swap(3), generator()).p_values.tolist() == [1.0]


def confusion(hits, instances):
    """Return a matrix with so many hits of so many instances of each label."""
    (a, b), (n, m) = hits, instances
    return {"TRUE": {"TRUE": a, "FALSE": n - a}, "FALSE": {"TRUE": m - b, "FALSE": b}}


def score(documents):
    """Return the macro recall of documents, (hits, instances) of both labels each."""
    sums = [[sum(each[part][label] for each in documents) for label in (0, 1)] for part in (0, 1)]
    return macro_recall(confusion(*sums))


def test_a_change_of_sign_is_a_swap_of_the_answers_to_a_document():
    chance = np.random.default_rng(2)
    gold = chance.integers(1, 6, (7, 2))
    runs = [chance.binomial(gold, p) for p in (0.4, 0.7)]

    def answers(run):
        return list(zip(run, gold, strict=True))

    observed = score(answers(runs[0])) - score(answers(runs[1]))
    as_large = 0
    for swapped in itertools.product([False, True], repeat=7):
        one, other = (
            [(runs[side != swap][place], gold[place]) for place, swap in enumerate(swapped)]
            for side in (False, True)
        )
        as_large += abs(score(one) - score(other)) >= abs(observed)
    hits = np.stack(runs, axis=1).astype(float)
    names = [("team1", "run1"), ("team2", "run1")]
    counts = Counts(names, list("abcdefg"), {"at": gold.astype(float)}, {"at": hits})
    found = randomization_test(shares(counts), every_swap(7), generator())
    assert Fraction(found.p_values[0]) == Fraction(as_large, 2**7)


def test_the_smallest_p_value_of_a_thousand_comparisons_can_be_significant():
    swaps = swaps_for(57, 1035, 10_000, 0.05)
    assert 1035 / (10_000 + 1) > 0.05
    assert 1035 / (swaps.most + 1) < 0.05 / 4
    # A pair at the limit of the first step, p = 0.05 / 1035, is met five times.
    assert swaps.most * 0.05 / 1035 == pytest.approx(5)


def test_few_comparisons_need_no_more_than_the_first_draws():
    swaps = swaps_for(57, 1, 10_000, 0.05)
    assert (swaps.first, swaps.most) == (10_000, 10_000)


def test_only_runs_that_may_differ_get_more_draws():
    chance = np.random.default_rng(0)
    noise = chance.normal(0, 0.1, (20, 3))
    parts = noise + np.array([0.0, 0.0, 1.0])
    swaps = Swaps(1000, 5000, 0.1, exact=False)
    found = randomization_test(parts, swaps, generator())
    assert found.swaps.tolist() == [1000, 5000, 5000]
    assert found.p_values[0] > 0.1
    # All documents agree: only the observed order and its opposite, 2 of 2^20 swaps, are as large.
    assert found.p_values[1:] == pytest.approx([1 / 5001] * 2)


def test_a_drawn_p_value_is_never_zero():
    parts = np.column_stack([np.ones(40), np.zeros(40)])
    found = randomization_test(parts, Swaps(100, 100, 0.1, exact=False), generator())
    assert found.p_values.tolist() == [1 / 101]


def test_more_than_sixty_four_documents_have_a_sign_each():
    chance = np.random.default_rng(1)
    parts = np.zeros((130, 2))
    # Only the last documents differ: with a constant sign, every swap would be as large.
    parts[-8:, 0] = chance.gamma(1.0, size=8)
    found = randomization_test(parts, Swaps(4096, 4096, 0.0, exact=False), generator())
    expected = scipy_p(parts[-8:, 0], parts[-8:, 1])
    assert found.p_values[0] == pytest.approx(
        expected, abs=4 * np.sqrt(expected * (1 - expected) / 4096) + 1e-3
    )


def test_draws_in_several_blocks_are_all_counted():
    parts = np.zeros((20, 2))
    found = randomization_test(parts, Swaps(20_000, 20_000, 0.0, exact=False), generator())
    assert found.p_values.tolist() == [1.0]
    assert found.swaps.tolist() == [20_000]


def test_pairs_stand_in_the_order_of_the_runs():
    first, second = all_pairs(4)
    assert list(zip(first, second, strict=True)) == list(itertools.combinations(range(4), 2))


@given(P_VALUES)
def test_holms_correction_is_that_of_statsmodels(p_values):
    expected = multipletests(p_values, method="holm")[1]
    assert holm(np.array(p_values)) == pytest.approx(expected, abs=1e-12)


def test_holms_correction_by_hand():
    # 3 * 0.01, then 2 * 0.02, and 0.03 must not become smaller than the one before.
    assert holm(np.array([0.03, 0.01, 0.02])) == pytest.approx([0.04, 0.03, 0.04])
    assert holm(np.array([0.5, 0.6])).tolist() == [1.0, 1.0]
    assert holm(np.zeros(0)).tolist() == []


def test_the_bootstrap_p_value_is_twice_the_smaller_tail():
    resampled = np.array([[-1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [3.0, 3.0, 0.0], [4.0, 4.0, 0.0]])
    # One of four is not above zero: 2 * (1 + 1) / 5. None is: 2 / 5. All are zero: 1.
    assert bootstrap_test(in_order(resampled)).tolist() == [0.8, 0.4, 1.0]


def test_the_bootstrap_p_value_does_not_depend_on_who_stands_first():
    chance = np.random.default_rng(4)
    resampled = chance.normal(0.5, 1, (300, 6))
    assert (
        bootstrap_test(in_order(resampled)).tolist()
        == bootstrap_test(in_order(-resampled)).tolist()
    )


def test_a_difference_of_rounding_is_none_in_the_bootstrap():
    resampled = np.array([[1e-16], [-1e-16], [1e-16]])
    assert bootstrap_test(in_order(resampled)).tolist() == [1.0]
