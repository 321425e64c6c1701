"""Make evaluates a campaign: never wrong, never stale, in odd places, interrupted or twice at once.

What comes out after a change is held against a fresh evaluation of the changed inputs in another
folder, byte for byte.
"""

import argparse
import contextlib
import importlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cli
from kit import DE, EN, FR, INFO, PROJECT, SURPRISE, Campaign, find_pair, make_environment, perfect
from stage import holding

LONG_AGO = 1420070400  # 2015-01-01
TARGETS = (
    "demo test validate-reference validate-submissions validate-info score rankings diagnostics"
    " results-md eval-full eval-full-refresh eval-binary clean help"
)
VARIABLES = (
    "RESULTS_DIR PER_RUN_DIR RANKINGS_DIR DIAGNOSTICS_DIR GT_VALIDATION_DIR RESULTS_MD"
    " AT_LABEL_MODE TIES REFERENCE_DIR SUBMISSIONS_DIR DATA_REPO CONFIG TEAMS PYTHON"
)
FLIPPED = (b'"at": "TRUE", "isAt": "FALSE"', b'"at": "FALSE", "isAt": "TRUE"')


@pytest.fixture
def small(campaign):
    """Eight runs on three references, configuration and teams of its own, not yet evaluated."""
    for stem in (DE, EN, SURPRISE):
        campaign.reference(stem)
        campaign.run(stem=stem)
    flawed = perfect()
    find_pair(flawed, "q1", "m1")["at"] = "PROBABLE"
    campaign.run(flawed, number=2)
    flawed[0]["sampled_pairs"].pop()
    campaign.run(flawed, team="team2")
    campaign.run(perfect(EN), team="team2", stem=EN)
    campaign.run(flawed, team="team10", info=None)
    campaign.run(flawed[1:], team="baseline")
    own = {name: campaign.folder / f"{name}.json" for name in ("config", "teams")}
    own["config"].write_bytes(campaign.config.read_bytes())
    teams = json.loads(campaign.teams.read_text("utf-8")) | {"team1": {"name": "Eins"}}
    own["teams"].write_text(json.dumps(teams), "utf-8")
    campaign.config, campaign.teams = own["config"], own["teams"]
    return campaign


def fresh(campaign):
    """Return what an evaluation of the same inputs in another folder gives."""
    folder = campaign.folder / "fresh"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    other = Campaign(folder, campaign._capture)
    for name in ("references", "systems"):
        shutil.copytree(getattr(campaign, name), getattr(other, name), dirs_exist_ok=True)
    for name in ("config", "teams", "mode", "ties"):
        setattr(other, name, getattr(campaign, name))
    other.evaluate()
    return other.tree()


def make(campaign, *words, **environment):
    """Run make, which must succeed."""
    done = campaign.make(*words, **environment)
    assert done.status == 0, done.err
    return done


def identities(campaign):
    """Return what changes of each output when it is written again, even with the same bytes."""
    paths = {str(path.relative_to(campaign.results)): path for path in campaign.results.rglob("*")}
    paths["(page)"] = campaign.page
    return {
        name: (path.stat().st_ino, path.stat().st_mtime_ns)
        for name, path in paths.items()
        if path.is_file() and not path.name.startswith(".lock")
    }


def redone(campaign, before):
    """Return the outputs, manifests apart, that were written since identities() were taken."""
    after = identities(campaign)
    return {
        name
        for name in after
        if after[name] != before.get(name) and not name.endswith(".manifest.json")
    }


def changed(before, after):
    """Return the outputs, manifests apart, whose bytes differ between two trees."""
    return {
        name
        for name in after
        if after[name] != before.get(name) and not name.endswith(".manifest.json")
    }


def number_scored(done):
    """Return how many runs a make has scored, by its own account."""
    told = re.search(r"(\d+) scored", done.out)
    return int(told[1]) if told else 0


def make_old(*paths):
    for path in paths:
        os.utime(path, (LONG_AGO, LONG_AGO))


# The ways in which an input changes, none of which make could tell by the time.


def change_in_place(path, old, new):
    """Change a file without changing its size, its time or its place on the disk."""
    times, data = path.stat(), path.read_bytes()
    assert len(old) == len(new)
    assert old in data
    path.write_bytes(data.replace(old, new, 1))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def replace_by_older(path, old, new):
    """Put a file that is years older in the place of another, as unpacking an archive does."""
    other = path.with_name("(other)")
    other.write_bytes(path.read_bytes().replace(old, new, 1))
    make_old(other)
    other.replace(path)


