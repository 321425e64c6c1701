"""How a run lines up with its reference: what is missing, what is beyond, in any order."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kit
from alignment import Alignment, align, alignment_problems, index_documents
from campaign import DEFAULT_CONFIG, load_config
from strict_json import read_lines

CONFIG = load_config(DEFAULT_CONFIG)
TARGETS = ["at", "isAt"]


def indexed(documents):
    """Return the index of documents, which must hold no repetition."""
    lines, problems = read_lines("file", kit.as_jsonl(documents))
    index, repeated = index_documents("file", lines, CONFIG)
    assert problems + repeated == []
    return index


def repetitions(documents):
    """Return the problems that index_documents finds, as text."""
    lines, _ = read_lines("file", kit.as_jsonl(documents))
    return [problem.text() for problem in index_documents("file", lines, CONFIG)[1]]


def aligned(run, gold=None, targets=TARGETS):
    return align(indexed(kit.gold() if gold is None else gold), indexed(run), targets)


def warnings(run, gold=None):
    """Return the warnings about a run, as text."""
    gold_index, index = indexed(kit.gold() if gold is None else gold), indexed(run)
    found = align(gold_index, index, TARGETS)
    problems = alignment_problems("run", gold_index, index, found, CONFIG)
    return [problem.text() for problem in problems]


NOTHING_LACKING = Alignment([], 0, {"at": 0, "isAt": 0}, [], 0, 2)


def test_a_perfect_run_lacks_nothing():
    assert aligned(kit.gold()) == NOTHING_LACKING
    assert warnings(kit.gold()) == []


def test_a_missing_document_counts_with_its_pairs():
    found = aligned(kit.gold()[:1])
    assert found == NOTHING_LACKING._replace(
        missing_documents=["de-doc-2"], missing_pairs=4, shared=1
    )
    assert warnings(kit.gold()[:1]) == [
        "warning: run: found 4 pairs missing, 1 whole document among them;"
        " expected a label for every pair of the reference; count as FALSE"
    ]


def test_a_missing_pair_counts_alone():
    run = kit.gold()
    del run[0]["sampled_pairs"][0]
    assert aligned(run) == NOTHING_LACKING._replace(missing_pairs=1)
    assert warnings(run) == [
        "warning: run: found 1 pair missing;"
        " expected a label for every pair of the reference; count as FALSE"
    ]


def test_an_empty_list_of_pairs_lacks_pairs_but_no_document():
    run = kit.gold()
    run[0]["sampled_pairs"] = []
    assert aligned(run) == NOTHING_LACKING._replace(missing_pairs=5)


def test_a_gold_document_without_pairs_cannot_be_missing():
    gold = [*kit.gold(), kit.document("de-doc-3", "1901", [])]
    assert aligned(kit.gold(), gold) == NOTHING_LACKING
    assert warnings(kit.gold(), gold) == []


def test_null_labels_are_counted_per_target():
    run = kit.gold()
    kit.find_pair(run, "p1", "l1").update(at=None, isAt=None)
    kit.find_pair(run, "q1", "m1").update(at=None)
    assert aligned(run) == NOTHING_LACKING._replace(null_labels={"at": 2, "isAt": 1})
    assert warnings(run) == [
        "warning: run: found 2 null labels for at;"
        " expected a label for every pair of the reference; count as FALSE",
        "warning: run: found 1 null label for isAt;"
        " expected a label for every pair of the reference; count as FALSE",
    ]


def test_null_labels_of_a_target_that_is_not_scored_are_not_counted():
    run = kit.gold()
    kit.find_pair(run, "p1", "l1").update(isAt=None)
    assert aligned(run, targets=["at"]).null_labels == {"at": 0}


def test_null_labels_of_extra_pairs_are_not_counted():
    run = kit.gold()
    run[0]["sampled_pairs"].append(kit.pair("p9", "l9", None, None))
    assert aligned(run) == NOTHING_LACKING._replace(extra_pairs=1)


def test_what_is_beyond_the_reference_is_told_apart_by_document_and_pair():
    run = kit.gold()
    run[0]["sampled_pairs"].append(kit.pair("p9", "l9", "TRUE", "TRUE"))
    three = [kit.pair("a", place, "TRUE", "TRUE") for place in "bcd"]
    run.append(kit.document("de-doc-9", "1901", three))
    assert aligned(run) == NOTHING_LACKING._replace(extra_documents=["de-doc-9"], extra_pairs=1)
    assert warnings(run) == [
        "warning: run: found 1 pair beyond those of the reference;"
        " expected only what the reference has; ignored",
        'warning: run:3: $.document_id: found "de-doc-9", which the reference does not have;'
        " expected only what the reference has; ignored",
    ]


@pytest.mark.parametrize(
    ("gold_id", "run_id", "shown", "meant"),
    [
        ("de-doc-1", "de-doc-1 ", '"de-doc-1 "', '"de-doc-1"'),
        ("de-doc-1", "DE-doc-1", '"DE-doc-1"', '"de-doc-1"'),
        ("dé-1", "de\u0301-1", r'"de\u0301-1"', '"dé-1"'),
        ("de-doc-1", "de-doc-1\u00a0", r'"de-doc-1\u00a0"', '"de-doc-1"'),
        ("de-doc-1", "de-doc-1\t", r'"de-doc-1\t"', '"de-doc-1"'),
    ],
)
def test_an_id_that_is_almost_right_is_unknown_and_names_the_near_one(
    gold_id, run_id, shown, meant
):
    gold, run = kit.gold(), kit.gold()
    gold[0]["document_id"], run[0]["document_id"] = gold_id, run_id
    found = aligned(run, gold)
    assert (found.missing_documents, found.missing_pairs) == ([gold_id], 5)
    assert (found.extra_documents, found.shared) == ([run_id], 1)
    assert warnings(run, gold) == [
        "warning: run: found 5 pairs missing, 1 whole document among them;"
        " expected a label for every pair of the reference; count as FALSE",
        f"warning: run:1: $.document_id: found {shown}, which the reference does not have;"
        f" expected only what the reference has; ignored; was {meant} meant?",
    ]


def test_an_id_with_a_zero_byte_is_unknown_and_shown_as_an_escape():
    run = kit.gold()
    run[0]["document_id"] = "de-doc-1\0"
    assert (
        r'warning: run:1: $.document_id: found "de-doc-1\u0000", which the reference does not have'
        in warnings(run)[1]
    )


def test_a_pair_id_that_is_almost_right_is_another_pair():
    run = kit.gold()
    kit.find_pair(run, "p1", "l1")["pers_entity_id"] = "p1 "
    assert aligned(run) == NOTHING_LACKING._replace(missing_pairs=1, extra_pairs=1)


def test_ids_that_read_the_same_when_joined_are_two_pairs():
    pairs = [kit.pair("p1", "1l", "TRUE", "TRUE"), kit.pair("p11", "l", "FALSE", "FALSE")]
    gold = [kit.document("d", None, pairs)]
    run = [kit.document("d", None, pairs[:1])]
    assert aligned(run, gold).missing_pairs == 1


def test_a_document_again_is_told_with_both_lines():
    [again, and_again] = repetitions([*kit.gold(), kit.gold()[0], kit.gold()[0]])
    assert again == (
        'error: file:3: $.document_id: found document "de-doc-1" again, after line 1;'
        " expected each document once; keep one of the two lines"
    )
    assert and_again == again.replace("file:3", "file:4")


def test_a_pair_again_is_told_with_both_paths():
    run = kit.gold()
    run[1]["sampled_pairs"].append(kit.pair("q1", "m2", "TRUE", "TRUE"))
    assert repetitions(run) == [
        'error: file:2: $.sampled_pairs[4]: found the pair "q1" and "m2" again, after'
        " $.sampled_pairs[1]; expected each pair once; keep one of the two"
    ]


def test_the_same_pair_in_two_documents_is_fine():
    run = kit.gold()
    run[1]["sampled_pairs"].append(kit.pair("p1", "l1", "FALSE", "FALSE"))
    assert repetitions(run) == []


CHOICES = st.lists(st.sampled_from(["keep", "leave out", "null"]), min_size=9, max_size=9)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CHOICES, st.integers(min_value=0, max_value=3), st.randoms(use_true_random=False))
def test_order_changes_nothing_and_the_pairs_add_up(choices, extra, chance: random.Random):
    run = kit.gold()
    chosen = iter(choices)
    for document in run:
        kept = []
        for pair in document["sampled_pairs"]:
            choice = next(chosen)
            if choice != "leave out":
                kept.append({**pair, "at": None if choice == "null" else pair["at"]})
        document["sampled_pairs"] = kept
    run[0]["sampled_pairs"] += [kit.pair("x", str(n), "TRUE", "TRUE") for n in range(extra)]
    found = aligned(run)
    assert found.missing_pairs == choices.count("leave out")
    assert found.null_labels == {"at": choices.count("null"), "isAt": 0}
    assert found.extra_pairs == extra
    for document in run:
        chance.shuffle(document["sampled_pairs"])
    chance.shuffle(run)
    assert aligned(run) == found
