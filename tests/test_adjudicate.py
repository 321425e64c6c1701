"""The loop of review: workbooks out, decisions back in."""

import copy
import json
import shutil
import subprocess

import openpyxl
import pytest

from files import read_tsv
from kit import DE, EN, FR, PROJECT, Campaign, as_jsonl, find_pair, perfect

STEM = f"{DE}.gt_validation.xlsx"


def wrong(*places, label="FALSE", stem=DE):
    """Return a run that is perfect but for the at labels of some pairs."""
    run = copy.deepcopy(perfect(stem))
    for person, place in places:
        find_pair(run, person, place)["at"] = label
    return run


class Loop:
    """A campaign whose runs disagree with the gold on three pairs, and its review."""

    def __init__(self, campaign):
        self.campaign = campaign
        self.reviewed = campaign.folder / "reviewed"
        self.out = campaign.folder / "adjudicated.d"
        self.reviewed.mkdir()
        for stem in (DE, EN, FR):
            campaign.reference(stem)
            places = [("p1", "l1"), ("q1", "m1"), ("p2", "l1")] if stem == DE else []
            campaign.run(wrong(*places, stem=stem), stem=stem)
            campaign.run(wrong(*places, stem=stem), stem=stem, number=2)
            campaign.run(perfect(stem), stem=stem, number=3)
        campaign.evaluate()
        assert campaign.script("build_gt_validation").status == 0
        shutil.copy(campaign.results / "gt-validation" / STEM, self.reviewed)

    def edit(self, change, name=STEM):
        """Change a reviewed workbook: change(book, sheet, columns by name)."""
        path = self.reviewed / name
        book = openpyxl.load_workbook(path, rich_text=True)
        sheet = book["mismatches"]
        change(book, sheet, {cell.value: cell.column for cell in sheet[1]})
        book.save(path)

    def decide(self, *decisions, name=STEM):
        """Write decisions into the rows of a workbook, from the first on."""

        def change(_, sheet, columns):
            for row, decision in enumerate(decisions, 2):
                sheet.cell(row, columns["decision"]).value = decision
                sheet.cell(row, columns["reviewer"]).value = "AB"
                sheet.cell(row, columns["comment"]).value = "=see\tp. 3"

        self.edit(change, name)

    def apply(self):
        return self.campaign.script(
            "adjudicate",
            *("--reviewed-dir", str(self.reviewed), "--adjudicated-dir", str(self.out)),
        )

    def errors(self):
        done = self.apply()
        assert done.status == 1
        assert not self.out.exists()
        return done.errors

    def reference(self, stem=DE):
        return (self.out / "reference" / f"{stem}.jsonl").read_bytes()


@pytest.fixture
def loop(campaign):
    return Loop(campaign)


def test_decided_labels_change_and_every_other_byte_stays(loop):
    loop.decide("FALSE", "keep", "EXCLUDE")
    done = loop.apply()
    assert (done.status, done.out) == (0, "adjudication: 3 decisions in 1 workbook, 2 changes\n")
    expected = perfect()
    find_pair(expected, "p1", "l1")["at"] = "FALSE"
    expected[1]["sampled_pairs"].pop(0)  # q1-m1, the third row in gold order
    assert loop.reference() == as_jsonl(expected)
    assert loop.reference(EN) == (loop.campaign.references / f"{EN}.jsonl").read_bytes()
    assert read_tsv(loop.out / "changes.tsv") == [
        {
            "file": f"{DE}.jsonl",
            "document": document,
            "pers_entity_id": person,
            "loc_entity_id": place,
            "target": "at",
            "old": "TRUE",
            "new": new,
            "reviewer": "AB",
            "comment": "=see p. 3",
        }
        for document, person, place, new in [
            ("de-doc-1", "p1", "l1", "FALSE"),
            ("de-doc-2", "q1", "m1", "EXCLUDE"),
        ]
    ]


