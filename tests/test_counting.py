"""Counting is exact, and agrees with the plain reference in the data repository."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import counting
from evaluation_utils import calculate_metrics

AT = ["TRUE", "PROBABLE", "FALSE"]
LABELS = st.sampled_from(AT)


def matrix(gold, predicted, labels=AT, mapping=None):
    return counting.confusion_matrix(gold, predicted, labels, mapping or {}, "FALSE")


def test_rows_are_gold_and_columns_predicted():
    counted = matrix(["TRUE", "TRUE", "PROBABLE"], ["TRUE", "PROBABLE", "FALSE"])
    assert counted == {
        "TRUE": {"TRUE": 1, "PROBABLE": 1, "FALSE": 0},
        "PROBABLE": {"TRUE": 0, "PROBABLE": 0, "FALSE": 1},
        "FALSE": {"TRUE": 0, "PROBABLE": 0, "FALSE": 0},
    }


def test_a_null_counts_as_the_imputed_label():
    assert matrix(["TRUE", "FALSE"], [None, None])["TRUE"]["FALSE"] == 1


def test_a_label_that_only_the_run_uses_is_left_out_of_the_mean():
    counted = matrix(["TRUE", "TRUE", "FALSE", "FALSE"], ["TRUE", "PROBABLE", "FALSE", "FALSE"])
    assert counting.macro_recall(counted) == Fraction(3, 4)
    assert counting.unused_labels(counted) == ["PROBABLE"]


def test_binary_labels_are_mapped_in_gold_and_run_alike():
    mapping = {"PROBABLE": "TRUE"}
    gold, predicted = ["TRUE", "PROBABLE", "FALSE"], ["PROBABLE", "TRUE", "FALSE"]
    counted = matrix(gold, predicted, ["TRUE", "FALSE"], mapping)
    assert counted == {"TRUE": {"TRUE": 2, "FALSE": 0}, "FALSE": {"TRUE": 0, "FALSE": 1}}


def test_a_foreign_label_is_no_label():
    with pytest.raises(KeyError):
        matrix(["TRUE"], ["true"])


def test_scores_without_pairs_do_not_exist():
    with pytest.raises(ZeroDivisionError):
        counting.macro_recall(matrix([], []))
    with pytest.raises(ZeroDivisionError):
        counting.accuracy(matrix([], []))


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1))
def test_the_plain_metrics_of_the_data_repository_agree(answers):
    gold, predicted = (list(column) for column in zip(*answers, strict=True))
    plain = calculate_metrics({"at": {"gold": gold, "pred": predicted}})["at"]
    counted = matrix(gold, predicted)
    assert float(counting.macro_recall(counted)) == pytest.approx(plain["macro_recall"], abs=1e-12)
    assert float(counting.accuracy(counted)) == pytest.approx(plain["accuracy"], abs=1e-12)
    assert counting.correct(counted) == plain["correct"]
    assert counting.total(counted) == plain["total"]


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1), st.integers(min_value=2, max_value=5))
def test_macro_recall_does_not_depend_on_how_often_the_data_is_repeated(answers, times):
    once = matrix(*(list(column) for column in zip(*answers, strict=True)))
    again = matrix(*(list(column) for column in zip(*(answers * times), strict=True)))
    assert counting.macro_recall(once) == counting.macro_recall(again)
