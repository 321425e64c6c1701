"""Ranking files: their columns, who is left out, and when they are made again."""

import copy
import json
import shutil

import pytest

from kit import DE, EN, FR, INFO, SURPRISE, Campaign, find_pair, gold, perfect

FILES = ["impresso-test-de", "impresso-test-en", "impresso-test-fr", "surprise-test-fr"]
EFFICIENCY = [
    "rank_impresso_profile_score",
    "rank_hipe_parameter_count",
    "rank_hipe_model_size",
]
SIZES = ["hipe_parameter_count", "hipe_model_size"]
PROFILE = "impresso_profile_score"
MEAN = f"mean_{PROFILE}"
OF_TARGETS = ["at_macro_recall", "at_accuracy", "isAt_macro_recall", "isAt_accuracy"]
COLUMNS = {
    "impresso-test-de": ["submission", PROFILE, *OF_TARGETS],
    "surprise-test-fr": ["submission", "surprise_profile_score", *OF_TARGETS[:2]],
    "overall-test-a": [MEAN, *(f"{PROFILE}_{language}" for language in ("de", "en", "fr"))],
    "generalization-test-b": ["surprise_profile_score"],
    "efficiency-test-a": ["mean_efficiency_profile_rank", *EFFICIENCY, MEAN, *SIZES],
    "efficiency-balanced-test-a": ["balanced_efficiency_profile_rank", *EFFICIENCY, MEAN, *SIZES],
    "efficiency-impresso-test-fr": [
        "mean_efficiency_profile_rank",
        *EFFICIENCY,
        PROFILE,
        *SIZES,
    ],
}


def wrong(documents, *pairs):
    """Return documents in which some pairs of persons and places get a wrong ``at``."""
    documents = copy.deepcopy(documents)
    for person, place in pairs:
        one = find_pair(documents, person, place)
        one["at"] = "FALSE" if one["at"] != "FALSE" else "TRUE"
    return documents


def add_everywhere(campaign, team, number=1, info=INFO, mistakes=()):
    for stem in (DE, EN, FR):
        documents = wrong(perfect(stem), *mistakes)
        campaign.run(documents, team=team, stem=stem, number=number, info=info)


def index(campaign, file):
    """Return what rankings.json says of one ranking."""
    entries = campaign.json("system-rankings/rankings.json")["rankings"]
    return next(entry for entry in entries if entry["file"] == f"ranking-{file}.tsv")


def ranks(campaign, name):
    return [(row["rank"], row["team"], row["run"]) for row in campaign.ranking(name)]


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_named_like_the_quantities_that_they_hold(base, name):
    base.evaluate()
    [row] = base.ranking(name)
    assert list(row) == ["rank", "team", "run", *COLUMNS[name], "at_label_mode"]
    assert row["at_label_mode"] == "TERNARY"


def test_each_ranking_of_the_campaign_has_a_file_and_an_entry(base):
    base.evaluate()
    means = ["overall-test-a", "generalization-test-b"]
    names = {
        *FILES,
        *means,
        "efficiency-test-a",
        "efficiency-balanced-test-a",
        *(f"efficiency-{file}" for file in FILES[:3]),
    }
    folder = base.results / "system-rankings"
    assert {path.name for path in folder.glob("*.tsv")} == {f"ranking-{name}.tsv" for name in names}
    about = base.json("system-rankings/rankings.json")
    assert {entry["file"] for entry in about["rankings"]} == {f"ranking-{n}.tsv" for n in names}
    assert (about["at_label_mode"], about["ties"]) == ("TERNARY", "competition")


def test_scores_carry_full_precision(base):
    base.run(perfect()[:1])
    base.evaluate()
    [row] = base.ranking("impresso-test-de")
    # Without the second document: 7/9 and 5/6, whose mean is 29/36.
    expected = {PROFILE: 29 / 36, "at_macro_recall": 7 / 9, "isAt_macro_recall": 5 / 6}
    assert {name: row[name] for name in expected} == {n: repr(v) for n, v in expected.items()}
    [row] = base.ranking("overall-test-a")
    assert row[MEAN] == repr(101 / 108)


def test_an_invalid_run_takes_no_rank(base):
    base.run(team="team2")
    base.run(b"{}\n", team="team3")
    base.skip_invalid = True
    base.evaluate()
    assert ranks(base, "impresso-test-de") == [("1", "team1", "run1"), ("1", "team2", "run1")]
    assert index(base, "impresso-test-de")["runs"] == 2


