"""make significance, from the diagnostics of an evaluation to its tables."""

import itertools
import json

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import bootstrap
from build_significance import infer, rankings_of
from campaign import BadInput, load_config
from document_counts import counts_of, scores
from files import read_tsv
from inference import Sample, Settings
from kit import DE, EN, FR, INFO, SURPRISE, document, find_pair, pair, perfect
from ranking_tables import RankingTables
from significance_index import tables_of

OVERALL, GERMAN = "ranking-overall-test-a.tsv", "ranking-impresso-test-de.tsv"
EFFICIENCY, GENERAL = "ranking-efficiency-test-a.tsv", "ranking-generalization-test-b.tsv"
LABELS = {"at": ["TRUE", "PROBABLE", "FALSE"], "isAt": ["TRUE", "FALSE"]}


def private_config(campaign, **changes):
    """Give a campaign a configuration of its own, with few resamples unless told otherwise."""
    facts = json.loads(campaign.config.read_text("utf-8"))
    facts["significance"] |= {"resamples": 300, "draws": 300} | changes
    campaign.config = campaign.folder / "config.json"
    campaign.config.write_text(json.dumps(facts), "utf-8")


def documents_of(language, number=10):
    """Return documents with six pairs each; all labels occur in each of them."""
    labels = [("TRUE", "TRUE"), ("PROBABLE", "FALSE"), ("FALSE", "FALSE")] * 2
    return [
        document(
            f"{language}-{place}",
            str(1800 + 10 * place),
            [pair(f"p{n}", "l1", *both) for n, both in enumerate(labels)],
            language,
        )
        for place in range(number)
    ]


def answers(language, quality, seed, number=10):
    """Return a run that gives each label right with a probability."""
    chance = np.random.default_rng(seed)
    made = documents_of(language, number)
    for one in made:
        for each in one["sampled_pairs"]:
            for target, labels in LABELS.items():
                if chance.random() > quality:
                    others = [label for label in labels if label != each[target]]
                    each[target] = others[chance.integers(len(others))]
    return made


QUALITIES = {"team1": 0.95, "team2": 0.93, "team3": 0.6, "team4": 0.55, "baseline": 0.15}


def small_campaign(campaign, languages=("de",), number=10):
    private_config(campaign)
    stems = {"de": DE, "en": EN, "fr": FR}
    for place, language in enumerate(languages):
        campaign.reference(stems[language], documents_of(language, number))
        for seed, (team, quality) in enumerate(QUALITIES.items()):
            run = answers(language, quality, 10 * place + seed, number)
            campaign.run(run, team=team, stem=stems[language])
    campaign.evaluate()
    return campaign


@pytest.fixture
def small(campaign):
    """Five runs of very different quality on one German file."""
    return small_campaign(campaign)


def significance(campaign):
    done = campaign.script("build_significance")
    assert done.status == 0, done.err
    return done.out


def table(campaign, ranking, kind):
    return read_tsv(campaign.results / "significance" / getattr(tables_of(ranking), kind))


def counts(campaign, stem=DE):
    return read_tsv(campaign.results / "significance" / f"counts-{stem}.tsv")


def ranked(campaign, ranking=GERMAN):
    return read_tsv(campaign.results / "system-rankings" / ranking)


# Counts


def added_up(rows, team, target, labels):
    matrix = {gold: dict.fromkeys(labels, 0) for gold in labels}
    for row in rows:
        if (row["team"], row["target"]) == (team, target):
            matrix[row["gold"]][row["predicted"]] += int(row["count"])
    return matrix


def test_counts_add_up_to_the_confusion_matrices_of_the_runs(small):
    significance(small)
    rows = counts(small)
    keys = [tuple(row.values())[:6] for row in rows]
    assert len(set(keys)) == len(keys)
    for team in QUALITIES:
        for target, labels in LABELS.items():
            expected = small.score(team)["counts"][target]["confusion"]
            assert added_up(rows, team, target, labels) == expected


