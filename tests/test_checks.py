"""What validation says of gold files and runs: each fault once, in whole sentences.

tests/data/invalid-schema holds one small broken run per kind of fault, and messages.tsv the
lines that are expected for it, with FILE for the run's name.
"""

import copy
import json
import re
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings

import check_jsonlschema
import kit
from campaign import DEFAULT_CONFIG, load_config
from checks import Checker, File
from data_repo import DEFAULT_DATA_REPO, DataRepo
from files import read_tsv
from names import naming_of
from problems import is_error
from test_check_jsonlschema import SCHEMA, mutated

BROKEN = kit.PROJECT / "tests" / "data" / "invalid-schema"
EXPECTED: dict[str, list[str]] = {}
for row in read_tsv(BROKEN / "messages.tsv"):
    EXPECTED.setdefault(row["file"], []).append(row["message"])

RUN = f"team1_{kit.DE}_run1.jsonl"
EVERY_PAIR = "expected a label for every pair of the reference; count as FALSE"


@pytest.fixture
def g(campaign):
    """A campaign with reference G alone."""
    campaign.reference()
    return campaign


def validated(campaign, run, **placed):
    """Place a run and return how its validation ended."""
    campaign.run(run, **placed)
    return campaign.validate()


def scored(campaign, run, stem=kit.DE):
    """Place a run, evaluate, and return its per-run JSON."""
    campaign.run(run, stem=stem)
    campaign.evaluate()
    return campaign.score(stem=stem)


def scores(at, is_at):
    """Return the scores of a run on a newspaper file, but for the accuracies."""
    return pytest.approx(
        {
            "at_macro_recall": at,
            "isAt_macro_recall": is_at,
            "impresso_profile_score": (at + is_at) / 2,
        },
        abs=1e-12,
    )


def recalls(result):
    return {name: value for name, value in result["scores"].items() if "accuracy" not in name}


# Schema: cases 32 to 42


def test_the_table_of_messages_names_every_broken_file():
    assert sorted(EXPECTED) == sorted(path.name for path in BROKEN.glob("*.jsonl"))


@pytest.mark.parametrize("file", EXPECTED)
def test_a_broken_run_gets_exactly_these_messages(g, file):
    done = validated(g, (BROKEN / file).read_bytes())
    assert done.problems == [message.replace("FILE", RUN) for message in EXPECTED[file]]
    assert done.status == 1
    [entry] = g.json("validation/submissions.json")["files"]
    assert not entry["valid"]


def test_one_fault_in_each_of_nine_runs_is_nine_errors(g):
    labels = [True, "True", "true", "TRUE ", "TRUE\u00a0", "PROBABLY", "", 1, ["TRUE"]]
    for number, label in enumerate(labels, 1):
        run = kit.perfect()
        kit.find_pair(run, "p1", "l1")["at"] = label
        g.run(run, team=f"team{number}")
    done = g.validate()
    assert done.status == 1
    assert [line.partition("_")[0] for line in done.errors] == [
        f"error: team{number}" for number in range(1, 10)
    ]


def test_no_label_is_mended_even_if_invalid_runs_are_skipped(g):
    run = kit.perfect()
    kit.find_pair(run, "p1", "l1")["at"] = "true"
    g.run(run)
    g.run(number=2)
    g.skip_invalid = True
    g.evaluate()
    assert [row["submission"] for row in g.ranking("impresso-test-de")] == [
        f"team1_{kit.DE}_run2.jsonl"
    ]


@pytest.mark.parametrize("mode", ["TERNARY", "BINARY"])
def test_probable_is_no_label_of_isat_in_either_mode(g, mode):
    g.mode = mode
    run = kit.perfect()
    kit.find_pair(run, "p1", "l1")["isAt"] = "PROBABLE"
    done = validated(g, run)
    assert (done.status, len(done.problems)) == (1, 1)
    assert done.problems[0] == (
        f'error: {RUN}:1: $.sampled_pairs[0].isAt: found "PROBABLE"; expected "TRUE", "FALSE"'
        " or null"
    )


def dated(dates):
    """Return a document for each date."""
    return [
        kit.document(f"d{number}", date, [kit.pair("p", "l", "TRUE", "TRUE")])
        for number, date in enumerate(dates, 1)
    ]