def test_other_ties_redo_rankings_alone(base):
    base.run(team="team2")
    base.run(wrong(gold(), ("p1", "l1")), team="team3")
    base.evaluate()
    assert [rank for rank, *_ in ranks(base, "impresso-test-de")] == ["1", "1", "3"]
    base.ties = "dense"
    outs = [done.out for done in base.evaluate()]
    assert [rank for rank, *_ in ranks(base, "impresso-test-de")] == ["1", "1", "2"]
    assert "scores: 6 runs, 0 scored, 0 removed\n" in outs
    assert "rankings: 11 tables written\n" in outs
    assert "diagnostics: 6 runs, 0 written, 0 removed\n" in outs


def test_a_copy_of_a_run_is_kept_and_noted(base):
    base.run(number=2)
    base.evaluate()
    assert ranks(base, "impresso-test-de") == [("1", "team1", "run1"), ("1", "team1", "run2")]
    files = [f"team1_{DE}_run{number}.jsonl" for number in (1, 2)]
    assert index(base, "impresso-test-de")["notes"] == [
        " and ".join(files) + " are identical files."
    ]


def test_partial_participation_is_ranked_per_file_and_named_where_it_is_not(base):
    for stem in (DE, EN):
        base.run(team="team2", stem=stem)
        base.run(team="team3", stem=stem)
    base.run(team="team3", stem=FR, number=2)
    base.evaluate()
    assert ranks(base, "overall-test-a") == [("1", "team1", "run1")]
    assert index(base, "overall-test-a")["left_out"] == [
        {"team": "team2", "run": "run1", "reason": "no run for fr"},
        {"team": "team3", "run": "run1", "reason": "no run for fr"},
        {"team": "team3", "run": "run2", "reason": "no run for de, en"},
    ]
    teams = ("team1", "team2", "team3")
    everyone = [("1", team, "run1") for team in teams]
    assert ranks(base, "impresso-test-de") == ranks(base, "impresso-test-en") == everyone
    assert ranks(base, "impresso-test-fr") == [("1", "team1", "run1"), ("1", "team3", "run2")]


def test_efficiency_leaves_empty_what_is_unknown_and_leaves_out_who_wants_it(campaign):
    for stem in (DE, EN, FR):
        campaign.reference(stem)
    for number, count in enumerate([10, None, 5, None], 1):
        add_everywhere(campaign, f"team{number}", info=INFO | {"hipe_parameter_count": count})
    smallest = {"hipe_parameter_count": 1, "hipe_model_size": 1, "team_efficiency_opt_out": True}
    add_everywhere(campaign, "team5", info=INFO | smallest)
    campaign.evaluate()
    for name in ("efficiency-test-a", "efficiency-balanced-test-a", "efficiency-impresso-test-de"):
        rows = {row["team"]: row for row in campaign.ranking(name)}
        shown = {
            team: (row["rank_hipe_parameter_count"], row["hipe_parameter_count"])
            for team, row in rows.items()
        }
        expected = {
            "team1": ("2", "10"),
            "team2": ("3", ""),
            "team3": ("1", "5"),
            "team4": ("3", ""),
        }
        assert shown == expected
        reason = {"team": "team5", "run": "run1", "reason": "opted out"}
        assert index(campaign, name)["left_out"] == [reason]
    assert len(campaign.ranking("overall-test-a")) == 5


def test_the_largest_of_three_sizes_counts_in_both_efficiency_rankings(base):
    for stem, count in ((DE, 5), (EN, 5), (FR, 50)):
        base.run(stem=stem, info=INFO | {"hipe_parameter_count": count})
    base.evaluate()
    for name in ("efficiency-test-a", "efficiency-balanced-test-a"):
        assert base.ranking(name)[0]["hipe_parameter_count"] == "50"
        assert len(index(base, name)["notes"]) == 1
    assert base.ranking("efficiency-impresso-test-de")[0]["hipe_parameter_count"] == "5"


def test_each_run_has_one_row_in_one_ranking_though_names_overlap(campaign, tmp_path):
    campaign.teams = tmp_path / "teams.json"
    campaign.teams.write_text(json.dumps({"nel": {}, "nel-only": {}}))
    other = DE.replace("test", "test2")
    campaign.reference()
    campaign.reference(other, gold())
    for team in ("nel", "nel-only"):
        campaign.run(team=team)
    campaign.run(wrong(gold(), ("p1", "l1")), team="nel", stem=other)
    campaign.evaluate()
    assert ranks(campaign, "impresso-test-de") == [("1", "nel", "run1"), ("1", "nel-only", "run1")]
    assert ranks(campaign, "impresso-test2-de") == [("1", "nel", "run1")]
    assert campaign.ranking("impresso-test2-de")[0]["at_macro_recall"] == repr(8 / 9)
    # The overall ranking is of the test files, not of test2.
    assert len(campaign.ranking("overall-test-a")) == 2


