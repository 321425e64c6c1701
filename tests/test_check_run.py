"""check_run: a participant is told whether a run would be accepted, and what would be counted."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys

import pytest

import inbox
import kit
from kit import DE, EN, FR, PROJECT, SHARED, SURPRISE, as_jsonl, find_pair, perfect
from test_run_verdict import case_74, masked, untidy

RUN = f"team1_{DE}_run1.jsonl"
P = as_jsonl(perfect())
ALLOWED = 'expected "TRUE", "PROBABLE", "FALSE" or null'
PERFECT_REPORT = f"""\
{RUN}: would be accepted, checked against {DE}.jsonl

What would be counted
  a label for every pair

target    label              pairs
--------  ---------------  -------
at        TRUE                   3
at        PROBABLE               3
at        FALSE                  3
at        null or missing        0
isAt      TRUE                   3
isAt      FALSE                  6
isAt      null or missing        0
"""


def masked_name(stem):
    """Return what participants get a reference as: _masked stands behind the split."""
    before, language = stem.rsplit("-", maxsplit=1)
    return f"{before}_masked-{language}.jsonl"


class Check:
    """A folder with masked files, and the script to check runs against them."""

    def __init__(self, campaign):
        self.campaign = campaign
        self.masked = campaign.folder / "masked"
        self.masked.mkdir()
        for stem in kit.GOLDS:
            (self.masked / masked_name(stem)).write_bytes(as_jsonl(masked(stem)))
        self.german = self.masked / masked_name(DE)

    def __call__(self, run, *words, name=RUN, against=None):
        """Check a run, given as documents, bytes or a path; against: what it is checked with."""
        if isinstance(run, list | bytes):
            path = self.campaign.folder / name
            path.write_bytes(run if isinstance(run, bytes) else as_jsonl(run))
            run = path
        given = [str(run), *words, "--reference", str(against or self.german)]
        return self.campaign.script("check_run", *given)

    def problems(self, run, **options):
        """Return the lines about a run that is not accepted."""
        done = self(run, **options)
        assert (done.status, done.err) == (1, "")
        assert "would NOT be accepted" in done.out
        return [line.strip() for line in done.out.splitlines() if line.startswith("  error: ")]


@pytest.fixture
def check(campaign):
    return Check(campaign)


def changed(**labels):
    """Return the perfect run with other labels for its first pair."""
    run = perfect()
    find_pair(run, "p1", "l1").update(labels)
    return run


# Reports


def test_a_perfect_run_gets_this_report(check):
    assert check(perfect()) == (0, PERFECT_REPORT, "")


def test_all_that_would_be_counted_is_said_in_this_report(check):
    done = check(untidy())
    assert done == (
        0,
        f"""\
{RUN}: would be accepted, checked against {DE}.jsonl
  warning: line 2: $.document_id: found "de-doc-9", which the reference does not have; expected \
only what the reference has; ignored

What would be counted
  1 document missing: the pairs would count as FALSE
  5 pairs missing, those of missing documents included: would count as FALSE
  3 null labels would count as FALSE
  1 document that the reference does not have: ignored
  2 pairs that the reference does not have: ignored
  1 document with changed text or metadata: harmless, but look why
  1 pair with changed mentions or links: harmless, but look why

target    label              pairs
--------  ---------------  -------
at        TRUE                   0
at        PROBABLE               1
at        FALSE                  1
at        null or missing        7
isAt      TRUE                   0
isAt      FALSE                  3
isAt      null or missing        6
""",
        "",
    )


def test_with_the_gold_file_scores_and_both_matrices_are_printed(check):
    check.campaign.reference()
    done = check(case_74(), against=check.campaign.references)
    assert done.status == 0
    assert (
        done.out.split("isAt      null or missing        0\n")[1]
        == """
at: gold \\ run      TRUE    PROBABLE    FALSE
----------------  ------  ----------  -------
TRUE                   2           1        0
PROBABLE               0           1        2
FALSE                  0           0        3

isAt: gold \\ run      TRUE    FALSE
------------------  ------  -------
TRUE                     3        0
FALSE                    0        6