def test_missing_answers_are_counted_as_they_were_scored(base):
    private_config(base)
    documents = perfect()[:1]
    find_pair(documents, "p1", "l1")["at"] = None
    del documents[0]["sampled_pairs"][1]
    base.run(documents, team="team2")
    base.evaluate()
    significance(base)
    for target, labels in LABELS.items():
        expected = base.score("team2")["counts"][target]["confusion"]
        assert added_up(counts(base), "team2", target, labels) == expected


def test_a_target_that_is_not_scored_is_not_counted(base):
    private_config(base)
    base.evaluate()
    significance(base)
    assert {row["target"] for row in counts(base, SURPRISE)} == {"at"}


def test_binary_counts_know_no_probable(base):
    private_config(base)
    base.mode = "BINARY"
    base.evaluate()
    significance(base)
    rows = counts(base)
    assert "PROBABLE" not in {row["gold"] for row in rows} | {row["predicted"] for row in rows}
    assert {row["at_label_mode"] for row in rows} == {"BINARY"}
    assert {row["at_label_mode"] for row in table(base, OVERALL, "intervals")} == {"BINARY"}


def test_a_document_without_pairs_changes_nothing(small):
    significance(small)
    before = {kind: table(small, GERMAN, kind) for kind in ("intervals", "ranks", "pairwise")}
    small.reference(DE, [*documents_of("de"), document("empty", "1900", [], "de")])
    small.evaluate()
    significance(small)
    for kind, rows in before.items():
        assert table(small, GERMAN, kind) == rows


# Intervals


def test_every_score_of_every_ranking_has_an_interval_around_it(base):
    private_config(base)
    documents = perfect()
    find_pair(documents, "p1", "l1")["at"] = "FALSE"
    base.run(documents, team="team2")
    base.evaluate()
    significance(base)
    for ranking in (GERMAN, OVERALL, EFFICIENCY):
        wanted = {
            (row["team"], score): value
            for row in ranked(base, ranking)
            for score, value in row.items()
            if score.endswith(("score", "recall", "accuracy", "profile_rank", "_de", "_en", "_fr"))
            and not score.startswith("rank_")
        }
        rows = table(base, ranking, "intervals")
        assert {(row["team"], row["score"]): row["value"] for row in rows} == wanted
        for row in rows:
            assert float(row["low"]) <= float(row["high"])


@pytest.mark.parametrize("score", ["impresso_profile_score", "at_macro_recall", "isAt_accuracy"])
def test_intervals_are_those_of_scipy_at_the_nominal_level_of_the_index(small, score):
    significance(small)
    index = small.json("significance/significance.json")
    [about] = [each for each in index["rankings"] if each["ranking"] == GERMAN]
    of_documents = counts_of(counts(small), LABELS)
    weights = bootstrap.resample(10, 300, index["seed"], f"resamples of {DE}")
    # Rounded for scipy, to which scores that differ by rounding alone are no ties.
    resampled = np.round(scores(of_documents, weights, "impresso_profile_score")[score], 12)

    def statistic(places, axis):
        drawn = np.moveaxis(np.asarray(places, dtype=int), axis, -1)
        rows = np.eye(10)[drawn].sum(axis=-2).reshape(-1, 10)
        values = scores(of_documents, rows, "impresso_profile_score")[score]
        return np.round(values[:, run], 12).reshape(drawn.shape[:-1])

    for run, (team, _) in enumerate(of_documents.runs):
        [row] = [
            row
            for row in table(small, GERMAN, "intervals")
            if (row["team"], row["score"]) == (team, score)
        ]
        for method, bounds in (
            ("BCa", (row["low"], row["high"])),
            ("percentile", (row["percentile_low"], row["percentile_high"])),
        ):
            theirs = stats.bootstrap(
                (np.arange(10),),
                statistic,
                n_resamples=0,
                bootstrap_result=type("Drawn", (), {"bootstrap_distribution": resampled[:, run]}),
                method=method,
                confidence_level=about["nominal_level"],
                vectorized=True,
            ).confidence_interval
            assert row["method"] == "BCa"
            # The nominal level has eight decimals, the quantiles nine.
            assert [float(bound) for bound in bounds] == pytest.approx(list(theirs), abs=1e-6)


