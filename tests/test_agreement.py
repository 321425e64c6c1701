"""Plurality, Krippendorff's alpha and Cohen's kappa, each against another way to compute it."""

import itertools
import math
from collections import Counter

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from agreement import MeanKappa, Plurality, krippendorff_alpha, mean_kappa, plurality

AT = ["TRUE", "PROBABLE", "FALSE"]


@st.composite
def tables(draw, least_runs=1):
    """Return labels[run][pair]; runs that give one label throughout are not rare."""
    runs, pairs = draw(st.integers(least_runs, 5)), draw(st.integers(1, 7))
    row = st.lists(st.sampled_from(AT), min_size=pairs, max_size=pairs)
    constant = st.sampled_from(AT).map(lambda label: [label] * pairs)
    return draw(st.lists(st.one_of(row, constant), min_size=runs, max_size=runs))


def votes(labels):
    """Return the votes for each pair, of labels[run][pair]; what is None is no vote."""
    return [Counter(v for v in column if v is not None) for column in zip(*labels, strict=True)]


@pytest.mark.parametrize(
    ("given_votes", "outcome"),
    [
        ({"TRUE": 3, "FALSE": 2}, Plurality("TRUE", False)),
        ({"FALSE": 3, "TRUE": 2}, Plurality("FALSE", False)),
        # Two of five are enough, unlike for a majority.
        ({"FALSE": 1, "TRUE": 2, "PROBABLE": 1}, Plurality("TRUE", False)),
        ({"TRUE": 2, "FALSE": 2}, Plurality("FALSE", True)),
        ({"TRUE": 2, "PROBABLE": 2, "FALSE": 1}, Plurality("PROBABLE", True)),
        ({"TRUE": 1, "PROBABLE": 1, "FALSE": 1}, Plurality("FALSE", True)),
        # Losers may tie: only the first place counts.
        ({"TRUE": 2, "PROBABLE": 1, "FALSE": 1}, Plurality("TRUE", False)),
        ({"PROBABLE": 4}, Plurality("PROBABLE", False)),
        ({"FALSE": 0, "TRUE": 1}, Plurality("TRUE", False)),
    ],
)
def test_most_votes_win_and_ties_go_to_the_first_in_the_alphabet(given_votes, outcome):
    assert plurality(Counter(given_votes)) == outcome


@given(st.permutations(["TRUE", "TRUE", "PROBABLE", "FALSE", "FALSE"]))
def test_who_votes_first_does_not_matter(ballots):
    assert plurality(Counter(ballots)) == Plurality("FALSE", True)


def columns(*rows):
    """Return labels[run][pair] of rows of letters, where a dot is no answer."""
    return [[None if letter == "." else letter for letter in row] for row in rows]


@pytest.mark.parametrize(
    ("labels", "alpha"),
    [
        # Krippendorff (2011), section A: Meg and Owen, 0.095; B: Ben and Gerry, 0.692; C: four
        # observers with missing values, 0.743.
        (columns("0100000010", "1110010000"), 0.095),
        (columns("aabbdcccedda", "babbbccceddd"), 0.692),
        (columns("123321412...", "1233224125.3", ".3332342251.", "12332441251."), 0.743),
    ],
)
def test_alpha_of_the_examples_that_krippendorff_works_out(labels, alpha):
    names = sorted({value for row in labels for value in row if value})
    assert krippendorff_alpha(votes(labels), names) == pytest.approx(alpha, abs=5e-4)


def test_alpha_worked_out_by_hand():
    labels = [["TRUE", "TRUE", "FALSE"], ["TRUE", "FALSE", "FALSE"]]
    # Three TRUE and three FALSE among six values: of 6 * 5 ordered pairs 18 differ by chance,
    # 18/30; observed 2 of 6. 1 - (2/6) / (18/30) = 4/9.
    assert krippendorff_alpha(votes(labels), AT) == pytest.approx(4 / 9, abs=1e-12)


@given(tables(least_runs=2))
def test_alpha_is_that_of_the_package_called_with_single_answers(labels):
    assume(len({label for row in labels for label in row}) > 1)
    data = [[AT.index(label) for label in row] for row in labels]
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
    assert krippendorff_alpha(votes(labels), AT) == pytest.approx(expected, abs=1e-12)


def test_alpha_is_1_where_all_agree_and_below_0_where_none_do():
    assert krippendorff_alpha(votes([["TRUE", "FALSE"]] * 3), AT) == 1
    assert krippendorff_alpha(votes([["TRUE", "FALSE"], ["FALSE", "TRUE"]]), AT) < 0


