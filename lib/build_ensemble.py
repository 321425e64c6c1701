"""Let runs vote, measure how they agree, and list the pairs that all or none of them get right.

Reads   the rankings by file, the diagnostics of their runs, teams.json (whose entries are no
        teams), the configuration
Writes  for each reference RESULTS_DIR/ensemble/ensembles-<reference stem>.tsv (accuracy, macro
        recall and agreement), votes-*.tsv, members-*.tsv and hardest-pairs-*.tsv
Exits   0, 1 if there are no rankings or no diagnostics of their runs, 2 for wrong usage
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import cli
import counting
from agreement import MeanKappa, Plurality, krippendorff_alpha, mean_kappa, plurality
from campaign import Config, load_config, load_teams
from diagnosed import Diagnosed, Diagnostics
from files import digest_of_values, one_line, tsv_bytes
from problems import plural
from ranking_tables import RankingTables, Row
from stage import Product, Stage, code_digest, holding

PLURALITY, ALPHABET = "plurality", "alphabetical order"
NONE_RIGHT, ALL_RIGHT = "none right", "all right"


class Ensemble(NamedTuple):
    """A set of runs that vote: its name, and the places of its runs in the ranking."""

    name: str
    members: list[int]


def ensembles_of(
    ranking: list[Row], organizers: set[str], baseline: str, top: int
) -> list[Ensemble]:
    """Return the sets of runs that vote; sets without runs are left out.

    ranking: its rows, the best first. organizers: entries that are no teams. baseline: the one
    whose best run the second set is better than. top: how many runs the third set has, by the
    order of the rows.
    """
    teams = [place for place, row in enumerate(ranking) if row["team"] not in organizers]
    sets = [Ensemble("all", teams)]
    limits = [int(row["rank"]) for row in ranking if row["team"] == baseline]
    if limits:
        above = [place for place in teams if int(ranking[place]["rank"]) < min(limits)]
        sets.append(Ensemble("above_baseline", above))
    sets.append(Ensemble(f"top_{top}", teams[:top]))
    return [each for each in sets if each.members]


class Poll(NamedTuple):
    """All labels of one target: gold labels of the pairs, and those of each run."""

    target: str
    names: list[str]
    gold: list[str]
    labels: list[list[str]]

    def votes(self, members: list[int]) -> list[Counter]:
        """Return how often the members give each label, for each pair."""
        chosen = [self.labels[member] for member in members]
        return [Counter(answers) for answers in zip(*chosen, strict=True)]


def poll_of(target: str, names: list[str], diagnosed: list[Diagnosed], pairs_key: str) -> Poll:
    """Return the labels of one target.

    names: the target's labels. diagnosed: diagnostics of the runs, all of one reference.
    """
    of_runs = [
        [pair for document in each["documents"] for pair in document[pairs_key]]
        for each in diagnosed
    ]
    gold = [pair[target] for pair in of_runs[0]]
    labels = [[pair[f"SYS_{target}"] for pair in pairs] for pairs in of_runs]
    return Poll(target, names, gold, labels)


class Outcome(NamedTuple):
    """What one ensemble says of one target."""

    ensemble: Ensemble
    poll: Poll
    votes: list[Counter]
    winners: list[Plurality]
    alpha: float | None
    kappa: MeanKappa

    def shares(self) -> dict[str, float]:
        """Return the share of each label among the winners."""
        given = Counter(winner.label for winner in self.winners)
        return {name: given[name] / len(self.winners) for name in self.poll.names}

    def matrix(self, imputed_label: str) -> counting.Confusion:
        """Return the confusion matrix of the vote."""
        predicted = [winner.label for winner in self.winners]
        return counting.confusion_matrix(
            self.poll.gold, predicted, self.poll.names, {}, imputed_label
        )


def outcome_of(ensemble: Ensemble, poll: Poll) -> Outcome:
    """Return the vote of an ensemble and the agreement among its members."""
    votes = poll.votes(ensemble.members)
    winners = [plurality(each) for each in votes]
    labels = [poll.labels[member] for member in ensemble.members]
    alpha = krippendorff_alpha(votes, poll.names)
    return Outcome(ensemble, poll, votes, winners, alpha, mean_kappa(labels, poll.names))


class _Reference(NamedTuple):
    """What the tables of one reference are made of."""

    ranking: list[Row]
    diagnosed: list[Diagnosed]
    ensembles: list[Ensemble]
    outcomes: list[Outcome]
    labels: list[str]
    mode: str


def ensembles_tsv(found: _Reference, imputed_label: str) -> bytes:
    """Return a row for each ensemble and target: its scores and its agreement."""
    header = ["ensemble", "target", "runs", "pairs", "ties", "accuracy", "macro_recall"]
    header += [f"share_{label}" for label in found.labels]
    header += ["krippendorff_alpha", "mean_cohen_kappa", "kappa_run_pairs", "at_label_mode"]
    rows = []
    for each in found.outcomes:
        matrix = each.matrix(imputed_label)
        ties = sum(winner.tied for winner in each.winners)
        shares = each.shares()
        rows.append(
            [
                *(each.ensemble.name, each.poll.target, len(each.ensemble.members)),
                *(len(each.winners), ties, float(counting.accuracy(matrix))),
                float(counting.macro_recall(matrix)),
                *(shares.get(label) for label in found.labels),
                *(each.alpha, *each.kappa, found.mode),
            ]
        )
    return tsv_bytes(header, rows)


def votes_tsv(found: _Reference, names: dict[str, Any]) -> bytes:
    """Return a row for each pair, target and ensemble: the votes and who wins."""
    header = [names["id"], *names["pair_id"], "target", "gold", "ensemble"]
    header += [f"votes_{label}" for label in found.labels]
    header += ["vote", "decided_by", "at_label_mode"]
    rows = []
    for each in found.outcomes:
        pairs = _pairs_of(found.diagnosed[0], names)
        for (document, pair), votes, winner in zip(pairs, each.votes, each.winners, strict=True):
            numbers = [votes[n] if n in each.poll.names else None for n in found.labels]
            place = _place(document, pair, names)
            told = [each.poll.target, pair[each.poll.target], each.ensemble.name, *numbers]
            voted = [*told, winner.label, ALPHABET if winner.tied else PLURALITY]
            rows.append([*place, *voted, found.mode])
    return tsv_bytes(header, rows)


def members_tsv(found: _Reference) -> bytes:
    """Return a row for each ensemble and run that votes in it."""
    rows = [
        [ensemble.name, *(found.ranking[place][key] for key in ("rank", "team", "run")), found.mode]
        for ensemble in found.ensembles
        for place in ensemble.members
    ]
    return tsv_bytes(["ensemble", "rank", "team", "run", "at_label_mode"], rows)


def hardest_pairs_tsv(found: _Reference, names: dict[str, Any], date: str) -> bytes:
    """Return the pairs that no team run, or every team run, gets right, none right first."""
    header = [names["id"], date, *names["pair_id"], *names["mentions"], "target", "gold"]
    header += ["right", "runs", "outcome", "vote", "at_label_mode"]
    rows = []
    for each in found.outcomes:
        if each.ensemble.name != "all":
            continue
        runs = len(each.ensemble.members)
        pairs = _pairs_of(found.diagnosed[0], names)
        for (document, pair), votes, winner in zip(pairs, each.votes, each.winners, strict=True):
            gold = pair[each.poll.target]
            right = votes[gold]
            if right in (0, runs):
                mentions = [one_line("; ".join(pair[key])) for key in names["mentions"]]
                place, *ids = _place(document, pair, names)
                told = [each.poll.target, gold, right, runs, ALL_RIGHT if right else NONE_RIGHT]
                dated = one_line(document[date] or "")
                rows.append([place, dated, *ids, *mentions, *told, winner.label, found.mode])
    outcome = header.index("outcome")
    return tsv_bytes(header, sorted(rows, key=lambda row: row[outcome] == ALL_RIGHT))


def _pairs_of(diagnosed: Diagnosed, names: dict[str, Any]) -> Iterator[tuple[dict, dict]]:
    for document in diagnosed["documents"]:
        for pair in document[names["pairs"]]:
            yield document, pair


def _place(document: dict, pair: dict, names: dict[str, Any]) -> list[str]:
    return [one_line(document[names["id"]]), *(one_line(pair[key]) for key in names["pair_id"])]


class _Ensembles:
    """Makes the products: the tables of each reference."""

    def __init__(
        self, arguments: argparse.Namespace, config: Config, rankings: RankingTables
    ) -> None:
        self._config = config
        self._mode = arguments.at_label_mode
        self._diagnostics = Diagnostics(arguments.diagnostics_dir, rankings.index)
        teams = load_teams(arguments.teams)
        self._organizers = {team for team, about in teams.items() if about.organizer}
        self._rankings = [(about, rankings.rows(about)) for about in rankings.by_file]

    def products(self) -> dict[str, Product]:
        """Return a product for each reference that has runs."""
        products = {}
        for about, ranking in self._rankings:
            stem = Path(about["reference"]).stem
            outputs = [f"{table}-{stem}.tsv" for table in _TABLES]
            inputs = {
                "ranking": digest_of_values(ranking),
                "diagnostics": self._diagnostics.digest_of(row["submission"] for row in ranking),
                "organizers": digest_of_values(sorted(self._organizers)),
                "config": self._config.digest,
                "at_label_mode": self._mode,
            }
            build = partial(self._build, about["dataset"], ranking, outputs)
            products[about["reference"]] = Product(outputs, inputs, build)
        return products

    def _build(self, dataset: str, ranking: list[Row], outputs: list[str]) -> dict[str, bytes]:
        facts = self._config.facts
        names = facts["documents"]
        diagnosed = [self._diagnostics.load(row["submission"]) for row in ranking]
        ensembles = ensembles_of(
            ranking, self._organizers, facts["ensembles"]["baseline"], facts["ensembles"]["top"]
        )
        polls = [
            poll_of(target, self._config.labels(target, self._mode), diagnosed, names["pairs"])
            for target in self._config.profile(dataset)["targets"]
        ]
        outcomes = [outcome_of(ensemble, poll) for ensemble in ensembles for poll in polls]
        labels = list(dict.fromkeys(name for poll in polls for name in poll.names))
        found = _Reference(ranking, diagnosed, ensembles, outcomes, labels, self._mode)
        tables = [
            ensembles_tsv(found, facts["imputed_label"]),
            votes_tsv(found, names),
            members_tsv(found),
            hardest_pairs_tsv(found, names, facts["breakdowns"]["date"]),
        ]
        return dict(zip(outputs, tables, strict=True))


_TABLES = ("ensembles", "votes", "members", "hardest-pairs")


def main(arguments: argparse.Namespace) -> int:
    """Bring the tables of all references up to date; return the exit status."""
    config = load_config(arguments.config)
    cli.require_mode(arguments.at_label_mode, config)
    with holding(arguments.results_dir, "ensemble", ["rankings", "diagnostics"]):
        rankings = RankingTables(arguments.rankings_dir)
        rankings.require_made_with(arguments.at_label_mode, arguments.ties)
        products = _Ensembles(arguments, config, rankings).products()
        outcome = Stage("ensemble", arguments.ensemble_dir).refresh(
            products, code_digest(__file__), only_check=arguments.only_check
        )
    print(f"ensembles: {plural(len(products), 'reference')}, {outcome.summary('written')}")
    return cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(
        __doc__,
        "--results-dir",
        "--rankings-dir",
        "--diagnostics-dir",
        "--ensemble-dir",
        "--config",
        "--teams",
    )
    cli.add_mode(parser)
    cli.add_ties(parser)
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