def test_a_score_has_the_same_interval_in_the_table_of_its_file_and_in_the_overall_one(campaign):
    small_campaign(campaign, ("de", "en"), number=4)
    significance(campaign)

    def bounds(ranking, score):
        rows = table(campaign, ranking, "intervals")
        return {row["team"]: (row["low"], row["high"]) for row in rows if row["score"] == score}

    alone = bounds(GERMAN, "impresso_profile_score")
    assert bounds(OVERALL, "impresso_profile_score_de") == alone
    assert bounds(EFFICIENCY, "mean_impresso_profile_score") == bounds(
        OVERALL, "mean_impresso_profile_score"
    )


def test_a_perfect_run_has_a_percentile_interval(base):
    private_config(base)
    base.evaluate()
    significance(base)
    rows = table(base, GERMAN, "intervals")
    assert {(row["low"], row["high"], row["method"]) for row in rows} == {
        ("1.0", "1.0", "percentile")
    }


def test_a_file_with_one_document_has_tests_and_no_intervals(base):
    private_config(base)
    documents = perfect(SURPRISE)
    documents[0]["sampled_pairs"][0]["at"] = "FALSE"
    base.run(documents, team="team2", stem=SURPRISE)
    base.evaluate()
    significance(base)
    assert table(base, GENERAL, "intervals") == []
    for row in table(base, GENERAL, "ranks"):
        assert (row["probability_first"], row["rank_low"], row["rank_high"]) == ("", "", "")
        assert (row["best_rank"], row["worst_rank"]) == ("1", "2")
    [row] = table(base, GENERAL, "pairwise")
    assert (row["low"], row["p_bootstrap"], row["p_randomization"]) == ("", "", "1.0")


# Tests of every two runs


def parts(campaign):
    """Return what each document adds to the profile score of each team, straight from the rows."""
    rows = counts(campaign)
    instances = {
        (target, label): sum(
            int(row["count"])
            for row in rows
            if (row["team"], row["target"], row["gold"]) == ("team1", target, label)
        )
        for target, labels in LABELS.items()
        for label in labels
    }
    found = {team: dict.fromkeys((f"de-{n}" for n in range(10)), 0.0) for team in QUALITIES}
    for row in rows:
        if row["gold"] == row["predicted"]:
            weight = instances[row["target"], row["gold"]] * len(LABELS[row["target"]]) * 2
            found[row["team"]][row["document_id"]] += int(row["count"]) / weight
    return {team: np.array(list(values.values())) for team, values in found.items()}


def test_the_randomization_test_is_that_of_scipy_and_holms_that_of_statsmodels(small):
    significance(small)
    of_teams = parts(small)
    rows = table(small, GERMAN, "pairwise")
    assert [(row["team"], row["other_team"]) for row in rows] == list(
        itertools.combinations([row["team"] for row in ranked(small)], 2)
    )
    for row in rows:
        one, other = of_teams[row["team"]], of_teams[row["other_team"]]
        # Whole numbers, because scipy only knows ties with zero if they are exact.
        scale = 2 * 2 * 3 * 20 * 2
        exact = stats.permutation_test(
            (np.rint(one * scale), np.rint(other * scale)),
            lambda a, b, axis: (a - b).sum(axis=axis),
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=True,
        )
        assert float(row["difference"]) == pytest.approx(exact.statistic / scale, abs=1e-9)
        assert float(row["p_randomization"]) == pytest.approx(exact.pvalue, abs=1e-9)
        assert row["swaps"] == "1024"
    for p_value in ("p_randomization", "p_bootstrap"):
        raw = [float(row[p_value]) for row in rows]
        corrected = [float(row[f"{p_value}_holm"]) for row in rows]
        assert corrected == pytest.approx(multipletests(raw, method="holm")[1], abs=1e-9)
    significant = [float(row["p_randomization_holm"]) <= 0.05 for row in rows]
    assert [row["significant"] == "yes" for row in rows] == significant
    assert {True, False} == set(significant)