def test_odd_dates_are_warned_of_line_by_line(campaign):
    dates = ["1848-03-02", "1901", None, "1848-3-2", "1848-02-30", "1901?"]
    campaign.reference(documents=dated(["1901"] * len(dates)))
    done = validated(campaign, dated(dates))
    assert done.status == 0
    assert done.problems == [
        f'warning: {RUN}:{line}: $.date: found "{date}"; expected a date such as 1848-03-02 or'
        " 1848, or null"
        for line, date in [(4, "1848-3-2"), (5, "1848-02-30"), (6, "1901?")]
    ]


def test_a_gold_date_that_is_none_is_warned_of_once_and_not_held_against_the_runs(campaign):
    documents = kit.perfect()
    documents[0]["date"] = "NA"
    campaign.reference(documents=documents)
    assert campaign.validate_references().problems == [
        f'warning: {kit.DE}.jsonl:1: $.date: found "NA"; expected a date such as 1848-03-02 or'
        " 1848, or null"
    ]
    assert validated(campaign, documents) == (0, "runs: 1 valid, 0 errors, 0 warnings\n", "")
    assert recalls(scored(campaign, documents)) == scores(1, 1)


def test_an_empty_list_of_pairs_leaves_its_gold_pairs_missing(g):
    run = kit.perfect()
    run[0]["sampled_pairs"] = []
    assert validated(g, run).problems == [f"warning: {RUN}: found 5 pairs missing; {EVERY_PAIR}"]
    result = scored(g, run)
    # at: TRUE 1/3, PROBABLE 1/3, FALSE 3/3; isAt: TRUE 1/3, FALSE 6/6.
    assert recalls(result) == scores(5 / 9, 2 / 3)
    assert result["imputed"] == {
        "documents": 0,
        "pairs": 5,
        "null_labels": {"at": 0, "isAt": 0},
    }


def test_isat_is_required_on_the_surprise_set_though_it_is_not_scored(campaign):
    campaign.reference(kit.SURPRISE)
    run = kit.perfect(kit.SURPRISE)
    for pair in run[0]["sampled_pairs"]:
        del pair["isAt"]
    done = validated(campaign, run, stem=kit.SURPRISE)
    assert done.status == 1
    assert done.problems == [
        f"error: team1_{kit.SURPRISE}_run1.jsonl:1: $.sampled_pairs[{index}].isAt:"
        " found nothing; expected this required key"
        for index in range(4)
    ]


def test_a_null_isat_on_the_surprise_set_changes_nothing(campaign):
    campaign.reference(kit.SURPRISE)
    run = kit.perfect(kit.SURPRISE)
    for pair in run[0]["sampled_pairs"]:
        pair["isAt"] = None
    assert validated(campaign, run, stem=kit.SURPRISE).problems == []
    result = scored(campaign, run, kit.SURPRISE)
    assert result["scores"] == {
        "surprise_profile_score": 1,
        "at_macro_recall": 1,
        "at_accuracy": 1,
    }
    assert result["imputed"] == {"documents": 0, "pairs": 0, "null_labels": {"at": 0}}


def test_extra_keys_are_accepted_and_ignored(g):
    run = kit.perfect()
    run[0]["model"] = "x"
    kit.find_pair(run, "p1", "l1")["confidence"] = 0.7
    assert validated(g, run).problems == []
    assert recalls(scored(g, run)) == scores(1, 1)


@pytest.mark.parametrize("mentions", [["-jH. Müller"], [""], [], ["a", "A"]], ids=json.dumps)
def test_these_mentions_are_fine(g, mentions):
    run = kit.perfect()
    kit.find_pair(run, "p1", "l1")["pers_mentions_list"] = mentions
    assert validated(g, run).problems == []


def test_a_number_is_never_taken_for_the_id_that_it_spells(campaign):
    gold = kit.perfect()
    kit.find_pair(gold, "p1", "l1")["pers_entity_id"] = "7"
    campaign.reference(documents=gold)
    run = copy.deepcopy(gold)
    kit.find_pair(run, "7", "l1")["pers_entity_id"] = 7
    assert validated(campaign, run).problems == [
        f"error: {RUN}:1: $.sampled_pairs[0].pers_entity_id: found 7; expected string"
    ]


def test_a_changed_text_costs_nothing(campaign):
    gold = kit.perfect()
    gold[0]["text"] = "  Herr Müller reiste nach Köln.\n"
    campaign.reference(documents=gold)
    run = copy.deepcopy(gold)
    run[0]["text"] = unicodedata.normalize("NFD", gold[0]["text"].strip())
    assert run[0]["text"] != gold[0]["text"]
    assert validated(campaign, run).errors == []
    assert recalls(scored(campaign, run)) == scores(1, 1)


