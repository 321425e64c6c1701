"""Votes of sets of runs, checked against the run files, which are read without the project's code.

The campaign ``voters`` has random runs of four teams, of the baseline and of a second organizer
entry, with nulls, missing pairs and a missing document.
"""

import itertools
import json
import os
import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction

import krippendorff
import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from build_ensemble import Ensemble, ensembles_of
from files import read_tsv
from kit import DE, EN, PROJECT, SURPRISE, document, find_pair, gold, pair, perfect

LABELS = {"at": ["TRUE", "PROBABLE", "FALSE"], "isAt": ["TRUE", "FALSE"]}
TABLES = ("ensembles", "votes", "members", "hardest-pairs")
ORGANIZERS = {"baseline", "random"}
# How many of ten labels a run has right at random, by team and number.
VOTERS = {
    ("team1", 1): 9,
    ("team1", 2): 8,
    ("team1", 3): 2,
    ("team2", 1): 8,
    ("team3", 1): 7,
    ("team10", 1): 9,
    ("baseline", 1): 6,
    ("baseline", 2): 3,
    ("random", 1): 10,
}


def rows(campaign, table, stem=DE):
    return read_tsv(campaign.results / "ensemble" / f"{table}-{stem}.tsv")


def ensembles(campaign):
    done = campaign.script("build_ensemble")
    assert done.status == 0, done.err
    return done


def evaluated(campaign):
    """Evaluate and let runs vote; return how the vote ended."""
    campaign.evaluate()
    return ensembles(campaign)


def as_wrong(documents, right, drawing):
    """Return documents in another order, with random labels in the place of some right ones."""
    drawing.shuffle(documents)
    for each in documents:
        drawing.shuffle(each["sampled_pairs"])
        for one in each["sampled_pairs"]:
            for target, labels in LABELS.items():
                if drawing.randrange(10) >= right:
                    one[target] = drawing.choice([*labels, None])
    return documents


@pytest.fixture
def voters(campaign):
    """Ten runs on reference G; see VOTERS. All have p1-l2 right, and none q2-m1, in at."""
    campaign.teams = campaign.folder / "teams.json"
    # Several, so that a set of them has another order with another seed.
    entries = (*ORGANIZERS, *(f"guests{number}" for number in range(6)))
    campaign.teams.write_text(json.dumps({name: {"organizer": True} for name in entries}))
    campaign.reference()
    for number, ((team, run), right) in enumerate(VOTERS.items()):
        documents = as_wrong(perfect(), right, random.Random(number))
        find_pair(documents, "p1", "l2")["at"] = "TRUE"
        find_pair(documents, "q2", "m1")["at"] = "TRUE"
        campaign.run(documents, team=team, number=run)
    documents = as_wrong(perfect()[:1], 8, random.Random(99))
    documents[0]["sampled_pairs"].remove(find_pair(documents, "p1", "l1"))
    find_pair(documents, "p1", "l2")["at"] = "TRUE"
    campaign.run(documents, team="team2", number=2)
    return campaign


def labels_of(path, mode="TERNARY"):
    """Return {target: {(document, person, place): label}} of a file; null is FALSE."""
    found = {"at": {}, "isAt": {}}
    for line in path.read_text("utf-8").splitlines():
        each = json.loads(line)
        for one in each["sampled_pairs"]:
            key = (each["document_id"], one["pers_entity_id"], one["loc_entity_id"])
            for target, by_pair in found.items():
                label = one[target] or "FALSE"
                by_pair[key] = "TRUE" if (mode, label) == ("BINARY", "PROBABLE") else label
    return found


def macro_recall(gold_labels, answers):
    recalls = []
    for label in set(gold_labels):
        own = [answer for g, answer in zip(gold_labels, answers, strict=True) if g == label]
        recalls.append(Fraction(own.count(label), len(own)))
    return sum(recalls) / len(recalls)


