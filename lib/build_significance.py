"""Say how sure the rankings are: intervals of scores, tests of every two runs, ranges of ranks.

Reads   the rankings, the diagnostics of their runs, the configuration (its seed decides the
        resamples)
Writes  RESULTS_DIR/significance/counts-<reference stem>.tsv, of which all else is a function;
        for each ranking intervals-*.tsv, ranks-*.tsv and pairwise-*.tsv; significance.json
Exits   0, 1 if there are no rankings or other ones than the diagnostics are of, 2 for wrong usage
"""

import argparse
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cli
import document_counts
import inference
import paired_tests
import rank_uncertainty
from bootstrap import all_once, expanded_level
from campaign import VERSION, BadInput, Config, load_config
from diagnosed import Diagnostics
from document_counts import Counts, counts_of, rows_of
from files import digest_of_file, digest_of_values, json_bytes, read_tsv, tsv_bytes
from inference import Comparison, Efficiency, Estimate, Sample, Settings, Statistic, settings_of
from paired_tests import Randomization
from problems import Problem, plural
from ranking_tables import INDEX as RANKINGS
from ranking_tables import RankingTables, Row
from significance_index import INDEX, counts_file, tables_of
from stage import Product, Stage, code_digest, holding

INTERVALS_HEADER = ["rank", "team", "run", "score", "value", "low", "high", "method"]
INTERVALS_HEADER += ["percentile_low", "percentile_high", "at_label_mode"]
RANKS_HEADER = ["rank", "team", "run", "best_rank", "worst_rank", "cluster", "tier"]
RANKS_HEADER += ["first_group", "last_group", "probability_first", "rank_low", "rank_high"]
RANKS_HEADER += ["at_label_mode"]
PAIRWISE_HEADER = ["team", "run", "other_team", "other_run", "difference", "low", "high", "method"]
PAIRWISE_HEADER += ["p_bootstrap", "p_bootstrap_holm", "p_randomization", "p_randomization_holm"]
PAIRWISE_HEADER += ["swaps", "significant", "at_label_mode"]
# Two more than resamples and draws could ever tell apart, and fewer than rounding disturbs.
DECIMALS = 12


class Ranking(NamedTuple):
    """A ranking as it was published: its entry in rankings.json, its rows, its references."""

    about: dict[str, Any]
    rows: list[Row]
    references: list[dict[str, Any]]

    @property
    def runs(self) -> list[document_counts.RunId]:
        """Return team and run of each row."""
        return [(row["team"], row["run"]) for row in self.rows]

    @property
    def is_efficiency(self) -> bool:
        """Tell whether runs are ranked by a mean of ranks."""
        return self.about["kind"] == "efficiency"


def rankings_of(tables: RankingTables, config: Config) -> list[Ranking]:
    """Return all rankings with what each is over."""
    by_file = tables.by_file
    means = config.facts["rankings"]["means"]
    rankings = []
    for about in tables.all:
        if "reference" in about:
            over = [each for each in by_file if each["reference"] == about["reference"]]
        else:
            facts = means[about["of"]] if about["kind"] == "efficiency" else about
            keys = ("dataset", "split")
            over = [each for each in by_file if all(each[key] == facts[key] for key in keys)]
        rankings.append(Ranking(about, tables.rows(about), over))
    return rankings


def statistic_of(ranking: Ranking, sample: Sample, config: Config, ties: str) -> Statistic:
    """Return the scores of a ranking as a function of the weights of documents."""
    profile_score = config.profile(ranking.references[0]["dataset"])["score"]
    about = ranking.about
    accuracy = about
    if ranking.is_efficiency:
        means = config.facts["rankings"]["means"]
        accuracy = means.get(about["of"], {"score": profile_score})
    if "reference" in about:
        statistic = inference.file_statistic(sample, profile_score)
    else:
        languages = [reference["language"] for reference in ranking.references]
        statistic = inference.mean_statistic(sample, profile_score, languages, accuracy["score"])
    if not ranking.is_efficiency:
        return statistic
    profile = _efficiency(ranking, accuracy["score"], config)
    return inference.efficiency_statistic(statistic, profile, ties)