def test_all_faults_of_a_file_are_told_at_once(g):
    run = [*kit.perfect(), kit.perfect()[1]]
    kit.find_pair(run, "p1", "l1")["at"] = "yes"
    data = kit.as_jsonl(run) + b"{\n"
    assert sorted(validated(g, data).problems) == sorted(
        [
            f'error: {RUN}:1: $.sampled_pairs[0].at: found "yes"; expected "TRUE", "PROBABLE",'
            ' "FALSE" or null',
            f'error: {RUN}:3: $.document_id: found document "de-doc-2" again, after line 2;'
            " expected each document once; keep one of the two lines",
            f"error: {RUN}:4: found a line that ends inside its JSON value at column 2; expected"
            " a whole object; look whether the file was cut off",
        ]
    )


@pytest.mark.parametrize("depth", [300, 1000])
@pytest.mark.parametrize("key", ["at", "confidence"])
def test_a_deeply_nested_value_is_an_error_or_harmless(g, key, depth):
    run = kit.perfect()
    kit.find_pair(run, "p1", "l1")[key] = "@"
    brackets = b"[" * depth + b"]" * depth
    done = validated(g, kit.as_jsonl(run).replace(b'"@"', brackets))
    assert len(done.errors) == done.status
    if key == "at":
        assert done.status == 1
    elif done.status == 0:
        g.evaluate()


def test_a_line_end_in_a_key_does_not_break_a_message_in_two(g):
    data = kit.as_jsonl(kit.perfect()).replace(b"{", rb'{"a\nb": {"x": 1, "x": 2}, ', 1)
    done = validated(g, data)
    assert done.status == 1
    assert len(done.problems) == 1
    assert done.problems[0].endswith(
        'found the key "x" 2 times; expected each key once; keep one of them'
    )


CONFIG = load_config(DEFAULT_CONFIG)
CHECKER = Checker(CONFIG, DataRepo(DEFAULT_DATA_REPO, CONFIG.facts["schema"]))
GOLD, _ = CHECKER.documents(File("gold", DEFAULT_DATA_REPO, kit.as_jsonl(kit.gold())))
VALIDATOR = check_jsonlschema.DocumentValidator(SCHEMA)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_a_document_that_the_schema_refuses_is_never_aligned(document):
    run = naming_of(CONFIG, {}).run(RUN)
    data = kit.as_jsonl([*kit.gold()[1:], document])
    found = CHECKER.run(File(RUN, DEFAULT_DATA_REPO, data), run, {kit.DE: GOLD})
    if VALIDATOR.faults(document):
        assert found.alignment is None
    assert (found.alignment is None) == any(map(is_error, found.problems))
    assert all("\n" not in problem.text() for problem in found.problems)


# Alignment with the reference: cases 43 to 50


def shuffled(documents):
    """Return documents, pairs and keys in reverse order."""
    return [
        reverse({**document, "sampled_pairs": [*map(reverse, document["sampled_pairs"])][::-1]})
        for document in documents[::-1]
    ]


def reverse(value):
    return dict(reversed(value.items()))


def test_order_changes_nothing_but_the_digests(g):
    run = kit.perfect()
    kit.find_pair(run, "p2", "l1")["at"] = "TRUE"
    kit.find_pair(run, "q2", "m1")["isAt"] = None
    del run[0]["sampled_pairs"][1]
    trees = []
    for documents in (run, shuffled(run)):
        g.run(documents)
        g.evaluate()
        digests = re.compile(rb"\b([0-9a-f]{64}|[0-9a-f]{12})\b")
        trees.append({path: digests.sub(b"#", data) for path, data in g.tree().items()})
    assert g.score()["scores"]["impresso_profile_score"] < 1
    assert trees[0] == trees[1]


@pytest.mark.parametrize("label", ["TRUE", "FALSE"], ids=["identical", "different"])
def test_a_repeated_document_names_both_lines(g, label):
    again = kit.perfect()[0]
    kit.find_pair([again], "p1", "l1")["at"] = label
    done = validated(g, [*kit.perfect(), again])
    assert done.status == 1
    assert done.problems == [
        f'error: {RUN}:3: $.document_id: found document "de-doc-1" again, after line 1; expected'
        " each document once; keep one of the two lines"
    ]


def test_a_repeated_pair_names_both_paths(g):
    run = kit.perfect()
    run[0]["sampled_pairs"].append(kit.pair("p1", "l1", "FALSE", "TRUE"))
    done = validated(g, run)
    assert done.status == 1
    assert done.problems == [
        f'error: {RUN}:1: $.sampled_pairs[5]: found the pair "p1" and "l1" again, after'
        " $.sampled_pairs[0]; expected each pair once; keep one of the two"
    ]


