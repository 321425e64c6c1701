"""Validation of files as they arrive: their names, their encoding, their JSON Lines."""

import json
import os
import subprocess
import sys

import pytest

import kit
from kit import DE, EN, FR, PROJECT, SURPRISE, as_jsonl, perfect

RUN = f"team1_{DE}_run1.jsonl"
RESAVE = 'save it again as "UTF-8" without byte-order mark'
NAME_EXPECTED = (
    f"expected <team>_<reference>_run<1-3>.jsonl; team: team<N>, baseline, random; reference: {DE}"
)
TWO_LINES = as_jsonl(perfect())
FIRST, SECOND = TWO_LINES.splitlines()


@pytest.fixture
def german(campaign):
    """A campaign with reference G and a perfect run of team2, which is never at fault."""
    campaign.reference()
    campaign.run(team="team2")
    return campaign


def put(campaign, *files):
    """Put a copy of G under each name into the folder of runs."""
    for file in files:
        (campaign.systems / file).write_bytes(TWO_LINES)


def misnamed(file, rest):
    return f'error: {file}: found the file name "{file}"; {rest}'


def refused(campaign, data):
    """Return the messages about a run of these bytes, which must be refused, and no other run."""
    campaign.run(data)
    done = campaign.validate()
    entries = campaign.json("validation/submissions.json")["files"]
    assert {entry["file"]: entry["valid"] for entry in entries} == {
        RUN: False,
        f"team2_{DE}_run1.jsonl": True,
    }
    assert done.status == 1
    assert "Traceback" not in done.err
    return [line.removeprefix(f"error: {RUN}") for line in done.problems]


def test_backup_copies_and_other_files_are_ignored_and_each_is_named_once(base):
    others = [".DS_Store", "README.txt", f"{RUN}.backup", f"{RUN}~"]
    put(base, *others)
    _, submissions, *_ = base.evaluate()
    ignored = f"ignored, neither run nor info file: {', '.join(others)}"
    assert submissions.out.splitlines() == [ignored, "runs: 4 valid, 0 errors, 0 warnings"]
    assert submissions.problems == []
    scored = sorted(path.name for path in base.results.glob("per-run/team*"))
    assert scored == sorted(f"team1_{stem}_run1.json" for stem in (DE, EN, FR, SURPRISE))


def test_a_run_for_a_missing_reference_is_an_error_that_lists_the_references(base):
    stem = DE.replace("test", "train")
    base.run(perfect(), stem=stem)
    done = base.validate()
    assert done.status == 1
    assert done.problems == [
        f"error: team1_{stem}_run1.jsonl: found a run for {stem}, which is no valid reference;"
        f" expected one of: {DE}, {EN}, {FR}, {SURPRISE}; rename or remove it"
    ]


@pytest.mark.parametrize(
    "file",
    [
        "team1_HIPE-2026-v1.0-impresso-test-DE_run1.jsonl",
        f"TEAM1_{DE}_run1.jsonl",
        "team1_hipe-2026-v1.0-impresso-test-de_run1.jsonl",
        f"team1_{DE}_run1.JSONL",
        f"team1_{DE}_Run1.jsonl",
    ],
)
def test_wrong_case_in_a_name_is_an_error_that_says_the_right_name(german, file):
    put(german, file)
    done = german.validate()
    assert done.status == 1
    assert done.problems == [misnamed(file, f'expected "{RUN}"; rename it')]


def test_run_numbers_out_of_range_or_padded_are_an_error_each_in_one_go(german):
    german.run()
    put(german, *(f"team1_{DE}_run{number}.jsonl" for number in ("0", "4", "01", "1a", "")))
    done = german.validate()
    assert done.status == 1
    assert done.problems == [
        misnamed(f"team1_{DE}_run.jsonl", NAME_EXPECTED),
        misnamed(f"team1_{DE}_run0.jsonl", NAME_EXPECTED),
        misnamed(
            f"team1_{DE}_run01.jsonl",
            f'expected "{RUN}"; another file has or would get this name: keep one',
        ),
        misnamed(f"team1_{DE}_run1a.jsonl", NAME_EXPECTED),
        misnamed(f"team1_{DE}_run4.jsonl", NAME_EXPECTED),
    ]