def _efficiency(ranking: Ranking, score: str, config: Config) -> Efficiency:
    weights = ranking.about["weights"]
    total = sum(weights.values())
    by_size = [each for each in weights if each in config.facts["info"]["organizer"]]
    rest = np.zeros(len(ranking.rows), dtype=np.int64)
    for quantity in by_size:
        ranks = np.array([int(row[f"rank_{quantity}"]) for row in ranking.rows])
        rest = rest + ranks * weights[quantity]
    by_score = total - sum(weights[quantity] for quantity in by_size)
    return Efficiency(ranking.about["score"], score, by_score, rest, total)


class Tests(NamedTuple):
    """The randomization tests of every two runs, corrected, and which of them are significant."""

    randomization: Randomization
    corrected: np.ndarray
    significant: np.ndarray


class Findings(NamedTuple):
    """All that is said of one ranking; what cannot be inferred is None."""

    ranking: Ranking
    settings: Settings
    estimates: dict[str, Estimate] | None = None
    comparison: Comparison | None = None
    tests: Tests | None = None


def infer(ranking: Ranking, sample: Sample, config: Config, settings: Settings) -> Findings:
    """Return what can be inferred about a ranking that has rows.

    Mean ranks of efficiency are not tested by swapping documents: they also depend on sizes,
    which no swap changes, and on the ranks of all other runs. Raises BadInput where the counts
    do not give the scores of the ranking.
    """
    statistic = statistic_of(ranking, sample, config, settings.ties)
    _require_scores(ranking, statistic([all_once(number) for number in sample.documents]))
    found = Findings(ranking, settings)
    if sample.is_resampled:
        score = ranking.about["score"]
        unsmooth = score if ranking.is_efficiency else None
        estimates = inference.estimates(
            statistic,
            sample,
            settings,
            unsmooth=unsmooth,
            on_one_file=_scores_on_one_file(ranking, config),
        )
        level = expanded_level(settings.level, sample.documents)
        comparison = inference.compare(estimates[score], level)
        found = found._replace(estimates=estimates, comparison=comparison)
    if not ranking.is_efficiency:
        randomization = inference.randomization(sample, settings)
        corrected = paired_tests.holm(randomization.p_values)
        tests = Tests(randomization, corrected, corrected <= settings.alpha)
        found = found._replace(tests=tests)
    return found


def _scores_on_one_file(ranking: Ranking, config: Config) -> dict[str, int]:
    languages = [reference["language"] for reference in ranking.references]
    profile = config.profile(ranking.references[0]["dataset"])
    return inference.scores_of_single_files(profile["score"], languages)


def _require_scores(ranking: Ranking, found: dict[str, np.ndarray]) -> None:
    for score, values in found.items():
        published = np.array([float(row[score]) for row in ranking.rows])
        if not np.allclose(values[0], published, rtol=0, atol=1e-9):
            told = f"diagnostics that do not give its {score}"
            action = "run make rankings diagnostics with the same variables"
            file = ranking.about["file"]
            raise BadInput([Problem(file, None, "", told, "those of its runs", action)])


def intervals_tsv(found: Findings, mode: str) -> bytes:
    """Return every score of every run with its intervals."""
    rows = []
    for score, estimate in (found.estimates or {}).items():
        bounds = estimate.intervals
        columns = (bounds.low, bounds.high, bounds.method)
        columns += (bounds.percentile_low, bounds.percentile_high)
        for place, row in enumerate(found.ranking.rows):
            cells = [_plain(column[place]) for column in columns]
            rows.append([row["rank"], row["team"], row["run"], score, row[score], *cells, mode])
    return tsv_bytes(INTERVALS_HEADER, rows)