def test_a_difference_that_the_correction_takes_back_is_not_significant(small):
    for team, quality in (("team5", 0.85), ("team6", 0.75), ("team7", 0.7), ("team8", 0.65)):
        small.run(answers("de", quality, int(team[-1])), team=team)
    small.evaluate()
    significance(small)
    taken_back = [
        row
        for row in table(small, GERMAN, "pairwise")
        if float(row["p_randomization"]) <= 0.05 < float(row["p_randomization_holm"])
    ]
    assert taken_back
    assert {row["significant"] for row in taken_back} == {"no"}


def test_a_difference_has_the_interval_of_the_same_resamples_at_the_nominal_level(small):
    significance(small)
    of_documents = counts_of(counts(small), LABELS)
    once, drawn, left_out = (
        scores(of_documents, weights, "impresso_profile_score")["impresso_profile_score"]
        for weights in (
            bootstrap.all_once(10),
            bootstrap.resample(10, 300, 2026, f"resamples of {DE}"),
            bootstrap.leave_one_out(10),
        )
    )
    place = {team: number for number, (team, _) in enumerate(of_documents.runs)}
    for row in table(small, GERMAN, "pairwise"):
        one, other = [place[row["team"]]], [place[row["other_team"]]]
        found = bootstrap.intervals(
            (once[:, one] - once[:, other])[0],
            bootstrap.in_order(drawn[:, one] - drawn[:, other]),
            [left_out[:, one] - left_out[:, other]],
            bootstrap.expanded_level(0.95, [10]),
        )
        assert [float(row["low"]), float(row["high"])] == pytest.approx(
            [found.low[0], found.high[0]], abs=1e-9
        )
        assert row["method"] == found.method[0]


def test_two_copies_of_a_run_do_not_differ(small):
    small.run(answers("de", QUALITIES["team1"], 0), team="team5")
    small.evaluate()
    significance(small)
    [row] = [
        row
        for row in table(small, GERMAN, "pairwise")
        if {row["team"], row["other_team"]} == {"team1", "team5"}
    ]
    zeros = ("difference", "low", "high")
    assert [float(row[name]) for name in zeros] == [0, 0, 0]
    assert (row["p_randomization"], row["p_bootstrap"], row["significant"]) == ("1.0", "1.0", "no")


# Ranks


def test_ranges_and_clusters_follow_from_the_tests(small):
    significance(small)
    ranks = table(small, GERMAN, "ranks")
    teams = [row["team"] for row in ranks]
    worse = {
        (row["team"], row["other_team"])
        for row in table(small, GERMAN, "pairwise")
        if row["significant"] == "yes"
    }
    for place, row in enumerate(ranks):
        lost = sum((other, row["team"]) in worse for other in teams)
        won = sum((row["team"], other) in worse for other in teams)
        assert row["best_rank"] == str(1 + lost)
        assert row["worst_rank"] == str(len(teams) - won)
        pairs = itertools.product(teams[:place], teams[place:])
        begins = place > 0 and all(both in worse for both in pairs)
        assert (int(row["cluster"]) - int(ranks[place - 1]["cluster"]) == 1) == begins or not place
        for other in ranks[:place]:
            if (other["team"], row["team"]) in worse:
                assert int(other["last_group"]) < int(row["first_group"])
    # As the qualities have it: two good runs, two middling ones, one that is mostly wrong.
    assert [row["cluster"] for row in ranks] == ["1", "1", "2", "2", "3"]
    assert [row["tier"] for row in ranks] == ["1", "1", "2", "2", "3"]
    assert [row["first_group"] for row in ranks] == ["1", "1", "2", "2", "3"]
    assert [(row["best_rank"], row["worst_rank"]) for row in ranks] == [
        ("1", "2"),
        ("1", "2"),
        ("3", "4"),
        ("3", "4"),
        ("5", "5"),
    ]


def test_the_probabilities_to_be_first_sum_up_to_one(small):
    significance(small)
    rows = table(small, GERMAN, "ranks")
    assert sum(float(row["probability_first"]) for row in rows) == pytest.approx(1)
    assert {row["probability_first"] for row in rows[2:]} == {"0.0"}
    assert (rows[-1]["rank_low"], rows[-1]["rank_high"]) == ("5", "5")


