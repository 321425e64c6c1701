"""Decisions that contradict each other, and decisions in the mapped labels of binary mode."""

import pytest

import campaign
from alignment import index_documents
from decisions import Decision, Gold, apply_changes, changes_of, contradictions
from kit import as_jsonl, find_pair, perfect
from strict_json import read_lines

CONFIG = campaign.load_config(campaign.DEFAULT_CONFIG)
REFERENCE = ("impresso", "test", "de")


def decision(word, row=2, target="at", *, pair=("p2", "l1"), gold="PROBABLE", mode="TERNARY"):
    return Decision("a.xlsx", row, mode, REFERENCE, "de-doc-1", pair, target, gold, word, "", "")


def golds():
    data = as_jsonl(perfect())
    index, _ = index_documents("g.jsonl", read_lines("g.jsonl", data)[0], CONFIG)
    return {REFERENCE: Gold("g.jsonl", data, index)}


@pytest.mark.parametrize(
    "two",
    [
        [decision("TRUE"), decision("FALSE", 3)],
        [decision("KEEP"), decision("FALSE", 3)],
        [decision("EXCLUDE"), decision("TRUE", 3)],
        [decision("EXCLUDE"), decision("TRUE", 3, "isAt", gold="FALSE")],
    ],
)
def test_two_rows_that_cannot_both_be_carried_out_are_named(two):
    [problem] = contradictions(two)
    assert problem.line == 3
    assert "a.xlsx, sheet mismatches, row 2" in problem.found


@pytest.mark.parametrize(
    "two",
    [
        [decision("TRUE"), decision("TRUE", 3)],
        [decision("TRUE"), decision("TRUE", 3, "isAt", gold="FALSE")],
        [decision("EXCLUDE"), decision("EXCLUDE", 3, "isAt", gold="FALSE")],
        [decision("TRUE"), decision("FALSE", 3, pair=("p2", "l2"), gold="FALSE")],
    ],
)
def test_rows_that_agree_or_speak_of_different_labels_are_fine(two):
    assert contradictions(two) == []


def test_labels_of_both_targets_of_a_pair_can_change():
    changes, problems = changes_of(
        [decision("TRUE"), decision("TRUE", 3, "isAt", gold="FALSE")], golds(), CONFIG
    )
    assert problems == []
    expected = perfect()
    find_pair(expected, "p2", "l1").update({"at": "TRUE", "isAt": "TRUE"})
    assert apply_changes(golds()[REFERENCE], changes, CONFIG) == as_jsonl(expected)


def test_a_binary_decision_for_the_label_that_probable_counts_as_changes_nothing():
    binary = {"gold": "TRUE", "mode": "BINARY"}
    assert changes_of([decision("TRUE", **binary)], golds(), CONFIG) == ([], [])
    [change], _ = changes_of([decision("FALSE", **binary)], golds(), CONFIG)
    assert (change.old, change.decision.decision) == ("PROBABLE", "FALSE")
