"""Break the macro recall of every run down by parts of the gold: where are runs good, where bad?

Reads   the references, the rankings by file, the diagnostics of their runs, the configuration
Writes  for each reference RESULTS_DIR/breakdown/breakdown-<reference stem>.tsv, with intervals,
        and pairs-<reference stem>.tsv, which says what part each pair belongs to
Exits   0, 1 if there are no rankings or no diagnostics of their runs, 2 for wrong usage

Parts are periods of the document's date, quartiles of the distance between the nearest mentions
of person and place, whether they are linked to Wikidata, and gold labels.
"""

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import cli
import inference
import strata
from bootstrap import Intervals
from campaign import BadInput, Config, load_config
from data_repo import DataRepo
from diagnosed import Diagnosed, Diagnostics
from document_counts import Counts, RunId, macro_recall
from files import digest_of_values, one_line, tsv_bytes
from inference import Sample, Settings, settings_of
from problems import Problem, plural, quote
from ranking_tables import RankingTables, Row
from stage import Product, Stage, code_digest, holding

BREAKDOWNS = ("period", "mention distance", "links", "gold label")
PERIOD, DISTANCE, LINKS, GOLD_LABEL = BREAKDOWNS
HEADER = ["breakdown", "part", "target", "rank", "team", "run", "documents", "pairs"]
HEADER += ["macro_recall", "low", "high", "method", "at_label_mode"]
SCORE = "macro_recall"


class Pair(NamedTuple):
    """A pair of the gold and the parts that it belongs to.

    document: its place in the file. date, period: of the document. distance: in characters, None
    where a mention is not found. gold: {target: label}.
    """

    document: int
    ids: list[str]
    date: str | None
    period: str
    distance: int | None
    quartile: str
    links: str
    gold: dict[str, str]


def pairs_of(gold: dict[str, dict], diagnosed: Diagnosed, config: Config) -> list[Pair]:
    """Return the pairs of a reference in the order of the gold.

    gold: the documents as the data repository loads them, for their texts. diagnosed: diagnostics
    of any run, for the labels of the mode at hand.
    """
    names, facts = config.facts["documents"], config.facts["breakdowns"]
    _require_keys(diagnosed, config)
    targets = config.profile(diagnosed["dataset"])["targets"]
    found = []
    for place, document in enumerate(diagnosed["documents"]):
        name, date = document[names["id"]], document[facts["date"]]
        text = gold[name][names["text"]]
        for pair in document[names["pairs"]]:
            mentions = [pair[key] for key in names["mentions"]]
            found.append(
                Pair(
                    place,
                    [name, *(pair[key] for key in names["pair_id"])],
                    date,
                    strata.period(date, facts["period_years"]),
                    strata.distance(text, *mentions),
                    "",
                    strata.links(pair, facts["links"]),
                    {target: pair[target] for target in targets},
                )
            )
    quartiles = strata.quartiles([pair.distance for pair in found])
    return [pair._replace(quartile=quartiles.name(pair.distance)) for pair in found]


def _require_keys(diagnosed: Diagnosed, config: Config) -> None:
    """Raise BadInput for keys in the section "breakdowns" that documents or pairs do not have."""
    facts = config.facts["breakdowns"]
    pairs_key = config.facts["documents"]["pairs"]
    wanted = {"$.breakdowns.date": (facts["date"], diagnosed["documents"])}
    pairs = [pair for document in diagnosed["documents"] for pair in document[pairs_key]]
    for name, key in facts["links"].items():
        wanted[f"$.breakdowns.links.{name}"] = (key, pairs)
    problems = [
        Problem("the configuration", None, path, quote(key), "a key of the gold", "")
        for path, (key, holders) in wanted.items()
        if not all(key in holder for holder in holders)
    ]
    if problems:
        raise BadInput(problems)


