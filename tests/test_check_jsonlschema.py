"""The schema of the data repository, and the two validators that read it."""

import copy
import json
import sys
from types import SimpleNamespace

import jsonschema
import jsonschema_rs
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import check_jsonlschema
import kit
from campaign import DEFAULT_CONFIG, load_config

SCHEMA_FILE = kit.PROJECT / "HIPE-2026-data" / "schemas" / "hipe-2026-data.schema.json"
SCHEMA = check_jsonlschema.load_schema(SCHEMA_FILE)
FAST = jsonschema_rs.Draft202012Validator(SCHEMA)
SLOW = jsonschema.Draft202012Validator(SCHEMA)
VALIDATOR = check_jsonlschema.DocumentValidator(SCHEMA)
DOCUMENTS = [document for stem in kit.GOLDS for document in kit.GOLDS[stem]]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**63, max_value=10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([1901, 1901.0, "1901", "1848-03-02", "TRUE", "true", "PROBABLE", "FALSE"])
    | st.text(st.characters(exclude_categories=["Cs"]))
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
# Nothing here is about speed: a busy machine must not fail a test.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def with_value(key, value, place="document"):
    """Return a document of G with one value of it, or of its first pair, replaced."""
    document = kit.gold()[0]
    (document if place == "document" else document["sampled_pairs"][0])[key] = value
    return document


def nested(depth):
    """Return lists within lists."""
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


