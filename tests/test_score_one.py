"""Scores of single runs: the cases worked by hand, the counts behind them, and what is redone."""

import json
import shutil
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import campaign as facts
from counting import file_scores
from kit import DE, INFO, SURPRISE, as_jsonl, document, find_pair, gold, pair, perfect, surprise
from score_one import count_run

CONFIG = facts.load_config(facts.DEFAULT_CONFIG)
PROFILE = "impresso_profile_score"
ANSWERS = st.lists(
    st.tuples(
        st.sampled_from(["TRUE", "PROBABLE", "FALSE"]),
        st.sampled_from(["TRUE", "PROBABLE", "FALSE", None]),
        st.sampled_from(["TRUE", "FALSE"]),
        st.sampled_from(["TRUE", "FALSE", None]),
    ),
    min_size=1,
    max_size=20,
)


def relabel(documents, **labels):
    """Return documents in which at takes other labels: TRUE="PROBABLE" and so on."""
    for each in documents:
        for one in each["sampled_pairs"]:
            one["at"] = labels.get(one["at"], one["at"])
    return documents


def scored(campaign, stem=DE, **run):
    """Validate and score a campaign; return the per-run result of one run."""
    assert campaign.validate().status == 0
    assert campaign.validate_info().status == 0
    done = campaign.script("score_one")
    assert done.status == 0, done.err
    return campaign.score(stem=stem, **run)


def score(campaign, documents, stem=DE):
    """Return the per-run result of team1's run against a base reference."""
    campaign.reference(stem)
    campaign.run(documents, stem=stem)
    return scored(campaign, stem)


def only(result, *names):
    return {name: pytest.approx(float(result["scores"][name]), abs=1e-15) for name in names}


def test_a_perfect_run_scores_1_and_is_described_in_full(base):
    result = scored(base)
    efficiency = {
        "info_file": f"team1_{DE}_run1-info.json",
        "info_missing": False,
        **INFO,
        "team_efficiency_opt_out": False,
    }
    described = {
        "submission": f"team1_{DE}_run1.jsonl",
        "reference": f"{DE}.jsonl",
        "team": "team1",
        "dataset": "impresso",
        "split": "test",
        "language": "de",
        "run": "run1",
        "profile": "accuracy",
        "targets": ["at", "isAt"],
        "at_label_mode": "TERNARY",
        "scores": dict.fromkeys(
            [PROFILE, "at_macro_recall", "at_accuracy", "isAt_macro_recall", "isAt_accuracy"], 1.0
        ),
        "imputed": {"documents": 0, "pairs": 0, "null_labels": {"at": 0, "isAt": 0}},
        "efficiency_metadata": efficiency,
        "warnings": [],
    }
    assert {key: result[key] for key in described} == described
    counts = {target: (each["correct"], each["total"]) for target, each in result["counts"].items()}
    assert counts == {"at": (9, 9), "isAt": (9, 9)}


def test_the_order_of_documents_pairs_and_keys_changes_nothing(base):
    base.evaluate()
    before = {path: base.results / path for path in base.tree() if f"_{DE}_run1" in path}
    before = {path: json.loads(file.read_bytes()) for path, file in before.items()}
    assert len(before) == 3
    documents = [
        {key: each[key] for key in reversed(each)}
        | {"sampled_pairs": [dict(reversed(one.items())) for one in each["sampled_pairs"]][::-1]}
        for each in reversed(perfect())
    ]
    base.run(documents)
    base.evaluate()
    for path, earlier in before.items():
        now = base.json(path)
        for content in (earlier, now):
            content.get("digests", {}).pop("run", None)
        assert now == earlier


