"""The rankings are read as they were written, or not at all."""

import pytest

from campaign import BadInput
from kit import DE
from ranking_tables import RankingTables, runs_digest


@pytest.fixture
def folder(base):
    base.evaluate()
    return base.results / "system-rankings"


def problems(call, *arguments):
    with pytest.raises(BadInput) as raised:
        call(*arguments)
    return [each.text() for each in raised.value.problems]


def test_every_ranking_has_its_rows(folder):
    rankings = RankingTables(folder)
    for about in rankings.all:
        rows = rankings.rows(about)
        assert len(rows) == about["runs"]
        assert all(about["score"] in row for row in rows)
    assert {about["reference"] for about in rankings.by_file} >= {f"{DE}.jsonl"}
    assert {about["kind"] for about in rankings.all} == {"files", "means", "efficiency"}


def test_without_rankings_there_is_something_to_do(tmp_path):
    assert problems(RankingTables, tmp_path) == [
        f"error: {tmp_path}: found no rankings; expected what an earlier stage writes;"
        " run make rankings"
    ]


@pytest.mark.parametrize("name", ["rankings.json", "ranking-overall-test-a.tsv"])
@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b"null", b"rank\tteam\n1\n", b"\xe9", None], ids=str
)
def test_a_file_that_is_not_what_was_written_is_named(folder, name, data):
    if data is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(data)
    [line] = problems(RankingTables, folder)
    assert line.startswith(f"error: {folder / name}: ")
    assert line.endswith("run make rankings")


def test_an_edited_score_is_not_believed(folder):
    path = folder / "ranking-overall-test-a.tsv"
    text = path.read_text("utf-8")
    path.write_text(text.replace("\t1.0\t", "\t0.9\t", 1), "utf-8")
    assert path.read_text("utf-8") != text
    [line] = problems(RankingTables, folder)
    assert "ranking-overall-test-a.tsv" in line


def test_another_mode_or_another_way_to_number_ties_is_refused(folder):
    rankings = RankingTables(folder)
    rankings.require_made_with("TERNARY", "competition")
    for mode, ties in (("BINARY", "competition"), ("TERNARY", "dense")):
        [line] = problems(rankings.require_made_with, mode, ties)
        assert f"expected {mode} and {ties}; run make rankings" in line


def test_rankings_of_other_runs_are_refused(base, folder):
    runs = [
        (entry["file"], entry["digests"]["run"])
        for entry in base.json("validation/submissions.json")["files"]
    ]
    rankings = RankingTables(folder)
    rankings.require_made_of(reversed(runs))
    [line] = problems(rankings.require_made_of, runs[1:])
    assert "rankings of other runs" in line


def test_the_digest_of_runs_does_not_depend_on_their_order():
    runs = [("a.jsonl", "1"), ("b.jsonl", "2")]
    assert runs_digest(runs) == runs_digest(reversed(runs))
    assert runs_digest(runs) != runs_digest([("a.jsonl", "2"), ("b.jsonl", "1")])