class Plain:
    """What a campaign's files say of one reference: gold, answers, and who stands where."""

    def __init__(self, campaign, stem=DE):
        mode = campaign.mode
        self.targets = ["at", "isAt"] if "impresso" in stem else ["at"]
        self.gold = labels_of(campaign.references / f"{stem}.jsonl", mode)
        self.keys = list(self.gold["at"])
        self.runs = {}
        for path in campaign.systems.glob(f"*_{stem}_run?.jsonl"):
            team, number = path.name.split("_")[0], path.stem.rsplit("_", 1)[1]
            answers = labels_of(path, mode)
            self.runs[team, number] = {
                target: [answers[target].get(key, "FALSE") for key in self.keys]
                for target in self.targets
            }

    def score(self, run):
        recalls = [
            macro_recall(list(self.gold[target].values()), self.runs[run][target])
            for target in self.targets
        ]
        return sum(recalls) / len(recalls)

    def teams(self):
        """Return the team runs, the best first, in natural order where they tie."""
        teams = [run for run in self.runs if run[0] not in ORGANIZERS]
        return sorted(
            teams, key=lambda run: (-self.score(run), int(run[0].removeprefix("team")), run[1])
        )

    def sets(self):
        """Return {name: its runs}; a set without runs is not there."""
        best = [self.score(run) for run in self.runs if run[0] == "baseline"]
        sets = {"all": self.teams()}
        if best:
            sets["above_baseline"] = [run for run in self.teams() if self.score(run) > max(best)]
        sets["top_5"] = self.teams()[:5]
        return {name: runs for name, runs in sets.items() if runs}

    def votes(self, runs, target):
        """Return {pair: {label: number}}."""
        answers = zip(*(self.runs[run][target] for run in runs), strict=True)
        return dict(zip(self.keys, map(Counter, answers), strict=True))


def decided_by(winners):
    """Return what a table says of a vote with so many labels in the first place."""
    return "alphabetical order" if winners > 1 else "plurality"


def winner(votes):
    """Return the label with most votes, the first in the alphabet of several, and how many."""
    first = [label for label in sorted(votes) if votes[label] == max(votes.values())]
    return first[0], len(first)


def mode_of(campaign, mode):
    campaign.mode = mode
    return campaign


MODES = pytest.mark.parametrize("mode", ["TERNARY", "BINARY"])


@MODES
def test_members_are_those_that_plain_scores_name(voters, mode):
    evaluated(mode_of(voters, mode))
    plain = Plain(voters)
    found = {}
    for row in rows(voters, "members"):
        found.setdefault(row["ensemble"], []).append((row["team"], row["run"]))
    assert found == plain.sets()
    assert [len(runs) for runs in found.values()] == [7, len(found["above_baseline"]), 5]
    assert 0 < len(found["above_baseline"]) < 7
    places = {(row["team"], row["run"]): row for row in voters.ranking("impresso-test-de")}
    for row in rows(voters, "members"):
        assert row["rank"] == places[row["team"], row["run"]]["rank"]
        assert row["at_label_mode"] == mode


@MODES
def test_votes_are_those_of_the_run_files(voters, mode):
    evaluated(mode_of(voters, mode))
    plain = Plain(voters)
    expected = {
        (name, target, *key): votes
        for name, runs in plain.sets().items()
        for target in plain.targets
        for key, votes in plain.votes(runs, target).items()
    }
    ids = ("document_id", "pers_entity_id", "loc_entity_id")
    found = {}
    for row in rows(voters, "votes"):
        key = (row["ensemble"], row["target"], *(row[name] for name in ids))
        assert key not in found
        found[key] = row
    assert found.keys() == expected.keys()
    names = ["TRUE", "FALSE"] if mode == "BINARY" else LABELS["at"]
    voted = [column for column in found[key] if column.startswith("votes_")]
    assert voted == [f"votes_{name}" for name in names]
    for key, row in found.items():
        of_target = [name for name in names if key[1] == "at" or name != "PROBABLE"]
        assert [row[f"votes_{n}"] for n in of_target] == [str(expected[key][n]) for n in of_target]
        assert all(row[f"votes_{name}"] == "" for name in names if name not in of_target)
        assert sum(int(row[f"votes_{name}"]) for name in of_target) == len(plain.sets()[key[0]])
        label, tied = winner(expected[key])
        assert (row["vote"], row["decided_by"]) == (label, decided_by(tied))
        assert row["gold"] == plain.gold[key[1]][key[2:]]
        assert row["at_label_mode"] == mode
    # An odd number of votes for two labels has no ties.
    assert (decided_by(2) in {row["decided_by"] for row in found.values()}) == (mode == "TERNARY")