def places(value):
    """Return (container, key or index) of every value inside a value."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    found = [(value, key) for key in keys]
    for key in keys:
        if isinstance(value[key], dict | list):
            found += places(value[key])
    return found


@st.composite
def mutated(draw):
    """Return a valid document with one value replaced, removed, added or doubled."""
    document = copy.deepcopy(draw(st.sampled_from(DOCUMENTS)))
    container, key = draw(st.sampled_from(places(document)))
    change = draw(st.sampled_from(["replace", "remove", "add", "double"]))
    if change == "replace":
        container[key] = draw(VALUES)
    elif change == "remove":
        del container[key]
    elif isinstance(container, dict):
        container[draw(st.text())] = draw(VALUES)
    else:
        container.append(container[key] if change == "double" else draw(VALUES))
    return document


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_labels_of_the_schema_are_those_of_the_configuration():
    pair = SCHEMA["$defs"]["pair"]["properties"]
    for target, labels in load_config(DEFAULT_CONFIG).facts["targets"].items():
        assert pair[target]["enum"] == [*labels, None]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document["document_id"])
def test_the_base_documents_are_valid(document):
    assert FAST.is_valid(document)
    assert SLOW.is_valid(document)
    assert VALIDATOR.faults(document) == []


@unhurried
@given(mutated())
def test_both_validators_agree_on_every_document(document):
    assert FAST.is_valid(document) == SLOW.is_valid(document)


@unhurried
@given(mutated())
def test_a_document_has_faults_if_and_only_if_it_is_refused(document):
    faults = VALIDATOR.faults(document)
    assert bool(faults) != FAST.is_valid(document)
    assert check_jsonlschema.NO_DETAIL not in [fault.expected for fault in faults]


@unhurried
@given(VALUES)
def test_both_validators_agree_on_values_that_are_no_documents(value):
    assert not FAST.is_valid(value)
    assert not SLOW.is_valid(value)
    assert VALIDATOR.faults(value)


ACCEPTED = [
    ("date", "1848-03-02", "document"),
    ("date", "1901", "document"),
    ("date", None, "document"),
    ("date", "NA", "document"),
    ("sampled_pairs", [], "document"),
    ("model", "x", "document"),
    ("confidence", 0.7, "pair"),
    ("at", None, "pair"),
    ("isAt", None, "pair"),
    ("pers_mentions_list", ["-jH. Müller"], "pair"),
    ("pers_mentions_list", [""], "pair"),
    ("pers_mentions_list", [], "pair"),
]
REFUSED = [
    ("date", 1901, "document"),
    ("date", 1901.0, "document"),
    ("date", 10**400, "document"),
    ("sampled_pairs", {}, "document"),
    ("at", True, "pair"),
    ("at", ["TRUE"], "pair"),
    ("isAt", "PROBABLE", "pair"),
    ("pers_entity_id", 7, "pair"),
    ("loc_mentions_list", ["a", "a"], "pair"),
]


@pytest.mark.parametrize("change", ACCEPTED, ids=repr)
def test_both_validators_accept(change):
    document = with_value(*change)
    assert FAST.is_valid(document)
    assert SLOW.is_valid(document)


@pytest.mark.parametrize("change", REFUSED, ids=lambda change: f"{change[0]} {change[1]!r:.20}")
def test_both_validators_refuse(change):
    document = with_value(*change)
    assert not FAST.is_valid(document)
    assert not SLOW.is_valid(document)


@pytest.mark.parametrize("date", ["1848-3-2", "1848-02-30", "1901?", "18480302", ""])
def test_both_validators_are_of_one_mind_about_dates_that_are_none(date):
    document = with_value("date", date)
    assert FAST.is_valid(document) == SLOW.is_valid(document)


def test_faults_name_path_value_and_what_is_expected():
    document = with_value("at", "yes", "pair")
    document["date"] = 1901
    del document["sampled_pairs"][1]["isAt"]
    assert sorted(VALIDATOR.faults(document), key=lambda fault: fault.path) == [
        ("$.date", 1901, "string or null"),
        ("$.sampled_pairs[0].at", "yes", '"TRUE", "PROBABLE", "FALSE" or null'),
        ("$.sampled_pairs[1].isAt", check_jsonlschema.MISSING, "this required key"),
    ]


def test_only_the_repetitions_of_a_mention_are_faults():
    document = with_value("loc_mentions_list", ["a", "b", "a", "a"], "pair")
    assert VALIDATOR.faults(document) == [
        ("$.sampled_pairs[0].loc_mentions_list[2]", "a", "each mention once"),
        ("$.sampled_pairs[0].loc_mentions_list[3]", "a", "each mention once"),
    ]


def test_true_does_not_repeat_1():
    document = with_value("loc_mentions_list", [1, True, "a", "a"], "pair")
    repeated = [
        fault.path for fault in VALIDATOR.faults(document) if fault.expected == "each mention once"
    ]
    assert repeated == ["$.sampled_pairs[0].loc_mentions_list[3]"]


def test_a_refusal_that_the_slow_validator_cannot_explain_stays_a_refusal(monkeypatch):
    document = kit.gold()[0]
    validator = check_jsonlschema.DocumentValidator(SCHEMA)
    monkeypatch.setattr(validator, "_fast", SimpleNamespace(is_valid=lambda _: False))
    monkeypatch.setattr(validator, "_slow", SimpleNamespace(iter_errors=lambda _: iter(())))
    assert validator.faults(document) == [("$", document, "rejected, no detail")]


def test_a_document_that_the_fast_validator_cannot_read_is_refused(monkeypatch):
    def cannot_read(_):
        raise ValueError("a lone surrogate")

    document = kit.gold()[0]
    validator = check_jsonlschema.DocumentValidator(SCHEMA)
    monkeypatch.setattr(validator, "_fast", SimpleNamespace(is_valid=cannot_read))
    assert validator.faults(document) == [("$", document, "rejected, no detail")]


def test_a_refusal_without_detail_is_told_with_file_and_line(campaign, monkeypatch):
    campaign.reference()
    run = campaign.run()
    assert campaign.validate_references().status == 0
    refusing = SimpleNamespace(is_valid=lambda document: document["document_id"] != "de-doc-2")
    create = check_jsonlschema.DocumentValidator.__init__

    def create_refusing(self, schema):
        create(self, schema)
        self._fast = refusing

    monkeypatch.setattr(check_jsonlschema.DocumentValidator, "__init__", create_refusing)
    done = campaign.script("validate_jsonl", "submissions")
    assert done.status == 1
    [problem] = done.problems
    assert problem.startswith(f"error: {run.name}:2: $: ")
    assert "rejected, no detail" in problem


@pytest.mark.parametrize("depth", [300, 1000], ids="{} brackets".format)
@pytest.mark.parametrize("key", ["at", "pers_entity_id", "pers_mentions_list"])
def test_deep_nesting_is_a_fault_like_any_other(key, depth):
    assert len(VALIDATOR.faults(with_value(key, nested(depth), "pair"))) == 1


@pytest.mark.parametrize(
    ("date", "is_odd"),
    [
        ("1848-03-02", False),
        ("1901", False),
        (None, False),
        ("NA", True),
        ("1848-3-2", True),
        ("1848-02-30", True),
        ("1901?", True),
        ("18480302", True),
        ("1848-W09-4", True),
        ("١٩٠١", True),
        ("", True),
    ],
)
def test_a_date_that_is_none_is_odd(date, is_odd):
    expected = [("$.date", date, "a date such as 1848-03-02 or 1848, or null")]
    found = check_jsonlschema.document_warnings(with_value("date", date))
    assert found == (expected if is_odd else [])


def check_by_hand(monkeypatch, *words):
    """Run the script as a user would, with these arguments, and return its exit status."""
    monkeypatch.setattr(sys, "argv", ["check_jsonlschema.py", *map(str, words)])
    return check_jsonlschema.main()


def test_a_valid_file_is_passed_without_a_word(tmp_path, monkeypatch, capsys):
    file = tmp_path / "run.jsonl"
    file.write_bytes(b"\n" + kit.as_jsonl(kit.gold()).replace(b"\n", b"\r\n"))
    assert check_by_hand(monkeypatch, file) == 0
    assert capsys.readouterr() == ("", "")


def test_faults_are_printed_a_line_each_and_counted(tmp_path, monkeypatch, capsys):
    file = tmp_path / "run.jsonl"
    documents = [with_value("at", "yes", "pair"), {**kit.gold()[1], "date": 1901}]
    del documents[1]["text"]
    file.write_bytes(kit.as_jsonl(documents))
    said = [
        'run.jsonl:1: $.sampled_pairs[0].at: "yes", expected "TRUE", "PROBABLE", "FALSE" or null',
        "run.jsonl:2: $.text: nothing, expected this required key",
        "run.jsonl:2: $.date: 1901, expected string or null",
    ]
    assert check_by_hand(monkeypatch, file) == 1
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(said)
    assert check_jsonlschema.validate_jsonl_file(str(file), SCHEMA) == 3


def test_a_line_that_is_no_json_is_one_fault(tmp_path, monkeypatch, capsys):
    file = tmp_path / "run.jsonl"
    file.write_bytes(kit.as_jsonl(kit.gold())[:-20])
    assert check_by_hand(monkeypatch, file) == 1
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith('run.jsonl:2: $: "no JSON"')


def test_a_deep_value_is_a_printed_fault_not_a_traceback(tmp_path, capsys):
    file = tmp_path / "run.jsonl"
    document = with_value("at", "@", "pair")
    brackets = "[" * 300 + "]" * 300
    file.write_text(json.dumps(document).replace('"@"', brackets), "utf-8")
    assert check_jsonlschema.validate_jsonl_file(file, SCHEMA) == 1
    assert capsys.readouterr().out.startswith("run.jsonl:1: $.sampled_pairs[0].at: ")


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path, monkeypatch, capsys):
    assert check_by_hand(monkeypatch, tmp_path / "none.jsonl") == 2
    said = capsys.readouterr()
    assert said.out == ""
    [line] = said.err.splitlines()
    assert line.startswith("error: ")
    assert str(tmp_path / "none.jsonl") in line


def test_a_schema_that_is_no_json_is_wrong_usage(tmp_path, monkeypatch, capsys):
    schema, run = tmp_path / "schema.json", tmp_path / "run.jsonl"
    schema.write_text("{", "utf-8")
    run.write_bytes(kit.as_jsonl(kit.gold()))
    assert check_by_hand(monkeypatch, run, "--schema", schema) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")


@pytest.mark.skipif(not kit.SHARED.is_dir(), reason=f"needs the official data in {kit.SHARED}")
@pytest.mark.parametrize("folder", ["reference", "masked", "train", "sample_submissions"])
def test_both_validators_accept_the_official_files(folder):
    documents = [
        orjson.loads(line)
        for path in sorted((kit.SHARED / folder).glob("*.jsonl"))
        for line in path.read_bytes().splitlines()
        if line.strip()
    ]
    assert documents
    assert all(map(FAST.is_valid, documents))
    assert all(map(SLOW.is_valid, documents))
