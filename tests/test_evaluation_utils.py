"""Loading, imputation, flattening and the plain metrics of the data repository."""

import copy
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import evaluation_utils
import kit
from campaign import DEFAULT_CONFIG, load_config


def loaded(folder, documents, name="run.jsonl"):
    """Return documents as the module loads them from a file."""
    path = folder / name
    path.write_bytes(documents if isinstance(documents, bytes) else kit.as_jsonl(documents))
    return evaluation_utils.load_jsonl_to_reshaped_dict(path)


def reshaped(documents):
    """Return documents as the module should load them, without any file."""
    return {
        document["document_id"]: {
            **document,
            "sampled_pairs": {
                (pair["pers_entity_id"], pair["loc_entity_id"]): pair
                for pair in document["sampled_pairs"]
            },
        }
        for document in documents
    }


def labels_of(gold, run):
    """Return the flattened labels of a run after imputation."""
    gold, run = reshaped(gold), reshaped(run)
    run = evaluation_utils.impute_missing_submission_data(gold, run)
    return evaluation_utils.flatten_predictions(gold, run)


def metrics_of(gold, run):
    return evaluation_utils.calculate_metrics(labels_of(gold, run))


def test_targets_and_imputed_label_are_those_of_the_configuration():
    facts = load_config(DEFAULT_CONFIG).facts
    assert list(evaluation_utils.TARGETS) == list(facts["targets"])
    assert facts["imputed_label"] == evaluation_utils.IMPUTED_LABEL


def test_documents_are_loaded_by_id_and_pairs_by_their_two_ids(tmp_path):
    assert loaded(tmp_path, kit.gold()) == reshaped(kit.gold())


def test_blank_lines_crlf_and_a_missing_last_line_end_change_nothing(tmp_path):
    data = b"\r\n" + kit.as_jsonl(kit.gold()).replace(b"\n", b"\r\n\r\n").rstrip()
    assert loaded(tmp_path, data) == reshaped(kit.gold())


def test_ids_that_read_the_same_when_joined_are_two_pairs(tmp_path):
    pairs = [kit.pair("p1", "1l", "TRUE", "TRUE"), kit.pair("p11", "l", "FALSE", "FALSE")]
    documents = loaded(tmp_path, [kit.document("d", None, pairs)])
    assert list(documents["d"]["sampled_pairs"].values()) == pairs


def test_a_repeated_document_is_refused(tmp_path):
    with pytest.raises(ValueError, match="de-doc-1"):
        loaded(tmp_path, [*kit.gold(), kit.gold()[0]])


def test_a_repeated_pair_is_refused(tmp_path):
    documents = kit.gold()
    documents[1]["sampled_pairs"].append(copy.deepcopy(documents[1]["sampled_pairs"][0]))
    with pytest.raises(ValueError, match="de-doc-2"):
        loaded(tmp_path, documents)


def test_the_same_pair_in_two_documents_is_no_repetition(tmp_path):
    documents = kit.gold()
    documents[1]["sampled_pairs"].append(kit.pair("p1", "l1", "FALSE", "FALSE"))
    assert loaded(tmp_path, documents) == reshaped(documents)


def test_a_line_that_is_no_json_is_never_skipped(tmp_path):
    with pytest.raises(ValueError, match="unexpected end"):
        loaded(tmp_path, kit.as_jsonl(kit.gold())[:-20])


def test_a_missing_pair_is_filled_in_as_false_without_explanation():
    gold, run = kit.gold(), kit.gold()
    gold[0]["sampled_pairs"][0]["at_explanation"] = "the gold's words"
    del run[0]["sampled_pairs"][0]
    filled = evaluation_utils.impute_missing_submission_data(reshaped(gold), reshaped(run))
    assert filled["de-doc-1"]["sampled_pairs"]["p1", "l1"] == {
        **kit.pair("p1", "l1", "FALSE", "FALSE"),
        "at_explanation": None,
        "isAt_explanation": None,
    }


def test_a_missing_document_is_filled_in_pair_by_pair():
    filled = evaluation_utils.impute_missing_submission_data(
        reshaped(kit.gold()), reshaped(kit.gold()[:1])
    )
    assert list(filled) == ["de-doc-1", "de-doc-2"]
    pairs = filled["de-doc-2"]["sampled_pairs"]
    assert list(pairs) == list(reshaped(kit.gold())["de-doc-2"]["sampled_pairs"])
    assert {(pair["at"], pair["isAt"]) for pair in pairs.values()} == {("FALSE", "FALSE")}


