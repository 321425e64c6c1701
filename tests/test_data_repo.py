"""The data repository: its parts, and the official one in the place of ours.

``official`` writes a stand-in for the official repository: same names and signatures, and the
habits that DESIGN.md warns of. It joins the two ids of a pair into one string, prints, skips
lines that it cannot read, lets the last of two equal documents win, changes the run in place
when it imputes, and leaves null as None. Modules are imported by name, so whatever uses it runs
in a process of its own.
"""

import re
import shutil
import sys
from pathlib import Path

import pytest

import kit
from campaign import BadInput
from data_repo import DEFAULT_DATA_REPO, DataRepo

SCHEMA = "schemas/hipe-2026-data.schema.json"
RUN = f"team1_{kit.DE}_run1.jsonl"
VALIDATING = "validate-submissions"

CHECK_JSONLSCHEMA = """
import json
from jsonschema import Draft202012Validator


def load_schema(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def validate_jsonl_file(path, schema):
    number = 0
    for count, line in enumerate(open(path, encoding="utf-8"), 1):
        try:
            document = json.loads(line)
        except json.JSONDecodeError:
            continue
        for error in Draft202012Validator(schema).iter_errors(document):
            print(f"line {count}, {error.json_path}: {error.message}")
            number += 1
    return number
"""

EVALUATION_UTILS = """
import copy
import json
import sys


def load_jsonl_to_reshaped_dict(path):
    documents = {}
    for line in open(path, encoding="utf-8"):
        try:
            document = json.loads(line)
        except json.JSONDecodeError:
            print("STAND-IN: skipped a line")
            continue
        pairs = {}
        for pair in document["sampled_pairs"]:
            pairs[pair["pers_entity_id"] + pair["loc_entity_id"]] = pair
        document["sampled_pairs"] = pairs
        documents[document["document_id"]] = document
    return documents


def impute_missing_submission_data(gold, run):
    for name, document in gold.items():
        if name not in run:
            print(f"STAND-IN: {name} is missing", file=sys.stderr)
            run[name] = {**document, "sampled_pairs": {}}
        for key, pair in document["sampled_pairs"].items():
            if key not in run[name]["sampled_pairs"]:
                print(f"STAND-IN: {key} is missing", file=sys.stderr)
                answer = {**copy.deepcopy(pair), "at": "FALSE", "isAt": "FALSE"}
                run[name]["sampled_pairs"][key] = answer
    return run


def flatten_predictions(gold, run):
    labels = {target: {"gold": [], "pred": []} for target in ("at", "isAt")}
    for name, document in gold.items():
        for key, pair in document["sampled_pairs"].items():
            for target, columns in labels.items():
                columns["gold"].append(pair[target])
                columns["pred"].append(run[name]["sampled_pairs"][key][target])
    print("STAND-IN: flattened")
    return labels
"""

# What "from sklearn.metrics import recall_score" does where scikit-learn is not installed.
WITHOUT_SCIKIT_LEARN = 'raise ModuleNotFoundError("No module named sklearn", name="sklearn")\n'


@pytest.fixture
def official(tmp_path):
    """The folder of a stand-in for the official repository."""
    folder = tmp_path / "official"
    (folder / "scripts").mkdir(parents=True)
    (folder / "schemas").mkdir()
    shutil.copy(DEFAULT_DATA_REPO / SCHEMA, folder / SCHEMA)
    (folder / "scripts" / "check_jsonlschema.py").write_text(CHECK_JSONLSCHEMA, "utf-8")
    (folder / "scripts" / "evaluation_utils.py").write_text(EVALUATION_UTILS, "utf-8")
    return folder


@pytest.fixture
def untidy(base):
    """The base campaign with runs that are untidy in each way that is allowed."""
    run = kit.perfect(kit.DE)
    kit.find_pair(run, "p1", "l1").update(at=None, isAt=None)
    kit.find_pair(run, "q1", "m2")["at"] = "PROBABLE"
    base.run(run, team="team2")
    base.run(kit.perfect(kit.EN)[:1], team="team2", stem=kit.EN)
    run = kit.perfect(kit.FR)[::-1]
    del run[0]["sampled_pairs"][0]
    run[1]["sampled_pairs"].append(kit.pair("p9", "l9", "TRUE", "TRUE"))
    run.append(kit.document("fr-doc-9", None, [kit.pair("a", "b", "TRUE", "TRUE")]))
    base.run(run, team="team2", stem=kit.FR, info=None)
    run = kit.perfect(kit.SURPRISE)
    run[0]["sampled_pairs"][1]["at"] = None
    base.run(run, team="team2", stem=kit.SURPRISE)
    base.run(number=2)
    return base


def missing(path):
    return (
        f"error: {path}: found no such file; expected a checkout of the data repository;"
        " set DATA_REPO to one, or restore HIPE-2026-data"
    )


