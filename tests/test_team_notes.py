"""Notes to teams: what an organizer can send as it is."""

import pytest

from kit import DE, EN, FR, as_jsonl, find_pair, perfect
from problems import WARNING, Problem
from reports import entry_of
from team_notes import team_note

LABEL = Problem("x", 2, "$.sampled_pairs[0].at", '"true"', '"TRUE"', "")
NAME = Problem("x", None, "", "a run for another set", "one of: de", "rename it")
MISSING = Problem("x", None, "", "4 pairs missing", "a label for every pair", "", WARNING)


def run(number, *problems):
    return entry_of(f"team1_de_run{number}.jsonl", "run", list(problems))


def test_a_note_tells_what_is_wrong_what_was_noticed_and_what_is_accepted():
    note = team_note("HIPE-2026", "team1", [run(1, MISSING, LABEL), run(2, MISSING), run(3)])
    assert (
        note
        == """\
HIPE-2026: check of the runs of team1

We received 3 run files of team1. One of them cannot be accepted yet; please mend and resend.

Not accepted
------------

team1_de_run1.jsonl
  error: line 2: $.sampled_pairs[0].at: found "true"; expected "TRUE"
  warning: found 4 pairs missing; expected a label for every pair

Accepted, but please have a look
--------------------------------

team1_de_run2.jsonl
  warning: found 4 pairs missing; expected a label for every pair

Accepted
--------

team1_de_run3.jsonl
"""
    )


def test_a_note_to_a_team_whose_runs_are_all_accepted_has_no_other_sections():
    assert (
        team_note("HIPE-2026", "team1", [run(1), run(2)])
        == """\
HIPE-2026: check of the runs of team1

We received 2 run files of team1. All of them are accepted.

Accepted
--------

team1_de_run1.jsonl
team1_de_run2.jsonl
"""
    )


def test_every_run_and_every_problem_is_in_the_note():
    note = team_note("HIPE-2026", "team1", [run(1, NAME, LABEL, LABEL), run(2, LABEL)])
    assert note.count("team1_de_run1.jsonl\n") == note.count("team1_de_run2.jsonl\n") == 1
    assert note.count("  error: line 2: ") == 3
    assert "  error: found a run for another set; expected one of: de; rename it\n" in note


# Written by validate-submissions


@pytest.fixture
def notes(base):
    """Validate the base campaign and return {name: note}."""

    def notes():
        base.validate()
        return {path.stem: path.read_text("utf-8") for path in folder.glob("*.txt")}

    folder = base.results / "validation"
    return notes


def test_each_team_gets_a_note_on_its_own_runs(base, notes):
    broken = perfect()
    find_pair(broken, "p1", "l1")["at"] = "true"
    base.run(broken, team="team2")
    base.run(perfect(EN)[:1], team="team2", stem=EN)
    written = notes()
    assert sorted(written) == ["team1", "team2"]
    assert written["team1"].startswith(
        "HIPE-2026: check of the runs of team1\n\nWe received 4 run files of team1."
    )
    assert "team2" not in written["team1"]
    refused, noticed = written["team2"].split("Accepted, but please have a look")
    assert f"team2_{DE}_run1.jsonl\n  error: line 1: $.sampled_pairs[0].at: found" in refused
    assert f"team2_{EN}_run1.jsonl\n  warning: found 4 pairs missing, 1 whole document" in noticed


def test_a_note_changes_with_the_runs_and_goes_with_the_team(base, notes):
    path = base.run(b"", team="team2")
    assert "Not accepted" in notes()["team2"]
    path.write_bytes(as_jsonl(perfect()))
    assert "Not accepted" not in notes()["team2"]
    path.unlink()
    assert list(notes()) == ["team1"]


def test_a_run_whose_name_is_wrong_is_not_kept_from_its_team(base, notes):
    sent = f"team1_{FR}_Run2.jsonl"
    (base.systems / sent).write_bytes(as_jsonl(perfect(FR)))
    note = notes()["team1"]
    assert sent in note
    assert "All of them are accepted" not in note