@MODES
def test_scores_shares_and_agreement_are_those_of_the_run_files(voters, mode):
    evaluated(mode_of(voters, mode))
    plain = Plain(voters)
    names = ["TRUE", "FALSE"] if mode == "BINARY" else LABELS["at"]
    found = rows(voters, "ensembles")
    assert [(row["ensemble"], row["target"]) for row in found] == [
        (name, target) for name in plain.sets() for target in plain.targets
    ]
    for row in found:
        runs, target = plain.sets()[row["ensemble"]], row["target"]
        votes = plain.votes(runs, target).values()
        won = [winner(each)[0] for each in votes]
        right = list(plain.gold[target].values())
        assert (row["runs"], row["pairs"]) == (str(len(runs)), "9")
        assert row["ties"] == str(sum(winner(each)[1] > 1 for each in votes))
        hits = sum(map(str.__eq__, won, right))
        assert row["accuracy"] == repr(hits / 9)
        assert row["macro_recall"] == repr(float(macro_recall(right, won)))
        for name in names:
            known = target == "at" or name != "PROBABLE"
            assert row[f"share_{name}"] == (repr(won.count(name) / 9) if known else "")
        answers = [[LABELS["at"].index(a) for a in plain.runs[run][target]] for run in runs]
        alpha = krippendorff.alpha(reliability_data=answers, level_of_measurement="nominal")
        assert float(row["krippendorff_alpha"]) == pytest.approx(alpha, abs=1e-12)
        kappas = [kappa(*two) for two in itertools.combinations(answers, 2)]
        assert float(row["mean_cohen_kappa"]) == pytest.approx(np.mean(kappas), abs=1e-12)
        assert row["kappa_run_pairs"] == str(len(kappas))
        assert row["at_label_mode"] == mode
    assert any(int(row["ties"]) for row in found) == (mode == "TERNARY")
    assert ("share_PROBABLE" in found[0]) == (mode == "TERNARY")


def kappa(one, other):
    table = np.zeros((3, 3))
    np.add.at(table, (one, other), 1)
    return cohens_kappa(table, return_results=False)


@MODES
def test_hardest_pairs_are_exactly_those_that_no_team_run_or_every_one_gets_right(voters, mode):
    evaluated(mode_of(voters, mode))
    plain = Plain(voters)
    teams = plain.teams()
    dates = {"de-doc-1": "1848-03-02", "de-doc-2": "1901"}
    expected = []
    for wanted, outcome in ((0, "none right"), (len(teams), "all right")):
        for target in plain.targets:
            for key, votes in plain.votes(teams, target).items():
                label = plain.gold[target][key]
                if votes[label] == wanted:
                    name, person, place = key
                    mentions = [f"Herr {person}", f"Ort {place}"]
                    told = [target, label, str(wanted), str(len(teams)), outcome, winner(votes)[0]]
                    expected.append([name, dates[name], person, place, *mentions, *told, mode])
    assert [list(row.values()) for row in rows(voters, "hardest-pairs")] == expected
    # With three labels, q2-m1 stands behind p1-l2 in the gold, but before it here.
    order = [(*row[2:4], row[10]) for row in expected if row[6] == "at"]
    assert ("p1", "l2", "all right") in order
    assert (order[0] == ("q2", "m1", "none right")) == (mode == "TERNARY")


def test_organizer_entries_get_no_pair_right_or_wrong(campaign):
    campaign.reference()
    wrong = perfect()
    find_pair(wrong, "p1", "l1")["at"] = "FALSE"
    campaign.run(wrong)
    campaign.run(perfect(), team="random")
    evaluated(campaign)
    [hard] = [row for row in rows(campaign, "hardest-pairs") if row["outcome"] == "none right"]
    assert (hard["pers_entity_id"], hard["loc_entity_id"], hard["target"]) == ("p1", "l1", "at")
    assert (hard["right"], hard["runs"], hard["vote"]) == ("0", "1", "FALSE")


def ranking(*entries):
    """Return rows of a ranking of (rank, team)."""
    return [{"rank": str(rank), "team": team} for rank, team in entries]


def sets_of(*entries, organizers=frozenset({"baseline"}), top=5):
    return dict(ensembles_of(ranking(*entries), set(organizers), "baseline", top))


