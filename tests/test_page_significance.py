"""How sure ranks are, as the page shows it: from hand-made tables, and on whole pages."""

import json

import pytest

import gfm
from kit import DE, EN, FR, document, find_pair, pair, perfect
from page_significance import Certainty, how_to_read
from significance_index import Significance

FILE, SCORE = "ranking-impresso-test-de.tsv", "score"
SWAPS = {"first": 10000, "most": 10000, "limit": 0.1, "exact": False}
TITLE, OVERALL = "Newspapers, German (test)", "Overall accuracy profile (test A)"


def rank(team, best=1, worst=3, *, cluster=1, tier=1, groups=(1, 1), first="0.5"):
    return {
        "team": team,
        "run": "run1",
        "best_rank": str(best),
        "worst_rank": str(worst),
        "cluster": str(cluster),
        "tier": str(tier),
        "first_group": str(groups[0]),
        "last_group": str(groups[1]),
        "probability_first": first,
        "rank_low": "2",
        "rank_high": "5",
    }


def interval(team, low="0.5", high="0.75", method="BCa", score=SCORE):
    bounds = {"low": low, "high": high, "method": method}
    return {"team": team, "run": "run1", "score": score, **bounds}


def certainty(ranks, intervals=(), *, documents=(19,), swaps=SWAPS):
    about = {"ranking": FILE, "documents": list(documents), "swaps": swaps}
    index = {"level": 0.95, "resamples": 10000, "rankings": [about]}
    significance = Significance(index, {FILE: list(intervals)}, {FILE: list(ranks)})
    return Certainty(significance, FILE, SCORE)


def row(team):
    return {"team": team, "run": "run1"}


def said(found, *teams):
    """Return the sentences under a table of these teams."""
    sentences, _ = found.sentences([row(team) for team in teams], lambda r: r["team"], "folder")
    return sentences


def test_a_tested_rank_has_the_range_of_the_tests():
    found = certainty([rank("a", 2, 7), rank("b", 3, 3)])
    assert found.rank_column == "rank range"
    assert found.rank_range(row("a")) == "2–7"
    assert found.rank_range(row("b")) == "3"


def test_a_rank_that_is_not_tested_has_its_range_over_the_resamples():
    found = certainty([rank("a", "", "")], swaps=None)
    assert found.rank_column == "95% rank range"
    assert found.rank_range(row("a")) == "2–5"
    assert not found.is_tested
    assert certainty([rank("a")]).is_tested


def test_an_interval_is_that_of_the_deciding_score_at_four_decimals():
    other = interval("a", "0.1", "0.2", score="other")
    found = certainty([rank("a")], [other, interval("a", "0.51236", "1.0"), other])
    assert found.interval(row("a")) == "<br>[0.5124,&nbsp;1.0000]"


def test_a_percentile_interval_is_marked_where_others_are_bca():
    percentile = [interval("a", method="percentile")]
    assert certainty([rank("a")], percentile).interval(row("a")).endswith("]†")
    assert certainty([rank("a")], percentile, swaps=None).interval(row("a")).endswith("]")


def test_without_an_interval_nothing_is_shown():
    assert certainty([rank("a")]).interval(row("a")) == ""


@pytest.mark.parametrize(
    ("groups", "letters"),
    [((1, 1), "a"), ((3, 6), "c–f"), ((26, 27), "z–aa"), ((52, 53), "az–ba")],
)
def test_groups_are_letters(groups, letters):
    assert certainty([rank("a", groups=groups)]).groups(row("a")) == letters


def test_a_solid_rule_begins_a_cluster_and_one_of_dots_a_tier():
    ranks = [rank("a"), rank("b"), rank("c", tier=2), rank("d", cluster=2, tier=3)]
    found = certainty(ranks)
    assert found.rule(row("b"), row("a")) is None
    assert found.rule(row("c"), row("b")) == "· · ·"
    assert found.rule(row("d"), row("c")) == "———"


def test_the_runs_that_none_is_better_than_are_named():
    found = certainty([rank("a"), rank("b"), rank("c"), rank("d", 2, cluster=2)])
    assert said(found, *"abcd").startswith("No run is significantly better than a, b and c. ")
    assert said(certainty([rank("a")]), "a").startswith("No run is significantly better than a. ")