def edit_json(path, edit):
    """Change a JSON file, which keeps its time."""
    times = path.stat()
    value = json.loads(path.read_text("utf-8"))
    edit(value)
    path.write_text(json.dumps(value, indent=2), "utf-8")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def run_file(campaign, team="team1", stem=DE, number=1):
    return campaign.systems / f"{team}_{stem}_run{number}.jsonl"


def info_file(campaign, team="team1", stem=DE, number=1):
    return campaign.systems / f"{team}_{stem}_run{number}-info.json"


def add_run(campaign):
    path = campaign.run(team="team3")
    make_old(path, info_file(campaign, "team3"))


def withdraw_run(campaign):
    run_file(campaign, number=2).unlink()
    info_file(campaign, number=2).unlink()


def withdraw_last_run_of_a_reference(campaign):
    run_file(campaign, stem=SURPRISE).unlink()
    info_file(campaign, stem=SURPRISE).unlink()


def add_info(campaign):
    info_file(campaign, "team10").write_text(json.dumps(INFO))
    make_old(info_file(campaign, "team10"))


def withdraw_info(campaign):
    info_file(campaign).unlink()


def add_reference(campaign):
    make_old(campaign.reference(FR))


def withdraw_reference(campaign):
    (campaign.references / f"{SURPRISE}.jsonl").unlink()
    withdraw_last_run_of_a_reference(campaign)


def add_ranking(campaign):
    def edit(config):
        rankings = config["rankings"]["efficiency"]
        rankings["other"] = {**rankings["mean"], "file": "ranking-other.tsv", "title": "Other"}

    edit_json(campaign.config, edit)


def withdraw_ranking(campaign):
    edit_json(campaign.config, lambda config: config["rankings"]["efficiency"].pop("balanced"))


def score_another_target(campaign):
    def edit(config):
        config["profiles"]["surprise"]["targets"].append("isAt")

    edit_json(campaign.config, edit)


def add_team(campaign):
    edit_json(campaign.teams, lambda teams: teams.update(team2={"name": "Zwei"}))


def withdraw_team(campaign):
    edit_json(campaign.teams, lambda teams: teams.pop("team1"))


# For each input: the file, and bytes in it with others of the same length in their place.
INPUTS = {
    "run": (lambda c: run_file(c, "team2"), *FLIPPED),
    "info": (info_file, b'"hipe_model_size": 10', b'"hipe_model_size": 55'),
    "reference": (lambda c: c.references / f"{DE}.jsonl", *FLIPPED),
    "config": (
        lambda c: c.config,
        b'"weights": {"impresso_profile_score": 2',
        b'"weights": {"impresso_profile_score": 7',
    ),
    "teams": (lambda c: c.teams, b'"Eins"', b'"Ones"'),
}


def by(way, name):
    """Return a function that changes an input in one of the ways."""

    def change(campaign):
        find, old, new = INPUTS[name]
        way(find(campaign), old, new)

    return change


# (what changes, how many of the eight runs must be scored again)
CHANGES = {
    "run changed": (by(change_in_place, "run"), 1),
    "run added": (add_run, 1),
    "run replaced by an older file": (by(replace_by_older, "run"), 1),
    "run withdrawn": (withdraw_run, 0),
    "last run of a reference withdrawn": (withdraw_last_run_of_a_reference, 0),
    "info changed": (by(change_in_place, "info"), 1),
    "info added": (add_info, 1),
    "info replaced by an older file": (by(replace_by_older, "info"), 1),
    "info withdrawn": (withdraw_info, 1),
    "reference changed": (by(change_in_place, "reference"), 5),
    "reference added": (add_reference, 0),
    "reference replaced by an older file": (by(replace_by_older, "reference"), 5),
    "reference withdrawn": (withdraw_reference, 0),
    "config changed": (by(change_in_place, "config"), 8),
    "config added to": (add_ranking, 8),
    "config replaced by an older file": (by(replace_by_older, "config"), 8),
    "config taken from": (withdraw_ranking, 8),
    "config with another target": (score_another_target, 8),
    "teams changed": (by(change_in_place, "teams"), 0),
    "teams added to": (add_team, 0),
    "teams replaced by an older file": (by(replace_by_older, "teams"), 0),
    "teams taken from": (withdraw_team, 0),
}