def test_a_new_reference_makes_the_overall_ranking_ask_for_it(campaign):
    for stem in (DE, EN):
        campaign.reference(stem)
        campaign.run(stem=stem)
    campaign.evaluate()
    assert ranks(campaign, "overall-test-a") == [("1", "team1", "run1")]
    campaign.reference(FR)
    campaign.evaluate()
    assert campaign.ranking("overall-test-a") == []
    [left_out] = index(campaign, "overall-test-a")["left_out"]
    assert left_out == {"team": "team1", "run": "run1", "reason": "no run for fr"}
    references = campaign.json("system-rankings/rankings.json")["references_without_runs"]
    assert references == [f"{FR}.jsonl"]


def test_the_ranking_of_a_reference_disappears_with_its_last_run(base):
    base.evaluate()
    for path in base.systems.glob(f"*{SURPRISE}*"):
        path.unlink()
    base.evaluate()
    names = {path.name for path in (base.results / "system-rankings").iterdir()}
    assert not names & {"ranking-surprise-test-fr.tsv", "ranking-generalization-test-b.tsv"}
    assert "ranking-overall-test-a.tsv" in names


def test_rankings_are_kept_while_nothing_changes(base):
    base.evaluate()
    assert base.script("build_rankings").out == "rankings: 11 tables unchanged\n"
    (base.results / "system-rankings" / "ranking-overall-test-a.tsv").unlink()
    assert base.script("build_rankings").out == "rankings: 11 tables written\n"


def test_scores_of_another_mode_are_refused(base):
    base.evaluate()
    base.mode = "BINARY"
    done = base.script("build_rankings")
    assert done.status == 1
    assert done.err.splitlines() == [
        f"error: {base.results}/per-run: found scores in the mode TERNARY; expected the mode"
        " BINARY; run make score with the same variables"
    ]


def test_rankings_ask_for_scores(base):
    base.validate()
    done = base.script("build_rankings")
    assert done.status == 1
    assert done.err.splitlines() == [
        f"error: {base.results}/per-run: found no scores; expected what an earlier stage writes;"
        " run make score"
    ]


def test_a_run_does_not_vanish_because_its_scores_were_altered(base):
    base.evaluate()
    path = base.results / "per-run" / f"team1_{DE}_run1.json"
    path.write_bytes(path.read_bytes() + b"\n")
    done = base.script("build_rankings")
    assert done.status == 1
    assert len(done.errors) == 1
    assert path.name in done.errors[0]


@pytest.mark.parametrize("team", ["a\tb", "²"])
def test_an_odd_name_of_an_organizer_entry_ends_in_no_traceback(campaign, team):
    campaign.teams = campaign.folder / "teams.json"
    campaign.teams.write_text(json.dumps({team: {}}))
    campaign.reference()
    campaign.run(team=team)
    done = campaign.make("eval-full")
    assert "Traceback" not in done.err
    assert (done.status == 0) == (done.errors == [])


def test_bytes_do_not_depend_on_locale_hash_seed_or_order_of_files(tmp_path, capsys):
    trees = []
    for environment, reverse in (
        ({"LC_ALL": "C", "PYTHONHASHSEED": "0"}, False),
        ({"LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "1"}, True),
    ):
        folder = tmp_path / "campaign"
        folder.mkdir()
        campaign = Campaign(folder, capsys.readouterr)
        runs = [
            (team, stem)
            for team in ("team1", "team2", "team10", "baseline")
            for stem in (DE, EN, FR, SURPRISE)
        ]
        for team, stem in reversed(runs) if reverse else runs:
            campaign.reference(stem)
            campaign.run(team=team, stem=stem)
        done = campaign.make("eval-full", **environment)
        assert done.status == 0, done.err
        trees.append(campaign.tree())
        order = ["baseline", "team1", "team2", "team10"]
        assert [row["team"] for row in campaign.ranking("overall-test-a")] == order
        shutil.rmtree(folder)
    assert trees[0] == trees[1]