def test_a_table_without_a_rule_says_so():
    sentence = "No place separates all runs above it from all runs below."
    assert sentence in said(certainty([rank("a"), rank("b")]), "a", "b")
    assert sentence not in said(certainty([rank("a"), rank("b", cluster=2)]), "a", "b")
    assert sentence not in said(certainty([rank("a")]), "a")
    assert sentence not in said(certainty([rank("a"), rank("b")], swaps=None), "a", "b")


def test_whoever_may_be_first_is_named_with_its_share():
    ranks = [rank("a", first="0.986"), rank("b", first="0.009"), rank("c", first="0.0049")]
    assert "First in so many of the resamples: a 99%, b 1%. " in said(certainty(ranks), *"abc")
    assert "First" not in said(certainty([rank("a", first="")]), "a")


@pytest.mark.parametrize(
    ("documents", "sentence"),
    [
        ((19, 30), "Documents with pairs: 19 + 30."),
        ((10,), "Documents with pairs: 10."),
        ((19, 9), "Documents with pairs: 19 + 9. Intervals of so few are rough."),
        ((30, 1), "There are no intervals: a file has a single document (30 + 1)."),
    ],
)
def test_the_number_of_documents_is_told(documents, sentence):
    assert said(certainty([rank("a")], documents=documents), "a").endswith(f" {sentence}")


def test_the_tables_are_linked():
    _, links = certainty([rank("a")]).sentences([row("a")], lambda r: r["team"], "x/é")
    assert "(x/%C3%A9/intervals-impresso-test-de.tsv)" in links
    assert "(x/%C3%A9/ranks-impresso-test-de.tsv)" in links
    assert "(x/%C3%A9/pairwise-impresso-test-de.tsv)" in links


def test_the_paragraph_tells_level_and_resamples_of_the_index():
    index = {"level": 0.9, "resamples": 5000, "rankings": []}
    told = how_to_read(Significance(index, {}, {}))
    assert "90% confidence interval" in told
    assert "5,000 resamples" in told
    assert "p ≤ 0.1)" in told


# Whole pages


def few_resamples(campaign, **changes):
    facts = json.loads(campaign.config.read_text("utf-8"))
    facts["significance"] |= {"resamples": 200, "draws": 200} | changes
    campaign.config = campaign.folder / "config.json"
    campaign.config.write_text(json.dumps(facts), "utf-8")


def told(campaign):
    """Return the sections of the page as it is written now, and what the script says."""
    done = campaign.script("build_results_md")
    assert done.status == 0, done.err
    return gfm.read(campaign.page.read_text("utf-8")), done.out


def header(section):
    return section.tables[0][0]


@pytest.fixture
def sure(base):
    """The base campaign with a second, imperfect run, evaluated, with intervals."""
    few_resamples(base)
    for stem in (DE, EN, FR):
        documents = perfect(stem)
        find_pair(documents, "p1", "l1")["at"] = "FALSE"
        base.run(documents, team="team2", stem=stem)
    base.evaluate()
    base.infer()
    return base


def ten_documents(right):
    """Return ten documents of which a run has everything right, or everything wrong."""
    gold = [("TRUE", "TRUE"), ("PROBABLE", "FALSE"), ("FALSE", "FALSE")]
    wrong = [("FALSE", "FALSE"), ("TRUE", "TRUE"), ("PROBABLE", "TRUE")]
    labels = gold if right else wrong
    return [
        document(f"de-{n}", "1900", [pair(f"p{k}", "l1", *both) for k, both in enumerate(labels)])
        for n in range(10)
    ]


def test_every_table_has_ranges_and_intervals(sure):
    sections, out = told(sure)
    assert out == f"results page: {sure.page} written\n"
    for title, section in sections.items():
        if title.startswith(("Overall", "Newspapers")):
            assert header(section)[:2] == ["rank", "rank range"]
            assert "groups" in header(section)
        elif title.startswith("Efficiency"):
            assert header(section)[:2] == ["rank", "95% rank range"]
            assert "groups" not in header(section)
    german = sections[TITLE]
    assert [text.count("[") for text in german.column("impresso profile score")] == [1, 1]
    assert not any("[" in text for text in german.column("at macro recall"))
    assert german.column("rank range") == ["1–2", "1–2"]


