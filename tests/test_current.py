"""lib/current.py names exactly the stages that are up to date, and changes nothing."""

import json
import os

import pytest

from kit import DE, INFO, find_pair, perfect

STAGES = ["references", "submissions", "info", "score", "rankings", "diagnostics", "results-md"]
LONG_AGO = 1420070400  # 2015-01-01


@pytest.fixture
def done(base):
    """The base campaign, evaluated, with configuration and teams of its own."""
    for name in ("config", "teams"):
        own = base.folder / f"{name}.json"
        own.write_bytes(getattr(base, name).read_bytes())
        setattr(base, name, own)
    base.evaluate()
    return base


def current(campaign):
    """Return the names that current.py prints; it must say nothing else."""
    ended = campaign.script("current")
    assert (ended.status, ended.err) == (0, "")
    return ended.out.split()


def up_to(stage):
    """Return the stages before one that has something to do."""
    return STAGES[: STAGES.index(stage)]


def identities(folder):
    return {
        path: (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".lock")
    }


def replace_in(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_nothing_is_up_to_date_before_the_first_evaluation(base):
    assert current(base) == []


def test_everything_is_up_to_date_after_an_evaluation(done):
    assert current(done) == STAGES


def test_without_data_there_is_nothing_to_name(campaign):
    assert current(campaign) == []
    campaign.references.rmdir()
    campaign.systems.rmdir()
    assert current(campaign) == []


def test_time_stamps_do_not_matter(done):
    for path in done.folder.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    for path in done.systems.iterdir():
        os.utime(path)
    assert current(done) == STAGES


def change_run(campaign):
    documents = perfect()
    find_pair(documents, "p1", "l2")["isAt"] = "TRUE"
    campaign.run(documents)


def add_run(campaign):
    campaign.run(team="team2")


def withdraw_run(campaign):
    for path in campaign.systems.glob(f"team1_{DE}_*"):
        path.unlink()


def break_run(campaign):
    campaign.run(b"{")


def change_info(campaign):
    campaign.run(info={**INFO, "hipe_model_size": 11})


def withdraw_info(campaign):
    next(campaign.systems.glob(f"team1_{DE}_*-info.json")).unlink()


def change_reference(campaign):
    documents = perfect()
    find_pair(documents, "p1", "l2")["isAt"] = "TRUE"
    campaign.reference(documents=documents)


def change_config(campaign):
    replace_in(campaign.config, '"German"', '"Deutsch"')


def change_teams(campaign):
    replace_in(campaign.teams, '"Baseline"', '"Bassline"')


def change_mode(campaign):
    campaign.mode = "BINARY"


def change_ties(campaign):
    campaign.ties = "dense"


@pytest.mark.parametrize(
    ("change", "first_stale"),
    [
        (change_run, "submissions"),
        (add_run, "submissions"),
        (withdraw_run, "submissions"),
        (break_run, "submissions"),
        (change_info, "info"),
        (withdraw_info, "info"),
        (change_reference, "references"),
        (change_config, "references"),
        (change_teams, "results-md"),
        (change_mode, "score"),
        (change_ties, "rankings"),
    ],
)
def test_the_stages_before_a_change_are_up_to_date_and_no_others(done, change, first_stale):
    change(done)
    assert current(done) == up_to(first_stale)


@pytest.mark.parametrize(
    ("output", "first_stale"),
    [
        ("validation/references.json", "references"),
        ("validation/submissions.json", "submissions"),
        ("validation/info.json", "info"),
        (f"per-run/team1_{DE}_run1.json", "score"),
        ("system-rankings/ranking-overall-test-a.tsv", "rankings"),
        ("system-rankings/rankings.json", "rankings"),
        (f"diagnostics/team1_{DE}_run1.diagnostics.json", "diagnostics"),
        ("../results.md", "results-md"),
    ],
)
@pytest.mark.parametrize("damage", ["altered", "deleted"])
def test_an_output_that_was_altered_or_deleted_makes_its_stage_stale(
    done, output, first_stale, damage
):
    path = done.results / output
    if damage == "deleted":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes().replace(b"e", b"a"))
    assert current(done) == up_to(first_stale)
    done.evaluate()
    assert current(done) == STAGES


@pytest.mark.parametrize("stage", STAGES)
def test_a_lost_manifest_makes_its_stage_stale(done, stage):
    next(done.results.rglob(f"{stage}.manifest.json")).unlink()
    assert current(done) == up_to(stage)


def test_asking_changes_nothing(done):
    for change in (change_info, add_run, change_mode):
        change(done)
        before = identities(done.folder)
        current(done)
        assert identities(done.folder) == before


def test_warnings_do_not_make_a_stage_stale(base):
    documents = perfect()
    documents[0]["sampled_pairs"].pop()
    base.run(documents, info=None)
    base.evaluate()
    assert current(base) == STAGES


def test_an_invalid_run_that_may_be_skipped_is_told_each_time(base):
    base.run(b"{", team="team2")
    base.skip_invalid = True
    base.evaluate()
    assert current(base) == up_to("submissions")


def test_a_configuration_that_cannot_be_read_leaves_the_word_to_the_stages(done):
    done.config.write_text("{")
    assert current(done) == []


def test_teams_that_cannot_be_read_leave_the_word_to_the_stages(done):
    done.teams.write_text(json.dumps({"team1": 1}))
    assert current(done) == up_to("submissions")


def test_a_wrong_mode_is_left_to_the_stage_and_wrong_ties_are_refused(done):
    done.mode = "binary"
    assert current(done) == up_to("score")
    done.mode, done.ties = "TERNARY", "fair"
    ended = done.script("current")
    assert ended.status == 2
    assert "'fair'" in ended.err
    assert ended.out == ""