def test_an_efficiency_ranking_has_ranges_over_the_resamples_and_no_tests(campaign):
    small_campaign(campaign, ("de", "en", "fr"), number=3)
    for team, size in (("team1", 9), ("team2", 4), ("team3", 1)):
        for stem in (DE, EN, FR):
            path = campaign.systems / f"{team}_{stem}_run1-info.json"
            path.write_text(json.dumps({**INFO, "hipe_parameter_count": size}), "utf-8")
    campaign.evaluate()
    significance(campaign)
    ranks = table(campaign, EFFICIENCY, "ranks")
    for row in ranks:
        tested = ("best_rank", "worst_rank", "cluster", "tier", "first_group", "last_group")
        assert [row[name] for name in tested] == [""] * 6
        assert int(row["rank_low"]) <= int(row["rank_high"])
    # The lowest mean rank is the best: the first of the table is not the last of the resamples.
    assert (ranks[0]["rank_low"], ranks[-1]["probability_first"]) == ("1", "0.0")
    for row in table(campaign, EFFICIENCY, "pairwise"):
        assert (row["p_randomization"], row["significant"]) == ("", "")
        assert row["p_bootstrap"]
    methods = {(row["score"], row["method"]) for row in table(campaign, EFFICIENCY, "intervals")}
    assert methods == {
        ("mean_efficiency_profile_rank", "percentile"),
        ("mean_impresso_profile_score", "BCa"),
    }


def test_one_run_and_a_ranking_without_rows_have_tables_too(base):
    private_config(base)
    for path in base.systems.glob(f"team1_{FR}*"):
        path.unlink()
    base.evaluate()
    significance(base)
    assert [table(base, OVERALL, kind) for kind in ("intervals", "ranks", "pairwise")] == [[]] * 3
    assert table(base, GERMAN, "pairwise") == []
    [row] = table(base, GERMAN, "ranks")
    assert (row["best_rank"], row["worst_rank"], row["probability_first"]) == ("1", "1", "1.0")


def test_the_index_says_how_all_was_made(small):
    significance(small)
    index = small.json("significance/significance.json")
    made_with = {"seed": 2026, "level": 0.95, "resamples": 300, "draws": 300}
    assert {key: index[key] for key in made_with} == made_with
    [about] = [each for each in index["rankings"] if each["ranking"] == GERMAN]
    assert about["documents"] == [10]
    assert about["nominal_level"] == bootstrap.expanded_level(0.95, [10])
    assert about["swaps"] == {"first": 1024, "most": 1024, "limit": 0.0, "exact": True}


# Staleness


def identities(folder):
    return {p.name: p.stat().st_ino for p in folder.iterdir() if "manifest" not in p.name}


def test_only_what_depends_on_a_changed_run_is_made_again(campaign):
    small_campaign(campaign, ("de", "en"), number=3)
    assert significance(campaign).endswith("0 removed\n")
    folder = campaign.results / "significance"
    before = identities(folder)
    assert "0 written" in significance(campaign)
    assert identities(folder) == before
    campaign.run(answers("de", 0.5, 99, 3), team="team3")
    campaign.evaluate()
    significance(campaign)
    changed = {name for name, identity in identities(folder).items() if before[name] != identity}
    assert {f"counts-{DE}.tsv", tables_of(GERMAN).intervals, tables_of(OVERALL).pairwise} <= changed
    # Tables that are made again and come out the same are left as they are.
    assert changed <= {
        f"counts-{DE}.tsv",
        "significance.json",
        *tables_of(GERMAN),
        *tables_of("ranking-efficiency-impresso-test-de.tsv"),
        *(table for name in (OVERALL, EFFICIENCY) for table in tables_of(name)),
        *tables_of("ranking-efficiency-balanced-test-a.tsv"),
    }