def test_the_way_to_read_stands_once(sure):
    told(sure)
    text = sure.page.read_text("utf-8")
    assert text.count("confidence interval in brackets") == 1
    assert "make significance" not in text


def test_a_rule_parts_runs_that_differ_for_certain(campaign):
    few_resamples(campaign)
    campaign.reference(DE, ten_documents(True))
    for team, right in (("team1", True), ("team2", True), ("team3", False)):
        campaign.run(ten_documents(right), team=team)
    campaign.evaluate()
    campaign.infer()
    sections, _ = told(campaign)
    rows = sections[TITLE].tables[0][1:]
    assert [cells[2] for cells in rows] == ["team1", "team2", "———", "team3"]
    assert set(rows[2]) == {"———"}
    assert len({len(cells) for cells in rows}) == 1
    # The efficiency tables of the same runs are not tested.
    efficiency = sections["Efficiency profile by language: newspapers, German (test)"]
    assert "———" not in str(efficiency.tables)


def shows_no_interval(campaign):
    sections, out = told(campaign)
    assert out.endswith("without intervals (make significance)\n")
    text = campaign.page.read_text("utf-8")
    assert "rank range" not in text
    assert "[0." not in text.replace("](", "")
    assert "make significance" in text
    return header(sections[TITLE])[:2] == ["rank", "team"]


def test_intervals_of_earlier_runs_are_not_shown(sure):
    documents = perfect()
    find_pair(documents, "p1", "l1")["isAt"] = "FALSE"
    sure.run(documents, team="team2")
    sure.evaluate()
    assert shows_no_interval(sure)
    sure.infer()
    sections, _ = told(sure)
    assert header(sections[TITLE])[1] == "rank range"


def test_intervals_of_another_seed_are_not_shown(sure):
    few_resamples(sure, seed=1)
    sure.evaluate()
    assert shows_no_interval(sure)


@pytest.mark.parametrize("damage", ["edited", "deleted", "no manifest"])
def test_intervals_that_are_not_what_was_written_are_not_shown(sure, damage):
    folder = sure.results / "significance"
    path = folder / "ranks-impresso-test-de.tsv"
    if damage == "edited":
        path.write_bytes(path.read_bytes().replace(b"\t2\t", b"\t1\t", 1) + b"\n")
    elif damage == "deleted":
        path.unlink()
    else:
        (folder / "significance.manifest.json").unlink()
    assert shows_no_interval(sure)


def test_pairs_that_moved_between_documents_make_intervals_old_though_no_score_changes(sure):
    documents = perfect()
    moved = documents[0]["sampled_pairs"].pop()
    documents[1]["sampled_pairs"].append(moved)
    rankings = sure.results / "system-rankings" / "ranking-impresso-test-de.tsv"
    before = rankings.read_bytes()
    # The runs answer the pair in both documents, so that they have it right wherever it is asked.
    for team in ("team1", "team2"):
        path = sure.systems / f"{team}_{DE}_run1.jsonl"
        answered = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        answered[1]["sampled_pairs"].append(answered[0]["sampled_pairs"][-1])
        sure.run(answered, team=team)
    sure.evaluate()
    sure.infer()
    assert header(told(sure)[0][TITLE])[1] == "rank range"
    sure.reference(DE, documents)
    sure.evaluate()
    assert rankings.read_bytes() == before
    assert shows_no_interval(sure)


def test_odd_names_show_literally_beside_intervals(sure):
    teams = {"team1": {"name": "A|B *x* [a](b)"}, "team2": {"name": "<b>`c`"}}
    sure.teams = sure.folder / "teams.json"
    sure.teams.write_text(json.dumps(teams), "utf-8")
    sections, _ = told(sure)
    assert sections[TITLE].column("team") == ["A|B *x* [a](b) (team1)", "<b>`c` (team2)"]
    assert "better than A|B *x* [a](b) (team1) (run1)" in sections[TITLE].text


def test_few_documents_are_called_rough_on_the_page(sure):
    sections, _ = told(sure)
    assert (
        "Documents with pairs: 2 + 2 + 2. Intervals of so few are rough." in sections[OVERALL].text
    )
