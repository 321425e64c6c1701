"""Ranges of ranks, clusters and groups by hand, and ranks held against pandas."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paired_tests import all_pairs
from rank_uncertainty import (
    better_than,
    clusters,
    groups,
    probability_first,
    rank_intervals,
    rank_ranges,
    ranks,
    tiers,
)

TABLES = st.integers(1, 7).flatmap(
    lambda runs: st.lists(
        st.lists(st.sampled_from([0.1, 0.2, 0.5, 0.7]), min_size=runs, max_size=runs),
        min_size=1,
        max_size=5,
    )
)


def better(runs, *pairs):
    """Return who is better: pairs of places, the better one first."""
    table = np.zeros((runs, runs), dtype=bool)
    for one, other in pairs:
        table[one, other] = True
    return table


@st.composite
def differences(draw):
    """Draw who is better among runs in the order of a ranking."""
    runs = draw(st.integers(1, 8))
    pairs = list(itertools.combinations(range(runs), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return better(runs, *chosen)


@given(TABLES, st.sampled_from(["competition", "dense"]), st.booleans())
def test_ranks_are_those_of_pandas(table, ties, descending):
    method = {"competition": "min", "dense": "dense"}[ties]
    expected = pd.DataFrame(table).rank(axis=1, method=method, ascending=not descending)
    found = ranks(np.array(table), ties, descending=descending)
    assert found.tolist() == expected.astype(int).to_numpy().tolist()


def test_a_tie_is_not_split_where_rounding_would_split_it():
    # 1 / 8192 lies in the middle between two numbers with twelve decimals.
    near = np.nextafter(1 / 8192, 1)
    assert ranks(np.array([[1 / 8192, near], [near, 1 / 8192]]), "dense").tolist() == [[1, 1]] * 2


def test_scores_that_differ_by_rounding_share_a_rank():
    assert ranks(np.array([[0.1 + 0.2, 0.3, 0.2]]), "competition").tolist() == [[1, 1, 3]]


def test_a_run_is_better_if_its_score_is_higher_and_the_difference_significant():
    scores = np.array([0.9, 0.5, 0.7])
    # In the order of the pairs: 0-1, 0-2, 1-2.
    found = better_than(scores, np.array([True, False, True]))
    assert found.tolist() == better(3, (0, 1), (2, 1)).tolist()


@pytest.mark.parametrize("scores", [[0.3, 0.1 + 0.2], [0.1 + 0.2, 0.3], [0.5, 0.5]])
def test_equal_scores_are_never_better(scores):
    assert not better_than(np.array(scores), np.array([True])).any()


def test_a_rank_range_leaves_out_whom_the_run_certainly_beats_or_loses_to():
    # The first beats the last two, the second beats the last.
    low, high = rank_ranges(better(4, (0, 2), (0, 3), (1, 3)))
    assert low.tolist() == [1, 1, 2, 3]
    assert high.tolist() == [2, 3, 4, 4]


def test_without_differences_every_rank_is_possible():
    low, high = rank_ranges(better(3))
    assert (low.tolist(), high.tolist()) == ([1, 1, 1], [3, 3, 3])


def test_a_cluster_begins_where_all_above_beat_all_below():
    above = [(one, other) for one in (0, 1) for other in (2, 3)]
    assert clusters(better(4, *above)) == [1, 1, 2, 2]
    assert clusters(better(4, *above, (2, 3))) == [1, 1, 2, 3]


def test_one_pair_that_does_not_differ_keeps_a_cluster_together():
    assert clusters(better(4, (0, 2), (0, 3), (1, 2))) == [1, 1, 1, 1]


def test_groups_overlap_where_a_run_is_like_both_of_its_neighbours():
    assert groups(better(3, (0, 2))) == [(1, 1), (1, 2), (2, 2)]
    assert clusters(better(3, (0, 2))) == [1, 1, 1]


def test_a_difference_inside_parts_neighbours_that_do_not_differ_themselves():
    # The second and the third differ; the first is like the third.
    assert groups(better(3, (1, 2))) == [(1, 1), (1, 1), (2, 2)]


def test_one_run_is_one_group_and_none_is_none():
    assert (groups(better(1)), clusters(better(1))) == ([(1, 1)], [1])
    assert (groups(better(0)), clusters(better(0))) == ([], [])


def test_tiers_are_groups_that_do_not_overlap():
    # The first differs from the third, and the third from no one below it.
    assert tiers(better(5, (0, 2))) == [1, 1, 2, 2, 2]
    assert tiers(better(5, (0, 2), (3, 4))) == [1, 1, 2, 2, 3]
    assert tiers(better(3)) == [1, 1, 1]
    assert (tiers(better(1)), tiers(better(0))) == ([1], [])


@given(differences())
def test_a_tier_ends_before_the_first_run_that_differs_from_one_of_it(table):
    differ = table | table.T
    found = tiers(table)
    expected, members = [], []
    for run in range(len(table)):
        if any(differ[run, member] for member in members):
            members = []
        expected.append(expected[-1] + (not members) if expected else 1)
        members.append(run)
    assert found == expected
    # Where a cluster begins, a tier does.
    begins = np.diff(clusters(table)) > 0
    assert (np.diff(found)[begins] == 1).all()


def members(found):
    """Return the runs of each group."""
    last = max(end for _, end in found)
    return [
        [run for run, (first, end) in enumerate(found) if first <= group <= end]
        for group in range(1, last + 1)
    ]


@given(differences())
def test_a_group_is_a_longest_row_of_runs_that_do_not_differ(table):
    differ = table | table.T
    found = members(groups(table))
    for runs in found:
        assert runs == list(range(runs[0], runs[-1] + 1))
        assert not any(differ[one, other] for one, other in itertools.combinations(runs, 2))
        if runs[0] > 0:
            assert any(differ[runs[0] - 1, run] for run in runs)
        if runs[-1] + 1 < len(table):
            assert any(differ[runs[-1] + 1, run] for run in runs)
    for run in range(len(table) - 1):
        together = any(run in runs and run + 1 in runs for runs in found)
        assert together == (not differ[run, run + 1])


@given(differences())
def test_a_cluster_ends_exactly_where_all_above_beat_all_below(table):
    found = clusters(table)
    low, high = rank_ranges(table)
    for place in range(1, len(table)):
        pairs = itertools.product(range(place), range(place, len(table)))
        ends = found[place] > found[place - 1]
        assert ends == all(table[above, below] for above, below in pairs)
        # So rank ranges never reach over a rule.
        assert not ends or max(high[:place]) < min(low[place:])


def test_runs_that_share_the_first_place_share_the_resample():
    found = probability_first(np.array([[1, 2, 3], [1, 1, 3], [2, 2, 1], [1, 1, 1]]))
    expected = [(1 + 1 / 2 + 1 / 3) / 4, (1 / 2 + 1 / 3) / 4, (1 + 1 / 3) / 4]
    assert found == pytest.approx(expected)
    assert found.sum() == pytest.approx(1)


def test_a_rank_interval_leaves_out_at_most_half_of_the_rest_on_each_side():
    column = np.repeat([1, 2, 3, 4], [2, 3, 90, 5])[:, None]
    # Of 100 resamples two may be left out on either side.
    assert [bound.tolist() for bound in rank_intervals(column, 0.95)] == [[2], [4]]
    assert [bound.tolist() for bound in rank_intervals(column, 0.90)] == [[3], [3]]


def test_a_rank_interval_holds_the_level():
    chance = np.random.default_rng(0)
    table = ranks(chance.normal(size=(400, 6)) + np.arange(6) / 2, "competition")
    low, high = rank_intervals(table, 0.95)
    inside = ((table >= low) & (table <= high)).mean(axis=0)
    assert (inside >= 0.95).all()


def test_pairs_of_the_tests_are_those_of_the_table():
    runs = 4
    significant = np.zeros(6, dtype=bool)
    significant[list(zip(*all_pairs(runs), strict=True)).index((1, 3))] = True
    assert better_than(np.array([4, 3, 2, 1.0]), significant).tolist() == better(4, (1, 3)).tolist()


@pytest.mark.parametrize("ties", ["competition", "dense"])
def test_every_resample_is_ranked_by_itself(ties):
    table = np.random.default_rng(1).integers(0, 5, (60, 6)) / 7
    together = ranks(table, ties)
    assert [ranks(row[None], ties)[0].tolist() for row in table] == together.tolist()


def test_scores_that_differ_by_a_pair_of_a_large_file_have_different_ranks():
    # One pair of a million, in the mean of two macro recalls of three labels.
    assert ranks(np.array([[0.5, 0.5 + 1e-6 / 6]]), "competition").tolist() == [[2, 1]]
    # Even ten times the rounding that is let pass is a difference.
    assert ranks(np.array([[0.5, 0.5 + 1e-11]]), "competition").tolist() == [[2, 1]]


def test_a_difference_of_rounding_is_never_better_on_either_side():
    scores = np.array([0.5, np.nextafter(0.5, 1), 0.5])
    assert not better_than(scores, np.ones(3, dtype=bool)).any()
    assert not better_than(scores[::-1], np.ones(3, dtype=bool)).any()


@st.composite
def campaigns(draw):
    """Draw scores, the best first, and which two runs differ significantly."""
    numbers = draw(st.lists(st.integers(0, 6), min_size=1, max_size=8))
    scores = np.array(sorted(numbers, reverse=True)) / 7
    pairs = len(scores) * (len(scores) - 1) // 2
    significant = draw(st.lists(st.booleans(), min_size=pairs, max_size=pairs))
    return scores, np.array(significant, dtype=bool)


@given(campaigns())
def test_who_is_better_follows_from_every_pair(campaign):
    scores, significant = campaign
    found = better_than(scores, significant)
    pairs = list(itertools.combinations(range(len(scores)), 2))
    expected = {
        pair
        for pair, is_significant in zip(pairs, significant, strict=True)
        if is_significant and scores[pair[0]] > scores[pair[1]]
    }
    assert set(zip(*found.nonzero(), strict=True)) == expected
    low, high = rank_ranges(found)
    for run in range(len(scores)):
        assert low[run] == 1 + sum(other == run for _, other in expected)
        assert high[run] == len(scores) - sum(one == run for one, _ in expected)
    # The published rank, and every rank that a tie leaves open, can be claimed.
    by_score = ranks(scores[None], "competition")[0]
    assert (low <= by_score).all()
    assert (by_score <= high).all()


def test_groups_of_five_runs_by_hand():
    # 1 differs from 3 to 5, 2 from 4 and 5, 3 from 5: rows 1-2, 2-3, 3-4, 4-5.
    table = better(5, (0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 4))
    assert groups(table) == [(1, 1), (1, 2), (2, 3), (3, 4), (4, 4)]
    assert clusters(table) == [1, 1, 1, 1, 1]


def test_a_group_ends_at_a_run_that_differs_from_any_of_it():
    # Only 2 and 4 differ: 1-3 and 3-4, because 2 and 4 cannot be together.
    assert groups(better(4, (1, 3))) == [(1, 1), (1, 1), (1, 2), (2, 2)]


def test_a_lower_run_that_is_significantly_better_parts_a_group_but_makes_no_cluster():
    # Scores of a ranking that is not by the tested score.
    assert groups(better(2, (1, 0))) == [(1, 1), (2, 2)]
    assert clusters(better(2, (1, 0))) == [1, 1]


@given(TABLES)
def test_the_probabilities_to_be_first_sum_up_to_one(table):
    found = probability_first(ranks(np.array(table), "competition"))
    assert found.sum() == pytest.approx(1, abs=len(found) * 0.51e-12)
    expected = [
        sum(1 / row.count(max(row)) for row in table if row[run] == max(row)) / len(table)
        for run in range(len(table[0]))
    ]
    assert found == pytest.approx(expected, abs=0.51e-12)


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=120),
    st.sampled_from([50, 80, 90, 95, 99]),
)
def test_a_rank_interval_is_the_narrowest_with_at_most_half_of_the_rest_on_a_side(column, level):
    low, high = rank_intervals(np.array(column)[:, None], level / 100)
    # In whole numbers: a side may hold (100 - level) / 200 of the resamples.
    allowed = (100 - level) * len(column) // 200
    lowest = max(rank for rank in column if sum(other < rank for other in column) <= allowed)
    highest = min(rank for rank in column if sum(other > rank for other in column) <= allowed)
    assert (low[0], high[0]) == (lowest, highest)