@pytest.mark.parametrize("teams", [["base_line"], ["base", "base_line"]])
def test_a_team_may_have_an_underscore_in_its_name(campaign, teams):
    campaign.teams = campaign.folder / "teams.json"
    campaign.teams.write_text(json.dumps({team: {} for team in teams}))
    campaign.reference()
    campaign.run(team="base_line")
    assert campaign.validate().status == 0
    (entry,) = campaign.json("validation/submissions.json")["files"]
    assert (entry["team"], entry["run"], entry["valid"]) == ("base_line", "run1", True)


def test_a_name_with_spaces_is_one_name_to_the_script_and_to_make(german):
    file = f"my team_{DE}_run1.jsonl"
    put(german, file)
    done = german.validate()
    assert done.status == 1
    assert done.problems == [misnamed(file, NAME_EXPECTED)]
    made = german.make("validate-submissions")
    assert made.status == 2
    assert made.problems == done.problems
    assert "No rule to make target" not in made.err


def test_folders_dead_links_and_pipes_in_the_place_of_runs_are_errors(german):
    (german.systems / f"team1_{DE}_run2.jsonl").mkdir()
    (german.systems / f"team1_{DE}_run3.jsonl").symlink_to("nowhere")
    os.mkfifo(german.systems / f"team3_{DE}_run1.jsonl")
    done = german.validate()
    assert done.status == 1
    assert done.problems == [
        f"error: {stem}.jsonl: found {kind}; expected a regular file; put the file itself there"
        for stem, kind in [
            (f"team1_{DE}_run2", "a folder"),
            (f"team1_{DE}_run3", "a link to nowhere"),
            (f"team3_{DE}_run1", "a pipe or device"),
        ]
    ]


def test_a_link_to_a_file_is_read_and_what_it_points_to_decides(german):
    elsewhere = german.folder / "elsewhere"
    elsewhere.write_bytes(TWO_LINES)
    (german.systems / RUN).symlink_to(elsewhere)
    assert german.validate().problems == []
    elsewhere.write_bytes(FIRST + b"\n")
    assert german.validate().problems == [
        f"warning: {RUN}: found 4 pairs missing, 1 whole document among them;"
        " expected a label for every pair of the reference; count as FALSE"
    ]


def test_misnamed_info_files_are_errors_and_their_run_only_lacks_one(campaign):
    campaign.reference()
    stem = campaign.run(info=None).stem
    endings = ["-info.JSON", ".info.json", "_info.json"]
    for ending in endings:
        (campaign.systems / f"{stem}{ending}").write_text(json.dumps(kit.INFO))
    done = campaign.validate()
    assert (done.status, done.problems) == (0, [])
    done = campaign.validate_info()
    assert done.status == 1
    assert done.problems == [
        *(
            misnamed(f"{stem}{ending}", f'expected "{stem}-info.json"; rename it')
            for ending in endings
        ),
        f"warning: {RUN}: found no info file; expected {stem}-info.json;"
        " its sizes count as unknown",
    ]


def test_a_fourth_file_that_differs_in_case_only_is_an_error_and_never_merged(campaign):
    campaign.reference()
    for number in (1, 2, 3):
        campaign.run(number=number)
    put(campaign, f"Team1_{DE}_run1.jsonl")
    done = campaign.validate()
    assert done.status == 1
    rest = f'expected "{RUN}"; another file has or would get this name: keep one'
    assert done.problems == [misnamed(f"Team1_{DE}_run1.jsonl", rest)]
    assert done.out == "runs: 3 valid, 1 error, 0 warnings\n"


MARK = b"\xef\xbb\xbf"
MARK_FOUND = f"found a byte-order mark (EF BB BF); expected plain UTF-8; {RESAVE}"


def test_a_byte_order_mark_is_named_in_a_run(german):
    assert refused(german, MARK + TWO_LINES) == [f":1: {MARK_FOUND}"]


def test_a_byte_order_mark_is_named_in_a_reference(campaign):
    campaign.reference().write_bytes(MARK + TWO_LINES)
    done = campaign.validate_references()
    assert (done.status, done.problems) == (1, [f"error: {DE}.jsonl:1: {MARK_FOUND}"])


def test_a_byte_order_mark_is_named_in_an_info_file(campaign):
    campaign.reference()
    stem = campaign.run(info=MARK + json.dumps(kit.INFO).encode()).stem
    done = campaign.validate_info()
    assert (done.status, done.problems) == (1, [f"error: {stem}-info.json:1: {MARK_FOUND}"])


