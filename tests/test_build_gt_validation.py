"""Workbooks of the pairs on which the best runs vote against the gold label."""

import copy
import json
import shutil
import subprocess
from collections import Counter

import openpyxl
import pytest

from kit import DE, EN, FR, SHARED, SURPRISE, document, find_pair, pair, perfect

BOOK = f"{DE}.gt_validation.xlsx"


def answers(label, person="p1", place="l1", target="at"):
    """Return a run that is perfect but for one label."""
    run = copy.deepcopy(perfect())
    find_pair(run, person, place)[target] = label
    return run


def workbooks(campaign, *words):
    campaign.evaluate()
    return campaign.script("build_gt_validation", *words)


def folder(campaign):
    return campaign.results / "gt-validation"


def rows(campaign, sheet="mismatches", file=BOOK):
    """Return the rows of a sheet as {column: value}."""
    book = openpyxl.load_workbook(folder(campaign) / file, rich_text=True)
    header, *lines = book[sheet].iter_rows(values_only=True)
    return [dict(zip(header, line, strict=True)) for line in lines]


@pytest.fixture
def three(campaign):
    """Three runs, two of which call p1-l1 FALSE though the gold says TRUE."""
    campaign.reference()
    campaign.run(answers("FALSE"))
    campaign.run(answers("FALSE"), number=2)
    campaign.run(perfect(), number=3)
    return campaign


def test_a_majority_against_the_gold_label_is_a_row_with_all_a_reviewer_needs(three):
    assert workbooks(three).status == 0
    [row] = rows(three)
    assert row["dataset"] == "impresso"
    assert (row["document_id"], row["date"], row["target"]) == ("de-doc-1", "1848-03-02", "at")
    assert (row["gold_label"], row["vote_label"], row["vote_status"]) == (
        "TRUE",
        "FALSE",
        "MAJORITY",
    )
    assert (row["pers_entity_id"], row["loc_entity_id"]) == ("p1", "l1")
    assert [row[f"system_{n}_run"] for n in (1, 2, 3)] == ["run3", "run1", "run2"]
    assert [row[f"system_{n}_label"] for n in (1, 2, 3)] == ["TRUE", "FALSE", "FALSE"]
    assert "Herr p1 reiste gestern nach Ort l1" in str(row["excerpt"])
    assert [part.text for part in row["excerpt"] if not isinstance(part, str)] == [
        "Herr p1",
        "Ort l1",
    ]
    assert [row[name] for name in ("decision", "reviewer", "comment")] == [None] * 3


def test_the_summary_counts_pairs_flags_and_splits(three):
    three.run(answers("PROBABLE"), number=2)
    workbooks(three)
    [row] = rows(three)
    assert (row["vote_label"], row["vote_status"]) == ("NO_MAJORITY", "NO_MAJORITY")
    at, is_at, *_ = rows(three, "summary")
    assert list(at.values()) == ["at", 9, 1, 1, 1 / 9]
    assert list(is_at.values()) == ["isAt", 9, 0, 0, 0]


def test_a_missing_answer_votes_false(three):
    three.run(perfect()[1:], number=1)
    three.run(perfect()[1:], number=2)
    workbooks(three)
    flagged = [(row["pers_entity_id"], row["target"]) for row in rows(three)]
    # In the missing document the gold has four at labels and two isAt labels other than FALSE.
    assert Counter(target for _, target in flagged) == {"at": 4, "isAt": 2}


def test_top_runs_are_the_first_rows_of_the_ranking(three):
    three.run(answers("PROBABLE", "p2", "l2"), team="team2")
    workbooks(three)
    first, *_ = rows(three, "top_runs")
    assert (first["position"], first["rank"], first["team"], first["run"]) == (
        1,
        1,
        "team1",
        "run3",
    )
    assert first["impresso_profile_score"] == 1


def test_a_decision_is_chosen_from_a_list(three):
    workbooks(three)
    sheet = openpyxl.load_workbook(folder(three) / BOOK)["mismatches"]
    [rule] = sheet.data_validations.dataValidation
    assert rule.formula1 == '"KEEP,TRUE,PROBABLE,FALSE,EXCLUDE"'
    header = [cell.value for cell in sheet[1]]
    [cell] = [str(one) for one in rule.sqref.ranges]
    assert sheet[cell].column == header.index("decision") + 1
    assert (sheet.freeze_panes, bool(sheet.auto_filter.ref)) == ("E2", True)


