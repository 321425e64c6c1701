"""The results page as its reader sees it, from hand-made findings."""

from fractions import Fraction

import pytest

import campaign
import gfm
from campaign import Team
from kit import DE
from results_page import Findings, page

CONFIG = campaign.load_config(campaign.DEFAULT_CONFIG)
TITLE = "Newspapers, German (test)"
SCORE, SHOWN = "impresso_profile_score", "impresso profile score"
SIZES = ("hipe_parameter_count", "hipe_model_size")
NOTHING_IMPUTED = {"documents": 0, "pairs": 0, "null_labels": {"at": 0, "isAt": 0}}


def row(rank, team="team1", run="run1", score="1.0", **more):
    return {"rank": str(rank), "team": team, "run": run, SCORE: score, **more}


def run_entry(team, run, **changes):
    return {
        "file": f"{team}_{DE}_{run}.jsonl",
        "kind": "run",
        "valid": True,
        "team": team,
        "run": run,
        "reference": f"{DE}.jsonl",
        "imputed": NOTHING_IMPUTED,
        "digests": {"run": "digest"},
        "problems": [],
        **changes,
    }


def refused(file, *found):
    problem = {"file": file, "line": 1, "path": "$.at", "expected": "x", "action": "mend it"}
    problems = [{**problem, "found": what, "severity": "error"} for what in found]
    return {"file": file, "kind": "misnamed", "valid": False, "digests": {}, "problems": problems}


def render(
    rows,
    *,
    teams=None,
    others=(),
    mode="TERNARY",
    ties="competition",
    kind="files",
    significance=None,
    **about,
):
    """Return the sections of a page with one ranking of the German file.

    others: entries of the report on runs besides those of the rows.
    """
    where = {"dataset": "impresso", "split": "test", "language": "de"}
    reference = {"file": f"{DE}.jsonl", "kind": "reference", "valid": True, **where}
    file = "ranking-impresso-test-de.tsv"
    ranking = {
        "kind": kind,
        "reference": reference["file"],
        **where,
        "file": file,
        "score": SCORE,
        "left_out": [],
        "notes": [],
        **about,
    }
    rankings = {"at_label_mode": mode, "ties": ties, "rankings": [ranking]}
    found = Findings(
        CONFIG,
        teams or {},
        [{**reference, "digests": {"reference": "digest"}, "problems": []}],
        [*(run_entry(each["team"], each["run"]) for each in rows), *others],
        [],
        {**rankings, "references_without_runs": []},
        {file: rows},
        "rankings",
        "diagnostics",
        "significance",
        significance,
    )
    return gfm.read(page(found, lambda run: [("pairs", f"{run}.json")]))


@pytest.mark.parametrize(
    "name",
    ["A|B", "my_team_x", "`x`", "*", "<img src=x onerror=1>", "[a](b)", "1e5", "007", "a\\"],
)
def test_a_name_shows_literally_wherever_it_stands(name):
    teams = {"team1": Team(name, f"of {name}", organizer=False)}
    left_out = [{"team": "team1", "run": "run2", "reason": "no run for fr"}]
    sections = render([row(1)], teams=teams, left_out=left_out)
    [team] = sections["Teams"].rows()
    assert (team["Team"], team["Id"], team["Affiliation"]) == (name, "team1", f"of {name}")
    assert sections[TITLE].column("team") == [f"{name} (team1)"]
    assert sections[TITLE].column(SHOWN) == ["1.0000"]
    assert f"1. {name} (team1) (run1, 1.0000)" in sections[TITLE].text
    assert f"Left out: {name} (team1) run2: no run for fr." in sections[TITLE].lines


@pytest.mark.parametrize("team", ["A|B", "my_team_x", "`x`", "*", "<img src=x>", "[a](b)", "007"])
def test_an_id_shows_literally_and_leads_to_its_files(team):
    sections = render([row(1, team)], teams={team: Team(team, "", organizer=True)})
    assert sections["Teams"].column("Id") == [team]
    assert sections[TITLE].column("team") == [team]
    assert sections[TITLE].column("diagnostics") == ["pairs"]


def test_scores_are_shown_at_four_decimals_in_the_order_of_their_ranks():
    scores = ["1.0", "0.9", "0.10000000000000001", "5e-05", "4e-05"]
    rows = [row(rank, f"team{rank}", score=score) for rank, score in enumerate(scores, 1)]
    shown = render(rows)[TITLE].rows()
    assert [each["rank"] for each in shown] == ["1", "2", "3", "4", "5"]
    figures = ["1.0000", "0.9000", "0.1000", "0.0001", "0.0000"]
    assert [each[SHOWN] for each in shown] == figures