def test_all_missing_parts_are_named_with_their_paths(tmp_path):
    with pytest.raises(BadInput) as refused:
        DataRepo(tmp_path, SCHEMA)
    assert [problem.text() for problem in refused.value.problems] == [
        missing(tmp_path / "scripts" / "check_jsonlschema.py"),
        missing(tmp_path / "scripts" / "evaluation_utils.py"),
        missing(tmp_path / SCHEMA),
    ]


@pytest.mark.parametrize("part", ["scripts/evaluation_utils.py", SCHEMA])
def test_a_script_leaves_with_1_and_the_missing_part(base, official, part):
    base.data_repo = official
    (official / part).unlink()
    assert base.validate_references() == (1, "", missing(official / part) + "\n")


def test_make_fails_without_a_data_repository(base, tmp_path):
    base.data_repo = tmp_path / "nowhere"
    done = base.make("eval-full")
    assert done.status != 0
    assert set(done.errors) == {
        missing(base.data_repo / part)
        for part in ("scripts/check_jsonlschema.py", "scripts/evaluation_utils.py", SCHEMA)
    }
    assert "Traceback" not in done.err
    assert not base.page.exists()


@pytest.mark.parametrize(
    "part", ["scripts/check_jsonlschema.py", "scripts/evaluation_utils.py", SCHEMA]
)
def test_the_digest_tells_any_change_of_the_data_repository(official, part):
    before = DataRepo(official, SCHEMA).digest
    assert DataRepo(official, SCHEMA).digest == before
    with open(official / part, "a", encoding="utf-8") as stream:
        stream.write("\n")
    assert DataRepo(official, SCHEMA).digest != before


def test_a_schema_may_lie_where_the_configuration_says(official):
    moved = official / "schema.json"
    (official / SCHEMA).rename(moved)
    assert DataRepo(official, "schema.json").digest


@pytest.mark.parametrize("stage", ["score_one", "build_diagnostics"])
def test_a_run_that_changed_since_its_validation_is_not_used(base, stage):
    base.evaluate()
    # Scores of another mode are all made again.
    base.mode = "BINARY"
    if stage == "build_diagnostics":
        assert base.script("score_one").status == 0
    base.run([*kit.perfect()[:1]])
    done = base.script(stage)
    assert done.status == 1
    assert done.problems == [
        f"error: {RUN}: found other content than when it was validated; expected the same;"
        " run make again"
    ]


def test_a_reference_that_changed_since_its_validation_is_not_used(base):
    base.evaluate()
    base.mode = "BINARY"
    base.reference(documents=kit.perfect()[:1])
    done = base.script("score_one")
    assert done.status == 1
    assert done.problems == [
        f"error: {kit.DE}.jsonl: found other content than when it was validated; expected the"
        " same; run make again"
    ]


# The official repository in the place of ours


def results(campaign):
    """Return all results but for the reports, manifests and digests, which name the code."""
    return {
        path: re.sub(rb'"(data_repo|scores)": "\w+"', b"", data)
        for path, data in campaign.tree().items()
        if not path.startswith("validation/") and not path.endswith(".manifest.json")
    }


def evaluated(campaign, data_repo):
    """Evaluate with a data repository and return how it ended."""
    campaign.data_repo = data_repo
    done = campaign.make("eval-full")
    assert done.status == 0, done.err
    return done


def test_the_official_repository_gives_the_same_results_and_says_the_same(untidy, official):
    ours = evaluated(untidy, DEFAULT_DATA_REPO)
    by_ours = results(untidy)
    assert len([path for path in by_ours if path.startswith("per-run/")]) == 9
    shutil.rmtree(untidy.results)
    theirs = evaluated(untidy, official)
    assert results(untidy) == by_ours
    assert sorted(theirs.problems) == sorted(ours.problems)
    assert "STAND-IN" not in theirs.out + theirs.err


def test_a_changed_data_repository_is_noticed_and_the_scores_made_again(base, official):
    base.run(kit.perfect()[:1])
    evaluated(base, official)
    # isAt of a run without the second document: TRUE 2 of 3, FALSE 6 of 6.
    assert base.score()["scores"]["isAt_macro_recall"] == pytest.approx(5 / 6, abs=1e-12)
    changed = EVALUATION_UTILS.replace('"isAt": "FALSE"}', '"isAt": "TRUE"}')
    (official / "scripts" / "evaluation_utils.py").write_text(changed, "utf-8")
    evaluated(base, official)
    # With TRUE for each missing answer: TRUE 3 of 3, FALSE 3 of 6.
    assert base.score()["scores"]["isAt_macro_recall"] == pytest.approx(3 / 4, abs=1e-12)


def no_scikit_learn(folder, module):
    return (
        f'error: {folder}/scripts/{module}.py: found no package "scikit-learn", which this data'
        " repository imports; expected it to be installed;"
        f" run: {Path(sys.executable).name} -m pip install scikit-learn"
    )