score                     value
----------------------  -------
impresso_profile_score   0.8333
at_macro_recall          0.6667
at_accuracy              0.6667
isAt_macro_recall        1.0000
isAt_accuracy            1.0000
"""
    )


def test_with_the_gold_surprise_file_only_at_is_scored(check):
    check.campaign.reference(SURPRISE)
    name = f"team1_{SURPRISE}_run1.jsonl"
    done = check(perfect(SURPRISE), name=name, against=check.campaign.references)
    assert done.status == 0
    assert "isAt" not in done.out
    assert "surprise_profile_score   1.0000" in done.out


# Labels: cases 32, 33 and 38


@pytest.mark.parametrize(
    ("label", "shown", "suggestion"),
    [
        (True, "true", '; did you mean "TRUE"?'),
        ("True", '"True"', '; did you mean "TRUE"?'),
        ("true", '"true"', '; did you mean "TRUE"?'),
        ("TRUE ", '"TRUE "', '; did you mean "TRUE"?'),
        ("TRUE\u00a0", '"TRUE\\u00a0"', '; did you mean "TRUE"?'),
        ("PROBABLY", '"PROBABLY"', '; did you mean "PROBABLE"?'),
        ("", '""', ""),
        (1, "1", ""),
        (["TRUE"], "a JSON array of 1 element", ""),
    ],
)
def test_a_misspelt_label_is_shown_and_the_right_one_suggested(check, label, shown, suggestion):
    assert check.problems(changed(at=label)) == [
        f"error: line 1: $.sampled_pairs[0].at: found {shown}; {ALLOWED}{suggestion}"
    ]


def test_a_label_of_the_other_target_is_no_suggestion(check):
    assert check.problems(changed(isAt="PROBABLE")) == [
        'error: line 1: $.sampled_pairs[0].isAt: found "PROBABLE"; expected "TRUE", "FALSE" or null'
    ]


def test_all_misspelt_labels_are_told_at_once(check):
    run = changed(at="true", isAt="false")
    run[1]["sampled_pairs"][3]["at"] = "no"
    lines = [re.sub(r": found.*", "", line) for line in check.problems(run)]
    assert lines == [
        "error: line 1: $.sampled_pairs[0].at",
        "error: line 1: $.sampled_pairs[0].isAt",
        "error: line 2: $.sampled_pairs[3].at",
    ]


def test_keys_of_ones_own_are_accepted_and_ignored(check):
    run = changed(confidence=0.7)
    run[0]["model"] = "x"
    assert check(run) == (0, PERFECT_REPORT, "")


def test_changed_text_is_accepted_and_mentioned(check):
    run = perfect()
    run[0]["text"] = run[0]["text"][:-1]
    said = "1 document with changed text or metadata: harmless, but look why"
    assert check(run) == (0, PERFECT_REPORT.replace("a label for every pair", said), "")


# File names: cases 3, 4, 13 and 14


@pytest.mark.parametrize(
    "name",
    [
        f"team1_{DE.replace('test', 'test_masked')}_run1.jsonl",
        f"team1-{DE}-run1.jsonl",
        f"team1_{DE.replace('-de', '_de')}_run1.jsonl",
        f"team1_{DE[:-2]}DE_run1.jsonl",
        f"TEAM1_{DE}_run1.jsonl",
        f"team1_{DE.lower()}_run1.jsonl",
        f"team1_{DE}_run1.JSONL",
        f"team1_{DE}_Run1.jsonl",
        f"team1_{DE}_run01.jsonl",
        f"team1_{DE}_run1 (1).jsonl",
        f"team1_{DE}_run1.json",
    ],
)
def test_a_wrong_file_name_is_told_with_the_right_one(check, name):
    done = check(P, name=name)
    assert done.status == 1
    assert done.out.splitlines()[:2] == [
        f"{name}: would NOT be accepted, checked against {DE}.jsonl",
        f"  error: found this file name; expected {RUN}; rename it",
    ]


@pytest.mark.parametrize(
    "name", ["my_run.jsonl", f"team1_{DE}_run4.jsonl", f"team1_{DE}_run.jsonl", "x.txt"]
)
def test_a_name_that_does_not_tell_the_run_is_told_the_rule(check, name):
    assert check.problems(P, name=name) == [
        f"error: found this file name; expected <team>_{DE}_run<1-3>.jsonl; rename it"
    ]


def test_a_misnamed_run_is_told_its_other_faults_too(check):
    assert len(check.problems(changed(at="true"), name="my_run.jsonl")) == 2


# Documents of another file: case 5


def test_a_run_with_foreign_documents_is_told_what_it_is_for(check):
    run = perfect()
    for number, document in enumerate(run, 1):
        document["document_id"] = f"de-train-{number}"
    said = "error: found 2 documents, none of which its reference has; expected documents of"
    assert check.problems(run) == [f"{said} {DE}"]
    assert check.problems(perfect(EN), against=check.masked) == [
        f"{said} {DE}; they are documents of {EN}"
    ]


def test_a_run_for_another_file_than_the_only_one_ends_in_no_traceback(check):
    [line] = check.problems(perfect(FR), name=f"team1_{FR}_run1.jsonl")
    assert DE in line


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "error: found no documents; expected one JSON object a line; send the file again"),
        (b"[1]\n", "error: line 1: found one JSON array"),
        (b"\xef\xbb\xbf" + P, "error: line 1: found a byte-order mark (EF BB BF)"),
        (P[:-20], "error: line 2: found a line that ends inside its JSON value"),
        (P + P, 'error: line 3: $.document_id: found document "de-doc-1" again, after line 1'),
    ],
)
def test_a_file_that_cannot_be_read_is_not_accepted(check, data, said):
    assert check.problems(data)[0].startswith(said)


# Folders and archives


@pytest.mark.parametrize("name", ["runs", "runs.zip", "runs.tar.gz", "runs.tgz"])
def test_a_folder_or_archive_of_runs_is_checked_run_by_run(check, name):
    members = {RUN: P, f"en/team1_{EN}_run1.jsonl": as_jsonl(perfect(EN)[:1])}
    path = inbox.pack(check.campaign.folder / name, inbox.with_decoys(members))
    done = check(path, against=check.masked)
    assert (done.status, done.err) == (0, "")
    reports = re.split(r"\n\n(?=team1_)", done.out.removesuffix("\n"))
    english, german = sorted(reports, key=lambda report: "test-en" not in report)
    assert german + "\n" == PERFECT_REPORT
    assert english.startswith(f"team1_{EN}_run1.jsonl: would be accepted")
    assert "1 document missing" in english


def test_one_run_that_is_not_accepted_is_enough_for_status_1(check):
    members = {RUN: P, f"team1_{EN}_run1.jsonl": P, f"team2_{DE}_run1.jsonl": P}
    path = inbox.pack(check.campaign.folder / "runs.zip", members)
    done = check(path, against=check.masked)
    assert done.status == 1
    accepted = re.findall(r"^(team\S+): would be accepted", done.out, re.M)
    assert accepted == [RUN, f"team2_{DE}_run1.jsonl"]
    assert re.findall(r"^(team\S+): would NOT", done.out, re.M) == [f"team1_{EN}_run1.jsonl"]


def test_several_runs_can_be_named(check):
    path = check.campaign.folder / f"team2_{DE}_run1.jsonl"
    path.write_bytes(P)
    done = check(P, str(path))
    assert (done.status, done.out.count("would be accepted")) == (0, 2)


@pytest.mark.parametrize(
    ("name", "members", "said"),
    [
        ("a.zip", {"../x.jsonl": P}, "found ../x.jsonl: a path that leaves the archive"),
        ("a.zip", {"README.md": b""}, "found no run; expected a .jsonl file"),
        ("a", {}, "found no run; expected a .jsonl file"),
    ],
)
def test_an_archive_that_is_refused_or_holds_no_run_is_not_accepted(check, name, members, said):
    done = check(inbox.pack(check.campaign.folder / name, members))
    assert (done.status, done.out) == (1, "")
    assert done.errors[0].startswith(f"error: {name}: {said}")


def test_a_member_that_was_not_looked_into_is_not_passed_over_in_silence(check):
    folder = check.campaign.folder
    third = {"third.zip": inbox.packed("third.zip", {RUN: b"broken"}, folder)}
    members = {RUN: P, "second.zip": inbox.packed("second.zip", third, folder)}
    done = check(inbox.pack(folder / "runs.zip", members))
    assert "third.zip" in done.out + done.err


@pytest.mark.parametrize("words", [[], ["--json"], ["--github"]])
@pytest.mark.parametrize("name", ["runs", "runs.tgz"])
def test_a_name_that_is_no_unicode_can_be_printed(check, name, words):
    path = inbox.pack(check.campaign.folder / name, {"Läufe.jsonl".encode("latin-1"): P})
    done = check(path, *words)
    assert (done.status, done.err) == (1, "")
    done.out.encode()


# For machines


def test_json_holds_the_whole_verdict_and_round_trips(check):
    done = check(untidy(), "--json")
    assert (done.status, done.err) == (0, "")
    [verdict] = json.loads(done.out)
    assert json.loads(json.dumps(verdict)) == verdict
    assert list(verdict) == [
        "file",
        "reference",
        "accepted",
        "problems",
        "counted",
        "labels",
        "matrices",
        "scores",
    ]
    assert (verdict["file"], verdict["reference"]) == (RUN, f"{DE}.jsonl")
    assert verdict["accepted"] is True
    assert verdict["counted"]["missing_pairs"] == 5
    assert verdict["labels"]["isAt"] == {"TRUE": 0, "FALSE": 3, "null or missing": 6}


def test_json_of_a_run_that_is_not_accepted_holds_its_problems(check):
    done = check(changed(at="true"), "--json")
    assert done.status == 1
    [verdict] = json.loads(done.out)
    assert verdict["accepted"] is False
    assert verdict["problems"] == [
        {
            "file": RUN,
            "line": 1,
            "path": "$.sampled_pairs[0].at",
            "found": '"true"',
            "expected": '"TRUE", "PROBABLE", "FALSE" or null',
            "action": 'did you mean "TRUE"?',
            "severity": "error",
        }
    ]


def test_json_holds_scores_at_full_precision(check):
    check.campaign.reference()
    [verdict] = json.loads(check(case_74(), "--json", against=check.campaign.references).out)
    assert verdict["scores"]["at_macro_recall"] == 2 / 3
    assert verdict["matrices"]["at"]["PROBABLE"] == {"TRUE": 0, "PROBABLE": 1, "FALSE": 2}


def test_github_shows_an_error_beside_its_line(check, monkeypatch):
    # A workflow checks a run in a subfolder; GitHub finds the file by its path from there.
    monkeypatch.chdir(check.campaign.folder)
    (check.campaign.folder / "runs").mkdir()
    (check.campaign.folder / "runs" / RUN).write_bytes(as_jsonl(changed(at="true")))
    done = check(f"runs/{RUN}", "--github")
    assert done.status == 1
    [line] = done.out.splitlines()
    assert line.startswith(f"::error file=runs/{RUN},line=1::")
    assert line.endswith(f'$.sampled_pairs[0].at: found "true"; {ALLOWED}; did you mean "TRUE"?')


def test_github_gets_warnings_as_warnings(check):
    done = check(untidy(), "--github")
    assert done.status == 0
    assert {line.split(" ")[0] for line in done.out.splitlines()} == {"::warning"}
    # Missing pairs, nulls of at and of isAt, unknown pairs, the unknown document.
    assert len(done.out.splitlines()) == 5


def test_what_means_something_to_github_is_escaped(check):
    run = perfect()
    run.append(kit.document("100%\r\n::error::x", None, [kit.pair("a", "b", "TRUE", "TRUE")]))
    done = check(run, "--github", name="a,b:c%.jsonl")
    lines = done.out.splitlines()
    assert len(lines) == 2
    assert all("a%2Cb%3Ac%25.jsonl" in line.split("::")[1] for line in lines)
    # The id is quoted first, so its line end is no longer one.
    assert '"100%25\\r\\n::error::x"' in lines[1]


def test_a_run_without_problems_gets_no_annotation(check):
    assert check(P, "--github") == (0, "", "")


# Wrong usage


def test_a_file_that_is_not_there_is_wrong_usage(check):
    for words in (["nowhere.jsonl"], [str(check.german), "--reference", "nowhere"]):
        done = check.campaign.script("check_run", *words)
        assert (done.status, done.out) == (2, "")
        assert done.err.splitlines()[-1].endswith(f"error: not there: {words[-1]}")


def test_a_reference_without_its_official_name_is_named(check):
    path = check.campaign.folder / "masked.jsonl"
    path.write_bytes(as_jsonl(masked()))
    done = check(P, against=path)
    assert (done.status, done.out) == (1, "")
    assert done.errors == [
        "error: masked.jsonl: found the name of no gold or masked file; expected its official"
        " name; rename it"
    ]


def test_a_broken_reference_is_told_and_no_run_judged(check):
    check.german.write_bytes(b"{\n")
    done = check(P)
    assert (done.status, done.out) == (1, "")
    assert done.errors[0].startswith(f"error: {check.german.name}:1: ")


def test_a_folder_without_references_is_told(check):
    empty = check.campaign.folder / "empty"
    empty.mkdir()
    done = check(P, against=empty)
    assert (done.status, done.out) == (1, "")
    assert done.errors[0].startswith(f"error: {empty}: found no gold or masked files")


def test_make_checks_a_run(check):
    (check.campaign.folder / RUN).write_bytes(P)
    check.campaign.references = check.masked
    done = check.campaign.make("check", f"RUN={check.campaign.folder / RUN}")
    assert (done.status, done.out) == (0, PERFECT_REPORT), done.err
    (check.campaign.folder / RUN).write_bytes(P[:-20])
    assert check.campaign.make("check", f"RUN={check.campaign.folder / RUN}").status != 0


def test_make_check_without_a_run_says_what_is_missing(check):
    check.campaign.references = check.masked
    done = check.campaign.make("check")
    assert done.status != 0
    assert "RUN" in done.err


# From a fresh checkout

# An interpreter that has only requirements.txt: whatever else is installed cannot be imported.
ONLY_REQUIREMENTS = """
import importlib.metadata, sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""