@pytest.mark.parametrize("case", CHANGES)
def test_after_a_change_make_gives_what_a_fresh_evaluation_gives_and_redoes_no_more(small, case):
    change, rescored = CHANGES[case]
    small.evaluate()
    before, before_files = small.tree(), identities(small)
    change(small)
    done = make(small, "eval-full")
    after = small.tree()
    assert after == fresh(small)
    assert after != before
    assert redone(small, before_files) == changed(before, after)
    assert number_scored(done) == rescored


@pytest.mark.parametrize(
    ("setting", "value", "rescored"),
    [("mode", "BINARY", 8), ("ties", "dense", 0)],
)
def test_a_setting_that_changes_and_changes_back_gives_the_first_bytes_again(
    small, setting, value, rescored
):
    small.evaluate()
    first, first_files = small.tree(), identities(small)
    variable = {"mode": "AT_LABEL_MODE", "ties": "TIES"}[setting]
    done = make(small, "eval-full", f"{variable}={value}")
    setattr(small, setting, value)
    assert small.tree() == fresh(small) != first
    assert redone(small, first_files) == changed(first, small.tree())
    assert number_scored(done) == rescored
    make(small, "eval-full")
    assert small.tree() == first


def test_gold_that_changes_back_gives_the_first_bytes_again(small):
    gold = small.references / f"{DE}.jsonl"
    small.evaluate()
    first = small.tree()
    change_in_place(gold, *FLIPPED)
    make(small, "eval-full")
    page = small.tree()["(page)"]
    assert page != first["(page)"]
    change_in_place(gold, *reversed(FLIPPED))
    make(small, "eval-full")
    assert small.tree() == first


def test_only_the_runs_of_a_changed_reference_are_redone(small):
    small.evaluate()
    before = identities(small)
    change_in_place(small.references / f"{DE}.jsonl", *FLIPPED)
    make(small, "eval-full")
    for name in redone(small, before):
        assert DE in name or name in {
            "(page)",
            "validation/references.json",
            "validation/submissions.json",
            *(f"system-rankings/{file}" for file in os.listdir(small.results / "system-rankings")),
        }


def test_nothing_of_a_withdrawn_run_is_left_anywhere(small):
    small.run(team="team77")
    small.evaluate()
    assert any(b"team77" in data for data in small.tree().values())
    run_file(small, "team77").unlink()
    info_file(small, "team77").unlink()
    make(small, "eval-full")
    left = [name for name, data in small.tree().items() if "team77" in name or b"team77" in data]
    assert left == []


def test_the_ranking_of_a_reference_without_runs_disappears(small):
    small.evaluate()
    withdraw_last_run_of_a_reference(small)
    make(small, "eval-full")
    assert not [name for name in small.tree() if "surprise" in name or "generalization" in name]
    assert SURPRISE in small.page.read_text("utf-8")


def test_a_renamed_team_renews_the_page_alone(small):
    small.evaluate()
    before = identities(small)
    by(change_in_place, "teams")(small)
    make(small, "eval-full")
    assert redone(small, before) == {"(page)"}


def test_a_second_make_has_nothing_to_do_whatever_the_times(small):
    make(small, "eval-full")
    # A clock that went back a year: everything made before seems to come from the future.
    future = time.time() + 365 * 24 * 3600
    for path in (*small.results.rglob("*"), small.page):
        os.utime(path, (future, future))
    before = identities(small)
    done = make(small, "eval-full")
    assert "up to date" in done.out
    assert identities(small) == before
    by(change_in_place, "run")(small)
    make(small, "eval-full")
    assert small.tree() == fresh(small)


@pytest.mark.parametrize("damage", ["altered", "deleted"])
def test_outputs_that_were_altered_or_deleted_are_healed(small, damage):
    small.evaluate()
    wanted = small.tree()
    for name in wanted:
        path = small.page if name == "(page)" else small.results / name
        if damage == "deleted":
            path.unlink()
        elif not name.endswith(".manifest.json"):
            path.write_bytes(path.read_bytes()[:-3])
    make(small, "eval-full")
    assert small.tree() == wanted


def test_files_of_others_in_the_folders_are_left_alone(small):
    small.evaluate()
    mine = [small.results / folder / "notes.json" for folder in os.listdir(small.results)]
    mine = [path for path in mine if path.parent.is_dir()]
    mine += [small.folder / ".draft.tmp", small.results / "results.md"]
    for path in mine:
        path.write_text("mine")
    withdraw_run(small)
    make(small, "eval-full")
    make(small, "clean")
    assert [path.read_text() for path in mine] == ["mine"] * len(mine)
    left = {path for path in (*small.results.rglob("*"), small.page) if path.is_file()}
    assert left == set(mine) - {small.folder / ".draft.tmp"}