def test_runs_that_tie_with_the_baseline_are_not_above_it():
    found = sets_of((1, "team1"), (2, "baseline"), (2, "team2"), (2, "team3"), (5, "team4"))
    assert found["above_baseline"] == [0]
    # They may as well stand before it.
    found = sets_of((1, "team1"), (2, "aaa"), (2, "baseline"), (4, "team4"))
    assert found["above_baseline"] == [0]


def test_of_several_runs_of_the_baseline_the_best_is_the_limit():
    found = sets_of((1, "team1"), (2, "baseline"), (3, "team2"), (4, "baseline"), (5, "team3"))
    assert found == {"all": [0, 2, 4], "above_baseline": [0], "top_5": [0, 2, 4]}


def test_ranks_are_compared_as_numbers():
    entries = [*((n, f"team{n}") for n in range(1, 10)), (10, "baseline"), (11, "team10")]
    assert sets_of(*entries)["above_baseline"] == list(range(9))


def test_without_a_run_of_the_baseline_there_is_no_such_set():
    assert list(sets_of((1, "team1"), (2, "random"))) == ["all", "top_5"]


def test_below_the_baseline_there_is_no_set_above_it():
    assert list(sets_of((1, "baseline"), (1, "team1"), (3, "team2"))) == ["all", "top_5"]


def test_the_top_runs_are_those_of_the_first_rows_without_organizer_entries():
    entries = [(1, "baseline"), *((2, f"team{n}") for n in range(1, 8))]
    assert sets_of(*entries)["top_5"] == [1, 2, 3, 4, 5]
    assert sets_of(*entries, top=2)["top_2"] == [1, 2]
    assert sets_of((1, "team1"), (2, "baseline"), (3, "team2"))["top_5"] == [0, 2]


def test_a_baseline_that_is_a_team_votes_too_but_is_not_above_itself():
    found = sets_of((1, "team1"), (2, "baseline"), organizers=frozenset())
    assert found == {"all": [0, 1], "above_baseline": [0], "top_5": [0, 1]}


def test_organizer_entries_alone_make_no_ensemble():
    assert ensembles_of(ranking((1, "baseline"), (2, "x")), {"baseline", "x"}, "baseline", 5) == []
    assert Ensemble("all", [0]) in ensembles_of(ranking((1, "x")), set(), "baseline", 5)


def test_without_team_runs_the_tables_have_headers_alone(campaign):
    campaign.reference()
    campaign.run(team="baseline")
    evaluated(campaign)
    assert [rows(campaign, table) for table in TABLES] == [[]] * 4
    for table in TABLES:
        path = campaign.results / "ensemble" / f"{table}-{DE}.tsv"
        assert path.read_text().count("\n") == 1


def test_with_dense_ranks_ties_with_the_baseline_are_not_above_it_either(campaign):
    campaign.ties = "dense"
    campaign.reference()
    for number, label in enumerate(("TRUE", "FALSE"), 1):
        documents = perfect()
        find_pair(documents, "p1", "l1")["at"] = label
        campaign.run(documents, number=number)
    campaign.run(documents, team="team2")
    campaign.run(documents, team="baseline")
    evaluated(campaign)
    found = [(row["team"], row["run"], row["rank"]) for row in rows(campaign, "members")]
    assert found[:3] == [("team1", "run1", "1"), ("team1", "run2", "2"), ("team2", "run1", "2")]
    above = [row for row in rows(campaign, "members") if row["ensemble"] == "above_baseline"]
    assert [(row["team"], row["run"]) for row in above] == [("team1", "run1")]


def test_missing_answers_and_nulls_vote_false(campaign):
    campaign.reference()
    no_document = perfect()[:1]
    no_pair = perfect()
    no_pair[1]["sampled_pairs"].remove(find_pair(no_pair, "q1", "m1"))
    null = perfect()
    find_pair(null, "q1", "m1")["at"] = None
    for number, documents in enumerate((no_document, no_pair, null), 1):
        campaign.run(documents, number=number)
    evaluated(campaign)
    by_pair = {
        (row["pers_entity_id"], row["loc_entity_id"], row["target"]): row
        for row in rows(campaign, "votes")
        if row["ensemble"] == "all"
    }
    at, is_at = by_pair["q1", "m1", "at"], by_pair["q1", "m1", "isAt"]
    assert [at[f"votes_{label}"] for label in LABELS["at"]] == ["0", "0", "3"]
    # The null was given for at alone.
    assert [is_at[f"votes_{label}"] for label in LABELS["isAt"]] == ["1", "2"]
    assert (at["vote"], is_at["vote"]) == ("FALSE", "FALSE")