def test_without_decisions_the_references_are_the_same(loop):
    assert loop.apply().status == 0
    for stem in (DE, EN, FR):
        assert loop.reference(stem) == (loop.campaign.references / f"{stem}.jsonl").read_bytes()
    assert read_tsv(loop.out / "changes.tsv") == []


def test_the_whole_loop_gives_new_ranks_and_says_what_moved(loop):
    loop.decide("FALSE", "FALSE", "FALSE")
    campaign = loop.campaign
    before = (campaign.references / f"{DE}.jsonl").read_bytes()
    done = campaign.make(
        "adjudicate", f"REVIEWED_DIR={loop.reviewed}", f"ADJUDICATED_DIR={loop.out}"
    )
    assert done.status == 0, done.err
    assert (campaign.references / f"{DE}.jsonl").read_bytes() == before
    _, *lines = (
        (loop.out / "system-rankings" / "ranking-impresso-test-de.tsv").read_text().splitlines()
    )
    ranks = [line.split("\t")[:3] for line in lines]
    assert ranks == [["1", "team1", "run1"], ["1", "team1", "run2"], ["3", "team1", "run3"]]
    page = (loop.out / "ranking-changes.md").read_text()
    assert "at       | TRUE        | FALSE       |       2 |" in page
    german = page[page.index(f"## {DE}") :].split("##")[1]
    cells = [
        [c.strip() for c in line.split("|")[1:-1]] for line in german.splitlines() if "run" in line
    ]
    assert ["team1", "run3", "1", "3", "down 2", "1.0000"] in [row[:6] for row in cells]


def test_rows_may_be_sorted_and_columns_moved_or_added(loop):
    loop.decide("FALSE", "", "EXCLUDE")

    def shuffle(_, sheet, _columns):
        rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
        header, *lines = [["note", *reversed(row)] for row in rows]
        header[0] = "my own column"
        for number, row in enumerate([header, *reversed(lines)], 1):
            for column, value in enumerate(row, 1):
                sheet.cell(number, column).value = value

    loop.edit(shuffle)
    assert loop.apply().out == "adjudication: 2 decisions in 1 workbook, 2 changes\n"


def test_a_decision_that_became_a_boolean_is_a_label(loop):
    loop.decide(False)
    loop.apply()
    assert [row["new"] for row in read_tsv(loop.out / "changes.tsv")] == ["FALSE"]


def test_a_workbook_saved_by_libreoffice_is_read_like_any_other(loop, tmp_path):
    if shutil.which("soffice") is None:
        pytest.skip("needs LibreOffice (Debian's libreoffice-calc)")
    loop.decide("FALSE", "KEEP", "EXCLUDE")
    source = loop.reviewed / STEM
    moved = source.rename(tmp_path / STEM)
    command = ["soffice", "--headless", f"-env:UserInstallation=file://{tmp_path}/profile"]
    command += ["--convert-to", "xlsx", "--outdir", str(loop.reviewed), str(moved)]
    subprocess.run(command, check=True, capture_output=True, timeout=180)
    assert loop.apply().out == "adjudication: 3 decisions in 1 workbook, 2 changes\n"


def test_two_workbooks_that_decide_differently_are_both_named(loop):
    shutil.copy(loop.reviewed / STEM, loop.reviewed / "second.xlsx")
    loop.decide("FALSE")
    loop.decide("KEEP", name="second.xlsx")
    assert loop.errors() == [
        "error: second.xlsx:2: mismatches.decision: found KEEP for what"
        f" {STEM}, sheet mismatches, row 2 decides as FALSE; expected one decision; settle it"
    ]


def test_two_workbooks_that_agree_are_fine(loop):
    shutil.copy(loop.reviewed / STEM, loop.reviewed / "second.xlsx")
    loop.decide("FALSE")
    loop.decide("FALSE", name="second.xlsx")
    assert loop.apply().out == "adjudication: 2 decisions in 2 workbooks, 1 change\n"