def test_a_reference_with_too_few_runs_gets_a_message_and_the_others_their_workbook(three):
    three.reference(EN)
    three.run(stem=EN)
    three.run(stem=EN, number=2)
    done = workbooks(three)
    assert done.status == 1
    assert done.errors == [
        f"error: {EN}.jsonl: found 2 of 3 runs that are to vote; expected 3 runs; no workbook for"
        " it; a smaller odd TOP_RUNS makes one"
    ]
    assert [path.name for path in folder(three).glob("*.xlsx")] == [BOOK]
    assert workbooks(three, "--top-runs", "1").status == 0
    assert len(list(folder(three).glob("*.xlsx"))) == 2


def test_the_workbook_of_a_reference_that_lost_its_runs_goes_too(three):
    workbooks(three)
    for path in three.systems.glob("*run3*"):
        path.unlink()
    assert workbooks(three).status == 1
    assert list(folder(three).glob("*.xlsx")) == []


@pytest.mark.parametrize("number", ["4", "0", "-1"])
def test_only_an_odd_number_can_vote(three, number):
    done = workbooks(three, "--top-runs", number)
    assert done.status == 2
    assert done.err.splitlines()[-1].endswith(
        f"error: TOP_RUNS is {number}, not an odd number from 1"
    )


def test_as_many_runs_vote_as_are_asked_for(three):
    workbooks(three, "--top-runs", "1")
    assert rows(three) == []  # run3 alone votes, which is perfect
    assert [row["run"] for row in rows(three, "top_runs") if row["position"]] == ["run3"]


def test_a_new_explanation_renews_the_workbook_though_no_rank_changes(three):
    workbooks(three)
    run = answers("FALSE")
    find_pair(run, "p1", "l1")["at_explanation"] = "He never left."
    three.run(run)
    assert workbooks(three).out == "workbooks: 1, 1 written, 0 removed\n"
    assert rows(three)[0]["system_2_explanation"] == "He never left."


def test_answers_that_were_ranked_and_not_diagnosed_yet_do_not_vote_as_they_were(three):
    three.evaluate()
    three.run(answers("PROBABLE"), number=2)
    for stage in (("validate_jsonl", "submissions"), ("score_one",), ("build_rankings",)):
        assert three.script(*stage).status == 0
    done = three.script("build_gt_validation")
    assert done.status == 1
    [error] = done.errors
    assert error.endswith("run make rankings diagnostics with the same variables")


def test_binary_labels_are_the_mapped_ones(three):
    three.mode = "BINARY"
    for number in (1, 2):
        three.run(answers("TRUE", "p2", "l1"), number=number)
    workbooks(three)
    assert rows(three) == []  # PROBABLE and TRUE are one label


def test_a_target_that_is_not_scored_is_not_voted_on(campaign):
    campaign.reference(SURPRISE)
    for number in (1, 2, 3):
        run = perfect(SURPRISE)
        for one in run[0]["sampled_pairs"]:
            one["isAt"] = "TRUE"
        campaign.run(run, stem=SURPRISE, number=number)
    workbooks(campaign)
    assert rows(campaign, file=f"{SURPRISE}.gt_validation.xlsx") == []


def test_odd_characters_in_texts_and_explanations_are_replaced_and_counted(three):
    gold = perfect()
    gold[0]["text"] = "Herr p1 reiste\x0cnach Ort l1."
    three.reference(documents=gold)
    for number in (1, 2):
        run = answers("FALSE")
        find_pair(run, "p1", "l1")["at_explanation"] = "a\x0c\x00\ufffe"
        three.run(run, number=number)
    workbooks(three)
    [row] = rows(three)
    assert row["system_2_explanation"] == "a␌␀\ufffd"
    facts = {row["target"]: row["pairs"] for row in rows(three, "summary")}
    # Three in each of two explanations, and the form feed of the text.
    assert facts["characters replaced"] == 7
    assert "reiste␌nach" in str(row["excerpt"])


def test_nothing_is_made_again_without_need_and_decisions_elsewhere_stay(three):
    workbooks(three)
    reviewed = three.folder / "reviewed.xlsx"
    shutil.copy(folder(three) / BOOK, reviewed)
    before = reviewed.read_bytes()
    done = three.script("build_gt_validation")
    assert done.out == "workbooks: 1, 0 written, 0 removed\n"
    assert reviewed.read_bytes() == before