@pytest.mark.parametrize("module", ["check_jsonlschema", "evaluation_utils"])
def test_a_package_that_only_the_official_repository_needs_is_named(base, official, module):
    path = official / "scripts" / f"{module}.py"
    path.write_text(WITHOUT_SCIKIT_LEARN + path.read_text("utf-8"), "utf-8")
    base.data_repo = official
    done = base.make("eval-full")
    assert done.status != 0
    assert done.problems == [no_scikit_learn(official, module)]
    assert "Traceback" not in done.err
    assert not base.page.exists()


def validated(campaign, data_repo):
    """Validate references and runs with make and return how it ended."""
    campaign.data_repo = data_repo
    done = campaign.make(VALIDATING)
    assert done.status != 0
    return done


def test_what_the_official_schema_check_finds_is_told_line_by_line(base, official):
    run = kit.perfect()
    kit.find_pair(run, "p1", "l1")["at"] = "yes"
    kit.find_pair(run, "q1", "m1")["pers_entity_id"] = 7
    base.run(run)
    assert validated(base, official).problems == [
        f"error: {RUN}: found line {line}; expected a file that hipe-2026-data.schema.json accepts"
        for line in (
            "1, $.sampled_pairs[0].at: 'yes' is not one of ['TRUE', 'PROBABLE', 'FALSE', None]",
            "2, $.sampled_pairs[0].pers_entity_id: 7 is not of type 'string'",
        )
    ]


@pytest.mark.parametrize(("errors", "said"), [(1, "1 schema error"), (2, "2 schema errors")])
def test_an_official_refusal_without_a_word_is_still_a_refusal(base, official, errors, said):
    path = official / "scripts" / "check_jsonlschema.py"
    path.write_text(
        "def load_schema(path):\n    return {}\n\n\ndef validate_jsonl_file(path, schema):\n"
        f"    return {errors} if 'team1' in str(path) else 0\n",
        "utf-8",
    )
    for stem in (kit.EN, kit.FR, kit.SURPRISE):
        (base.systems / f"team1_{stem}_run1.jsonl").unlink()
    assert validated(base, official).problems == [
        f"error: {RUN}: found {said}; expected a file that hipe-2026-data.schema.json accepts"
    ]


def broken_in_ways_of_ours():
    """Return {what is wrong: the bytes of a run} that the official modules pass over."""
    again = kit.perfect()
    again[0]["sampled_pairs"].append(kit.pair("p1", "l1", "FALSE", "FALSE"))
    return {
        "a document twice": kit.as_jsonl([*kit.perfect(), kit.perfect()[0]]),
        "a pair twice": kit.as_jsonl(again),
        "a line cut off": kit.as_jsonl(kit.perfect())[:-20],
        "a key twice": kit.as_jsonl(kit.perfect()).replace(b'"at":', b'"at": "FALSE", "at":', 1),
        "other documents": kit.as_jsonl(kit.perfect(kit.EN)),
    }


def test_our_own_checks_do_not_depend_on_the_data_repository(base, official):
    for number, data in enumerate(broken_in_ways_of_ours().values(), 2):
        base.run(data, team=f"team{number}")
    ours = validated(base, DEFAULT_DATA_REPO).problems
    assert len(ours) == 5
    assert validated(base, official).problems == ours


def gold_with_ids_that_join_alike():
    gold = kit.perfect()
    alike = [kit.pair("p1", "1l", "TRUE", "TRUE"), kit.pair("p11", "l", "FALSE", "FALSE")]
    gold[0]["sampled_pairs"] += alike
    return gold


@pytest.mark.parametrize(
    ("gold", "pairs", "cut"),
    [(gold_with_ids_that_join_alike(), 11, b""), (kit.perfect(), 9, b"\r")],
    ids=["ids that join alike", "a bare CR, which the official loader takes for a line end"],
)
def test_what_the_official_loader_loses_is_not_lost_without_a_word(
    campaign, official, gold, pairs, cut
):
    campaign.reference(documents=gold)
    campaign.run(kit.as_jsonl(gold).replace(b', "source"', b"," + cut + b' "source"'))
    campaign.data_repo = official
    done = campaign.make("eval-full")
    assert "Traceback" not in done.err
    if done.status == 0:
        counts = campaign.score()["counts"]["at"]
        assert (counts["correct"], counts["total"]) == (pairs, pairs)
    else:
        assert done.errors


def test_the_stand_in_has_the_habits_that_it_stands_for(official, tmp_path):
    utils = {}
    exec((official / "scripts" / "evaluation_utils.py").read_text("utf-8"), utils)
    path = tmp_path / "run.jsonl"
    path.write_bytes(kit.as_jsonl([*kit.perfect(), kit.perfect()[0]]) + b"{\n")
    gold, run = (utils["load_jsonl_to_reshaped_dict"](path) for _ in range(2))
    assert list(gold) == ["de-doc-1", "de-doc-2"]
    del run["de-doc-2"]
    assert utils["impute_missing_submission_data"](gold, run) is run
    run["de-doc-1"]["sampled_pairs"]["p1l1"]["at"] = None
    assert utils["flatten_predictions"](gold, run)["at"]["pred"][0] is None
