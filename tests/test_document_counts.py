"""Counts by document, held against the exact scores of counting.py."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import document_counts
from counting import confusion_matrix, file_scores
from document_counts import Counts, counts_of, rows_of, scores, shares
from files import parse_tsv, tsv_bytes

NAMES = {"id": "document_id", "pairs": "sampled_pairs"}
LABELS = {"at": ["TRUE", "PROBABLE", "FALSE"], "isAt": ["TRUE", "FALSE"]}
SCORE = "profile"


def pair(at, sys_at, is_at="FALSE", sys_is_at="FALSE"):
    return {"at": at, "SYS_at": sys_at, "isAt": is_at, "SYS_isAt": sys_is_at}


def diagnosed(*documents, team="team1"):
    """Return diagnostics of a run; documents: (id, pairs) each."""
    told = [{"document_id": name, "sampled_pairs": pairs} for name, pairs in documents]
    return {"team": team, "run": "run1", "at_label_mode": "TERNARY", "documents": told}


def as_read(rows):
    return parse_tsv(tsv_bytes(document_counts.HEADER, rows).decode())


def test_a_row_says_how_many_pairs_of_a_document_have_two_labels():
    run = diagnosed(
        ("d1", [pair("TRUE", "TRUE"), pair("TRUE", "FALSE"), pair("TRUE", "TRUE")]),
        ("d2", [pair("FALSE", "PROBABLE")]),
    )
    rows = [",".join(map(str, row)) for row in rows_of(run, ["at"], NAMES)]
    assert rows == [
        "team1,run1,d1,at,TRUE,FALSE,1,TERNARY",
        "team1,run1,d1,at,TRUE,TRUE,2,TERNARY",
        "team1,run1,d2,at,FALSE,PROBABLE,1,TERNARY",
    ]


def test_only_the_given_targets_are_counted():
    run = diagnosed(("d1", [pair("TRUE", "TRUE", "TRUE", "FALSE")]))
    assert {row[3] for row in rows_of(run, ["at", "isAt"], NAMES)} == {"at", "isAt"}
    assert {row[3] for row in rows_of(run, ["isAt"], NAMES)} == {"isAt"}


def test_a_document_without_pairs_has_no_row_and_is_no_document():
    run = diagnosed(("empty", []), ("d1", [pair("TRUE", "TRUE")]))
    rows = rows_of(run, ["at"], NAMES)
    assert [row[2] for row in rows] == ["d1"]
    assert counts_of(as_read(rows), {"at": LABELS["at"]}).documents == ["d1"]


def test_an_id_that_would_break_the_table_stays_on_its_line():
    run = diagnosed(("a\tb\nc", [pair("TRUE", "TRUE")]))
    assert counts_of(as_read(rows_of(run, ["at"], NAMES)), {"at": LABELS["at"]}).documents == [
        r"a\tb\nc"
    ]


def two_runs():
    pairs = [("TRUE", "TRUE", "FALSE"), ("TRUE", "FALSE", "TRUE"), ("FALSE", "FALSE", "FALSE")]
    rows = []
    for place, team in enumerate(("team2", "team1")):
        own = [pair(gold, answers[place]) for gold, *answers in pairs]
        rows += rows_of(diagnosed(("d2", own[:1]), ("d1", own[1:]), team=team), ["at"], NAMES)
    return counts_of(as_read(rows), {"at": LABELS["at"]})


def test_counts_are_read_back_by_document_run_and_label():
    found = two_runs()
    assert found.runs == [("team2", "run1"), ("team1", "run1")]
    assert found.documents == ["d2", "d1"]
    assert found.gold["at"].tolist() == [[1, 0, 0], [1, 0, 1]]
    assert found.hits["at"][:, 0].tolist() == [[1, 0, 0], [0, 0, 1]]
    assert found.hits["at"][:, 1].tolist() == [[0, 0, 0], [1, 0, 1]]


def test_some_runs_can_be_taken_in_another_order():
    found = two_runs().of_runs([("team1", "run1")])
    assert found.runs == [("team1", "run1")]
    assert found.hits["at"][:, 0].tolist() == [[0, 0, 0], [1, 0, 1]]
    swapped = two_runs().of_runs([("team1", "run1"), ("team2", "run1")])
    assert (swapped.hits["at"][:, 0] == found.hits["at"][:, 0]).all()
    assert swapped.hits["at"][:, 1].tolist() == [[1, 0, 0], [0, 0, 1]]


@st.composite
def campaigns(draw):
    """Draw counts of two targets, some labels unused, and how often each document counts."""
    documents, runs = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    gold, hits = {}, {}
    for target, labels in LABELS.items():
        number = st.integers(0, 4)
        row = st.lists(number, min_size=len(labels), max_size=len(labels)).filter(any)
        table = np.array(draw(st.lists(row, min_size=documents, max_size=documents)))
        shares_right = draw(st.lists(st.floats(0, 1), min_size=runs, max_size=runs))
        right = [np.floor(table * share) for share in shares_right]
        gold[target], hits[target] = table.astype(float), np.stack(right, axis=1)
    names = [(f"team{n}", "run1") for n in range(runs)]
    weights = draw(st.lists(st.integers(0, 3), min_size=documents, max_size=documents).filter(any))
    return Counts(names, [str(n) for n in range(documents)], gold, hits), weights


def exact(counts, weights, run):
    """Return the scores of counting.py for documents that stand there as often as they weigh."""
    matrices = {}
    for target, labels in LABELS.items():
        matrix = {row: dict.fromkeys(labels, 0) for row in labels}
        for place, weight in enumerate(weights):
            for index, label in enumerate(labels):
                right = int(counts.hits[target][place, run, index])
                wrong = int(counts.gold[target][place, index]) - right
                matrix[label][label] += weight * right
                matrix[label][labels[index - 1]] += weight * wrong
        matrices[target] = matrix
    return file_scores(matrices, SCORE)


@given(campaigns())
def test_scores_are_those_of_counting_for_repeated_documents(campaign):
    counts, weights = campaign
    found = scores(counts, np.array([weights, [1] * len(weights)], dtype=float), SCORE)
    for run in range(len(counts.runs)):
        for row, own in enumerate((weights, [1] * len(weights))):
            expected = exact(counts, own, run)
            assert found.keys() == expected.keys()
            for name, value in expected.items():
                assert found[name][row, run] == pytest.approx(float(value), abs=1e-12)


def test_a_label_without_gold_is_left_out_of_that_rows_mean_only():
    gold = np.array([[2.0, 0.0], [0.0, 4.0]])
    hits = np.array([[[1.0, 0.0]], [[0.0, 3.0]]])
    counts = Counts([("team1", "run1")], ["a", "b"], {"at": gold}, {"at": hits})
    found = scores(counts, np.array([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), SCORE)
    assert found["at_macro_recall"][:, 0].tolist() == [1 / 2, 3 / 4, (1 / 2 + 3 / 4) / 2]
    assert found["at_accuracy"][:, 0].tolist() == [1 / 2, 3 / 4, 4 / 6]


@given(campaigns())
def test_what_documents_add_to_a_score_sums_up_to_it(campaign):
    counts, _ = campaign
    once = scores(counts, np.ones((1, len(counts.documents))), SCORE)[SCORE][0]
    assert shares(counts).sum(axis=0) == pytest.approx(once, abs=1e-12)


def test_what_a_document_adds_by_hand():
    found = shares(two_runs())
    # Two TRUE and one FALSE; PROBABLE is not used: a right TRUE adds 1/4, a right FALSE 1/2.
    assert found.tolist() == [[0.25, 0.0], [0.5, 0.75]]


ANSWERS = st.lists(
    st.tuples(*(st.sampled_from(LABELS[target]) for target in ("at", "at", "isAt", "isAt"))),
    max_size=6,
)


@given(st.lists(ANSWERS, min_size=1, max_size=5).filter(any), st.randoms(use_true_random=False))
def test_pairs_are_scored_by_way_of_the_table_as_they_are_scored_directly(documents, random):
    # A second run whose answers are the gold labels of the first in another order.
    told = [[pair(*answers) for answers in document] for document in documents]
    labels = {target: [each[target] for own in told for each in own] for target in LABELS}
    other = [[dict(each) for each in own] for own in told]
    for target in LABELS:
        random.shuffle(labels[target])
        every = [each for own in other for each in own]
        for each, label in zip(every, labels[target], strict=True):
            each[f"SYS_{target}"] = label
    runs = {"team1": told, "team2": other}
    rows = []
    for team, own in runs.items():
        named = [(f"d{n}", pairs) for n, pairs in enumerate(own)]
        rows += rows_of(diagnosed(*named, team=team), list(LABELS), NAMES)
    counts = counts_of(as_read(rows), LABELS)
    assert counts.documents == [f"d{n}" for n, own in enumerate(documents) if own]
    found = scores(counts, np.ones((1, len(counts.documents))), SCORE)
    for place, own in enumerate(runs.values()):
        pairs = [each for pairs in own for each in pairs]
        matrices = {}
        for target, known in LABELS.items():
            gold = [each[target] for each in pairs]
            predicted = [each[f"SYS_{target}"] for each in pairs]
            matrices[target] = confusion_matrix(gold, predicted, known, {}, "FALSE")
        for name, value in file_scores(matrices, SCORE).items():
            assert found[name][0, place] == pytest.approx(float(value), abs=1e-12)
        once = float(file_scores(matrices, SCORE)[SCORE])
        assert shares(counts)[:, place].sum() == pytest.approx(once, abs=1e-12)


def test_rows_of_several_predicted_labels_add_up_to_the_gold():
    answers = ["TRUE", "TRUE", "PROBABLE", "FALSE", "FALSE", "FALSE"]
    run = diagnosed(("d1", [pair("TRUE", answer) for answer in answers]))
    found = counts_of(as_read(rows_of(run, ["at"], NAMES)), {"at": LABELS["at"]})
    assert found.gold["at"].tolist() == [[6, 0, 0]]
    assert found.hits["at"].tolist() == [[[2, 0, 0]]]


def test_a_row_without_pairs_has_scores_that_are_no_numbers():
    gold, hits = np.array([[2.0, 1.0], [0.0, 0.0]]), np.zeros((2, 1, 2))
    counts = Counts([("team1", "run1")], ["a", "b"], {"at": gold}, {"at": hits})
    found = scores(counts, np.array([[0.0, 2.0], [1.0, 1.0]]), SCORE)
    for values in found.values():
        assert np.isnan(values[0, 0])
        assert values[1, 0] == 0


def test_every_kind_of_line_end_in_an_id_stays_on_its_line():
    run = diagnosed(("a\r\nb", [pair("TRUE", "TRUE")]), ("c\u2028d", [pair("TRUE", "TRUE")]))
    table = as_read(rows_of(run, ["at"], NAMES))
    assert [row["document_id"] for row in table] == [r"a\r\nb", "c\u2028d"]


def test_the_profile_score_is_the_mean_over_however_many_targets_there_are():
    found = scores(two_runs(), np.ones((1, 2)), SCORE)
    # Both runs have one of two TRUE and the only FALSE.
    assert found[SCORE].tolist() == found["at_macro_recall"].tolist() == [[0.75, 0.75]]