def required():
    """Return the distributions that requirements.txt installs, with what they need themselves."""
    text = (PROJECT / "requirements.txt").read_text("utf-8")
    wanted = [line.partition("==")[0] for line in text.splitlines() if line.strip()]
    found = set()
    while wanted:
        name = re.sub(r"[-_.]+", "-", wanted.pop()).lower()
        if name not in found:
            found.add(name)
            for needed in importlib.metadata.requires(name) or []:
                is_installed = re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", needed)[0]).lower()
                if "extra ==" not in needed and is_installed in INSTALLED:
                    wanted.append(is_installed)
    return found


def normal(distribution):
    return re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower()


INSTALLED = {normal(distribution) for distribution in importlib.metadata.distributions()}


def run_alone(check, *words):
    """Run the script in another folder and process, with nothing but the requirements."""
    packages = importlib.metadata.packages_distributions()
    allowed = required()
    hidden = {
        module
        for module, names in packages.items()
        if not {re.sub(r"[-_.]+", "-", name).lower() for name in names} & allowed
    }
    assert "pytest" in hidden
    assert not {"orjson", "tabulate", "jsonschema"} & hidden
    site = check.campaign.folder / "site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(ONLY_REQUIREMENTS.format(hidden=hidden), "utf-8")
    script = str(PROJECT / "lib" / "check_run.py")
    return subprocess.run(
        [sys.executable, script, *words],
        cwd=check.campaign.folder,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_runs_from_anywhere_with_nothing_but_the_requirements(check):
    (check.campaign.folder / RUN).write_bytes(P)
    done = run_alone(check, RUN, "--reference", f"masked/{masked_name(DE)}")
    assert (done.returncode, done.stdout, done.stderr) == (0, PERFECT_REPORT, "")


def test_the_exit_status_of_the_process_is_that_of_the_verdict(check):
    (check.campaign.folder / RUN).write_bytes(P[:-20])
    assert run_alone(check, RUN, "--reference", "masked").returncode == 1
    assert run_alone(check, "nowhere", "--reference", "masked").returncode == 2


# What check says would be counted is what scoring counts


def sample(check):
    folder = PROJECT / "HIPE-2026-data" / "data" / "sample"
    check.campaign.references = folder / "reference"
    check.campaign.systems = folder / "systems"
    check.campaign.teams = folder / "teams.json"
    given = check.campaign.folder / "given"
    given.mkdir()
    for path in check.campaign.references.glob("*.jsonl"):
        documents = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for document in documents:
            for pair in document["sampled_pairs"]:
                pair.update(at=None, isAt=None)
        (given / masked_name(path.stem)).write_bytes(as_jsonl(documents))
    return given, 38


def shared(check):
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is not there: it holds the licensed runs")
    check.campaign.references = SHARED / "reference"
    check.campaign.systems = SHARED / "systems"
    return SHARED / "masked", 185


@pytest.mark.parametrize("source", [sample, shared])
def test_what_would_be_missing_is_what_scoring_imputes(check, source):
    given, number = source(check)
    stages = [("validate_jsonl", "references"), ("validate_jsonl", "submissions")]
    for stage in [*stages, ("validate_info",), ("score_one",)]:
        done = check.campaign.script(*stage)
        assert done.status == 0, done.err
    done = check(check.campaign.systems, "--json", against=given)
    assert (done.status, done.err) == (0, "")
    verdicts = json.loads(done.out)
    assert len(verdicts) == len({verdict["file"] for verdict in verdicts}) == number
    seen = {"documents": 0, "pairs": 0, "null_labels": 0}
    for verdict in verdicts:
        scored = check.campaign.json(f"per-run/{verdict['file']}".removesuffix("l"))
        imputed = scored["imputed"]
        expected = {
            "documents": imputed["documents"],
            "pairs": imputed["pairs"],
            "null_labels": sum(imputed["null_labels"].values()),
        }
        counted = verdict["counted"]
        assert expected == {
            "documents": counted["missing_documents"],
            "pairs": counted["missing_pairs"],
            "null_labels": counted["null_labels"],
        }, verdict["file"]
        for target, labels in verdict["labels"].items():
            missing = imputed["pairs"] + imputed["null_labels"][target]
            assert labels["null or missing"] == missing
            assert sum(labels.values()) == scored["counts"][target]["total"]
        seen = {key: seen[key] + expected[key] for key in seen}
    assert seen["pairs"] > 0


def test_with_gold_the_scores_are_those_of_scoring(base, check):
    run = perfect()
    find_pair(run, "p1", "l1")["at"] = None
    del run[1]["sampled_pairs"][0]
    base.run(run)
    base.evaluate()
    verdicts = json.loads(check(base.systems, "--json", against=base.references).out)
    assert len(verdicts) == 4
    for verdict in verdicts:
        scored = base.json(f"per-run/{verdict['file']}".removesuffix("l"))
        assert verdict["scores"] == scored["scores"]
        matrices = {target: counts["confusion"] for target, counts in scored["counts"].items()}
        assert verdict["matrices"] == matrices


def test_the_sample_submissions_belong_to_no_reference_and_are_not_accepted(check):
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is not there: it holds the sample submissions")
    done = check(SHARED / "sample_submissions", against=SHARED / "masked")
    assert (done.status, done.err) == (1, "")
    reports = done.out.strip().split("\n\n")
    assert len(reports) == 6
    for report in reports:
        name, _, said = report.partition(": ")
        assert re.fullmatch(r"teamA\w*_HIPE-2026-v1.0-impresso-sample-(de|en|fr)_run1.jsonl", name)
        assert said.startswith("would NOT be accepted")
        for stem in (DE, EN, FR, SURPRISE):
            assert stem in said


def test_checking_writes_nothing(check):
    def files():
        return {path: path.read_bytes() for path in check.campaign.folder.rglob("*.jsonl")}

    check(untidy())
    before = files()
    check(untidy())
    assert files() == before
    assert len(list(check.campaign.folder.iterdir())) == 4  # masked, reference, systems, the run