def test_what_the_run_has_beyond_the_gold_stays_but_is_not_counted():
    run = kit.gold()
    run[0]["sampled_pairs"].append(kit.pair("p9", "l9", "TRUE", "TRUE"))
    run.append(kit.document("de-doc-9", None, [kit.pair("a", "b", "TRUE", "TRUE")]))
    gold, answers = reshaped(kit.gold()), reshaped(run)
    assert evaluation_utils.impute_missing_submission_data(gold, answers) == answers
    assert labels_of(kit.gold(), run) == labels_of(kit.gold(), kit.gold())


def test_imputation_and_flattening_change_neither_gold_nor_run():
    gold, run = reshaped(kit.gold()), reshaped(kit.gold()[:1])
    del run["de-doc-1"]["sampled_pairs"]["p1", "l1"]
    before = copy.deepcopy((gold, run))
    filled = evaluation_utils.impute_missing_submission_data(gold, run)
    evaluation_utils.flatten_predictions(gold, filled)
    assert (gold, run) == before


def test_labels_come_in_the_order_of_the_gold_whatever_the_order_of_the_run():
    run = [
        {**document, "sampled_pairs": document["sampled_pairs"][::-1]}
        for document in kit.gold()[::-1]
    ]
    gold_at = ["TRUE", "TRUE", "PROBABLE", "FALSE", "PROBABLE", "TRUE", "FALSE", "PROBABLE"]
    assert labels_of(kit.gold(), run)["at"] == {
        "gold": [*gold_at, "FALSE"],
        "pred": [*gold_at, "FALSE"],
    }


def test_a_null_label_counts_as_false():
    run = kit.gold()
    kit.find_pair(run, "p1", "l1").update(at=None, isAt=None)
    labels = labels_of(kit.gold(), run)
    assert labels["at"]["pred"][0] == "FALSE"
    assert labels["isAt"]["pred"][0] == "FALSE"


def test_flattening_does_not_pass_over_a_pair_that_was_not_imputed():
    with pytest.raises(KeyError):
        evaluation_utils.flatten_predictions(reshaped(kit.gold()), reshaped(kit.gold()[:1]))


def test_a_perfect_run_scores_1():
    metrics = metrics_of(kit.gold(), kit.gold())
    perfect = {"accuracy": 1, "macro_recall": 1, "correct": 9, "total": 9}
    assert metrics == {
        "at": perfect,
        "isAt": perfect,
        "global": {"macro_recall": 1, "correct": 18, "total": 18},
    }


def test_a_missing_document_costs_what_its_pairs_are_worth():
    # at: TRUE 2/3, PROBABLE 2/3, FALSE 3/3, for two FALSE pairs are imputed right.
    metrics = metrics_of(kit.gold(), kit.gold()[:1])
    assert metrics["at"]["macro_recall"] == pytest.approx(7 / 9, abs=1e-12)
    assert metrics["isAt"]["macro_recall"] == pytest.approx(5 / 6, abs=1e-12)
    assert metrics["global"]["macro_recall"] == pytest.approx(29 / 36, abs=1e-12)
    assert (metrics["at"]["correct"], metrics["at"]["total"]) == (7, 9)


def test_a_label_that_only_the_run_uses_is_left_out_of_the_mean():
    gold, run = ["TRUE", "TRUE", "FALSE", "FALSE"], ["TRUE", "PROBABLE", "FALSE", "FALSE"]
    metrics = evaluation_utils.calculate_metrics({"at": {"gold": gold, "pred": run}})
    assert metrics["at"]["macro_recall"] == 3 / 4
    assert metrics["at"]["accuracy"] == 3 / 4


def test_without_pairs_there_are_no_metrics():
    with pytest.raises(ZeroDivisionError):
        evaluation_utils.calculate_metrics({"at": {"gold": [], "pred": []}})


def test_unequal_numbers_of_labels_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        evaluation_utils.calculate_metrics({"at": {"gold": ["TRUE", "FALSE"], "pred": ["TRUE"]}})


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sets(st.integers(min_value=0, max_value=8)), st.randoms(use_true_random=False))
def test_every_gold_pair_is_counted_whatever_the_run_leaves_out(left_out, chance: random.Random):
    run = kit.gold()
    pairs = [pair for document in run for pair in document["sampled_pairs"]]
    kept = [pair for index, pair in enumerate(pairs) if index not in left_out]
    for document in run:
        document["sampled_pairs"] = [pair for pair in document["sampled_pairs"] if pair in kept]
        chance.shuffle(document["sampled_pairs"])
    run = [document for document in run if document["sampled_pairs"] or chance.random() < 0.5]
    labels = labels_of(kit.gold(), run)
    gold = [pair["at"] for pair in pairs]
    assert labels["at"] == {
        "gold": gold,
        "pred": ["FALSE" if n in left_out else label for n, label in enumerate(gold)],
    }