def test_another_size_renews_the_efficiency_tables_alone(campaign):
    small_campaign(campaign, ("de", "en"), number=3)
    significance(campaign)
    before = {path: table(campaign, path, "intervals") for path in (GERMAN, EFFICIENCY)}
    for stem in (DE, EN):
        path = campaign.systems / f"team1_{stem}_run1-info.json"
        path.write_text(json.dumps({**INFO, "hipe_parameter_count": 10**9}), "utf-8")
    campaign.evaluate()
    # The two overall efficiency tables and those of both languages, and the index.
    assert "5 written" in significance(campaign)
    assert table(campaign, GERMAN, "intervals") == before[GERMAN]
    assert table(campaign, EFFICIENCY, "intervals") != before[EFFICIENCY]


def test_tables_of_a_withdrawn_file_disappear(base):
    private_config(base)
    base.evaluate()
    significance(base)
    for path in base.systems.glob(f"team1_{SURPRISE}*"):
        path.unlink()
    base.evaluate()
    significance(base)
    left = [path.name for path in (base.results / "significance").iterdir()]
    assert not [name for name in left if "surprise" in name or "generalization" in name]


def test_another_seed_gives_other_intervals_and_the_old_one_the_old_bytes(small):
    significance(small)
    first = small.tree()
    private_config(small, seed=7)
    small.evaluate()
    significance(small)
    assert table(small, GERMAN, "intervals") != []
    assert small.tree() != first
    private_config(small, seed=2026)
    small.evaluate()
    significance(small)
    assert small.tree() == first


def test_edited_and_deleted_tables_are_made_again(small):
    significance(small)
    before = small.tree()
    folder = small.results / "significance"
    (folder / f"counts-{DE}.tsv").write_text("edited\n")
    (folder / tables_of(GERMAN).ranks).unlink()
    significance(small)
    assert small.tree() == before


# Errors


def refused(campaign):
    done = campaign.script("build_significance")
    assert done.status == 1
    assert done.errors == done.err.splitlines()
    return done.errors


def test_without_rankings_an_error_says_what_to_make(base):
    [error] = refused(base)
    assert error.endswith("run make rankings")


@pytest.mark.parametrize(("attribute", "value"), [("mode", "BINARY"), ("ties", "dense")])
def test_rankings_with_other_settings_are_refused(small, attribute, value):
    setattr(small, attribute, value)
    [error] = refused(small)
    assert error.endswith("run make rankings with the same variables")


def test_missing_diagnostics_are_named(small):
    name = f"team3_{DE}_run1.diagnostics.json"
    (small.results / "diagnostics" / name).unlink()
    [error] = refused(small)
    assert name in error
    assert error.endswith("run make diagnostics")


def test_diagnostics_of_other_scores_than_the_ranked_ones_are_refused(small):
    small.run(answers("de", 0.5, 99), team="team3")
    for stage in (("validate_jsonl", "submissions"), ("score_one",), ("build_rankings",)):
        assert small.script(*stage).status == 0
    [error] = refused(small)
    assert "diagnostics of other scores" in error


def test_an_edited_ranking_is_not_believed(small):
    path = small.results / "system-rankings" / GERMAN
    rows = path.read_text("utf-8").splitlines()
    rows[2] = rows[2].replace("0.", "0.1")
    path.write_text("\n".join(rows) + "\n", "utf-8")
    [error] = refused(small)
    assert GERMAN in error
    assert error.endswith("run make rankings")


def test_counts_must_give_the_scores_of_the_ranking(small):
    config = load_config(small.config)
    rankings = rankings_of(RankingTables(small.results / "system-rankings"), config)
    [ranking] = [each for each in rankings if each.about["file"] == GERMAN]
    significance(small)
    sample = Sample([DE], [counts_of(counts(small), LABELS).of_runs(ranking.runs)])
    settings = Settings(2026, 0.95, 50, 50, "competition")
    infer(ranking, sample, config, settings)
    ranking.rows[1]["impresso_profile_score"] = "0.5"
    with pytest.raises(BadInput) as raised:
        infer(ranking, sample, config, settings)
    [problem] = raised.value.problems
    assert problem.file == GERMAN
    assert "do not give its impresso_profile_score" in problem.found