@pytest.mark.parametrize("mark", [b"\xff\xfe", b""])
def test_utf_16_is_recognised_with_and_without_its_mark(german, mark):
    data = mark + TWO_LINES.decode().encode("utf-16-le")
    assert refused(german, data) == [
        f":1: found bytes that are not UTF-8 but look like UTF-16; expected UTF-8; {RESAVE}"
    ]


def test_latin_1_is_named_with_the_line_and_the_byte_and_hides_no_other_error(german):
    first = FIRST.replace(b'"at": "TRUE"', b'"at": "true"', 1)
    second = SECOND.replace(b'"isAt"', b'"at_explanation": "caf\xe9", "isAt"', 1)
    assert sorted(refused(german, first + b"\n" + second + b"\n")) == [
        ':1: $.sampled_pairs[0].at: found "true"; expected "TRUE", "PROBABLE", "FALSE" or null',
        f":2: found byte E9 at offset {second.index(0xE9)} of the line, which is not UTF-8;"
        f" expected UTF-8; {RESAVE}",
    ]


@pytest.mark.parametrize(
    "data", [FIRST + b"\r\n\r\n" + SECOND + b"\r\n\r\n\r\n\r\n", FIRST + b"\n" + SECOND]
)
def test_line_ends_of_any_kind_are_accepted_without_a_word(campaign, data):
    campaign.reference()
    campaign.run(data)
    for done in campaign.evaluate():
        assert done.problems == []
    assert set(campaign.score()["scores"].values()) == {1.0}


def test_json_that_is_not_json_lines_is_recognised_in_its_three_forms(german):
    documents = perfect()
    wanted = "expected one JSON object a line"
    assert refused(german, json.dumps(documents).encode()) == [
        f":1: found one JSON array; {wanted}; write each of its elements on a line of its own"
    ]
    indented = "\n".join(json.dumps(document, indent=2) for document in documents)
    assert refused(german, indented.encode()) == [
        f":1: found JSON indented over many lines; {wanted}; write each document on one line"
    ]
    assert refused(german, FIRST + b" " + SECOND + b"\n") == [
        f":1: found more text behind the JSON value at column {len(FIRST) + 2}; {wanted};"
        " break the line there"
    ]


@pytest.mark.parametrize(
    ("literal", "found", "expected"),
    [
        ("NaN", "NaN", "a finite number or null; JSON has no such number"),
        ("-Infinity", "-Infinity", "a finite number or null; JSON has no such number"),
        ("1e999", "the number 1e999", "a finite number; it is too large"),
        (
            "1" * 10_000,
            "the number 1111111111… of 10,000 digits",
            "a finite number; it is too large",
        ),
    ],
)
def test_a_number_that_json_does_not_have_is_an_error_with_line_and_column(
    german, literal, found, expected
):
    line = SECOND.replace(b'"isAt"', f'"x": {literal}, "isAt"'.encode(), 1)
    assert refused(german, FIRST + b"\n" + line) == [
        f":2: found {found} at column {line.index(literal.encode()) + 1}; expected {expected}"
    ]


def test_nan_in_the_place_of_a_label_is_no_missing_answer(german):
    line = FIRST.replace(b'"at": "TRUE"', b'"at": NaN', 1)
    assert refused(german, line + b"\n" + SECOND) == [
        f":1: found NaN at column {line.index(b'NaN') + 1};"
        " expected a finite number or null; JSON has no such number"
    ]


def test_a_repeated_key_is_an_error_with_line_path_and_key(german):
    first = FIRST.replace(b'"document_id"', b'"document_id": "x", "document_id"', 1)
    second = SECOND.replace(b'"at": "TRUE"', b'"at": "FALSE", "at": "TRUE"', 1)
    once = "expected each key once; keep one of them"
    assert refused(german, first + b"\n" + second) == [
        f':1: $: found the key "document_id" 2 times; {once}',
        f':2: $.sampled_pairs[0]: found the key "at" 2 times; {once}',
    ]


def test_a_repeated_key_in_an_info_file_is_an_error(campaign):
    campaign.reference()
    info = json.dumps(kit.INFO, indent=1).replace("}", ', "hipe_model_size": 1}')
    stem = campaign.run(info=info.encode()).stem
    done = campaign.validate_info()
    assert done.status == 1
    assert done.problems == [
        f'error: {stem}-info.json:6: $: found the key "hipe_model_size" 2 times;'
        " expected each key once; keep one of them"
    ]


