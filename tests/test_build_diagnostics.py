"""Diagnostics: every pair with its answer, and matrices with gold rows and predicted columns."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from build_diagnostics import label_metrics, target_metrics
from kit import DE, SURPRISE, as_jsonl, document, find_pair, gold, pair, perfect, surprise

AT = ["TRUE", "PROBABLE", "FALSE"]
ROWS = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3)
HEADER = ["submission", "reference", "team", "dataset", "split", "language", "run", "at_label_mode"]


def strict(path):
    """Return the content of a JSON file, for which NaN and infinities are no JSON."""

    def refuse(constant):
        raise AssertionError(f"{constant} in {path}")

    return json.loads(path.read_bytes(), parse_constant=refuse)


def diagnostics(campaign, stem=DE):
    path = campaign.results / "diagnostics" / f"team1_{stem}_run1.diagnostics.json"
    return strict(path)


def metrics(campaign, stem=DE):
    path = campaign.results / "diagnostics" / f"team1_{stem}_run1.diagnostic_metrics.json"
    return strict(path)["confusion_matrices"]


def shown(campaign, person, place, stem=DE):
    return find_pair(diagnostics(campaign, stem)["documents"], person, place)


@pytest.fixture
def confused(base):
    """A campaign whose run has the confusions TRUE to PROBABLE once, PROBABLE to FALSE twice."""
    documents = perfect()
    find_pair(documents, "p1", "l2")["at"] = "PROBABLE"
    find_pair(documents, "p2", "l1")["at"] = "FALSE"
    find_pair(documents, "p3", "l1")["at"] = "FALSE"
    base.run(documents)
    base.evaluate()
    return base


def test_rows_are_gold_and_columns_predicted(confused):
    at = metrics(confused)["at"]
    assert (at["labels"], at["rows"], at["columns"]) == (AT, "gold", "predicted")
    assert at["matrix"] == [[2, 1, 0], [0, 1, 2], [0, 0, 3]]
    assert at["table"] == [
        {"gold": "TRUE", "pred_TRUE": 2, "pred_PROBABLE": 1, "pred_FALSE": 0},
        {"gold": "PROBABLE", "pred_TRUE": 0, "pred_PROBABLE": 1, "pred_FALSE": 2},
        {"gold": "FALSE", "pred_TRUE": 0, "pred_PROBABLE": 0, "pred_FALSE": 3},
    ]
    assert (at["total"], at["accuracy"], at["macro_recall"]) == (9, 6 / 9, 2 / 3)


def test_per_label_metrics_of_the_confused_run(confused):
    keys = ["precision", "recall", "f1", "support"]
    counts = ["true_positive", "false_positive", "false_negative"]
    per_label = metrics(confused)["at"]["per_label"]
    assert list(per_label) == AT
    found = {label: [each[key] for key in (*keys, *counts)] for label, each in per_label.items()}
    # F1 is 2 TP / (2 TP + FP + FN): 4/5, 2/5, 6/8.
    assert found == {
        "TRUE": [1, 2 / 3, 4 / 5, 3, 2, 0, 1],
        "PROBABLE": [1 / 2, 1 / 3, 2 / 5, 3, 1, 1, 2],
        "FALSE": [3 / 5, 1, 3 / 4, 3, 3, 2, 0],
    }


def test_the_matrix_agrees_with_scores_ranking_and_page(confused):
    at = metrics(confused)["at"]
    score = confused.score()
    assert [list(row.values()) for row in score["counts"]["at"]["confusion"].values()] == at[
        "matrix"
    ]
    assert score["scores"]["at_macro_recall"] == at["macro_recall"] == 2 / 3
    [row] = confused.ranking("impresso-test-de")
    assert (row["at_macro_recall"], row["at_accuracy"]) == (repr(2 / 3), repr(6 / 9))
    # The profile is the mean of 2/3 and 1.
    assert row["impresso_profile_score"] == repr(5 / 6)
    assert "0.8333" in confused.page.read_text("utf-8")


def test_every_gold_pair_shows_what_was_counted(confused):
    content = diagnostics(confused)
    assert list(content) == [*HEADER, "documents"]
    expected = {
        "SYS_at": "PROBABLE",
        "CORRECT_at": False,
        "SYS_isAt": "FALSE",
        "CORRECT_isAt": True,
    }
    one = shown(confused, "p1", "l2")
    assert (one["at"], one["isAt"]) == ("TRUE", "FALSE")
    assert {key: one[key] for key in expected} == expected
    pairs = [one for each in content["documents"] for one in each["sampled_pairs"]]
    assert len(pairs) == 9
    assert sum(one["CORRECT_at"] for one in pairs) == confused.score()["counts"]["at"]["correct"]
    assert sum(one["CORRECT_isAt"] for one in pairs) == 9


def test_a_label_that_is_never_predicted_has_no_precision(base):
    documents = perfect()
    for person, place in (("p2", "l1"), ("p3", "l1"), ("q2", "m1")):
        find_pair(documents, person, place)["at"] = "TRUE"
    base.run(documents)
    base.evaluate()
    probable = metrics(base)["at"]["per_label"]["PROBABLE"]
    # No prediction: no precision. F1 is 2 TP / (predicted + support) = 0/3.
    assert (probable["precision"], probable["recall"], probable["f1"]) == (None, 0, 0)
    assert (probable["support"], probable["true_positive"]) == (3, 0)


def test_a_label_that_only_the_run_uses_has_a_column_and_no_recall(campaign):
    labels = ["TRUE", "TRUE", "FALSE", "FALSE"]
    pairs = [pair(f"s{n}", "x1", label, "FALSE") for n, label in enumerate(labels)]
    campaign.reference(SURPRISE, [document("fr-livre-1", "1756", pairs, "fr")])
    answers = [{**one} for one in pairs]
    answers[1]["at"] = "PROBABLE"
    campaign.run([document("fr-livre-1", "1756", answers, "fr")], stem=SURPRISE)
    campaign.evaluate()
    at = metrics(campaign, SURPRISE)["at"]
    assert at["labels"] == AT
    assert at["matrix"] == [[1, 1, 0], [0, 0, 0], [0, 0, 2]]
    assert at["macro_recall"] == 3 / 4
    probable = at["per_label"]["PROBABLE"]
    assert (probable["support"], probable["recall"], probable["precision"]) == (0, None, 0)


def test_markup_and_length_of_an_explanation_survive_exactly(base):
    markup = '</script><b>x</b> | a\nb "q" {{x}}'
    long = "Ä<" * 50_000
    documents = perfect()
    find_pair(documents, "p1", "l1")["at_explanation"] = markup
    find_pair(documents, "p1", "l2")["isAt_explanation"] = long
    base.run(documents)
    base.evaluate()
    assert shown(base, "p1", "l1")["SYS_at_explanation"] == markup
    assert shown(base, "p1", "l2")["SYS_isAt_explanation"] == long
    others = [data for path, data in base.tree().items() if not path.startswith("diagnostics/")]
    assert not any(b"</script>" in data for data in others)


def test_an_imputed_answer_says_why(base):
    documents = perfect()[:1]
    documents[0]["sampled_pairs"].remove(find_pair(documents, "p1", "l2"))
    find_pair(documents, "p1", "l1")["at"] = None
    base.run(documents)
    base.evaluate()
    reasons = {
        ("p1", "l1"): ("null label", None),
        ("p1", "l2"): ("missing pair", "missing pair"),
        ("q1", "m1"): ("missing document", "missing document"),
        ("p2", "l1"): (None, None),
    }
    for ids, imputed in reasons.items():
        one = shown(base, *ids)
        assert (one["IMPUTED_at"], one["IMPUTED_isAt"]) == imputed
    assert (shown(base, "p1", "l1")["SYS_at"], shown(base, "p1", "l1")["CORRECT_at"]) == (
        "FALSE",
        False,
    )


def test_what_the_reference_lacks_is_in_no_diagnosis(base):
    documents = perfect()
    documents[0]["sampled_pairs"].append(pair("p9", "l9", "TRUE", "TRUE"))
    documents.append(document("de-doc-9", "1850", [pair("p1", "l1", "TRUE", "TRUE")]))
    base.run(documents)
    base.evaluate()
    ids = [each["document_id"] for each in diagnostics(base)["documents"]]
    assert ids == ["de-doc-1", "de-doc-2"]
    assert sum(len(each["sampled_pairs"]) for each in diagnostics(base)["documents"]) == 9
    assert metrics(base)["at"]["total"] == 9


def test_a_gold_document_without_pairs_divides_nothing_by_zero(campaign):
    campaign.reference(DE, [*gold(), document("de-doc-3", "1850", [])])
    campaign.run(gold())
    campaign.evaluate()
    assert metrics(campaign)["at"]["accuracy"] == 1
    assert diagnostics(campaign)["documents"][2]["sampled_pairs"] == []


def test_a_target_that_is_not_scored_has_no_matrix_and_is_neither_right_nor_wrong(base):
    documents = surprise()
    for one in documents[0]["sampled_pairs"]:
        one["isAt"] = "TRUE"
    base.run(documents, stem=SURPRISE)
    base.evaluate()
    assert list(metrics(base, SURPRISE)) == ["at"]
    one = shown(base, "s0", "x1", SURPRISE)
    assert (one["isAt"], one["SYS_isAt"], one["CORRECT_isAt"]) == ("FALSE", "TRUE", None)


def test_binary_diagnostics_hold_the_labels_that_were_compared(base):
    documents = perfect()
    find_pair(documents, "p2", "l1")["at"] = "TRUE"
    base.run(documents)
    base.mode = "BINARY"
    base.evaluate()
    one = shown(base, "p2", "l1")
    assert (one["at"], one["SYS_at"], one["CORRECT_at"]) == ("TRUE", "TRUE", True)
    assert diagnostics(base)["at_label_mode"] == "BINARY"
    assert metrics(base)["at"]["matrix"] == [[6, 0], [0, 3]]


def test_diagnostics_of_a_withdrawn_run_are_removed_and_others_kept(base):
    base.evaluate()
    for path in base.systems.glob(f"team1_{DE}_run1*"):
        path.unlink()
    base.validate()
    base.validate_info()
    base.script("score_one")
    done = base.script("build_diagnostics")
    assert done.out == "diagnostics: 3 runs, 0 written, 1 removed\n"
    assert not list((base.results / "diagnostics").glob(f"*{DE}*"))


def test_a_run_that_changed_since_it_was_scored_is_not_diagnosed(base):
    base.evaluate()
    path = base.run(as_jsonl(perfect()[:1]))
    (base.results / "diagnostics" / f"{path.stem}.diagnostics.json").unlink()
    done = base.script("build_diagnostics")
    assert done.status == 1
    assert done.err.splitlines() == [
        f"error: {path.name}: found other content than when it was validated;"
        " expected the same; run make again"
    ]


@settings(deadline=None)
@given(ROWS.filter(lambda rows: any(map(any, rows))))
def test_the_counts_of_each_label_add_up(rows):
    matrix = {label: dict(zip(AT, row, strict=True)) for label, row in zip(AT, rows, strict=True)}
    found = target_metrics(matrix)
    assert found["matrix"] == rows
    assert found["total"] == sum(map(sum, rows))
    diagonal = sum(rows[place][place] for place in range(3))
    assert found["accuracy"] == diagonal / found["total"]
    labels = found["per_label"].values()
    assert sum(each["support"] for each in labels) == found["total"]
    for place, each in enumerate(labels):
        assert each["true_positive"] + each["false_negative"] == each["support"] == sum(rows[place])
        column = sum(row[place] for row in rows)
        assert each["true_positive"] + each["false_positive"] == column
    recalls = [each["recall"] for each in labels if each["support"]]
    assert found["macro_recall"] == pytest.approx(sum(recalls) / len(recalls), abs=1e-12)
    assert [each["recall"] is None for each in labels] == [not any(row) for row in rows]


def test_a_label_that_nobody_uses_has_no_metrics_at_all():
    matrix = {row: {"TRUE": 0, "FALSE": 0} for row in ("TRUE", "FALSE")} | {
        "FALSE": {"TRUE": 0, "FALSE": 2}
    }
    found = label_metrics(matrix, "TRUE")
    assert [found[key] for key in ("precision", "recall", "f1")] == [None, None, None]