def test_another_name_for_the_page_costs_no_file_of_others(small):
    first, second = small.folder / "first", small.folder / "second"
    small.page = first / "README.md"
    small.evaluate()
    second.mkdir()
    (second / "README.md").write_text("mine")
    small.page = second / "results.md"
    assert small.script("build_results_md").status == 0
    assert (second / "README.md").read_text() == "mine"


def test_clean_removes_no_page_that_it_did_not_make(small):
    small.page.write_text("mine")
    make(small, "clean")
    assert small.page.read_text() == "mine"
    small.page = small.folder / "made" / "results.md"
    small.evaluate()
    other = small.folder / "results.md"
    make(small, "clean", f"RESULTS_MD={other}")
    assert other.read_text() == "mine"


def test_clean_pulls_no_file_from_under_a_stage_at_work(small):
    small.evaluate()
    before = small.tree()
    with holding(small.results, "rankings", reads=["score"]):
        cleaning = start_make(small, "clean")
        # It may wait or refuse.
        with contextlib.suppress(subprocess.TimeoutExpired):
            cleaning.wait(timeout=1)
        assert small.tree() == before
    cleaning.communicate()


def test_clean_leaves_the_inputs_and_can_be_repeated(small):
    small.evaluate()
    inputs = {path: path.read_bytes() for path in small.systems.iterdir()}
    make(small, "clean")
    assert small.tree() == {}
    assert not small.results.exists()
    make(small, "clean")
    assert {path: path.read_bytes() for path in small.systems.iterdir()} == inputs


def test_a_refresh_writes_everything_again_with_the_same_bytes(small):
    small.evaluate()
    wanted, before = small.tree(), identities(small)
    make(small, "eval-full-refresh")
    assert small.tree() == wanted
    assert redone(small, before) == {name for name in wanted if "manifest" not in name}


def test_a_run_that_is_replaced_between_validation_and_scoring_is_not_scored(small):
    small.validate()
    small.validate_info()
    change_in_place(run_file(small, "team2"), *FLIPPED)
    done = small.script("score_one")
    assert done.status == 1
    assert len(done.errors) == 1
    assert "team2" in done.errors[0]
    assert "make" in done.errors[0]
    assert not (small.results / "per-run" / f"team2_{DE}_run1.json").exists()
    make(small, "eval-full")
    assert small.tree() == fresh(small)


def test_a_run_that_is_replaced_between_scoring_and_diagnosing_is_not_diagnosed(small):
    for stage in (("validate_jsonl", "references"), ("validate_jsonl", "submissions")):
        small.script(*stage)
    small.script("validate_info")
    small.script("score_one")
    change_in_place(run_file(small, "team2"), *FLIPPED)
    done = small.script("build_diagnostics")
    assert done.status == 1
    assert "team2" in done.errors[0]
    make(small, "eval-full")
    assert small.tree() == fresh(small)


# Interrupted, and twice at once