def parts_of(pairs: list[Pair], target: str, labels: list[str]) -> Iterator[tuple[str, str, list]]:
    """Yield (breakdown, part, whether each pair belongs to it) of all parts that have pairs.

    Parts stand in order of their names, gold labels in the order of labels; what has no date or
    no distance comes last.
    """
    breakdowns = {
        PERIOD: [pair.period for pair in pairs],
        DISTANCE: [pair.quartile for pair in pairs],
        LINKS: [pair.links for pair in pairs],
        GOLD_LABEL: [pair.gold[target] for pair in pairs],
    }
    last = (strata.UNDATED, strata.NOT_FOUND)
    for breakdown, own in breakdowns.items():
        names = sorted(set(own), key=lambda name: (name in last, name))
        if breakdown == GOLD_LABEL:
            names = [label for label in labels if label in own]
        for name in names:
            yield breakdown, name, [each == name for each in own]


class Answers(NamedTuple):
    """What all runs say to the pairs of one target.

    documents, labels: of each pair, as places. right: whether a run has a pair right, as
    [pair, run].
    """

    runs: list[RunId]
    documents: np.ndarray
    labels: np.ndarray
    right: np.ndarray

    def counts(self, target: str, number_of_labels: int, belongs: list[bool]) -> Counts:
        """Return the counts of a part, of the documents that have pairs in it."""
        chosen = np.array(belongs)
        present, documents = np.unique(self.documents[chosen], return_inverse=True)
        labels = self.labels[chosen]
        gold = np.zeros((len(present), number_of_labels))
        np.add.at(gold, (documents, labels), 1)
        hits = np.zeros((len(present), len(self.runs), number_of_labels))
        np.add.at(hits, (documents, slice(None), labels), self.right[chosen])
        return Counts(self.runs, [str(place) for place in present], {target: gold}, {target: hits})


def answers_of(
    target: str, labels: list[str], pairs: list[Pair], diagnosed: list[Diagnosed], pairs_key: str
) -> Answers:
    """Return the answers of all runs; diagnosed: their diagnostics, all of one reference."""
    right = [
        [
            pair[f"CORRECT_{target}"]
            for document in each["documents"]
            for pair in document[pairs_key]
        ]
        for each in diagnosed
    ]
    place = {label: index for index, label in enumerate(labels)}
    return Answers(
        [(each["team"], each["run"]) for each in diagnosed],
        np.array([pair.document for pair in pairs]),
        np.array([place[pair.gold[target]] for pair in pairs]),
        np.array(right, dtype=float).T,
    )


def macro_recalls(
    counts: Counts, name: str, settings: Settings
) -> tuple[np.ndarray, Intervals | None]:
    """Return the macro recall of each run on one part, and its intervals.

    name: of the part, which decides the resamples. The intervals are None for a single document.
    """
    ((target, gold),) = counts.gold.items()
    hits = counts.hits[target]

    def statistic(weights: inference.Weights) -> dict[str, np.ndarray]:
        return {SCORE: macro_recall(gold, hits, weights[0])}

    sample = Sample([name], [counts])
    if not sample.is_resampled:
        return statistic([np.ones((1, 1))])[SCORE][0], None
    estimate = inference.estimates(statistic, sample, settings)[SCORE]
    return estimate.value, estimate.intervals


class _Reference(NamedTuple):
    """What the tables of one reference are made of."""

    stem: str
    ranking: list[Row]
    pairs: list[Pair]
    diagnosed: list[Diagnosed]
    mode: str


def breakdown_tsv(found: _Reference, config: Config, settings: Settings) -> bytes:
    """Return the macro recall of every run on every part, with intervals."""
    pairs_key = config.facts["documents"]["pairs"]
    rows = []
    for target in found.pairs[0].gold:
        labels = config.labels(target, found.mode)
        answers = answers_of(target, labels, found.pairs, found.diagnosed, pairs_key)
        for breakdown, part, belongs in parts_of(found.pairs, target, labels):
            counts = answers.counts(target, len(labels), belongs)
            name = f"{found.stem} {breakdown} {part}"
            values, bounds = macro_recalls(counts, name, settings)
            for place, row in enumerate(found.ranking):
                run = [row["rank"], row["team"], row["run"], len(counts.documents), sum(belongs)]
                cells = [values[place].item(), None, None, None]
                if bounds is not None:
                    low, high = bounds.low[place].item(), bounds.high[place].item()
                    cells[1:] = [low, high, bounds.method[place]]
                rows.append([breakdown, part, target, *run, *cells, found.mode])
    return tsv_bytes(HEADER, sorted(rows, key=lambda row: BREAKDOWNS.index(row[0])))


