"""Whose run a file is: all parts of its path are heard, and where they disagree nothing is guessed.

Paths begin with the archive's name without its ending, as lib/archives.py makes them.
"""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaign import Team
from kit import DE, EN, FR, SURPRISE
from names import Naming, Run
from recognition import Recognizer

TEST2 = DE.replace("test", "test2")
ENTRIES = {
    "baseline": Team("Baseline", "", organizer=True),
    "base": Team("base", "", organizer=True),
    "base_line": Team("base_line", "", organizer=True),
    "nel": Team("NEL", "", organizer=True),
    "nel-only": Team("nel-only", "", organizer=True),
    "team3": Team("Müller & Söhne @ Zürich", "", organizer=False, archives=("ms_zh", "MSZ")),
    "team4": Team("Les Colporteurs", "", organizer=False, archives=("colporteurs-2026",)),
    "team5": Team("5e étage", "", organizer=False),
}
NAMING = Naming("HIPE-2026", frozenset(ENTRIES), 3)
STEMS = [DE, EN, FR, SURPRISE, TEST2]
RECOGNIZER = Recognizer(NAMING, ENTRIES, STEMS)
MASKED = DE.replace("test", "test_masked")


def run_of(path):
    run = RECOGNIZER.run(RECOGNIZER.clues(path))
    return run and run.stem


def candidates(path):
    assert run_of(path) is None
    return RECOGNIZER.candidates(RECOGNIZER.clues(path))


SHAPES = [
    f"results/Les Colporteurs/run2/{DE}.jsonl",
    f"Les Colporteurs/run_2_results/{DE}.jsonl",
    f"les-colporteurs/run2_results/{DE}.jsonl",
    f"LesX/Les_Colporteurs_HIPE-2026-v1.0-test-de_en_fr_surprisefr_run2/{DE}.jsonl",
    f"x/team4_{DE}_run2.jsonl",
    f"x/team4_{DE}_run2/predictions.jsonl",
    f"colporteurs-2026/RUN 2/{DE}/predictions.jsonl",
    f"colporteurs-2026/run2/{DE}.jsonl/predictions.jsonl",
    f"team4_run2/{DE}.jsonl",
    f"team4_run2/results/results/{DE}.jsonl",
    f"x/team4_{MASKED}_run2.jsonl",
    f"team4/run2/{MASKED}.jsonl",
    f"x/team4_{DE}_run2.JSONL",
    f"x/TEAM4_{DE.upper()}_RUN2.jsonl",
    f"x/team4-{DE}-run2.jsonl",
    f"x/team4_{DE.replace('-de', '_de')}_run2.jsonl",
    f"x/team 4/run 02/{DE}.jsonl",
    f"team_04/Run-2/{DE}.jsonl",
    f"x/team4_{DE}_run2 (1).jsonl",
    f"(Les Colporteurs) [final]/run2/{DE}.jsonl",
]


@pytest.mark.parametrize("path", SHAPES)
def test_a_shape_of_the_real_campaign_is_understood(path):
    assert run_of(path) == f"team4_{DE}_run2"


@pytest.mark.parametrize("name", ["Müller & Söhne @ Zürich", "Muller_Sohne_Zurich", "msz", "MS ZH"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_spaces_signs_accents_and_case_of_a_team_do_not_matter(name, form):
    path = unicodedata.normalize(form, f"x/{name}/run1/{DE}.jsonl")
    assert run_of(path) == f"team3_{DE}_run1"


@pytest.mark.parametrize("team", ["nel", "nel-only", "base", "base_line", "baseline"])
def test_a_team_is_not_seen_in_a_longer_name(team):
    assert run_of(f"x/{team}_{DE}_run1.jsonl") == f"{team}_{DE}_run1"
    assert run_of(f"{team}/run1/{DE}.jsonl") == f"{team}_{DE}_run1"


@pytest.mark.parametrize("stem", STEMS)
def test_a_reference_is_not_seen_in_a_longer_name(stem):
    assert run_of(f"team1/run1/{stem}.jsonl") == f"team1_{stem}_run1"


@given(
    st.sampled_from([*ENTRIES, "team1", "team10", "team11"]),
    st.sampled_from(STEMS),
    st.integers(1, 3),
    st.sampled_from(["", "sent/", "results v2/final/"]),
)
def test_the_right_name_is_always_understood(team, stem, number, folder):
    run = Run(team, NAMING.reference(f"{stem}.jsonl"), number)
    assert RECOGNIZER.run(RECOGNIZER.clues(f"mail/{folder}{run.file}")) == run


@given(st.text(max_size=40), st.text(max_size=40))
def test_what_is_understood_is_the_name_of_a_run(folder, file):
    run = RECOGNIZER.run(RECOGNIZER.clues(f"team1/run1/{folder}/{DE}/{file}.jsonl"))
    assert run is None or NAMING.run(run.file) == run


# What is not decided


UNDECIDED = {
    f"x/run1/{DE}.jsonl": [f"<team>_{DE}_run1.jsonl"],
    f"team1/{DE}.jsonl": [f"team1_{DE}_run<1-3>.jsonl"],
    "team1/run1/predictions.jsonl": ["team1_<reference>_run1.jsonl"],
    "x/y.jsonl": ["<team>_<reference>_run<1-3>.jsonl"],
    f"team1/team2/run1/{DE}.jsonl": [f"team1_{DE}_run1.jsonl", f"team2_{DE}_run1.jsonl"],
    f"team1/run1/{DE}_run2.jsonl": [f"team1_{DE}_run1.jsonl", f"team1_{DE}_run2.jsonl"],
    f"team1/run1/{DE}/{EN}.jsonl": [f"team1_{DE}_run1.jsonl", f"team1_{EN}_run1.jsonl"],
    f"Les Colporteurs/team3/run1/{DE}.jsonl": [f"team4_{DE}_run1.jsonl", f"team3_{DE}_run1.jsonl"],
    f"team1/run4/{DE}.jsonl": [f"team1_{DE}_run<1-3>.jsonl"],
    f"team1/run0/{DE}.jsonl": [f"team1_{DE}_run<1-3>.jsonl"],
    f"team1/run11/{DE}.jsonl": [f"team1_{DE}_run<1-3>.jsonl"],
    f"team1/run1a/{DE}.jsonl": [f"team1_{DE}_run<1-3>.jsonl"],
    f"team1/run/{DE}.jsonl": [f"team1_{DE}_run<1-3>.jsonl"],
    f"x/team1_{DE[:-3]}_run1.jsonl": ["team1_<reference>_run1.jsonl"],
    f"x/steam1_{DE}_run1.jsonl": [f"<team>_{DE}_run1.jsonl"],
    f"x/team0_{DE}_run1.jsonl": [f"<team>_{DE}_run1.jsonl"],
}


@pytest.mark.parametrize(("path", "names"), UNDECIDED.items())
def test_what_a_path_leaves_open_is_not_guessed(path, names):
    assert candidates(path) == names


def test_a_training_run_of_a_team_is_for_no_reference_that_is_there():
    path = f"mail/team1_{DE.replace('test', 'train')}_run1.jsonl"
    assert candidates(path) == ["team1_<reference>_run1.jsonl"]


def test_a_name_that_two_teams_claim_decides_for_neither():
    teams = {
        "team1": Team("Alpha", "", organizer=False, archives=("results",)),
        "team2": Team("Beta", "", organizer=False, archives=("Results",)),
    }
    clues = Recognizer(NAMING, teams, STEMS).clues(f"results/run1/{DE}.jsonl")
    assert sorted(clues.teams) == ["team1", "team2"]