def start_make(campaign, target="eval-full", *words):
    """Start make on a campaign in a process group of its own."""
    given = [
        f"REFERENCE_DIR={campaign.references}",
        f"SUBMISSIONS_DIR={campaign.systems}",
        f"RESULTS_DIR={campaign.results}",
        f"RESULTS_MD={campaign.page}",
        f"TEAMS={campaign.teams}",
        f"CONFIG={campaign.config}",
        f"PYTHON={sys.executable}",
    ]
    return subprocess.Popen(
        ["make", target, *given, *words],
        cwd=PROJECT,
        env=make_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def assert_whole(tree):
    """Assert that no file of a tree is half."""
    for name, data in tree.items():
        if name.endswith(".json"):
            json.loads(data)
        elif not name.endswith(".tmp"):
            assert data.endswith(b"\n"), name


@pytest.mark.parametrize("start", ["nothing", "everything"])
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_any_moment_the_next_make_finishes_the_work(small, start, seed):
    if start == "everything":
        small.mode = "BINARY"
        small.evaluate()
        small.mode = "TERNARY"
        by(change_in_place, "reference")(small)
    moments = random.Random(seed)
    for _ in range(3):
        making = start_make(small)
        with contextlib.suppress(subprocess.TimeoutExpired):
            making.wait(timeout=moments.uniform(0.1, 1.6))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(making.pid, signal.SIGKILL)
        making.communicate()
        assert_whole(small.tree())
    make(small, "eval-full")
    assert small.tree() == fresh(small)


def test_two_makes_at_once_both_succeed(small):
    both = [start_make(small), start_make(small)]
    said = [making.communicate()[0] for making in both]
    assert [making.returncode for making in both] == [0, 0], said
    assert small.tree() == fresh(small)


def test_two_label_modes_at_once_in_folders_of_their_own_both_succeed(small):
    binary = Campaign.__new__(Campaign)
    binary.__dict__ = {
        **small.__dict__,
        "results": small.folder / "binary.d",
        "page": small.folder / "binary.md",
    }
    both = [start_make(small), start_make(binary, "eval-full", "AT_LABEL_MODE=BINARY")]
    said = [making.communicate()[0] for making in both]
    assert [making.returncode for making in both] == [0, 0], said
    assert small.tree() == fresh(small)
    assert b"BINARY" in binary.tree()["(page)"]


def test_eight_jobs_give_the_same_bytes(small):
    make(small, "-j8", "eval-full")
    assert small.tree() == fresh(small)


def test_stages_one_by_one_give_the_same_bytes(small):
    for target in ("validate-reference", "validate-info", "score", "diagnostics", "rankings"):
        make(small, target)
    make(small, "results-md")
    assert small.tree() == fresh(small)


def test_a_variable_of_the_shell_makes_no_stage_seem_done(small):
    make(small, "eval-full", CURRENT="score rankings")
    assert small.tree() == fresh(small)
    by(change_in_place, "run")(small)
    make(small, "results-md", CURRENT="score rankings diagnostics results-md")
    assert small.tree() == fresh(small)


# What make says


@pytest.mark.parametrize("kind", ["references", "systems"])
def test_an_empty_folder_earns_a_message_what_to_do_and_no_page(base, kind):
    for path in getattr(base, kind).iterdir():
        path.unlink()
    done = base.make("eval-full")
    assert done.status != 0
    (error,) = done.errors
    assert str(getattr(base, kind)) in error
    assert "put them there" in error
    assert not base.page.exists()
    assert "Traceback" not in done.err


def test_references_without_runs_are_named_on_the_page(small):
    run_file(small, "team1", EN).unlink()
    info_file(small, "team1", EN).unlink()
    run_file(small, "team2", EN).unlink()
    info_file(small, "team2", EN).unlink()
    make(small, "eval-full")
    assert (small.results / "system-rankings" / "ranking-impresso-test-de.tsv").exists()
    assert not (small.results / "system-rankings" / "ranking-impresso-test-en.tsv").exists()
    assert EN in small.page.read_text("utf-8")


@pytest.mark.parametrize(
    ("target", "setting", "allowed"),
    [
        ("eval-full", "AT_LABEL_MODE=TERNERY", ["TERNARY", "BINARY"]),
        ("eval-full", "AT_LABEL_MODE=binary", ["TERNARY", "BINARY"]),
        ("eval-full", "AT_LABEL_MODE=", ["TERNARY", "BINARY"]),
        ("score", "AT_LABEL_MODE=both", ["TERNARY", "BINARY"]),
        ("eval-full", "TIES=fair", ["competition", "dense"]),
        ("rankings", "TIES=Dense", ["competition", "dense"]),
        ("results-md", "TIES=", ["competition", "dense"]),
    ],
)
def test_a_wrong_setting_is_refused_and_nothing_is_written_over(small, target, setting, allowed):
    small.evaluate()
    before = identities(small)
    done = small.make(target, setting)
    assert done.status != 0
    said = [line for line in done.err.splitlines() if "error: " in line]
    assert len(said) == 1, done.err
    assert all(word in said[0] for word in [*allowed, repr(setting.partition("=")[2])])
    assert identities(small) == before


def test_a_results_folder_that_cannot_be_written_is_one_clear_error(small):
    small.results.write_text("a file")
    done = small.make("eval-full")
    assert done.status != 0
    assert len(done.errors) == 1, done.err
    assert str(small.results) in done.errors[0]
    assert "Traceback" not in done.err
    assert small.results.read_text() == "a file"


def test_a_page_that_cannot_be_written_is_one_clear_error(small):
    (small.folder / "file").write_text("a file")
    small.page = small.folder / "file" / "results.md"
    done = small.make("eval-full")
    assert done.status != 0
    assert len(done.errors) == 1, done.err
    assert str(small.page.parent) in done.errors[0]
    assert "Traceback" not in done.err


@pytest.mark.parametrize("words", [[], ["help"]])
def test_make_alone_lists_every_target_and_variable_with_a_word_about_it(base, words):
    done = base.make(*words)
    assert done.status == 0
    targets, _, variables = done.out.partition("Variables")
    for text, names in ((targets, TARGETS), (variables, VARIABLES)):
        told = dict(line.split(maxsplit=1) for line in text.splitlines() if line[:2] == "  ")
        assert set(names.split()) <= told.keys()
        assert all(told.values())


def test_every_target_that_makefile_declares_is_in_the_help_or_internal(base):
    text = (PROJECT / "Makefile").read_text("utf-8")
    declared = set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE))
    told = set(re.findall(r"^  ([a-z-]+)", base.make("help").out, re.MULTILINE))
    assert declared - told <= {"setup", "setup-dev", "show-top"}