def pairs_tsv(found: _Reference, config: Config) -> bytes:
    """Return the parts that each pair belongs to."""
    names = config.facts["documents"]
    targets = list(found.pairs[0].gold)
    header = [names["id"], *names["pair_id"], config.facts["breakdowns"]["date"], "period"]
    header += ["distance", "mention_distance", "links", *targets, "at_label_mode"]
    rows = [
        [
            *map(one_line, pair.ids),
            one_line(pair.date or ""),
            *(pair.period, pair.distance, pair.quartile, pair.links),
            *(pair.gold[target] for target in targets),
            found.mode,
        ]
        for pair in found.pairs
    ]
    return tsv_bytes(header, rows)


class _Breakdowns:
    """Makes the products: the tables of each reference."""

    def __init__(
        self, arguments: argparse.Namespace, config: Config, rankings: RankingTables
    ) -> None:
        self._config = config
        self._mode = arguments.at_label_mode
        self._settings = settings_of(config.facts["significance"], arguments.ties)
        self._reference_dir = arguments.reference_dir
        self._repo = DataRepo(arguments.data_repo, config.facts["schema"])
        self._diagnostics = Diagnostics(arguments.diagnostics_dir, rankings.index)
        self._digests = rankings.index["references"]
        self._rankings = {about["reference"]: rankings.rows(about) for about in rankings.by_file}

    def products(self) -> dict[str, Product]:
        """Return a product for each reference that has runs."""
        products = {}
        for reference, ranking in self._rankings.items():
            stem = Path(reference).stem
            outputs = [f"breakdown-{stem}.tsv", f"pairs-{stem}.tsv"]
            inputs = {
                "reference": self._digests[reference],
                "ranking": digest_of_values(ranking),
                "diagnostics": self._diagnostics.digest_of(row["submission"] for row in ranking),
                "config": self._config.digest,
                "data_repo": self._repo.digest,
                "at_label_mode": self._mode,
            }
            build = partial(self._build, reference, ranking, outputs)
            products[reference] = Product(outputs, inputs, build)
        return products

    def _build(self, reference: str, ranking: list[Row], outputs: list[str]) -> dict[str, bytes]:
        gold = self._repo.load(self._reference_dir / reference, self._digests[reference])
        diagnosed = [self._diagnostics.load(row["submission"]) for row in ranking]
        pairs = pairs_of(gold, diagnosed[0], self._config)
        found = _Reference(Path(reference).stem, ranking, pairs, diagnosed, self._mode)
        tables = [
            breakdown_tsv(found, self._config, self._settings),
            pairs_tsv(found, self._config),
        ]
        return dict(zip(outputs, tables, strict=True))


def main(arguments: argparse.Namespace) -> int:
    """Bring the tables of all references up to date; return the exit status."""
    config = load_config(arguments.config)
    cli.require_mode(arguments.at_label_mode, config)
    with holding(arguments.results_dir, "breakdown", ["rankings", "diagnostics"]):
        rankings = RankingTables(arguments.rankings_dir)
        rankings.require_made_with(arguments.at_label_mode, arguments.ties)
        products = _Breakdowns(arguments, config, rankings).products()
        outcome = Stage("breakdown", arguments.breakdown_dir).refresh(
            products, code_digest(__file__), only_check=arguments.only_check
        )
    print(f"breakdowns: {plural(len(products), 'reference')}, {outcome.summary('written')}")
    return cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(
        __doc__,
        "--reference-dir",
        "--results-dir",
        "--rankings-dir",
        "--diagnostics-dir",
        "--breakdown-dir",
        "--data-repo",
        "--config",
    )
    cli.add_mode(parser)
    cli.add_ties(parser)
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