def test_ties_are_told_and_go_to_the_first_in_the_alphabet(campaign):
    campaign.reference()
    for number, label in enumerate(("TRUE", "PROBABLE"), 1):
        documents = perfect()
        find_pair(documents, "p1", "l1")["at"] = label
        campaign.run(documents, number=number)
    evaluated(campaign)
    wanted = (decided_by(2), "all")
    votes = rows(campaign, "votes")
    [tied] = [r for r in votes if (r["decided_by"], r["ensemble"]) == wanted]
    assert (tied["pers_entity_id"], tied["loc_entity_id"]) == ("p1", "l1")
    assert (tied["target"], tied["gold"], tied["vote"]) == ("at", "TRUE", "PROBABLE")
    first, second, *_ = rows(campaign, "ensembles")
    # One of the three TRUE is lost: (2/3 + 1 + 1) / 3.
    assert (first["ties"], second["ties"]) == ("1", "0")
    assert (first["accuracy"], first["macro_recall"]) == (repr(8 / 9), repr(8 / 9))


def test_on_the_surprise_set_at_alone_is_voted_on(campaign):
    campaign.reference(SURPRISE)
    documents = perfect(SURPRISE)
    for one in documents[0]["sampled_pairs"]:
        one["isAt"] = "TRUE"
    campaign.run(documents, stem=SURPRISE)
    evaluated(campaign)
    for table in ("ensembles", "votes", "hardest-pairs"):
        assert {row["target"] for row in rows(campaign, table, SURPRISE)} == {"at"}
    assert len(rows(campaign, "hardest-pairs", SURPRISE)) == 4


def test_agreement_is_left_open_where_it_is_undefined(campaign):
    campaign.reference()
    documents = perfect()
    for each in documents:
        for one in each["sampled_pairs"]:
            one.update(at="FALSE", isAt="FALSE")
    campaign.run(documents)
    campaign.run(documents, number=2)
    evaluated(campaign)
    for row in rows(campaign, "ensembles"):
        agreement = ("krippendorff_alpha", "mean_cohen_kappa", "kappa_run_pairs")
        assert [row[column] for column in agreement] == ["", "", "0"]
        assert (row["share_TRUE"], row["share_FALSE"]) == ("0.0", "1.0")
    assert rows(campaign, "ensembles")[0]["macro_recall"] == repr(1 / 3)


def test_odd_ids_dates_and_mentions_stay_on_one_line(campaign):
    odd = "a\tb\nc\rd\u2028e\x85f\x0cg"
    escaped = "a\\tb\\nc\\rd\u2028e\x85f\x0cg"
    one = {**pair(odd, "l1", "TRUE", "FALSE"), "pers_mentions_list": [odd, "Herr\tX"]}
    nameless = {**pair("p2", "l1", "FALSE", "TRUE"), "loc_mentions_list": []}
    documents = [document(odd, None, [one]), document("de-doc-2", "18\t48", [nameless])]
    campaign.reference(documents=documents)
    campaign.run(documents)
    evaluated(campaign)
    first, second, *_ = rows(campaign, "hardest-pairs")
    assert (first["document_id"], first["date"]) == (escaped, "")
    assert first["pers_entity_id"] == escaped
    assert first["pers_mentions_list"] == f"{escaped}; Herr\\tX"
    assert (second["date"], second["loc_mentions_list"]) == ("18\\t48", "")
    assert rows(campaign, "votes")[0]["document_id"] == escaped
    for table in TABLES:
        data = (campaign.results / "ensemble" / f"{table}-{DE}.tsv").read_bytes()
        widths = {line.count(b"\t") for line in data.rstrip(b"\n").split(b"\n")}
        assert len(widths) == 1
        assert b"\r" not in data


def test_a_gold_document_without_pairs_has_no_rows(campaign):
    campaign.reference(documents=[document("de-doc-0", "1850", []), *gold()])
    campaign.run(gold())
    evaluated(campaign)
    assert {row["document_id"] for row in rows(campaign, "votes")} == {"de-doc-1", "de-doc-2"}
    assert {row["pairs"] for row in rows(campaign, "ensembles")} == {"9"}