def ranks_tsv(found: Findings, mode: str) -> bytes:
    """Return what can be said of the rank of each run."""
    rows, settings = found.ranking.rows, found.settings
    columns: list[Any] = [[None] * len(rows)] * 9
    score = found.ranking.about["score"]
    if found.tests is not None:
        values = np.array([float(row[score]) for row in rows])
        better = rank_uncertainty.better_than(values, found.tests.significant)
        columns[:2] = rank_uncertainty.rank_ranges(better)
        columns[2] = rank_uncertainty.clusters(better)
        columns[3] = rank_uncertainty.tiers(better)
        columns[4:6] = zip(*rank_uncertainty.groups(better), strict=True)
    if found.estimates is not None:
        resampled = found.estimates[score].resampled
        ranks = rank_uncertainty.ranks(
            resampled, settings.ties, descending=not found.ranking.is_efficiency
        )
        columns[6] = rank_uncertainty.probability_first(ranks)
        columns[7:] = rank_uncertainty.rank_intervals(ranks, settings.level)
    return tsv_bytes(
        RANKS_HEADER,
        [
            [row["rank"], row["team"], row["run"], *(_plain(c[place]) for c in columns), mode]
            for place, row in enumerate(rows)
        ],
    )


def pairwise_tsv(found: Findings, mode: str) -> bytes:
    """Return the tests of every two runs."""
    runs = found.ranking.runs
    first, second = paired_tests.all_pairs(len(runs))
    nothing = [None] * len(first)
    columns: list[Any] = [nothing] * 10
    if found.comparison is not None:
        bounds, p_bootstrap = found.comparison.intervals, found.comparison.p_bootstrap
        columns[:4] = [found.comparison.difference, bounds.low, bounds.high, bounds.method]
        columns[4:6] = [p_bootstrap, paired_tests.holm(p_bootstrap)]
    if found.tests is not None:
        significant = ["yes" if each else "no" for each in found.tests.significant]
        p_values, swaps = found.tests.randomization
        columns[6:] = [p_values, found.tests.corrected, swaps, significant]
    return tsv_bytes(
        PAIRWISE_HEADER,
        [
            [*runs[one], *runs[other], *(_plain(column[place]) for column in columns), mode]
            for place, (one, other) in enumerate(zip(first, second, strict=True))
        ],
    )


def _plain(value: Any) -> Any:
    """Return a number of numpy as one of Python, without what rounding leaves of equal values."""
    if isinstance(value, np.floating):
        return round(value.item(), DECIMALS) + 0.0
    return value.item() if isinstance(value, np.generic) else value