def test_a_missing_document_counts_as_false_and_the_total_stays(campaign):
    result = score(campaign, perfect()[:1])
    # at: 2/3 of TRUE, 2/3 of PROBABLE, 3/3 of FALSE; isAt: 2/3 of TRUE, 6/6 of FALSE
    expected = {"at_macro_recall": 7 / 9, "isAt_macro_recall": 5 / 6, PROFILE: 29 / 36}
    assert only(result, *expected) == expected
    assert result["counts"]["at"]["total"] == result["counts"]["isAt"]["total"] == 9
    assert (result["imputed"]["documents"], result["imputed"]["pairs"]) == (1, 4)


def test_a_missing_pair_counts_as_false_and_the_total_stays(campaign):
    documents = perfect()
    documents[0]["sampled_pairs"].remove(find_pair(documents, "p1", "l1"))
    result = score(campaign, documents)
    expected = {"at_macro_recall": 8 / 9, "isAt_macro_recall": 5 / 6, PROFILE: 31 / 36}
    assert only(result, *expected) == expected
    assert result["counts"]["at"]["total"] == 9
    assert (result["imputed"]["documents"], result["imputed"]["pairs"]) == (0, 1)


def test_a_null_label_counts_as_false_and_is_told_apart_from_a_missing_pair(campaign):
    documents = perfect()
    find_pair(documents, "p1", "l1")["at"] = None
    find_pair(documents, "p2", "l2")["at"] = None  # is FALSE in the gold, so it costs nothing
    result = score(campaign, documents)
    expected = {"at_macro_recall": 8 / 9, "isAt_macro_recall": 1.0}
    assert only(result, *expected) == expected
    nothing_else = {"documents": 0, "pairs": 0, "null_labels": {"at": 2, "isAt": 0}}
    assert result["imputed"] == nothing_else


def test_what_the_reference_lacks_changes_no_score_and_is_reported(campaign):
    documents = perfect()
    pairs = [pair(f"p{number}", "l9", "TRUE", "TRUE") for number in range(3)]
    documents.append(document("de-doc-9", "1850", pairs))
    documents[0]["sampled_pairs"].append(pair("p9", "l9", "TRUE", "TRUE"))
    result = score(campaign, documents)
    assert set(result["scores"].values()) == {1.0}
    assert result["extra"] == {"documents": 1, "pairs": 1}
    assert len(result["warnings"]) == 2


def test_a_gold_document_without_pairs_is_never_missing(campaign):
    campaign.reference(DE, [*gold(), document("de-doc-3", "1850", [])])
    campaign.run(gold())
    result = scored(campaign)
    assert set(result["scores"].values()) == {1.0}
    assert result["imputed"]["documents"] == 0


def test_a_label_that_only_the_run_uses_is_left_out_of_the_mean_with_a_warning(campaign):
    labels = ["TRUE", "TRUE", "FALSE", "FALSE"]
    pairs = [pair(f"s{n}", "x1", label, "FALSE") for n, label in enumerate(labels)]
    campaign.reference(SURPRISE, [document("fr-livre-1", "1756", pairs, "fr")])
    answers = [{**each} for each in pairs]
    answers[1]["at"] = "PROBABLE"
    campaign.run([document("fr-livre-1", "1756", answers, "fr")], stem=SURPRISE)
    result = scored(campaign, SURPRISE)
    assert result["scores"]["at_macro_recall"] == 0.75
    expected = "the reference has no at PROBABLE: it is left out of the mean"
    assert result["warnings"] == [expected]


@pytest.mark.parametrize(("answer", "expected"), [("FALSE", 1.0), ("TRUE", 0.0)])
def test_a_gold_file_with_one_label_has_a_score(campaign, answer, expected):
    false = {"TRUE": "FALSE", "PROBABLE": "FALSE"}
    campaign.reference(SURPRISE, relabel(surprise(), **false))
    campaign.run(relabel(relabel(surprise(), **false), FALSE=answer), stem=SURPRISE)
    result = scored(campaign, SURPRISE)
    assert result["scores"]["surprise_profile_score"] == expected
    assert result["warnings"] == [
        f"the reference has no at {label}: it is left out of the mean"
        for label in ("TRUE", "PROBABLE")
    ]