def test_a_reference_without_runs_has_no_tables(campaign):
    campaign.reference()
    campaign.reference(EN)
    campaign.run()
    done = evaluated(campaign)
    assert done.out == "ensembles: 1 reference, 1 written, 0 removed\n"
    tables = sorted(path.name for path in (campaign.results / "ensemble").glob("*.tsv"))
    assert tables == sorted(f"{table}-{DE}.tsv" for table in TABLES)


def test_nothing_is_made_again_unless_something_changed(base):
    assert evaluated(base).out == "ensembles: 4 references, 4 written, 0 removed\n"
    before = base.tree()
    assert ensembles(base).out == "ensembles: 4 references, 0 written, 0 removed\n"
    assert evaluated(base).out == "ensembles: 4 references, 0 written, 0 removed\n"
    assert base.tree() == before


def test_another_run_renews_its_reference_alone(base):
    evaluated(base)
    wrong = perfect()
    find_pair(wrong, "p1", "l1")["at"] = "FALSE"
    base.run(wrong)
    assert evaluated(base).out == "ensembles: 4 references, 1 written, 0 removed\n"
    assert rows(base, "ensembles")[0]["accuracy"] == repr(8 / 9)


def test_an_answer_that_changes_no_score_renews_the_votes(campaign):
    campaign.reference()
    for label in ("FALSE", "PROBABLE"):
        documents = perfect()
        find_pair(documents, "p1", "l1")["at"] = label
        campaign.run(documents)
        done = evaluated(campaign)
        assert done.out == "ensembles: 1 reference, 1 written, 0 removed\n"
        assert rows(campaign, "votes")[0][f"votes_{label}"] == "1"


def test_who_is_an_organizer_decides_who_votes_and_renews_the_tables(campaign):
    campaign.teams = campaign.folder / "teams.json"
    campaign.teams.write_text(json.dumps({"guests": {"name": "A"}}))
    campaign.reference()
    campaign.run()
    campaign.run(team="guests")
    evaluated(campaign)
    assert rows(campaign, "ensembles")[0]["runs"] == "2"
    campaign.teams.write_text(json.dumps({"guests": {"name": "B"}}))
    assert ensembles(campaign).out.endswith(" 0 written, 0 removed\n")  # a name is no reason
    campaign.teams.write_text(json.dumps({"guests": {"name": "B", "organizer": True}}))
    assert ensembles(campaign).out.endswith(" 1 written, 0 removed\n")
    assert rows(campaign, "ensembles")[0]["runs"] == "1"
    assert {row["team"] for row in rows(campaign, "members")} == {"team1"}


def test_the_configuration_decides_on_the_baseline_and_on_the_top(voters):
    evaluated(voters)
    facts = json.loads(voters.config.read_text())
    facts["ensembles"] = {"baseline": "random", "top": 2}
    voters.config = voters.folder / "config.json"
    voters.config.write_text(json.dumps(facts))
    evaluated(voters)
    assert {row["ensemble"] for row in rows(voters, "members")} == {"all", "top_2"}
    assert sum(row["ensemble"] == "top_2" for row in rows(voters, "members")) == 2


def test_another_way_to_number_ties_renews_the_ranks(voters):
    for number in (1, 2, 3):
        voters.run(team="team4", number=number)
    for ties, second in (("competition", "4"), ("dense", "2")):
        voters.ties = ties
        assert evaluated(voters).out == "ensembles: 1 reference, 1 written, 0 removed\n"
        ranks = [row["rank"] for row in rows(voters, "members") if row["ensemble"] == "top_5"]
        assert ranks[:4] == ["1", "1", "1", second]


def test_another_mode_renews_the_tables(base):
    evaluated(base)
    base.mode = "BINARY"
    assert evaluated(base).out == "ensembles: 4 references, 4 written, 0 removed\n"
    assert rows(base, "ensembles")[0]["share_TRUE"] == repr(6 / 9)


def test_tables_of_withdrawn_runs_disappear(base):
    evaluated(base)
    for path in base.systems.glob(f"team1_{SURPRISE}_run1*"):
        path.unlink()
    assert evaluated(base).out == "ensembles: 3 references, 0 written, 1 removed\n"
    assert not list((base.results / "ensemble").glob(f"*{SURPRISE}*"))
    assert len(list((base.results / "ensemble").glob("*.tsv"))) == 12