def makefile_defaults():
    """Return {variable: default} of the Makefile, references to other variables resolved."""
    text = (PROJECT / "Makefile").read_text("utf-8")
    values = dict(re.findall(r"^([A-Z_]+) = ?(.*)$", text, re.MULTILINE))
    return {
        name: re.sub(r"\$\(([A-Z_]+)\)", lambda match: values[match[1]], value)
        for name, value in values.items()
    }


SCRIPTS = [
    path.stem
    for path in sorted((PROJECT / "lib").glob("*.py"))
    if "\ndef command_line()" in path.read_text("utf-8")
]


def as_in_makefile(value):
    """Return the default of an argument as the Makefile would write it."""
    value = value[0] if isinstance(value, list) else value
    if isinstance(value, Path):
        return os.path.relpath(PROJECT / value, PROJECT)
    return str(value or "")


# Arguments that are called otherwise than their variable.
VARIABLE_OF = {"reference": "REFERENCE_DIR", "map": "INTAKE_MAP"}


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_defaults_of_a_script_are_those_of_the_makefile(script):
    parser: argparse.ArgumentParser = importlib.import_module(script).command_line()
    needed = [
        action.choices[0] if action.choices else "some"
        for action in parser._actions
        if not action.option_strings and action.nargs in (None, "+")
    ]
    given = {}
    with pytest.raises(SystemExit):
        cli.run(parser, lambda arguments: given.update(vars(arguments)) or 0, needed)
    defaults = makefile_defaults()
    compared = 0
    for name, value in given.items():
        variable = VARIABLE_OF.get(name, name.upper())
        # Without a default, an argument asks for nothing: intake may be given archives instead.
        if variable in defaults and value is not None:
            assert (name, as_in_makefile(value)) == (name, defaults[variable])
            compared += 1
    assert compared


def test_binary_in_one_word_is_the_whole_evaluation_with_binary_labels(small):
    make(small, "eval-binary")
    small.mode = "BINARY"
    assert small.tree() == fresh(small)


# Checkouts elsewhere


def copy_checkout(folder, campaign=None):
    """Copy what an evaluation needs, with a campaign's inputs in data/; return the folder."""
    folder.mkdir(parents=True)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PROJECT / "lib", folder / "lib", ignore=ignored)
    shutil.copytree(PROJECT / "HIPE-2026-data", folder / "HIPE-2026-data", ignore=ignored)
    shutil.copy(PROJECT / "Makefile", folder)
    for name in ("reference", "systems"):
        (folder / "data" / name).mkdir(parents=True)
    if campaign:
        shutil.copytree(campaign.references, folder / "data" / "reference", dirs_exist_ok=True)
        shutil.copytree(campaign.systems, folder / "data" / "systems", dirs_exist_ok=True)
    return folder