def test_equal_figures_may_have_different_ranks():
    scores = [1 - Fraction(1, 3 * 334), 1 - Fraction(1, 3 * 333)]
    rows = [row(n, f"team{n}", score=repr(float(score))) for n, score in enumerate(scores, 1)]
    section = render(rows)[TITLE]
    assert section.column(SHOWN) == ["0.9990", "0.9990"]
    assert section.column("rank") == ["1", "2"]


def test_sizes_are_shown_as_numbers_and_unknown_ones_as_nothing():
    sizes = [("9", "265.4"), ("10", "14400"), ("100", "0"), ("1000000000.0", "8"), ("", "")]
    rows = [
        row(rank, f"team{rank}", **dict(zip(SIZES, pair, strict=True)))
        for rank, pair in enumerate(sizes, 1)
    ]
    section = render(rows)[TITLE]
    counts = section.column("hipe parameter count")
    assert [count.replace(",", "").removesuffix(".0") for count in counts] == [
        "9",
        "10",
        "100",
        "1000000000",
        "",
    ]
    assert section.column("hipe model size") == ["265.4", "14,400", "0", "8", ""]


def test_the_top_teams_are_those_of_the_best_runs_without_entries_of_the_organizers():
    rows = [
        row(1, "baseline", score="0.95"),
        row(2, "team1", score="0.9"),
        row(3, "team2", score="0.7"),
        row(4, "team1", "run2", "0.5"),
    ]
    sections = render(rows, teams={"baseline": Team("Baseline", "", organizer=True)})
    top = (
        "Top three teams by best run, organizer entries apart:"
        " 1. team1 (run1, 0.9000), 2. team2 (run1, 0.7000)."
    )
    assert top in sections[TITLE].lines
    assert len(sections[TITLE].rows()) == 4


@pytest.mark.parametrize("ranks", [[1, 1, 3, 4, 5], [1, 1, 2, 3, 4]])
def test_tied_teams_share_a_place_among_the_top_three(ranks):
    rows = [row(rank, f"team{number}") for number, rank in enumerate(ranks, 1)]
    [top] = [line for line in render(rows)[TITLE].lines if line.startswith("Top three teams")]
    for part in ("1. team1 ", "1. team2 ", "3. team3 "):
        assert part in top
    assert "team4" not in top


@pytest.mark.parametrize(("ties", "numbers"), [("competition", "1, 1, 3"), ("dense", "1, 1, 2")])
def test_the_page_says_how_ties_are_numbered(ties, numbers):
    text = render([row(1)], ties=ties)["Scores and ranks"].text
    assert f"{numbers} ({ties} ranking)" in text


def test_the_page_says_what_the_label_mode_does():
    ternary = render([row(1)])["Scores and ranks"].text
    assert "TERNARY" in ternary
    assert "recall TRUE + recall PROBABLE + recall FALSE) / 3" in ternary
    binary = render([row(1)], mode="BINARY")["Scores and ranks"].text
    assert "BINARY" in binary
    assert "PROBABLE counts as TRUE for at" in binary
    assert "at_macro_recall = (recall TRUE + recall FALSE) / 2" in binary


def test_the_contents_name_every_section_once():
    sections = render([row(1)])
    _, contents, *others = sections
    assert contents == "Contents"
    assert sections["Contents"].lines == others
    assert len(sections["Contents"].links) == len(others)


def test_a_refused_file_is_named_with_its_first_error():
    entry = refused("team1_x|y.jsonl", '"<b>"', "3", "4")
    section = render([row(1)], others=[entry])["Files that were left out"]
    assert section.rows() == [
        {
            "Refused file": "team1_x|y.jsonl",
            "First error": 'error: line 1: $.at: found "<b>"; expected x; mend it (and 2 more)',
        }
    ]


def test_imputed_answers_are_counted_by_run():
    imputed = {"documents": 1, "pairs": 4, "null_labels": {"at": 2, "isAt": 0}}
    entry = run_entry("team2", "run1", imputed=imputed)
    section = render([row(1)], others=[entry])["Answers that were imputed"]
    assert section.rows() == [
        {
            "Run file": f"team2_{DE}_run1.jsonl",
            "Missing documents": "1",
            "Missing pairs": "4",
            "Null labels": "at 2",
        }
    ]


def test_notes_on_runs_show_literally():
    note = f"a_b_{DE}_run1.jsonl and *_{DE}_run1.jsonl are identical files."
    assert f"Note: {note}" in render([row(1)], notes=[note])[TITLE].lines
