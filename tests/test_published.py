"""The pipeline gives the figures that the organizers of HIPE-2026 published, for every run."""

import pytest

import published_campaign
from kit import SHARED
from published_campaign import GOLD, published

TARGET_SCORES = ["at_macro_recall", "at_accuracy", "isAt_macro_recall", "isAt_accuracy"]


def invented(campaign):
    published_campaign.build(campaign.folder)


def rebuilt(campaign):
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is not there: it holds the licensed gold files")
    campaign.references, campaign.systems = SHARED / "reference", SHARED / "systems"


def by_run(rows):
    return {(row["team"], row["run"]): row for row in rows}


def as_numbers(row, columns):
    """Return the cells that are not empty as numbers."""
    return {column: float(row[column]) for column in columns if row.get(column)}


def assert_same(given, wanted, columns):
    """Compare two tables run by run: scores to twelve decimals, ranks and sizes exactly."""
    assert given.keys() == wanted.keys()
    for run, row in wanted.items():
        expected = pytest.approx(as_numbers(row, columns), abs=1e-12, rel=0)
        assert as_numbers(given[run], columns) == expected, run


@pytest.mark.parametrize("source", [invented, rebuilt])
def test_all_published_scores_and_ranks_come_out(campaign, source):
    source(campaign)
    done = campaign.make("eval-full", "TIES=dense")
    assert done.status == 0, done.err
    checked = 0
    for stem in GOLD:
        wanted = [row for row in published("runs") if row["reference"] == stem]
        given = campaign.ranking(stem.removeprefix("HIPE-2026-v1.0-"))
        profile = f"{stem.split('-')[3]}_profile_score"
        for row in given:
            row["profile_score"] = row[profile]
        assert_same(by_run(given), by_run(wanted), ["rank", "profile_score", *TARGET_SCORES])
        checked += len(given)
    assert checked == 185
    for name in ("overall", "efficiency", "efficiency-balanced"):
        wanted = published(name)
        columns = [column for column in wanted[0] if column not in ("team", "run")]
        assert_same(by_run(campaign.ranking(f"{name}-test-a")), by_run(wanted), columns)


def test_the_per_run_files_hold_the_same_scores_as_the_published_table(campaign):
    published_campaign.build(campaign.folder)
    for stage in (("validate_jsonl", "references"), ("validate_jsonl", "submissions")):
        assert campaign.script(*stage).status == 0
    assert campaign.script("validate_info").status == 0
    assert campaign.script("score_one").status == 0
    for row in published("runs"):
        result = campaign.score(row["team"], row["reference"], int(row["run"][-1]))
        wanted = {column: float(row[column]) for column in TARGET_SCORES if row[column]}
        wanted[f"{result['dataset']}_profile_score"] = float(row["profile_score"])
        assert result["scores"] == pytest.approx(wanted, abs=1e-12, rel=0), result["submission"]


def test_two_scores_fix_how_many_pairs_of_each_label_are_right():
    # 1 of 2 TRUE, 1 of 1 PROBABLE and 2 of 5 FALSE.
    macro, accuracy = (1 / 2 + 1 + 2 / 5) / 3, 4 / 8
    assert published_campaign.true_positives(macro, accuracy, (2, 1, 5)) == (1, 1, 2)
    with pytest.raises(ValueError, match="unpack"):
        published_campaign.true_positives(0.123, accuracy, (2, 1, 5))