def make_in(folder, *words, umask=-1, **environment):
    """Run make in a checkout with its own defaults; it must succeed."""
    words = [f"PYTHON={sys.executable}", *words]
    done = subprocess.run(
        ["make", *words],
        cwd=folder,
        env=make_environment(**environment),
        umask=umask,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def written_in(folder, pattern="*"):
    """Return what an evaluation wrote into a checkout: {path: content}."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for top in folder.glob(pattern)
        if top.name.startswith(("results", "HIPE_2026"))
        for path in (top.rglob("*") if top.is_dir() else [top])
        if path.is_file() and not path.name.startswith(".lock")
    }


def test_an_odd_place_and_an_odd_environment_give_the_same_bytes(small, tmp_path):
    plain = copy_checkout(tmp_path / "plain", small)
    make_in(plain, "eval-full", LC_ALL="C", TZ="UTC", PYTHONHASHSEED="0")
    odd = copy_checkout(tmp_path / "a b" / "é'$x", small)
    python = tmp_path / "a b" / "py 'thon'"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    data = {path: path.stat().st_mtime_ns for path in (odd / "data").rglob("*")}
    for path in data:
        path.chmod(0o555 if path.is_dir() else 0o444)
    environment = {"LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "1"}
    make_in(odd, "eval-full", f"PYTHON={python}", umask=0o077, **environment)
    assert written_in(odd) == written_in(plain)
    assert len(written_in(odd)) > 30
    assert {path: path.stat().st_mtime_ns for path in (odd / "data").rglob("*")} == data
    said = make_in(odd, "eval-full", f"PYTHON={python}", umask=0o077, **environment)
    assert "up to date" in said


def test_variables_may_hold_spaces_and_quotes(small):
    small.references = small.references.rename(small.folder / "gold 'a' \"b\"")
    small.systems = small.systems.rename(small.folder / "runs & é;")
    small.results = small.folder / "results (new) d"
    small.page = small.folder / "p a" / "g'e.md"
    make(small, "eval-full")
    first = small.tree()
    assert "(page)" in first
    assert "up to date" in make(small, "eval-full").out
    make(small, "eval-binary")
    assert b"BINARY" in small.tree()["(page)"]
    make(small, "clean")
    assert small.tree() == {}


def test_both_label_modes_keep_to_folders_of_their_own(small, tmp_path):
    checkout = copy_checkout(tmp_path / "checkout", small)
    make_in(checkout, "eval-full")
    ternary = written_in(checkout)
    make_in(checkout, "eval-binary")
    both = written_in(checkout)
    assert {name: both[name] for name in ternary} == ternary
    binary = {name: data for name, data in both.items() if name not in ternary}
    assert all("binary" in name.split("/")[0] for name in binary)
    assert len(binary) == len(ternary)


def test_the_sample_campaign_is_shown_by_make_demo(tmp_path):
    checkout = copy_checkout(tmp_path / "checkout")
    said = make_in(checkout, "demo")
    assert "Look at" in said
    assert "without intervals" not in said
    page = checkout / "results-demo.d" / "HIPE_2026_evaluation_results-demo.md"
    assert page.is_file()
    written = {path.split("/")[0] for path in written_in(checkout)}
    assert written == {"results-demo.d"}


def forget(checkout):
    """Remove all that was made in a checkout, compiled scripts included."""
    for path in [*checkout.glob("results*"), *checkout.rglob("__pycache__")]:
        shutil.rmtree(path)
    for path in checkout.glob("HIPE_2026*"):
        path.unlink()


# What becomes of what in which script; a change in place is one that Python's own cache misses.
SCRIPT_CHANGES = {
    "a score": (
        change_in_place,
        "lib/counting.py",
        b"(correct(matrix), total(matrix))",
        b"(1, 3)",
    ),
    "a count of the validation": (
        replace_by_older,
        "lib/validate_jsonl.py",
        b'"documents": len(found.missing_documents)',
        b'"documents": 77',
    ),
    "a label of the data repository": (
        change_in_place,
        "HIPE-2026-data/scripts/evaluation_utils.py",
        b'IMPUTED_LABEL = "FALSE"',
        b'IMPUTED_LABEL = "TRUE"',
    ),
}


@pytest.mark.parametrize("what", SCRIPT_CHANGES)
def test_a_changed_script_is_noticed_whatever_its_time(small, tmp_path, what):
    way, file, old, new = SCRIPT_CHANGES[what]
    compiling = {"PYTHONDONTWRITEBYTECODE": ""}
    checkout = copy_checkout(tmp_path / "checkout", small)
    make_in(checkout, "eval-full", **compiling)
    first = written_in(checkout)
    way(checkout / file, old, new.ljust(len(old)))
    make_in(checkout, "eval-full", **compiling)
    after = written_in(checkout)
    forget(checkout)
    make_in(checkout, "eval-full", **compiling)
    assert after == written_in(checkout) != first