class _Significance:
    """Makes the products: counts of each reference, then the tables of each ranking."""

    def __init__(
        self, arguments: argparse.Namespace, config: Config, tables: RankingTables
    ) -> None:
        self._config = config
        self._mode = arguments.at_label_mode
        self._settings = settings_of(config.facts["significance"], arguments.ties)
        self._folder = arguments.significance_dir
        self._ranking_tables = tables
        self._diagnostics = Diagnostics(arguments.diagnostics_dir, tables.index)
        self._rankings = rankings_of(tables, config)
        self._counts: dict[str, Counts] = {}

    def counts_products(self) -> dict[str, Product]:
        """Return a product for each reference that has runs: its counts."""
        products = {}
        for ranking in self._rankings:
            if ranking.about["kind"] == "files":
                runs = [row["submission"] for row in ranking.rows]
                inputs = {
                    "diagnostics": self._diagnostics.digest_of(runs),
                    "config": self._config.digest,
                }
                file = counts_file(ranking.about["reference"])
                products[file] = Product([file], inputs, partial(self._count, ranking, file))
        return products

    def _count(self, ranking: Ranking, file: str) -> dict[str, bytes]:
        targets = self._config.profile(ranking.about["dataset"])["targets"]
        names = self._config.facts["documents"]
        rows = []
        for row in ranking.rows:
            rows += rows_of(self._diagnostics.load(row["submission"]), targets, names)
        return {file: tsv_bytes(document_counts.HEADER, rows)}

    def ranking_products(self) -> dict[str, Product]:
        """Return a product for each ranking, from the counts that are there now, and the index."""
        products = {
            ranking.about["file"]: Product(
                list(tables_of(ranking.about["file"])),
                self._inputs(ranking),
                partial(self._infer, ranking),
            )
            for ranking in self._rankings
        }
        made_of = self._ranking_tables.digest_of(RANKINGS)
        inputs = {"rankings": made_of, "config": self._config.digest}
        products[INDEX] = Product([INDEX], inputs, lambda: {INDEX: self._index(made_of)})
        return products

    def _inputs(self, ranking: Ranking) -> dict[str, str | None]:
        files = [counts_file(reference["reference"]) for reference in ranking.references]
        return {
            "ranking": self._ranking_tables.digest_of(ranking.about["file"]),
            "counts": digest_of_values([digest_of_file(self._folder / file) for file in files]),
            "config": self._config.digest,
            "at_label_mode": self._mode,
            "ties": self._settings.ties,
        }

    def _infer(self, ranking: Ranking) -> dict[str, bytes]:
        found = Findings(ranking, self._settings)
        if ranking.rows:
            found = infer(ranking, self._sample(ranking), self._config, self._settings)
        tables = tables_of(ranking.about["file"])
        return {
            tables.intervals: intervals_tsv(found, self._mode),
            tables.ranks: ranks_tsv(found, self._mode),
            tables.pairwise: pairwise_tsv(found, self._mode),
        }

    def _sample(self, ranking: Ranking) -> Sample:
        references = [reference["reference"] for reference in ranking.references]
        counts = [self._counts_of(reference).of_runs(ranking.runs) for reference in references]
        return Sample([Path(reference).stem for reference in references], counts)

    def _counts_of(self, reference: str) -> Counts:
        if reference not in self._counts:
            rows = read_tsv(self._folder / counts_file(reference))
            self._counts[reference] = counts_of(rows, self._labels(reference))
        return self._counts[reference]

    def _labels(self, reference: str) -> dict[str, list[str]]:
        (dataset,) = (
            ranking.about["dataset"]
            for ranking in self._rankings
            if ranking.about["kind"] == "files" and ranking.about["reference"] == reference
        )
        targets = self._config.profile(dataset)["targets"]
        return {target: self._config.labels(target, self._mode) for target in targets}

    def _index(self, made_of: str) -> bytes:
        """Return significance.json: how all was made, and of how many documents and draws."""
        rankings = []
        for ranking in self._rankings:
            documents = []
            if ranking.rows:
                documents = self._sample(ranking).documents
            rankings.append(
                {
                    "ranking": ranking.about["file"],
                    "tables": tables_of(ranking.about["file"])._asdict(),
                    "documents": documents,
                    **self._how(ranking, documents),
                }
            )
        index = {
            "campaign": self._config.facts["campaign"],
            "version": VERSION,
            "at_label_mode": self._mode,
            **self._settings._asdict(),
            "made_of": made_of,
            "rankings": rankings,
        }
        return json_bytes(index)

    def _how(self, ranking: Ranking, documents: list[int]) -> dict[str, Any]:
        """Return the nominal level of the intervals and the swaps of the tests, None for none."""
        nominal = swaps = None
        if documents and min(documents) > 1:
            nominal = expanded_level(self._settings.level, documents)
        if documents and not ranking.is_efficiency:
            swaps = self._settings.swaps(sum(documents), len(ranking.rows))._asdict()
        return {"nominal_level": nominal, "swaps": swaps}


def main(arguments: argparse.Namespace) -> int:
    """Bring all tables up to date; return the exit status."""
    config = load_config(arguments.config)
    cli.require_mode(arguments.at_label_mode, config)
    code = code_digest(__file__)
    with holding(arguments.results_dir, "significance", ["rankings", "diagnostics"]):
        tables = RankingTables(arguments.rankings_dir)
        tables.require_made_with(arguments.at_label_mode, arguments.ties)
        significance = _Significance(arguments, config, tables)
        Stage("counts", arguments.significance_dir).refresh(
            significance.counts_products(), code, only_check=arguments.only_check
        )
        outcome = Stage("significance", arguments.significance_dir).refresh(
            significance.ranking_products(), code, only_check=arguments.only_check
        )
    print(f"significance: {plural(len(tables.all), 'ranking')}, {outcome.summary('written')}")
    return cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(
        __doc__,
        "--results-dir",
        "--rankings-dir",
        "--diagnostics-dir",
        "--significance-dir",
        "--config",
    )
    cli.add_mode(parser)
    cli.add_ties(parser)
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