def test_the_same_ids_in_two_documents_are_two_pairs(campaign):
    gold = kit.perfect()
    gold[1]["sampled_pairs"].append(kit.pair("p1", "l1", "FALSE", "FALSE"))
    campaign.reference(documents=gold)
    assert validated(campaign, gold).problems == []
    result = scored(campaign, gold)
    assert recalls(result) == scores(1, 1)
    assert result["counts"]["at"]["total"] == 10


def test_a_missing_document_lowers_the_score_and_is_recorded(g):
    run = kit.perfect()[:1]
    done = validated(g, run)
    assert done.status == 0
    assert done.problems == [
        f"warning: {RUN}: found 4 pairs missing, 1 whole document among them; {EVERY_PAIR}"
    ]
    result = scored(g, run)
    assert recalls(result) == scores(7 / 9, 5 / 6)
    assert result["scores"]["impresso_profile_score"] == pytest.approx(29 / 36, abs=1e-12)
    assert result["imputed"]["documents"] == 1
    assert result["imputed"]["pairs"] == 4
    assert result["counts"]["at"]["total"] == result["counts"]["isAt"]["total"] == 9


def test_a_missing_pair_lowers_the_score_and_is_recorded(g):
    run = kit.perfect()
    del run[0]["sampled_pairs"][0]
    assert validated(g, run).problems == [f"warning: {RUN}: found 1 pair missing; {EVERY_PAIR}"]
    result = scored(g, run)
    assert recalls(result) == scores(8 / 9, 5 / 6)
    assert result["scores"]["impresso_profile_score"] == pytest.approx(31 / 36, abs=1e-12)
    assert (result["imputed"]["documents"], result["imputed"]["pairs"]) == (0, 1)
    assert result["counts"]["at"]["total"] == 9


def test_null_labels_lower_the_score_and_are_recorded(g):
    run = kit.perfect()
    kit.find_pair(run, "p1", "l1").update(at=None, isAt=None)
    assert validated(g, run).problems == [
        f"warning: {RUN}: found 1 null label for {target}; {EVERY_PAIR}"
        for target in ("at", "isAt")
    ]
    result = scored(g, run)
    assert recalls(result) == scores(8 / 9, 5 / 6)
    assert result["imputed"] == {
        "documents": 0,
        "pairs": 0,
        "null_labels": {"at": 1, "isAt": 1},
    }


def test_what_is_beyond_the_reference_changes_no_score_and_is_reported(g):
    run = kit.perfect()
    run[0]["sampled_pairs"].append(kit.pair("p9", "l9", "TRUE", "TRUE"))
    three = [kit.pair("a", place, "PROBABLE", "TRUE") for place in "bcd"]
    run.append(kit.document("de-doc-9", "1901", three))
    done = validated(g, run)
    assert done.status == 0
    assert done.problems == [
        f"warning: {RUN}: found 1 pair beyond those of the reference; expected only what the"
        " reference has; ignored",
        f'warning: {RUN}:3: $.document_id: found "de-doc-9", which the reference does not have;'
        " expected only what the reference has; ignored",
    ]
    result = scored(g, run)
    assert recalls(result) == scores(1, 1)
    assert result["extra"] == {"documents": 1, "pairs": 1}
    assert result["counts"]["at"]["total"] == 9


@pytest.mark.parametrize(
    ("gold_id", "run_id", "shown"),
    [
        ("de-doc-1", "de-doc-1 ", '"de-doc-1 "'),
        ("de-doc-1", "DE-doc-1", '"DE-doc-1"'),
        ("dé-doc-1", "de\u0301-doc-1", r'"de\u0301-doc-1"'),
    ],
    ids=["a space", "upper case", "a decomposed letter"],
)
def test_an_id_that_is_almost_right_is_not_matched(campaign, gold_id, run_id, shown):
    gold, run = kit.perfect(), kit.perfect()
    gold[0]["document_id"], run[0]["document_id"] = gold_id, run_id
    campaign.reference(documents=gold)
    done = validated(campaign, run)
    assert done.status == 0
    assert done.problems == [
        f"warning: {RUN}: found 5 pairs missing, 1 whole document among them; {EVERY_PAIR}",
        f"warning: {RUN}:1: $.document_id: found {shown}, which the reference does not have;"
        f' expected only what the reference has; ignored; was "{gold_id}" meant?',
    ]
    # Only the four pairs of the second document count: as for an empty list of pairs above.
    assert recalls(scored(campaign, run)) == scores(5 / 9, 2 / 3)


