"""What adjudication changed, run by run and label by label."""

from compare_rankings import changed_labels, moves


def row(team, rank, score):
    return {"team": team, "run": "run1", "rank": str(rank), "score": str(score)}


def test_each_run_has_its_old_and_new_rank_and_score_in_the_new_order():
    old = [row("team1", 1, 0.9), row("team2", 2, 0.8), row("team3", 3, 0.7)]
    new = [row("team2", 1, 0.85), row("team1", 2, 0.8), row("team3", 3, 0.75)]
    assert moves(old, new, "score") == [
        ["team2", "run1", "2", "1", "up 1", "0.8000", "0.8500"],
        ["team1", "run1", "1", "2", "down 1", "0.9000", "0.8000"],
        ["team3", "run1", "3", "3", "", "0.7000", "0.7500"],
    ]


def test_a_run_that_is_in_one_version_only_says_so():
    assert moves([row("team1", 1, 0.9)], [row("team2", 1, 0.5)], "score") == [
        ["team2", "run1", "", "1", "new", "", "0.5000"],
        ["team1", "run1", "1", "", "gone", "0.9000", ""],
    ]


def test_changed_labels_are_counted_by_file_target_and_label():
    def change(new):
        return {"file": "a.jsonl", "target": "at", "old": "TRUE", "new": new}

    assert changed_labels([change("FALSE"), change("EXCLUDE"), change("FALSE")]) == [
        ["a.jsonl", "at", "TRUE", "EXCLUDE", "1"],
        ["a.jsonl", "at", "TRUE", "FALSE", "2"],
    ]
