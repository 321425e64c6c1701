"""What is known of the rankings is used only as long as it is of these rankings."""

import json

import pytest

from files import digest_of_file
from significance_index import counts_file, read_significance, tables_of


@pytest.fixture
def inferred(base):
    """The base campaign with all inferred from few resamples."""
    facts = json.loads(base.config.read_text("utf-8"))
    facts["significance"] |= {"resamples": 50, "draws": 50}
    base.config = base.folder / "config.json"
    base.config.write_text(json.dumps(facts), "utf-8")
    base.evaluate()
    assert base.script("build_significance").status == 0
    return base


def folder(campaign):
    return campaign.results / "significance"


def found(campaign, **changes):
    settings = json.loads(campaign.config.read_text("utf-8"))["significance"] | changes
    rankings = digest_of_file(campaign.results / "system-rankings" / "rankings.json")
    return read_significance(folder(campaign), rankings, settings)


def test_tables_are_called_after_their_ranking():
    tables = tables_of("ranking-overall-test-a.tsv")
    assert tables.intervals == "intervals-overall-test-a.tsv"
    assert tables.ranks == "ranks-overall-test-a.tsv"
    assert tables.pairwise == "pairwise-overall-test-a.tsv"
    assert tables_of("best.tsv").ranks == "ranks-best.tsv"


def test_counts_are_called_after_their_reference():
    assert counts_file("HIPE-2026-v1.0-impresso-test-de.jsonl") == (
        "counts-HIPE-2026-v1.0-impresso-test-de.tsv"
    )


def test_every_ranking_has_its_rows(inferred):
    significance = found(inferred)
    rankings = inferred.json("system-rankings/rankings.json")["rankings"]
    files = {about["file"] for about in rankings}
    assert significance.ranks.keys() == significance.intervals.keys() == files
    [rank] = significance.ranks["ranking-overall-test-a.tsv"]
    assert (rank["team"], rank["best_rank"]) == ("team1", "1")
    scores = {row["score"] for row in significance.intervals["ranking-overall-test-a.tsv"]}
    assert "mean_impresso_profile_score" in scores


@pytest.mark.parametrize(
    "changes", [{"seed": 1}, {"level": 0.9}, {"resamples": 51}, {"draws": 51}, {"more": 1}]
)
def test_other_settings_make_it_unknown(inferred, changes):
    assert found(inferred, **changes) is None


def test_other_rankings_make_it_unknown(inferred):
    path = inferred.results / "system-rankings" / "rankings.json"
    path.write_bytes(path.read_bytes() + b"\n")
    assert found(inferred) is None


@pytest.mark.parametrize(
    "name",
    [
        "significance.json",
        "intervals-overall-test-a.tsv",
        "ranks-impresso-test-de.tsv",
        "pairwise-overall-test-a.tsv",
    ],
)
def test_a_table_that_is_gone_or_edited_makes_it_unknown(inferred, name):
    path = folder(inferred) / name
    content = path.read_bytes()
    path.write_bytes(content + b"\n")
    assert found(inferred) is None
    path.unlink()
    assert found(inferred) is None
    path.write_bytes(content)
    assert found(inferred) is not None


def test_where_nothing_was_inferred_nothing_is_known(base):
    base.evaluate()
    assert found(base) is None
