"""Tests of two runs, held against scipy, statsmodels and swaps by hand."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from bootstrap import in_order, random_bits
from counting import file_scores, macro_recall
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


@settings(max_examples=20)
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


def test_fourteen_documents_with_ties_are_those_of_scipy():
    chance = np.random.default_rng(6)
    numbers = chance.integers(0, 3, (14, 3))
    # Some documents that do not differ, and a run that is a copy of another.
    numbers[:4] = 1
    numbers = np.column_stack([numbers, numbers[:, 0]])
    found = randomization_test(numbers / 7, every_swap(14), generator())
    pairs = zip(*all_pairs(4), strict=True)
    expected = [scipy_p(numbers[:, one], numbers[:, other]) for one, other in pairs]
    assert found.p_values == pytest.approx(expected, abs=1e-12)
    assert found.p_values[2] == 1.0


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8), st.sampled_from([1, 3, 7, 30]))
def test_p_values_are_those_of_whole_numbers_that_are_swapped_by_hand(differences, parts):
    every = [sum(swapped) for swapped in itertools.product(*((d, -d) for d in differences))]
    as_large = sum(abs(each) >= abs(sum(differences)) for each in every)
    numbers = np.array(differences) / parts
    found = randomization_test(
        np.column_stack([numbers, np.zeros(len(numbers))]),
        every_swap(len(numbers)),
        generator(),
    )
    assert Fraction(found.p_values[0]) == Fraction(as_large, 2 ** len(differences))


def test_swapped_answers_of_two_targets_and_five_labels_are_scored_again():
    chance = np.random.default_rng(11)
    names = {"at": ["TRUE", "PROBABLE", "FALSE"], "isAt": ["TRUE", "FALSE"]}
    gold = {target: chance.integers(0, 5, (6, len(own))) for target, own in names.items()}
    hits = {
        target: np.stack([chance.binomial(number, p) for p in (0.3, 0.5, 0.7)], axis=1)
        for target, number in gold.items()
    }

    def scored(runs):
        """Return the exact score if the answers to each document are those of the given run."""
        matrices = {}
        for target, own in names.items():
            matrix = {row: dict.fromkeys(own, 0) for row in own}
            for document, run in enumerate(runs):
                for label, name in enumerate(own):
                    right = int(hits[target][document, run, label])
                    matrix[name][name] += right
                    wrong = int(gold[target][document, label]) - right
                    matrix[name][own[label - 1]] += wrong
            matrices[target] = matrix
        return file_scores(matrices, "profile")["profile"]

    expected = []
    for one, other in itertools.combinations(range(3), 2):
        observed = scored([one] * 6) - scored([other] * 6)
        differences = [
            scored(runs) - scored([one + other - run for run in runs])
            for runs in itertools.product([one, other], repeat=6)
        ]
        as_large = sum(abs(difference) >= abs(observed) for difference in differences)
        expected.append(as_large / 2**6)
    floats = [{target: each.astype(float) for target, each in own.items()} for own in (gold, hits)]
    counts = Counts([(f"team{n}", "run1") for n in range(3)], list("abcdef"), *floats)
    found = randomization_test(shares(counts), every_swap(6), generator())
    assert found.p_values.tolist() == expected


def test_drawn_p_values_follow_from_the_raw_words_of_pcg64():
    # In whole numbers of Python: a word for each draw, its bytes from the lowest, the bits of a
    # byte from the highest. More draws go on where the first ones ended.
    chance = np.random.default_rng(3)
    numbers = chance.integers(-3, 5, 17).tolist()
    words = [int(word) for word in random_bits(1, "swaps").random_raw(300)]
    as_large = 0
    for word in words:
        bits = [word >> 8 * (place // 8) + 7 - place % 8 & 1 for place in range(17)]
        signed = [-each if bit else each for each, bit in zip(numbers, bits, strict=True)]
        as_large += abs(sum(signed)) >= abs(sum(numbers))
    parts = np.column_stack([np.array(numbers) / 40, np.zeros(17)])
    found = randomization_test(parts, Swaps(100, 300, 1.0, exact=False), generator())
    assert found.swaps.tolist() == [300]
    assert found.p_values.tolist() == [(as_large + 1) / 301]


def test_more_than_a_word_and_a_block_of_draws_follow_from_the_raw_words():
    # 70 documents need two words a draw; 8,192 draws are a block.
    numbers = np.zeros(70, dtype=int)
    numbers[[0, 1, 63, 64, 69]] = [3, 2, 1, 5, -2]
    words = random_bits(1, "swaps").random_raw(2 * 9000)
    as_large = 0
    for draw in range(9000):
        both = [int(word) for word in words[2 * draw : 2 * draw + 2]]
        total = 0
        for place in numbers.nonzero()[0].tolist():
            word, within = both[place // 64], place % 64
            sign = 1 - 2 * (word >> 8 * (within // 8) + 7 - within % 8 & 1)
            total += sign * int(numbers[place])
        as_large += abs(total) >= abs(int(numbers.sum()))
    parts = np.column_stack([numbers / 3, np.zeros(70)])
    found = randomization_test(parts, Swaps(9000, 9000, 0.1, exact=False), generator())
    assert found.p_values.tolist() == [(as_large + 1) / 9001]


def test_a_p_value_at_the_limit_is_drawn_further():
    alike = np.ones((20, 2))
    # Every swap is as large: p is exactly 1.
    found = randomization_test(alike, Swaps(100, 400, 1.0, exact=False), generator())
    assert (found.p_values.tolist(), found.swaps.tolist()) == ([1.0], [400])


def test_further_draws_are_counted_for_their_own_pair():
    # The runs differ in the first two documents of 20, or in all: half of all swaps are as large
    # for the first pair; the others have the same signs throughout.
    parts = np.zeros((20, 3))
    parts[:2, 1] = 1
    parts[:, 2] = 5
    found = randomization_test(parts, Swaps(2000, 8000, 0.1, exact=False), generator())
    assert found.swaps.tolist() == [2000, 8000, 8000]
    assert found.p_values[0] == pytest.approx(1 / 2, abs=4 * np.sqrt(1 / 4 / 2000) + 1e-3)
    assert found.p_values[1:].tolist() == [1 / 8001, 1 / 8001]


def test_p_values_do_not_depend_on_the_other_runs_if_all_swaps_are_looked_at():
    parts = np.random.default_rng(9).integers(0, 5, (8, 5)) / 12
    together = randomization_test(parts, every_swap(8), generator()).p_values
    for place, runs in enumerate(zip(*all_pairs(5), strict=True)):
        alone = randomization_test(parts[:, list(runs)], every_swap(8), generator())
        assert together[place] == alone.p_values[0]


@pytest.mark.parametrize("runs", [2, 10, 46])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_swaps_are_enough_for_the_first_step_of_holm(runs, alpha):
    comparisons = runs * (runs - 1) // 2
    swaps = swaps_for(57, comparisons, 1000, alpha)
    # With no swap as large the smallest p-value is 1 / (most + 1); with four, 5 / (most + 1).
    smallest = np.array([5 / (swaps.most + 1)] + [1.0] * (comparisons - 1))
    assert holm(smallest)[0] < alpha
    assert swaps.first == 1000 <= swaps.most
    # Whoever is not drawn further has a p-value that even without a correction is not small.
    assert swaps.limit > alpha


RESAMPLED = st.lists(st.sampled_from([-2.0, -1.0, -1e-15, 0.0, 1e-15, 1.0, 2.0]), min_size=1)


@given(RESAMPLED)
def test_the_bootstrap_p_value_by_its_formula(values):
    resamples = len(values)
    smaller = min(sum(v < 1e-9 for v in values), sum(v > -1e-9 for v in values))
    expected = min(Fraction(2 * (smaller + 1), resamples + 1), Fraction(1))
    (found,) = bootstrap_test(in_order(np.array(values)[:, None]))
    assert found == float(expected)


@given(P_VALUES, st.randoms(use_true_random=False))
def test_holms_correction_does_not_depend_on_the_order(p_values, random):
    order = list(range(len(p_values)))
    random.shuffle(order)
    values = np.array(p_values)
    assert (holm(values[order]) == holm(values)[order]).all()
    assert (holm(values) >= values).all()