def test_python_literals_and_model_chatter_are_an_error_a_line(german):
    literals = SECOND.replace(b'"', b"'").replace(b"null", b"None")
    comma = SECOND[:-1] + b",}"
    lines = [FIRST, literals, comma, b"```json", b"```"]
    fence = "found a code fence at column 1; expected a JSON object; send the bare JSON Lines"
    assert refused(german, b"\n".join(lines)) == [
        ":2: found a Python literal at column 2;"
        " expected JSON with double quotes, null, true, false; use json.dumps",
        f":3: found a trailing comma at column {len(comma) - 1};"
        " expected nothing after the last element; remove the comma",
        f":4: {fence}",
        f":5: {fence}",
    ]


def test_a_truncated_file_is_invalid_as_a_whole(german):
    assert refused(german, TWO_LINES[:-20]) == [
        f":2: found a line that ends inside its JSON value at column {len(SECOND) - 18};"
        " expected a whole object; look whether the file was cut off"
    ]
    (entry, _) = german.json("validation/submissions.json")["files"]
    assert "imputed" not in entry


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", ": found no documents; expected one JSON object a line; send the file again"),
        (b"\n\n\n", ": found no documents; expected one JSON object a line; send the file again"),
        (MARK, f":1: {MARK_FOUND}"),
    ],
)
def test_an_empty_file_is_no_run_without_answers(german, data, message):
    assert refused(german, data) == [message]


def test_a_document_without_end_of_brackets_is_an_error(german):
    assert refused(german, FIRST + b"\n" + b"[" * 100_000) == [
        ":2: found brackets nested too deeply at column 1026; expected at most 250 levels"
    ]


def test_a_deep_value_under_an_extra_key_stops_no_stage(german):
    deep = f'"x": {"[" * 300}{"]" * 300}, "isAt"'.encode()
    german.run(TWO_LINES.replace(b'"isAt"', deep, 1))
    german.skip_invalid = True
    assert len(german.evaluate()) == 7


# Runs a command and prints the most memory that it held, in megabytes.
MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(status)
"""


@pytest.mark.parametrize(
    "fifty_megabytes",
    [
        lambda: FIRST.replace(b"reiste", b"reiste " * 7_200_000),
        lambda: b"[" + b",".join([FIRST] * 40_000) + b"]",
    ],
    ids=["document", "array"],
)
def test_a_line_of_50_megabytes_is_an_error_within_400_megabytes(campaign, fifty_megabytes):
    data = fifty_megabytes()
    campaign.reference()
    campaign.run(data)
    campaign.validate_references()
    script = [
        str(PROJECT / "lib" / "validate_jsonl.py"),
        "submissions",
        f"--reference-dir={campaign.references}",
        f"--submissions-dir={campaign.systems}",
        f"--results-dir={campaign.results}",
    ]
    command = [sys.executable, "-c", MEASURE, sys.executable, *script]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert kit.Done(1, "", ended.stderr).problems == [
        f"error: {RUN}:1: found a line of {len(data):,} bytes; expected at most 10,000,000;"
        " write one document a line"
    ]
    assert int(ended.stdout.split()[-1]) < 400


def test_controls_in_an_id_are_shown_as_escapes_and_break_no_table(campaign):
    campaign.reference()
    for number, escape in [(1, rb"\u0000"), (2, rb"\t")]:
        campaign.run(TWO_LINES.replace(b"de-doc-1", b"de-doc-1" + escape), number=number)
    done = campaign.validate()
    lacking = (
        "found 5 pairs missing, 1 whole document among them;"
        " expected a label for every pair of the reference; count as FALSE"
    )
    unknown = "which the reference does not have; expected only what the reference has; ignored"
    assert done.status == 0
    assert done.problems == [
        f"warning: {RUN}: {lacking}",
        rf'warning: {RUN}:1: $.document_id: found "de-doc-1\u0000", {unknown}',
        f"warning: team1_{DE}_run2.jsonl: {lacking}",
        rf'warning: team1_{DE}_run2.jsonl:1: $.document_id: found "de-doc-1\t", {unknown};'
        ' was "de-doc-1" meant?',
    ]
    campaign.evaluate()
    for path in campaign.results.rglob("*.tsv"):
        assert len({line.count("\t") for line in path.read_text("utf-8").split("\n")[:-1]}) == 1