@pytest.mark.parametrize(
    "labels",
    [
        [["TRUE", "FALSE", "TRUE"]],
        [["TRUE", "TRUE"], ["TRUE", "TRUE"], ["TRUE", "TRUE"]],
        [["FALSE"], ["FALSE"]],
    ],
)
def test_alpha_is_undefined_for_one_run_and_for_one_label(labels):
    assert krippendorff_alpha(votes(labels), AT) is None


def test_alpha_is_undefined_without_pairs():
    assert krippendorff_alpha([], AT) is None


def test_alpha_is_a_plain_float():
    assert type(krippendorff_alpha(votes([["TRUE", "FALSE"], ["TRUE", "TRUE"]]), AT)) is float


@given(tables(least_runs=2), st.permutations(AT))
def test_the_order_of_the_labels_does_not_matter(labels, order):
    alphas = krippendorff_alpha(votes(labels), AT), krippendorff_alpha(votes(labels), order)
    if None in alphas:
        assert alphas == (None, None)
    else:
        assert alphas[0] == pytest.approx(alphas[1], abs=1e-12)
    assert mean_kappa(labels, order) == mean_kappa(labels, AT)


def yes_and_no(both, first, second, neither):
    """Return the labels of two runs by how often both, one or neither of them says TRUE."""
    pairs = [("TRUE", "TRUE")] * both + [("TRUE", "FALSE")] * first
    pairs += [("FALSE", "TRUE")] * second + [("FALSE", "FALSE")] * neither
    return [list(labels) for labels in zip(*pairs, strict=True)]


@pytest.mark.parametrize(
    ("numbers", "kappa"),
    [
        # 35/50 agree, by chance 25/50 * 30/50 + 25/50 * 20/50 = 1/2: (0.7 - 0.5) / 0.5.
        ((20, 5, 10, 15), 0.4),
        # 60/100 agree, by chance 0.6 * 0.7 + 0.4 * 0.3 = 0.54: 0.06 / 0.46.
        ((45, 15, 25, 15), 0.06 / 0.46),
        # As many agree, by chance 0.6 * 0.3 + 0.4 * 0.7 = 0.46: 0.14 / 0.54.
        ((25, 35, 5, 35), 0.14 / 0.54),
    ],
)
def test_kappa_worked_out_by_hand(numbers, kappa):
    assert mean_kappa(yes_and_no(*numbers), AT) == MeanKappa(pytest.approx(kappa, abs=1e-12), 1)


def test_kappa_of_three_runs_is_the_mean_of_three_worked_out_by_hand():
    labels = ["TTFF", "TFFF", "FFTT"]
    # 1-2: 3/4 agree, chance 1/2 * 1/4 + 1/2 * 3/4 = 1/2: 1/2. 1-3: 0 agree, chance 1/2: -1.
    # 2-3: 1/4 agree, chance 1/2: -1/2.
    assert mean_kappa([list(row) for row in labels], ["T", "F"]) == (
        pytest.approx((1 / 2 - 1 - 1 / 2) / 3, abs=1e-12),
        3,
    )


@given(tables())
def test_mean_kappa_is_the_mean_of_kappa_as_statsmodels_computes_it(labels):
    kappas = []
    for one, other in itertools.combinations(labels, 2):
        table = np.zeros((len(AT), len(AT)))
        for first, second in zip(one, other, strict=True):
            table[AT.index(first), AT.index(second)] += 1
        with np.errstate(invalid="ignore"):
            kappa = cohens_kappa(table, return_results=False)
        if not math.isnan(kappa):
            kappas.append(kappa)
    found = mean_kappa(labels, AT)
    assert found.pairs == len(kappas)
    expected = sum(kappas) / len(kappas) if kappas else None
    assert found.mean == (expected if expected is None else pytest.approx(expected, abs=1e-12))


def test_two_runs_with_one_and_the_same_label_throughout_are_left_out_and_counted():
    labels = [["TRUE", "TRUE"], ["TRUE", "TRUE"], ["TRUE", "FALSE"]]
    # The two others: half agree, and half do by chance.
    assert mean_kappa(labels, AT) == MeanKappa(0, 2)


def test_two_runs_with_two_different_labels_throughout_have_a_kappa_of_0():
    assert mean_kappa([["TRUE"] * 3, ["FALSE"] * 3], AT) == MeanKappa(0, 1)


@pytest.mark.parametrize("labels", [[["TRUE", "FALSE"]], [["TRUE"] * 2] * 3])
def test_without_two_runs_that_differ_somewhere_there_is_no_mean_kappa(labels):
    assert mean_kappa(labels, AT) == MeanKappa(None, 0)


def test_kappa_counts_exactly_although_there_are_many_pairs():
    labels = yes_and_no(20_000, 5_000, 10_000, 15_000)
    assert mean_kappa(labels, AT).mean == pytest.approx(0.4, abs=1e-12)
    assert type(mean_kappa(labels, AT).mean) is float
