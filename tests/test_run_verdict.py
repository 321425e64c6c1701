"""Verdicts on runs, from values: what is suggested, what counts as changed, which reference."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kit
from campaign import DEFAULT_CONFIG, load_config
from checks import Checker, File
from data_repo import DEFAULT_DATA_REPO, DataRepo
from kit import DE, EN, FR, SURPRISE, as_jsonl, find_pair, perfect
from names import Naming
from problems import WARNING, Problem, quote
from run_verdict import ReferenceFile, as_json, changed_content, judge, sentences, with_suggestion

CONFIG = load_config(DEFAULT_CONFIG)
CHECKER = Checker(CONFIG, DataRepo(DEFAULT_DATA_REPO, CONFIG.facts["schema"]))
NAMING = Naming("HIPE-2026", frozenset({"baseline"}), 3)
RUN = f"team1_{DE}_run1.jsonl"


def masked(stem=DE):
    """Return a base reference as participants get it."""
    documents = perfect(stem)
    for document in documents:
        for pair in document["sampled_pairs"]:
            pair.update(at=None, isAt=None)
    return documents


def indexed(documents):
    """Return the pairs of documents that are in no file."""
    index, problems = CHECKER.documents(File("x.jsonl", DEFAULT_CONFIG, as_jsonl(documents)))
    assert problems == []
    return index


def reference(stem, documents=None):
    return ReferenceFile(NAMING.reference(f"{stem}.jsonl"), indexed(documents or masked(stem)))


GERMAN = reference(DE)


def verdict(documents, *references, name=RUN):
    file = File(name, DEFAULT_CONFIG, as_jsonl(documents))
    return judge(file, list(references) or [GERMAN], CHECKER, NAMING, CONFIG)


def lines(verdict):
    return [problem.text_without_file() for problem in verdict.problems]


# What would be counted


def test_a_perfect_run_is_accepted_and_counts_for_all_pairs():
    given = verdict(perfect())
    assert (given.accepted, given.problems, given.reference) == (True, [], f"{DE}.jsonl")
    assert set(given.counted.values()) == {0}
    assert given.labels == {
        "at": {"TRUE": 3, "PROBABLE": 3, "FALSE": 3, "null or missing": 0},
        "isAt": {"TRUE": 3, "FALSE": 6, "null or missing": 0},
    }
    assert sentences(given, CONFIG) == []


def untidy():
    """Return a run that differs from G in each way that is counted, each another number of times.

    One document of 4 pairs missing and 1 pair of the other; 3 nulls; 1 unknown document and 2
    unknown pairs; a changed text and a changed link.
    """
    run = perfect()[:1]
    run[0]["text"] = run[0]["text"].strip() + " "
    del run[0]["sampled_pairs"][4]
    find_pair(run, "p1", "l1").update(at=None, isAt=None, loc_wikidata_QID="Q1")
    find_pair(run, "p1", "l2")["at"] = None
    run[0]["sampled_pairs"] += [kit.pair(f"p{n}", "l9", "TRUE", "TRUE") for n in (8, 9)]
    unknown = kit.document("de-doc-9", None, [kit.pair("x", "y", "TRUE", "TRUE")])
    return [*run, unknown]


def test_what_is_missing_null_unknown_or_changed_is_counted():
    given = verdict(untidy())
    assert given.accepted
    assert given.counted == {
        "missing_documents": 1,
        "missing_pairs": 5,
        "null_labels": 3,
        "unknown_documents": 1,
        "unknown_pairs": 2,
        "changed_documents": 1,
        "changed_pairs": 1,
    }
    # Of the 9 pairs 3 have a label for at, 3 for isAt.
    assert given.labels == {
        "at": {"TRUE": 0, "PROBABLE": 1, "FALSE": 1, "null or missing": 7},
        "isAt": {"TRUE": 0, "FALSE": 3, "null or missing": 6},
    }
    assert sentences(given, CONFIG) == [
        "1 document missing: the pairs would count as FALSE",
        "5 pairs missing, those of missing documents included: would count as FALSE",
        "3 null labels would count as FALSE",
        "1 document that the reference does not have: ignored",
        "2 pairs that the reference does not have: ignored",
        "1 document with changed text or metadata: harmless, but look why",
        "1 pair with changed mentions or links: harmless, but look why",
    ]


def test_isat_is_not_counted_where_it_is_not_scored():
    run = perfect(SURPRISE)
    run[0]["sampled_pairs"][0]["isAt"] = None
    given = verdict(run, reference(SURPRISE), name=f"team1_{SURPRISE}_run1.jsonl")
    assert (given.accepted, given.counted["null_labels"]) == (True, 0)
    assert list(given.labels) == ["at"]


@settings(deadline=None)
@given(st.permutations(range(2)), st.permutations(range(6)))
def test_order_changes_no_verdict(documents, pairs):
    run = untidy()
    run[0]["sampled_pairs"] = [run[0]["sampled_pairs"][n] for n in pairs]
    changed, plain = verdict([run[n] for n in documents]), verdict(untidy())
    assert changed._replace(problems=[]) == plain._replace(problems=[])
    assert sorted(p.found for p in changed.problems) == sorted(p.found for p in plain.problems)


def test_a_verdict_for_machines_is_json():
    given = as_json(verdict(untidy()))
    assert json.loads(json.dumps(given)) == given


# Changed content: case 42


def changes(change):
    run = perfect()
    change(run)
    return changed_content(GERMAN.index, indexed(run), CONFIG)


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run[0].update(text="x"),
        lambda run: run[0].update(date="1900"),
        lambda run: run[0].update(language="fr"),
        lambda run: run[0]["media"].update(publication_title="x"),
    ],
    ids=["text", "date", "language", "media"],
)
def test_changed_documents_are_counted(change):
    assert changes(change) == (1, 0)


@pytest.mark.parametrize(
    "key", ["pers_mentions_list", "loc_mentions_list", "pers_wikidata_QID", "loc_wikidata_QID"]
)
def test_changed_pairs_are_counted(key):
    new = ["x"] if key.endswith("list") else "Q999"
    assert changes(lambda run: run[1]["sampled_pairs"][0].update({key: new})) == (0, 1)


def test_labels_explanations_and_keys_of_ones_own_are_no_changes():
    def change(run):
        run[0]["model"] = "x"
        run[0]["sampled_pairs"][0].update(
            at="FALSE", isAt=None, at_explanation="why", isAt_explanation="how", confidence=0.7
        )
        run[0]["sampled_pairs"].reverse()

    assert changes(change) == (0, 0)


def test_explanations_that_the_masked_file_has_as_null_are_no_changes():
    given = masked()
    for pair in given[0]["sampled_pairs"]:
        pair.update(at_explanation=None, isAt_explanation=None)
    run = perfect()
    run[0]["sampled_pairs"][0].update(at_explanation="why", isAt_explanation="how")
    assert changed_content(indexed(given), indexed(run), CONFIG) == (0, 0)


# Which reference


def test_the_name_tells_the_reference():
    given = verdict(perfect(EN), GERMAN, reference(EN), name=f"team1_{EN}_run1.jsonl")
    assert (given.accepted, given.reference) == (True, f"{EN}.jsonl")


def test_a_misnamed_run_is_checked_against_the_reference_that_has_its_documents():
    given = verdict(perfect(EN), GERMAN, reference(EN), name="run.jsonl")
    assert (given.accepted, given.reference) == (False, f"{EN}.jsonl")
    [line] = lines(given)
    assert f"expected <team>_{EN}_run<1-3>.jsonl" in line


def test_a_run_for_another_reference_than_the_only_one_is_not_accepted():
    given = verdict(perfect(FR), GERMAN, name=f"team1_{FR}_run1.jsonl")
    assert not given.accepted
    assert DE in lines(given)[0]


def test_a_run_whose_name_and_documents_disagree_is_not_accepted():
    given = verdict(perfect(), GERMAN, name=f"team1_{FR}_run1.jsonl")
    assert not given.accepted
    assert lines(given)


def test_a_run_for_none_of_the_references_is_told_which_there_are():
    train = DE.replace("test", "train")
    given = verdict(perfect(FR), GERMAN, reference(EN), name=f"team1_{train}_run1.jsonl")
    assert (given.accepted, given.reference) == (False, None)
    [line] = lines(given)
    assert line.endswith(f"expected a run for one of: {DE}, {EN}")


def test_a_right_name_is_not_said_to_tell_nothing():
    given = verdict(perfect(FR), GERMAN, reference(EN), name=f"team1_{FR}_run1.jsonl")
    assert "does not tell" not in lines(given)[0]


def test_faults_in_the_file_are_told_even_if_its_reference_is_unknown():
    run = perfect(FR)
    run[0]["sampled_pairs"][0]["at"] = "true"
    given = verdict(run, GERMAN, reference(EN), name="run.jsonl")
    assert not given.accepted
    assert any('did you mean "TRUE"?' in line for line in lines(given))


# Suggestions: case 32


def suggested(value, target="at"):
    problem = Problem("x", 1, f"$.sampled_pairs[0].{target}", quote(value), "a label", "mend it")
    action = with_suggestion(problem, CONFIG).action
    return None if action == "mend it" else action


@pytest.mark.parametrize(
    ("value", "label"),
    [
        *(
            (value, "TRUE")
            for value in (True, "True", "true", "TRUE ", "TRUE\u00a0", "\tTRUE", " TRUE" + 9 * " ")
        ),
        *((value, "FALSE") for value in (False, "False", " false", "FALS")),
        *((value, "PROBABLE") for value in ("PROBABLY", "probable", "Probable.", "PROBABEL")),
    ],
)
def test_a_label_that_is_nearly_right_gets_a_suggestion(value, label):
    assert suggested(value) == f'did you mean "{label}"?'


@pytest.mark.parametrize(
    "value", ["", " ", 1, 0, 1.0, ["TRUE"], {"at": "TRUE"}, "yes", "maybe", "x" * 1000, "T", "F"]
)
def test_what_is_no_label_gets_no_suggestion(value):
    assert suggested(value) is None


def test_a_target_suggests_its_own_labels_only():
    assert suggested("PROBABLE", "isAt") is None
    assert suggested("true", "isAt") == 'did you mean "TRUE"?'
    assert suggested("true", "document_id") is None


def test_a_warning_gets_no_suggestion():
    problem = Problem("x", 1, "$.sampled_pairs[0].at", '"true"', "a label", "", WARNING)
    assert with_suggestion(problem, CONFIG) == problem


@given(st.text() | st.integers() | st.floats() | st.none() | st.booleans() | st.lists(st.text()))
def test_a_suggestion_is_one_of_the_allowed_labels(value):
    allowed = [None, *(f'did you mean "{label}"?' for label in ("TRUE", "PROBABLE", "FALSE"))]
    assert suggested(value) in allowed


# Scores: case 74


def case_74():
    run = perfect()
    find_pair(run, "p1", "l2")["at"] = "PROBABLE"
    find_pair(run, "p2", "l1")["at"] = "FALSE"
    find_pair(run, "p3", "l1")["at"] = "FALSE"
    return run


def test_with_gold_labels_scores_and_matrices_are_there():
    given = verdict(case_74(), reference(DE, perfect()))
    rows = {gold: list(counts.values()) for gold, counts in given.matrices["at"].items()}
    assert rows == {"TRUE": [2, 1, 0], "PROBABLE": [0, 1, 2], "FALSE": [0, 0, 3]}
    assert given.matrices["isAt"] == {
        "TRUE": {"TRUE": 3, "FALSE": 0},
        "FALSE": {"TRUE": 0, "FALSE": 6},
    }
    assert given.scores == pytest.approx(
        {
            "at_macro_recall": 2 / 3,
            "at_accuracy": 6 / 9,
            "isAt_macro_recall": 1,
            "isAt_accuracy": 1,
            "impresso_profile_score": 5 / 6,
        },
        abs=1e-12,
    )


def test_missing_answers_count_as_false_in_the_scores():
    # Case 46: P without its second document.
    given = verdict(perfect()[:1], reference(DE, perfect()))
    assert given.scores["at_macro_recall"] == pytest.approx(7 / 9, abs=1e-12)
    assert given.scores["isAt_macro_recall"] == pytest.approx(5 / 6, abs=1e-12)
    assert sum(sum(row.values()) for row in given.matrices["at"].values()) == 9


def test_with_masked_labels_there_are_no_scores():
    given = verdict(case_74())
    assert (given.matrices, given.scores) == ({}, {})