@pytest.mark.parametrize(
    ("labels", "ternary"),
    [({"PROBABLE": "TRUE"}, 2 / 3), ({"TRUE": "PROBABLE", "PROBABLE": "TRUE"}, 1 / 3)],
)
def test_binary_labels_do_not_tell_probable_from_true(campaign, labels, ternary):
    documents = relabel(perfect(), **labels)
    result = score(campaign, documents)
    assert result["scores"]["at_macro_recall"] == ternary
    campaign.mode = "BINARY"
    result = scored(campaign)
    assert result["scores"]["at_macro_recall"] == 1.0
    assert result["at_label_mode"] == "BINARY"
    assert result["counts"]["at"]["confusion"] == {
        "TRUE": {"TRUE": 6, "FALSE": 0},
        "FALSE": {"TRUE": 0, "FALSE": 3},
    }


def test_another_mode_in_the_same_folder_redoes_everything(base):
    base.evaluate()
    ternary = base.tree()
    base.mode = "BINARY"
    base.evaluate()
    binary = base.tree()
    shutil.rmtree(base.results)
    base.page.unlink()
    base.evaluate()
    assert binary == base.tree()
    of_validation = {path for path in ternary if path.startswith("validation/")}
    assert {path for path in binary if binary[path] == ternary[path]} == of_validation


@pytest.mark.parametrize("is_at", ["TRUE", None])
def test_the_surprise_profile_does_not_look_at_is_at(campaign, is_at):
    documents = surprise()
    for one in documents[0]["sampled_pairs"]:
        one["isAt"] = is_at
    find_pair(documents, "s2", "x1")["at"] = "TRUE"
    result = score(campaign, documents, SURPRISE)
    # at: 1/1 of TRUE, 1/1 of PROBABLE, 1/2 of FALSE
    expected = {"surprise_profile_score": 5 / 6, "at_macro_recall": 5 / 6, "at_accuracy": 3 / 4}
    assert result["scores"] == expected
    assert result["targets"] == list(result["counts"]) == ["at"]
    assert result["imputed"]["null_labels"] == {"at": 0}


def macro_recall(answers, mapping):
    """Return the mean recall of (gold, answer) pairs by the definition alone."""
    answers = [(mapping.get(g, g), mapping.get(a or "FALSE", a or "FALSE")) for g, a in answers]
    used = {reference for reference, _ in answers}
    recalls = [
        Fraction(answers.count((label, label)), sum(g == label for g, _ in answers))
        for label in used
    ]
    return sum(recalls) / len(recalls)


@settings(deadline=None)
@given(ANSWERS, st.sampled_from(["TERNARY", "BINARY"]))
def test_the_counts_of_a_run_reproduce_its_scores(answers, mode):
    at_gold, at, is_at_gold, is_at = (list(column) for column in zip(*answers, strict=True))
    columns = {"at": {"gold": at_gold, "pred": at}, "isAt": {"gold": is_at_gold, "pred": is_at}}
    matrices = count_run(columns, ["at", "isAt"], CONFIG, mode)
    scores = file_scores(matrices, PROFILE)
    mapping = {"PROBABLE": "TRUE"} if mode == "BINARY" else {}
    expected = [
        macro_recall(list(zip(at_gold, at, strict=True)), mapping),
        macro_recall(list(zip(is_at_gold, is_at, strict=True)), {}),
    ]
    assert [scores["at_macro_recall"], scores["isAt_macro_recall"]] == expected
    assert scores[PROFILE] == sum(expected) / 2
    for confusion in matrices.values():
        assert sum(sum(row.values()) for row in confusion.values()) == len(answers)