def test_a_run_for_other_documents_names_the_reference_that_it_fits(base):
    done = validated(base, kit.perfect(kit.EN))
    assert done.status == 1
    assert done.problems == [
        f"error: {RUN}: found 2 documents, none of which its reference has; expected documents"
        f" of {kit.DE}; they are documents of {kit.EN}"
    ]


def test_a_run_for_unknown_documents_says_so_without_a_guess(g):
    run = [{**document, "document_id": f"de-train-{n}"} for n, document in enumerate(kit.gold(), 1)]
    done = validated(g, run)
    assert done.status == 1
    assert done.problems == [
        f"error: {RUN}: found 2 documents, none of which its reference has; expected documents"
        f" of {kit.DE}"
    ]


def undecided(place):
    return (
        f"error: {kit.DE}.jsonl:{place}: found null; expected a gold label; decide it, or remove"
        " the pair"
    )


def test_a_gold_null_is_an_error_since_gold_decides(campaign):
    gold = kit.perfect()
    kit.find_pair(gold, "p1", "l2")["at"] = None
    kit.find_pair(gold, "q1", "m1").update(at=None, isAt=None)
    campaign.reference(documents=gold)
    done = campaign.validate_references()
    assert done.status == 1
    assert done.problems == [
        undecided("1: $.sampled_pairs[1].at"),
        undecided("2: $.sampled_pairs[0].at"),
        undecided("2: $.sampled_pairs[0].isAt"),
    ]


def test_a_gold_null_is_named_by_its_place_in_the_file_behind_a_repeated_pair_too(campaign):
    gold = kit.perfect()
    pairs = gold[0]["sampled_pairs"]
    pairs.insert(1, copy.deepcopy(pairs[0]))
    pairs[3]["at"] = None
    campaign.reference(documents=gold)
    assert campaign.validate_references().problems == [
        f'error: {kit.DE}.jsonl:1: $.sampled_pairs[1]: found the pair "p1" and "l1" again, after'
        " $.sampled_pairs[0]; expected each pair once; keep one of the two",
        undecided("1: $.sampled_pairs[3].at"),
    ]


def test_a_gold_null_of_a_target_that_is_not_scored_is_fine(campaign):
    gold = kit.perfect(kit.SURPRISE)
    for pair in gold[0]["sampled_pairs"]:
        pair["isAt"] = None
    campaign.reference(kit.SURPRISE, gold)
    assert campaign.validate_references().problems == []
    result = scored(campaign, kit.perfect(kit.SURPRISE), kit.SURPRISE)
    assert result["scores"]["surprise_profile_score"] == 1


def test_a_gold_document_without_pairs_is_never_missing(campaign):
    campaign.reference(documents=[*kit.perfect(), kit.document("de-doc-3", "1901", [])])
    assert campaign.validate_references().problems == []
    assert validated(campaign, kit.perfect()).problems == []
    result = scored(campaign, kit.perfect())
    assert recalls(result) == scores(1, 1)
    assert (result["imputed"]["documents"], result["imputed"]["pairs"]) == (0, 0)


def test_a_gold_file_without_pairs_is_refused(campaign):
    campaign.reference(documents=[kit.document("de-doc-1", "1901", [])])
    done = campaign.validate_references()
    assert done.status == 1
    assert done.problems == [
        f"error: {kit.DE}.jsonl: found no pairs in any document; expected pairs with gold labels"
    ]


def test_labels_that_the_gold_never_uses_are_warned_of(campaign):
    gold = kit.perfect()
    for document in gold:
        for pair in document["sampled_pairs"]:
            pair["at"] = "TRUE"
    campaign.reference(documents=gold)
    done = campaign.validate_references()
    assert done.status == 0
    assert done.problems == [
        f"warning: {kit.DE}.jsonl: found no gold label {label} for at; expected each label at"
        " least once; it is left out of the mean"
        for label in ("PROBABLE", "FALSE")
    ]


@pytest.mark.parametrize("file", EXPECTED)
def test_a_broken_gold_file_gets_the_same_messages(campaign, file):
    path = campaign.reference()
    path.write_bytes((BROKEN / file).read_bytes())
    done = campaign.validate_references()
    assert done.status == 1
    assert done.errors == [message.replace("FILE", path.name) for message in EXPECTED[file]]