def test_a_workbook_that_was_edited_in_place_is_kept_and_made_again(three):
    workbooks(three)
    path = folder(three) / BOOK
    original = path.read_bytes()
    book = openpyxl.load_workbook(path)
    book["mismatches"]["A2"].value = "decided"
    book.save(path)
    edited = path.read_bytes()
    done = three.script("build_gt_validation")
    assert done.status == 0
    assert path.read_bytes() == original
    [kept] = folder(three).glob("*.edited-*.xlsx")
    assert kept.read_bytes() == edited
    assert kept.name in done.out


def through_libreoffice(campaign, tmp_path):
    """Return the sheets of the workbook after LibreOffice has opened and saved it."""
    if shutil.which("soffice") is None:
        pytest.skip("needs LibreOffice (Debian's libreoffice-calc)")
    target = tmp_path / "converted"
    command = ["soffice", "--headless", f"-env:UserInstallation=file://{tmp_path}/profile"]
    command += ["--convert-to", "xlsx", "--outdir", str(target), str(folder(campaign) / BOOK)]
    subprocess.run(command, check=True, capture_output=True, timeout=180)
    book = openpyxl.load_workbook(target / BOOK)
    header, *lines = book["mismatches"].iter_rows(values_only=True)
    return book.sheetnames, [dict(zip(header, line, strict=True)) for line in lines]


def test_libreoffice_opens_a_workbook_and_reads_the_same_text(three, tmp_path):
    workbooks(three)
    before = rows(three)
    sheets, after = through_libreoffice(three, tmp_path)
    assert after == [{key: value and str(value) for key, value in row.items()} for row in before]
    assert sheets == ["mismatches", "top_runs", "summary"]


def test_ids_and_dates_that_look_like_numbers_survive_libreoffice(campaign, tmp_path):
    ids = ["27058621", "219E01", "0012", "1-2", "TRUE", "1848-03-02", "=1+1"]
    dates = ["1542", "1808-04-29", "1900-02-29", "NA", None, "1901", "0001"]
    gold = [
        document(name, date, [pair("p1", "l1", "TRUE", "FALSE")])
        for name, date in zip(ids, dates, strict=True)
    ]
    run = copy.deepcopy(gold)
    for each in run:
        each["sampled_pairs"][0]["at"] = "FALSE"
    campaign.reference(documents=gold)
    for number in (1, 2, 3):
        campaign.run(run, number=number)
    workbooks(campaign)
    _, after = through_libreoffice(campaign, tmp_path)
    assert [row["document_id"] for row in after] == ids
    assert [row["date"] for row in after] == dates
    assert {(row["gold_label"], row["vote_label"]) for row in after} == {("TRUE", "FALSE")}


def test_on_the_real_campaign_the_summary_is_that_of_a_plain_count(campaign):
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is not there: it holds the licensed gold files and runs")
    campaign.references, campaign.systems = SHARED / "reference", SHARED / "systems"
    assert workbooks(campaign).status == 0
    for stem in (DE, EN, FR, SURPRISE):
        top = [row["submission"] for row in campaign.ranking(stem.split("-", 3)[3])[:3]]
        gold, *runs = (
            labels(path) for path in (SHARED / "reference" / f"{stem}.jsonl", *map(system, top))
        )
        for row in rows(campaign, "summary", f"{stem}.gt_validation.xlsx")[:2]:
            if row["target"] not in ("at", "isAt"):
                continue
            flagged = splits = 0
            for key, label in gold[row["target"]].items():
                votes = Counter(run[row["target"]].get(key) or "FALSE" for run in runs)
                winner, number = votes.most_common(1)[0]
                splits += number == 1
                flagged += number == 1 or winner != label
            assert (row["pairs"], row["flagged"], row["no majority"]) == (
                len(gold[row["target"]]),
                flagged,
                splits,
            )


def system(name):
    return SHARED / "systems" / name


def labels(path):
    """Return {target: {(document, person, place): label}} of a file, without the project's code."""
    found = {"at": {}, "isAt": {}}
    for line in path.read_text("utf-8").splitlines():
        each = json.loads(line)
        for one in each["sampled_pairs"]:
            key = (each["document_id"], one["pers_entity_id"], one["loc_entity_id"])
            for target, by_pair in found.items():
                by_pair[key] = one[target]
    return found