def test_a_workbook_of_an_older_reference_is_refused(loop):
    loop.decide("FALSE")
    changed = perfect()
    find_pair(changed, "p1", "l1")["at"] = "PROBABLE"
    loop.campaign.reference(DE, changed)
    assert loop.errors() == [
        f'error: {STEM}:2: mismatches.gold_label: found "TRUE"; expected PROBABLE, which is the'
        f" label in {DE}.jsonl now; the workbook is of an older reference: make a new one"
    ]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (
            "decision",
            "perhaps",
            'decision: found "perhaps"; expected KEEP or TRUE or PROBABLE or FALSE or EXCLUDE',
        ),
        (
            "document_id",
            "de-doc-9",
            f'document: found "de-doc-9"; expected a document of {DE}.jsonl',
        ),
        ("pers_entity_id", "p9", 'pair: found "p9 / l1"; expected a pair of document "de-doc-1"'),
        ("language", "xx", 'reference: found "impresso-test-xx"; expected a reference there is'),
        ("target", "was", 'target: found "was"; expected at or isAt'),
    ],
)
def test_what_does_not_fit_the_references_is_named_with_its_row(loop, column, value, message):
    loop.decide("FALSE")
    loop.edit(lambda _, sheet, columns: setattr(sheet.cell(2, columns[column]), "value", value))
    assert loop.errors() == [f"error: {STEM}:2: mismatches.{message}"]


def test_a_missing_column_and_a_renamed_sheet_are_named(loop):
    loop.edit(lambda _, sheet, columns: sheet.delete_cols(columns["gold_label"]))
    assert loop.errors() == [
        f"error: {STEM}:1: found no column gold_label; expected the columns of the sheet mismatches"
        " under their names; give them back"
    ]
    loop.edit(lambda _, sheet, __: setattr(sheet, "title", "Tabelle1"))
    assert loop.errors() == [
        f"error: {STEM}: found only the sheets Tabelle1, top_runs, summary; expected the sheet"
        " mismatches; give the sheet its name back"
    ]


def test_what_is_no_workbook_is_named(loop):
    (loop.reviewed / STEM).write_bytes(b"no zip")
    [error] = loop.errors()
    assert error.startswith(f"error: {STEM}: found no workbook that can be opened")


def test_an_empty_folder_earns_a_message_what_to_do(loop):
    (loop.reviewed / STEM).unlink()
    assert loop.errors() == [
        f"error: {loop.reviewed}: found no reviewed workbooks; expected at least one; put reviewed"
        " copies of those of make gt-validation there, or set REVIEWED_DIR"
    ]


# Twenty decisions on the sample campaign, by hand and by LibreOffice


SAMPLE = PROJECT / "HIPE-2026-data" / "data" / "sample"
IDS = ("document", "pers_entity_id", "loc_entity_id")
WORDS = ["KEEP", "TRUE", "FALSE", "EXCLUDE", "PROBABLE"]


@pytest.fixture
def sample(campaign):
    """The weak runs of the sample campaign, which often vote against the gold, under review."""
    campaign.references = SAMPLE / "reference"
    for team in ("baseline", "random", "team3"):
        for path in (SAMPLE / "systems").glob(f"{team}_*"):
            shutil.copy(path, campaign.systems)
    campaign.teams = SAMPLE / "teams.json"
    campaign.evaluate()
    assert campaign.script("build_gt_validation").status == 0
    shutil.copytree(campaign.results / "gt-validation", campaign.folder / "reviewed")
    return campaign


def decide_twenty(folder):
    """Decide the first rows of the workbooks; return {(file, document, ids): [(target, word)]}."""
    decided = {}
    left = 20
    for path in sorted(folder.glob("*.xlsx")):
        book = openpyxl.load_workbook(path, rich_text=True)
        sheet = book["mismatches"]
        columns = {cell.value: cell.column for cell in sheet[1]}
        for row in range(2, sheet.max_row + 1):
            cell = {name: sheet.cell(row, column) for name, column in columns.items()}
            ids = (cell[name].value for name in ("document_id", *IDS[1:]))
            key = (path.name.partition(".gt")[0], *ids)
            # One row a pair, so that no two decisions can contradict.
            if left and key not in decided:
                word = WORDS[left % 5]
                if word == "PROBABLE" and cell["target"].value == "isAt":
                    word = "KEEP"
                cell["decision"].value = word
                decided[key] = (cell["target"].value, word)
                left -= 1
        book.save(path)
    assert left == 0
    return decided