def test_edited_and_deleted_tables_are_made_again(base):
    evaluated(base)
    before = base.tree()
    folder = base.results / "ensemble"
    (folder / f"votes-{DE}.tsv").write_text("edited\n")
    (folder / f"members-{EN}.tsv").unlink()
    assert ensembles(base).out == "ensembles: 4 references, 2 written, 0 removed\n"
    assert base.tree() == before


def test_without_rankings_an_error_says_what_to_make(campaign):
    done = campaign.script("build_ensemble")
    assert done.status == 1
    assert done.err.splitlines() == [
        f"error: {campaign.results}/system-rankings: found no rankings;"
        " expected what an earlier stage writes; run make rankings"
    ]


def missing(stem=DE):
    return (
        f"error: team1_{stem}_run1.diagnostics.json: found no diagnostics, or not those that were"
        " written; expected those of the run; run make diagnostics"
    )


def diagnostics_file(campaign, stem=DE):
    return campaign.results / "diagnostics" / f"team1_{stem}_run1.diagnostics.json"


def test_without_diagnostics_an_error_says_what_to_make(base):
    base.evaluate()
    (base.results / "diagnostics" / "diagnostics.manifest.json").unlink()
    done = base.script("build_ensemble")
    assert (done.status, done.err.splitlines()) == (1, [missing()])


@pytest.mark.parametrize("data", [None, b"{}", b""])
def test_diagnostics_that_are_not_what_was_written_are_not_used(base, data):
    base.evaluate()
    path = diagnostics_file(base, EN)
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    done = base.script("build_ensemble")
    assert (done.status, done.err.splitlines()) == (1, [missing(EN)])
    assert not (base.results / "ensemble" / f"votes-{EN}.tsv").exists()
    # What it left behind is finished as soon as the diagnostics are there again.
    evaluated(base)
    assert len(list((base.results / "ensemble").glob("*.tsv"))) == 16


@pytest.mark.parametrize(("attribute", "value"), [("mode", "BINARY"), ("ties", "dense")])
def test_rankings_with_other_settings_are_refused(base, attribute, value):
    base.evaluate()
    setattr(base, attribute, value)
    done = base.script("build_ensemble")
    assert done.status == 1
    assert len(done.errors) == 1
    assert done.errors[0].endswith("run make rankings with the same variables")


@pytest.mark.parametrize("modes", [("TERNARY", "BINARY"), ("BINARY", "TERNARY")])
def test_diagnostics_of_another_mode_than_the_rankings_are_an_error(base, modes):
    base.mode = modes[0]
    base.evaluate()
    base.mode = modes[1]
    for script in ("score_one", "build_rankings"):
        assert base.script(script).status == 0
    done = base.script("build_ensemble")
    assert done.status == 1
    assert done.errors


def test_an_unknown_mode_is_wrong_usage(base):
    base.mode = "QUATERNARY"
    done = base.script("build_ensemble")
    assert done.status == 2
    assert "QUATERNARY" in done.err


def by_itself(campaign, seed):
    """Let runs vote in a process of its own, with another seed for hashes."""
    command = [sys.executable, str(PROJECT / "lib" / "build_ensemble.py")]
    command += ["--results-dir", str(campaign.results), "--teams", str(campaign.teams)]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run(command, env=environment, check=True, capture_output=True)


def test_the_same_bytes_come_twice_and_with_any_seed_for_hashes(voters):
    evaluated(voters)
    trees = [voters.tree()]
    for seed in ("0", "1"):
        for path in (voters.results / "ensemble").iterdir():
            path.unlink()
        by_itself(voters, seed)
        trees.append(voters.tree())
    assert trees[1] == trees[0]
    assert trees[2] == trees[0]


def test_a_key_that_the_configuration_does_not_have_ends_in_no_traceback(base):
    facts = json.loads(base.config.read_text())
    facts["ensembles"]["comment"] = "five, as in the paper"
    base.config = base.folder / "config.json"
    base.config.write_text(json.dumps(facts))
    base.evaluate()
    done = base.script("build_ensemble")
    assert (done.status == 0) == (done.errors == [])