def test_only_what_changed_is_scored_again(base):
    base.evaluate()
    assert "scores: 4 runs, 0 scored, 0 removed" in base.script("score_one").out
    documents = perfect()
    find_pair(documents, "p1", "l1")["at"] = "FALSE"
    base.run(documents)
    base.validate()
    assert "scores: 4 runs, 1 scored, 0 removed" in base.script("score_one").out
    assert base.score()["scores"]["at_macro_recall"] == 8 / 9


def test_scores_of_a_withdrawn_run_are_removed(base):
    base.evaluate()
    for path in base.systems.glob(f"team1_{DE}_run1*"):
        path.unlink()
    assert base.validate().status == base.validate_info().status == 0
    assert "scores: 3 runs, 0 scored, 1 removed" in base.script("score_one").out
    assert not (base.results / "per-run" / f"team1_{DE}_run1.json").exists()


def test_a_run_of_the_command_line_is_scored_alone(base):
    assert base.validate().status == base.validate_info().status == 0
    run = base.systems / f"team1_{DE}_run1.jsonl"
    assert "scores: 1 run, 1 scored, 0 removed" in base.script("score_one", str(run)).out
    assert [path.name for path in (base.results / "per-run").glob("team*")] == [f"{run.stem}.json"]


def test_a_run_that_did_not_pass_is_not_scored(base):
    base.validate()
    base.validate_info()
    absent = base.systems / f"team9_{DE}_run1.jsonl"
    done = base.script("score_one", str(absent))
    assert done.status == 1
    assert done.err.splitlines() == [
        f"error: {absent}: found no valid run in the report on the runs;"
        " expected a run that passed; run make validate-submissions"
    ]


def test_a_run_outside_the_folder_of_runs_is_wrong_usage(base, tmp_path):
    base.validate()
    base.validate_info()
    done = base.script("score_one", str(tmp_path / "x.jsonl"))
    assert done.status == 2
    problem = f"{tmp_path / 'x.jsonl'} does not lie in SUBMISSIONS_DIR, {base.systems}"
    assert done.err.splitlines()[-1].endswith(f"error: {problem}")


def test_an_unknown_mode_is_wrong_usage(base):
    base.mode = "binary"
    done = base.script("score_one")
    assert done.status == 2
    problem = "AT_LABEL_MODE is 'binary', not one of TERNARY, BINARY"
    assert done.err.splitlines()[-1].endswith(f"error: {problem}")


def test_scoring_asks_for_the_validation_that_is_missing(base):
    base.validate()
    done = base.script("score_one")
    assert done.status == 1
    assert done.err.splitlines() == [
        f"error: {base.results}/validation: found no report info;"
        " expected what an earlier stage writes; run make validate-info"
    ]


def test_a_run_that_came_after_the_check_of_info_files_is_an_error(base):
    base.validate()
    base.validate_info()
    base.run(number=2)
    base.validate()
    done = base.script("score_one")
    assert done.status == 1
    assert len(done.errors) == 1
    assert f"team1_{DE}_run2" in done.errors[0]


def test_a_run_that_changed_after_validation_is_not_scored(base):
    base.validate()
    base.validate_info()
    path = base.run(as_jsonl(perfect()[:1]))
    done = base.script("score_one")
    assert done.status == 1
    assert done.err.splitlines() == [
        f"error: {path.name}: found other content than when it was validated;"
        " expected the same; run make again"
    ]


def test_digests_of_all_that_a_score_was_computed_from_stand_beside_it(campaign, tmp_path):
    before = score(campaign, perfect())
    # The data repository loads, imputes and flattens: another one may mean another score.
    copy = shutil.copytree(campaign.data_repo, tmp_path / "data repo")
    with open(copy / "scripts" / "evaluation_utils.py", "a") as stream:
        stream.write("# changed\n")
    campaign.data_repo = copy
    after = scored(campaign)
    assert {key for key, digest in after["digests"].items() if digest != before["digests"][key]}
    assert {"run", "reference", "info", "config"} <= after["digests"].keys()
