"""File names: parsed, built and proposed in one place, and never guessed in silence."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import DE, EN, SURPRISE
from names import (
    IGNORED,
    INFO,
    MISNAMED,
    NOT_A_FILE,
    REFERENCE,
    RUN,
    Naming,
    Reference,
    Run,
    display,
    list_references,
    list_submissions,
    looks_like_info,
    natural_key,
)

ORGANIZERS = ["base", "base_line", "nel", "nel-only", "Zürich"]
NAMING = Naming("HIPE-2026", frozenset(ORGANIZERS), 3)
STEMS = [DE, EN, SURPRISE, DE.replace("test", "test2")]
WORD = st.from_regex("[a-z0-9]{1,8}", fullmatch=True)
REFERENCES = st.builds(
    lambda version, dataset, split, language: Reference(
        f"HIPE-2026-{version}-{dataset}-{split}-{language}", dataset, split, language
    ),
    st.sampled_from(["v1", "v1.0", "v2.10.3"]),
    WORD,
    WORD,
    st.from_regex("[a-z]{2,3}", fullmatch=True),
)
TEAMS = st.sampled_from(ORGANIZERS) | st.integers(min_value=1).map(lambda n: f"team{n}")
RUNS = st.builds(Run, TEAMS, REFERENCES, st.integers(min_value=1, max_value=3))


@st.composite
def mangled(draw):
    """Return the name of a run or an info file with a few characters more, less or changed."""
    run = Run(draw(TEAMS), NAMING.reference(f"{draw(st.sampled_from(STEMS))}.jsonl"), 1)
    name = draw(st.sampled_from([run.file, run.info_file]))
    for _ in range(draw(st.integers(min_value=0, max_value=3))):
        start = draw(st.integers(min_value=0, max_value=len(name)))
        end = draw(st.integers(min_value=start, max_value=start + 2))
        name = name[:start] + draw(st.text("aT01_-. (²٣ü\n", max_size=3)) + name[end:]
    return draw(st.sampled_from([name, name.upper(), name.title()]))


@given(RUNS)
def test_the_names_of_a_run_say_what_they_were_built_from(run):
    assert NAMING.run(run.file) == run
    assert NAMING.run_of_info(run.info_file) == run
    assert NAMING.reference(run.reference.file) == run.reference


@given(RUNS)
def test_no_name_is_two_things(run):
    assert NAMING.run(run.info_file) is None
    assert NAMING.run(run.reference.file) is None
    assert NAMING.run_of_info(run.file) is None
    assert NAMING.reference(run.file) is None


@given(mangled())
def test_a_name_that_is_taken_for_a_run_is_exactly_the_name_of_that_run(name):
    run, described = NAMING.run(name), NAMING.run_of_info(name)
    assert run is None or run.file == name
    assert described is None or described.info_file == name


@given(mangled())
def test_a_proposed_name_is_the_name_of_a_run_for_a_reference_that_is_there(name):
    proposed = NAMING.propose_run(name, STEMS)
    assert proposed is None or NAMING.run(proposed.file) == proposed
    assert proposed is None or proposed.reference.stem in STEMS


@given(RUNS)
def test_a_right_name_is_proposed_unchanged(run):
    assert NAMING.propose_run(run.file, [run.reference.stem]) == run


@pytest.mark.parametrize("team", ["team1", "team10", *ORGANIZERS])
def test_the_team_is_all_that_stands_before_the_reference(team):
    run = NAMING.run(f"{team}_{DE}_run3.jsonl")
    assert (run.team, run.name, run.number) == (team, "run3", 3)
    assert run.reference == Reference(DE, "impresso", "test", "de")


@pytest.mark.parametrize(
    "name",
    [
        f"team0_{DE}_run1.jsonl",
        f"team01_{DE}_run1.jsonl",
        f"team_{DE}_run1.jsonl",
        f"base-line_{DE}_run1.jsonl",
        f"_{DE}_run1.jsonl",
        f"{DE}_run1.jsonl",
        f"team1_{DE}_run1",
        f"team1_{DE}_run1.jsonl\n",
        f"team1_{DE}_run1.jsonl.jsonl",
        f"team1_{DE}-run1.jsonl",
        f"team1_{DE.replace('2026', '2020')}_run1.jsonl",
        f"team1_{DE.replace('test', 'test_masked')}_run1.jsonl",
        f"team1_{DE}_run¹.jsonl",
    ],
)
def test_a_name_that_only_resembles_a_run_is_none(name):
    assert NAMING.run(name) is None


@pytest.mark.parametrize(
    "name",
    [
        f"{DE}",
        f"{DE}.json",
        "HIPE-2026-v1.0-impresso-test-DE.jsonl",
        "HIPE-2026-1.0-impresso-test-de.jsonl",
        "HIPE-2026-v1.0-impresso-test_masked-de.jsonl",
        "HIPE-2020-v1.0-impresso-test-de.jsonl",
    ],
)
def test_a_name_that_only_resembles_a_reference_is_none(name):
    assert NAMING.reference(name) is None


@pytest.mark.parametrize(
    "name",
    [
        f"TEAM1_{DE}_run1.jsonl",
        f"team01_{DE}_run01.jsonl",
        f"team1-{DE}-run1.jsonl",
        f"team1_{DE}_Run1.JSONL",
        f"team1_{DE.lower()}_run1.jsonl",
        f"team1_{DE.replace('test', 'test_masked')}_run1.jsonl",
        "team1_HIPE-2026-v1.0-impresso-test_de_run1.jsonl",
        f"team1_{DE}_run1 (1).jsonl",
        f"team1_{DE}_run1.json",
        f"team1_{DE}_run1_info.json",
    ],
)
def test_a_slip_is_overlooked_when_a_name_is_proposed(name):
    assert NAMING.propose_run(name, STEMS).stem == f"team1_{DE}_run1"


def test_a_browsers_second_download_is_not_run_11():
    assert NAMING.propose_run(f"team1_{DE}_run1 (1).jsonl", STEMS).number == 1


@pytest.mark.parametrize(
    "name",
    [
        f"team1_{DE}_run0.jsonl",
        f"team1_{DE}_run4.jsonl",
        f"team1_{DE}_run1a.jsonl",
        f"team1_{DE}_run.jsonl",
        f"my team_{DE}_run1.jsonl",
        "team1_HIPE-2026-v1.0-impresso-train-de_run1.jsonl",
        "notes.jsonl",
    ],
)
def test_nothing_is_proposed_where_nothing_fits(name):
    assert NAMING.propose_run(name, STEMS) is None


def test_nothing_is_proposed_where_two_teams_fit():
    naming = Naming("HIPE-2026", frozenset(["nel_x", "nel-x"]), 3)
    assert naming.propose_run(f"NEL_X_{DE}_run1.jsonl", [DE]) is None


@given(st.lists(st.text("a1023²٣_"), max_size=6))
def test_the_natural_order_is_total_and_keeps_texts_apart(texts):
    backwards = texts[::-1]
    assert sorted(texts, key=natural_key) == sorted(backwards, key=natural_key)
    assert len({str(natural_key(text)) for text in texts}) == len(set(texts))


def test_the_natural_order_counts():
    teams = ["team10b", "team2", "baseline", "team10", "team1"]
    assert sorted(teams, key=natural_key) == ["baseline", "team1", "team2", "team10", "team10b"]


def test_every_entry_of_a_folder_of_runs_is_listed_once(tmp_path):
    stem = f"team1_{DE}_run"
    kinds = {
        ".DS_Store": IGNORED,
        f"._{stem}1.jsonl": IGNORED,
        "README.txt": IGNORED,
        f"{stem}1-info.json": INFO,
        f"{stem}1.info.json": MISNAMED,
        f"{stem}1.jsonl": RUN,
        f"{stem}1.jsonl.backup": IGNORED,
        f"{stem}1.jsonl~": IGNORED,
        f"{stem}4.jsonl": MISNAMED,
    }
    for name in kinds:
        (tmp_path / name).touch()
    listed = list_submissions(tmp_path, NAMING)
    assert [(each.file, each.kind) for each in listed] == list(kinds.items())
    assert [each.run.stem for each in listed if each.run] == [f"{stem}1", f"{stem}1"]


def test_folders_dead_links_and_pipes_are_no_files_but_a_link_to_a_file_is_one(tmp_path):
    stem = f"team1_{DE}_run"
    (tmp_path / "plain").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / f"{stem}1.jsonl").touch()
    (tmp_path / f"{stem}1.jsonl").mkdir()
    (tmp_path / f"{stem}2.jsonl").symlink_to("nowhere")
    (tmp_path / f"{stem}3.jsonl").symlink_to("plain")
    os.mkfifo(tmp_path / f"team2_{DE}_run1.jsonl")
    assert [(each.file, each.kind) for each in list_submissions(tmp_path, NAMING)] == [
        ("folder", IGNORED),
        ("plain", IGNORED),
        ("runs", NOT_A_FILE),
        (f"{stem}1.jsonl", NOT_A_FILE),
        (f"{stem}2.jsonl", NOT_A_FILE),
        (f"{stem}3.jsonl", RUN),
        (f"team2_{DE}_run1.jsonl", NOT_A_FILE),
    ]


def test_every_entry_of_a_folder_of_references_is_listed_once(tmp_path):
    for name in ("README.md", f"{DE}.jsonl", f"{DE.replace('test', 'test_masked')}.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / f"{EN}.jsonl").mkdir()
    assert [(each.file, each.kind) for each in list_references(tmp_path, NAMING)] == [
        (f"{DE}.jsonl", REFERENCE),
        (f"{EN}.jsonl", NOT_A_FILE),
        (f"{DE.replace('test', 'test_masked')}.jsonl", MISNAMED),
        ("README.md", IGNORED),
    ]


@pytest.mark.parametrize("ending", ["-info.json", ".info.json", "_info.json", "-info.JSON"])
def test_a_misnamed_info_file_is_known_as_one(ending):
    assert looks_like_info(f"team1_{DE}_run1{ending}")
    assert not looks_like_info(f"team1_{DE}_run1.json")


def test_a_file_name_that_cannot_be_shown_comes_with_escapes():
    assert display(f"my team_{DE}_run1.jsonl") == f"my team_{DE}_run1.jsonl"
    assert display("a\nb.jsonl") == r'"a\nb.jsonl"'
    assert display(os.fsdecode(b"caf\xe9.jsonl")) == r'"caf\udce9.jsonl"'