def expected_references(decided):
    """Return {stem: bytes} of the references with decisions applied, by another way."""
    result = {}
    for path in sorted((SAMPLE / "reference").glob("*.jsonl")):
        lines = []
        for line in path.read_text("utf-8").splitlines():
            document = json.loads(line)
            kept = []
            for pair in document["sampled_pairs"]:
                ids = (document["document_id"], pair["pers_entity_id"], pair["loc_entity_id"])
                target, word = decided.get((path.stem, *ids), ("", "KEEP"))
                if word not in ("KEEP", "EXCLUDE"):
                    pair[target] = word
                if word != "EXCLUDE":
                    kept.append(pair)
            lines.append(document | {"sampled_pairs": kept})
        result[path.stem] = as_jsonl(lines)
    return result


def adjudicate(campaign):
    out = campaign.folder / "adjudicated.d"
    words = [f"REVIEWED_DIR={campaign.folder / 'reviewed'}", f"ADJUDICATED_DIR={out}"]
    done = campaign.make("adjudicate", *words)
    assert done.status == 0, done.err
    return out


def rankings(folder):
    return {path.name: path.read_bytes() for path in (folder / "system-rankings").glob("*.tsv")}


@pytest.mark.parametrize("saved_by_libreoffice", [False, True])
def test_twenty_decisions_give_exactly_the_expected_labels_changes_and_ranks(
    sample, tmp_path, capsys, saved_by_libreoffice
):
    if saved_by_libreoffice and shutil.which("soffice") is None:
        pytest.skip("needs LibreOffice (Debian's libreoffice-calc)")
    reviewed = sample.folder / "reviewed"
    decided = decide_twenty(reviewed)
    if saved_by_libreoffice:
        moved = reviewed.rename(tmp_path / "by hand")
        command = ["soffice", "--headless", f"-env:UserInstallation=file://{tmp_path}/profile"]
        command += ["--convert-to", "xlsx", "--outdir", str(reviewed)]
        command += [str(path) for path in sorted(moved.glob("*.xlsx"))]
        subprocess.run(command, check=True, capture_output=True, timeout=180)
    out = adjudicate(sample)
    expected = expected_references(decided)
    for stem, data in expected.items():
        assert (out / "reference" / f"{stem}.jsonl").read_bytes() == data
    changes = {
        (row["file"].removesuffix(".jsonl"), *(row[name] for name in IDS)): (
            row["target"],
            row["new"],
        )
        for row in read_tsv(out / "changes.tsv")
    }
    changed = {key: value for key, value in decided.items() if value[1] != "KEEP"}
    # A label that is decided to be what it was is no change.
    assert changes.items() <= changed.items()
    (tmp_path / "fresh").mkdir()
    fresh = Campaign(tmp_path / "fresh", lambda: tuple(capsys.readouterr()))
    fresh.systems, fresh.teams = sample.systems, sample.teams
    for stem, data in expected.items():
        (fresh.references / f"{stem}.jsonl").write_bytes(data)
    fresh.evaluate()
    assert rankings(out) == rankings(fresh.results)


def test_without_decisions_references_and_rankings_are_those_of_before(sample):
    out = adjudicate(sample)
    for path in (SAMPLE / "reference").glob("*.jsonl"):
        assert (out / "reference" / path.name).read_bytes() == path.read_bytes()
    assert rankings(out) == rankings(sample.results)
    assert "No label changed" in (out / "ranking-changes.md").read_text("utf-8")
