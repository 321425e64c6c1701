"""Rankings of hand-made results: ties, order, who takes part, and how efficiency is ranked."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import campaign
from rankings import exact_ranks, rank_efficiency, rank_file, rank_mean

CONFIG = campaign.load_config(campaign.DEFAULT_CONFIG)
EFFICIENCY = CONFIG.facts["rankings"]["efficiency"]
MEAN = "mean_impresso_profile_score"
PARAMETERS, SIZE = "hipe_parameter_count", "hipe_model_size"
LANGUAGES = ["de", "en", "fr"]


def matrix(recall, labels):
    """Return counts in which only TRUE occurs in the gold, with the given recall."""
    empty = dict.fromkeys(labels, 0)
    row = {"TRUE": recall.numerator, "FALSE": recall.denominator - recall.numerator}
    return {label: empty | (row if label == "TRUE" else {}) for label in labels}


def result(team="team1", run=1, score=1, language="de", **changes):
    """Return the per-run result of a run with a profile score; changes: of its info file."""
    score = Fraction(score)
    labels = {"at": ["TRUE", "PROBABLE", "FALSE"], "isAt": ["TRUE", "FALSE"]}
    confusions = {target: matrix(score, own) for target, own in labels.items()}
    submission = f"{team}_{language}_run{run}.jsonl"
    info = {PARAMETERS: 1000, SIZE: 10, "team_efficiency_opt_out": False, "info_missing": False}
    return {
        "submission": submission,
        "team": team,
        "run": f"run{run}",
        "dataset": "impresso",
        "language": language,
        "targets": list(labels),
        "counts": {target: {"confusion": confusion} for target, confusion in confusions.items()},
        "digests": {"run": submission},
        "efficiency_metadata": info | changes,
    }


def everywhere(team="team1", run=1, scores=(1, 1, 1), **changes):
    """Return the results of a run on the files of all three languages."""
    named = zip(LANGUAGES, scores, strict=True)
    return [result(team, run, score, language, **changes) for language, score in named]


def rank_overall(results, ties="competition"):
    return rank_mean(results, LANGUAGES, MEAN, CONFIG, ties)


def efficiency(results, profile="mean", ties="competition"):
    return rank_efficiency(rank_overall(results), results, EFFICIENCY[profile], CONFIG, ties)


def column(ranking, *names):
    """Return a column of a ranking, or the tuples of several."""
    columns = [[row[name] for row in ranking.rows] for name in names]
    return columns[0] if len(names) == 1 else list(zip(*columns, strict=True))


@settings(deadline=None)
@given(
    st.lists(st.none() | st.fractions(0, 1, max_denominator=6), max_size=8),
    st.sampled_from(["competition", "dense"]),
    st.booleans(),
)
def test_a_rank_counts_the_better_values_and_none_is_the_worst(values, ties, descending):
    def is_better(one, other):
        if one is None or other is None:
            return one is not None and other is None
        return one > other if descending else one < other

    def rank(value):
        better = [other for other in values if is_better(other, value)]
        return 1 + len(better if ties == "competition" else set(better))

    ranks = exact_ranks(values, ties, descending=descending)
    assert ranks == [rank(value) for value in values]


def test_ranks_compare_numbers_and_not_their_text():
    assert exact_ranks([10, 9, 1e9, 100], "competition", descending=False) == [2, 1, 4, 3]


def test_large_integers_are_not_rounded_before_they_are_ranked():
    assert exact_ranks([10**17 + 1, 10**17], "competition", descending=False) == [2, 1]


def test_scores_are_ordered_as_numbers():
    scores = {"team1": "1/20000", "team2": "1/10", "team3": "9/10", "team4": "1"}
    ranking = rank_file([result(team, 1, s) for team, s in scores.items()], CONFIG, "competition")
    assert column(ranking, "team") == ["team4", "team3", "team2", "team1"]


@pytest.mark.parametrize(("ties", "ranks"), [("competition", [1, 1, 3]), ("dense", [1, 1, 2])])
def test_after_a_tie_ranks_go_on_as_asked(ties, ranks):
    results = [result("team1"), result("team2"), result("team3", score="5/6")]
    assert column(rank_file(results, CONFIG, ties), "rank") == ranks
    results = [*everywhere("team1"), *everywhere("team2"), *everywhere("team3", 1, ["5/6"] * 3)]
    assert column(rank_overall(results, ties), "rank") == ranks


def test_scores_that_differ_less_than_floats_can_tell_do_not_tie():
    less = Fraction(1, 3)
    more = less + Fraction(1, 10**18)
    assert float(less) == float(more)
    ranking = rank_file([result("team1", 1, less), result("team2", 1, more)], CONFIG, "dense")
    assert column(ranking, "rank", "team") == [(1, "team2"), (2, "team1")]


def test_means_that_are_equal_tie_though_their_floats_differ():
    up, down = (0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3
    assert up != down
    results = [
        *everywhere("team1", 1, ["1/10", "2/10", "3/10"]),
        *everywhere("team2", 1, ["3/10", "2/10", "1/10"]),
    ]
    assert column(rank_overall(results), "rank", MEAN) == [(1, Fraction(1, 5))] * 2


def test_tied_runs_stand_in_natural_order_whatever_order_they_come_in():
    names = [("team10", 1), ("team2", 3), ("baseline", 1), ("team2", 1), ("team1", 2)]
    results = [result(*name) for name in names]
    expected = ["baseline", "team1", "team2", "team2", "team10"]
    for order in (results, results[::-1]):
        ranking = rank_file(order, CONFIG, "competition")
        assert column(ranking, "team") == expected
        assert column(ranking, "run") == ["run1", "run2", "run1", "run3", "run1"]


def test_every_run_of_a_team_has_its_row():
    results = [result("team1", 1, "9/10"), result("team1", 2, "1/2"), result("team2", 1, "7/10")]
    ranking = rank_file(results, CONFIG, "competition")
    rows = [(1, "team1", "run1"), (2, "team2", "run1"), (3, "team1", "run2")]
    assert column(ranking, "rank", "team", "run") == rows


def test_identical_files_are_named_and_tied():
    results = [result("team1", 2), result("team1", 1), result("team2", 1, "1/2")]
    for one in results[:2]:
        one["digests"] = {"run": "same"}
    ranking = rank_file(results, CONFIG, "competition")
    said = "team1_de_run1.jsonl and team1_de_run2.jsonl are identical files."
    assert ranking.notes[-1] == said
    assert column(ranking, "rank") == [1, 1, 3]


def test_a_label_that_the_reference_never_uses_is_named():
    notes = rank_file([result("team1", 1)], CONFIG, "competition").notes
    assert "The reference has no at PROBABLE, which is left out of the mean." in notes


def test_a_mean_is_of_all_files_and_shows_each():
    ranking = rank_overall(everywhere(scores=["1/2", "1/4", "3/4"]))
    [row] = ranking.rows
    assert row == {
        "rank": 1,
        "team": "team1",
        "run": "run1",
        MEAN: Fraction(1, 2),
        "impresso_profile_score_de": Fraction(1, 2),
        "impresso_profile_score_en": Fraction(1, 4),
        "impresso_profile_score_fr": Fraction(3, 4),
    }


def test_runs_that_lack_a_file_are_named_and_never_completed_by_another_run():
    results = [
        *everywhere("team1"),
        *everywhere("team2")[:2],
        *everywhere("team3", 1)[:2],
        everywhere("team3", 2)[2],
    ]
    ranking = rank_overall(results)
    assert column(ranking, "team") == ["team1"]
    assert ranking.left_out == [
        ("team2", "run1", "no run for fr"),
        ("team3", "run1", "no run for fr"),
        ("team3", "run2", "no run for de, en"),
    ]


def test_a_ranking_may_be_empty():
    ranking = rank_overall([result()])
    assert ranking.rows == []
    assert ranking.columns == ["rank", "team", "run", MEAN]
    assert efficiency([result()]).rows == []


@pytest.mark.parametrize("ties", ["competition", "dense"])
def test_unknown_sizes_rank_last_and_stay_empty(ties):
    results = []
    for number, count in enumerate([10, None, 5, None], 1):
        results += everywhere(f"team{number}", **{PARAMETERS: count})
    ranking = efficiency(results, ties=ties)
    ranks = dict(column(ranking, "team", "rank_hipe_parameter_count"))
    assert [ranks[f"team{number}"] for number in range(1, 5)] == [2, 3, 1, 3]
    counts = dict(column(ranking, "team", PARAMETERS))
    assert counts == {"team1": 10, "team2": None, "team3": 5, "team4": None}


def test_a_run_without_info_files_ranks_like_one_of_unknown_sizes():
    unknown = {PARAMETERS: None, SIZE: None}
    missing = everywhere("team3", **unknown, info_missing=True)
    results = [*everywhere("team1"), *everywhere("team2", **unknown), *missing]
    ranking = efficiency(results)
    assert column(ranking, "rank", "team") == [(1, "team1"), (2, "team2"), (2, "team3")]
    assert len(ranking.notes) == 1
    assert ranking.notes[0].startswith("team3 run1: 3 run files without a valid info file")


@pytest.mark.parametrize("profile", ["mean", "balanced"])
def test_who_opted_out_is_left_out_before_ranks_are_given(profile):
    results = [
        *everywhere("team1", **{PARAMETERS: 1, SIZE: 1}, team_efficiency_opt_out=True),
        *everywhere("team2", 1, ["1/2"] * 3, **{PARAMETERS: 3, SIZE: 3}),
        *everywhere("team3", 1, ["1/3"] * 3, **{PARAMETERS: 4, SIZE: 4}),
    ]
    ranking = efficiency(results, profile)
    assert ranking.left_out == [("team1", "run1", "opted out")]
    assert column(ranking, "team", "rank_impresso_profile_score", f"rank_{SIZE}") == [
        ("team2", 1, 1),
        ("team3", 2, 2),
    ]


def test_opting_out_in_one_language_counts_for_all():
    results = everywhere()
    results[1]["efficiency_metadata"]["team_efficiency_opt_out"] = True
    ranking = efficiency([*results, *everywhere("team2")])
    assert column(ranking, "team") == ["team2"]
    reason = "opted out in en only, which counts for all its files"
    assert ranking.left_out == [("team1", "run1", reason)]


def test_a_run_outside_the_accuracy_ranking_has_no_part_in_efficiency():
    small = everywhere("team2", **{PARAMETERS: 1})[:2]
    ranking = efficiency([*everywhere("team1"), *small])
    assert column(ranking, "team", f"rank_{PARAMETERS}") == [("team1", 1)]


@pytest.mark.parametrize("profile", ["mean", "balanced"])
def test_where_info_files_disagree_the_largest_counts_with_a_warning(profile):
    results = everywhere(**{PARAMETERS: 5})
    results[2]["efficiency_metadata"][PARAMETERS] = 50
    ranking = efficiency([*results, *everywhere("team2", **{PARAMETERS: 49})], profile)
    ranks = column(ranking, "team", PARAMETERS, f"rank_{PARAMETERS}")
    assert sorted(ranks) == [("team1", 50, 2), ("team2", 49, 1)]
    warning = f"its info files disagree on {PARAMETERS} (de 5, en 5, fr 50); the largest counts."
    assert ranking.notes == [f"team1 run1: {warning}"]


@pytest.mark.parametrize(
    ("profile", "score", "expected"),
    [
        # ranks 1, 1, 2 against 1, 2, 1: (1 + 1 + 2) / 3, and 0.5 * 1 + 0.25 * 1 + 0.25 * 2
        ("mean", "mean_efficiency_profile_rank", Fraction(4, 3)),
        ("balanced", "balanced_efficiency_profile_rank", Fraction(5, 4)),
    ],
)
def test_fewer_parameters_and_a_smaller_size_outweigh_each_other(profile, score, expected):
    few = everywhere("team1", **{PARAMETERS: 5, SIZE: 9})
    many = everywhere("team2", **{PARAMETERS: 50, SIZE: 2})
    ranking = efficiency([*many, *few], profile)
    ranks = [f"rank_{quantity}" for quantity in ("impresso_profile_score", PARAMETERS, SIZE)]
    assert column(ranking, "rank", "team", score, *ranks) == [
        (1, "team1", expected, 1, 1, 2),
        (1, "team2", expected, 1, 2, 1),
    ]


def test_accuracy_weighs_half_in_the_balanced_profile():
    best = everywhere("team1", **{PARAMETERS: 2, SIZE: 2})
    small = everywhere("team2", 1, ["1/2"] * 3, **{PARAMETERS: 1, SIZE: 1})
    # mean: (1 + 2 + 2) / 3 against (2 + 1 + 1) / 3; balanced: 3/2 for both
    mean = efficiency([*best, *small])
    assert column(mean, "rank", "team") == [(1, "team2"), (2, "team1")]
    balanced = efficiency([*best, *small], "balanced")
    assert column(balanced, "rank", "balanced_efficiency_profile_rank") == [(1, Fraction(3, 2))] * 2
