"""Check the intervals and tests of `make significance` on campaigns whose truth is known.

Run it with `make calibrate`; it takes half an hour on two cores and prints the tables of
docs/significance.md. Campaigns are drawn like the ones of HIPE-2026: documents with as many pairs,
with gold labels that cluster in documents as much, and with runs that are right with known
probabilities which shift from document to document. Then the code of lib/ computes intervals and
p-values, and they are compared with the truth. It always succeeds: it measures.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "lib"))

import inference
import paired_tests
from bootstrap import expanded_level, in_order, intervals
from document_counts import Counts
from inference import Sample, Settings

CAMPAIGNS = 2000
# What the randomization test decides on should be seen at a tenth of a point; the bootstrap test,
# which decides nothing, has as many campaigns as the intervals.
CAMPAIGNS_ALIKE, CAMPAIGNS_OTHERWISE = 100_000, 5_000
SETTINGS = Settings(seed=2026, level=0.95, resamples=10_000, draws=10_000, ties="competition")
SCORE, MEAN = "profile_score", "mean_profile_score"
# Pairs in a document: how many of the 57 newspaper documents have so many.
SIZES = {1: 1, 2: 4, 3: 4, 4: 5, 5: 1, 7: 1, 8: 2, 9: 3, 10: 2, 12: 5, 15: 2, 16: 27}
# Variance between documents of the logistic model, in which an error has the variance pi^2 / 3.
LOGISTIC = np.pi**2 / 3


class Layout(NamedTuple):
    """What a file looks like.

    targets: {target: shares of its gold labels}. clustering: intraclass correlation of gold labels
    within documents. sizes: {pairs: documents that have so many}.
    """

    targets: dict[str, tuple[float, ...]]
    clustering: float
    sizes: dict[int, int]


NEWSPAPERS = Layout({"at": (0.335, 0.133, 0.532), "isAt": (0.334, 0.666)}, 0.20, SIZES)
SURPRISE = Layout({"at": (0.271, 0.125, 0.604)}, 0.13, {16: 1})

# Recall of each label in a document of middle difficulty, in the order of the shares.
Run = dict[str, tuple[float, ...]]
BEST: Run = {"at": (0.73, 0.45, 0.93), "isAt": (0.80, 0.90)}
MIDDLE: Run = {"at": (0.55, 0.30, 0.75), "isAt": (0.45, 0.85)}
# The same recalls for other labels, and so the same macro recall.
OTHER_STRENGTHS: Run = {target: recalls[::-1] for target, recalls in MIDDLE.items()}
WEAK: Run = {"at": (0.30, 0.10, 0.80), "isAt": (0.20, 0.92)}


class World(NamedTuple):
    """What campaigns are drawn from: layout, files, documents a file, and document effects.

    effects: intraclass correlation of right answers within documents. Half of that variance is
    shared by all runs (a document is hard), half is each run's own.
    """

    layout: Layout
    files: int
    documents: int
    effects: float

    @property
    def deviation(self) -> float:
        """Return the standard deviation of document effects on the logit scale."""
        return float(np.sqrt(LOGISTIC * self.effects / (1 - self.effects)))


def truth(run: Run, world: World) -> float:
    """Return a run's score on endlessly many documents."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    macro_recalls = []
    for target in world.layout.targets:
        logits = _logit(np.array(run[target]))
        recalls = _probability(logits[:, None] + world.deviation * nodes) @ weights
        macro_recalls.append(recalls.mean())
    return float(np.mean(macro_recalls))


def _logit(probability: np.ndarray) -> np.ndarray:
    return np.log(probability / (1 - probability))


def _probability(logit: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logit))


def draw(world: World, runs: list[Run], chance: np.random.Generator) -> Sample:
    """Return the counts of a campaign."""
    files = [_draw_file(world, runs, chance) for _ in range(world.files)]
    return Sample([str(place) for place in range(world.files)], files)


def _draw_file(world: World, runs: list[Run], chance: np.random.Generator) -> Counts:
    layout, number = world.layout, world.documents
    share = np.array(list(layout.sizes.values())) / sum(layout.sizes.values())
    pairs = chance.choice(list(layout.sizes), size=number, p=share)
    half = world.deviation / np.sqrt(2)
    effects = chance.normal(0, half, (number, 1)) + chance.normal(0, half, (number, len(runs)))
    gold, hits = {}, {}
    for target, shares in layout.targets.items():
        concentration = np.array(shares) * (1 / layout.clustering - 1)
        own_shares = chance.dirichlet(concentration, size=number)
        gold[target] = chance.multinomial(pairs, own_shares).astype(float)
        logits = _logit(np.array([run[target] for run in runs]))
        recalls = _probability(logits + effects[:, :, None])
        right = chance.binomial(gold[target][:, None, :].astype(int), recalls)
        hits[target] = right.astype(float)
    names = [(f"team{place}", "run1") for place in range(len(runs))]
    return Counts(names, [str(place) for place in range(number)], gold, hits)


def _statistic(sample: Sample) -> tuple[str, inference.Statistic]:
    if len(sample.counts) == 1:
        return SCORE, inference.file_statistic(sample, SCORE)
    languages = list(sample.names)
    return MEAN, inference.mean_statistic(sample, SCORE, languages, MEAN)


def coverage(world: World, runs: list[Run], seed: int) -> np.ndarray:
    """Return for each run whether the truth is in its interval, as [kind of interval, run].

    The kinds are BCa and percentile as they are published, and both at a nominal 95%.
    """
    sample = draw(world, runs, np.random.default_rng([SETTINGS.seed, seed]))
    name, statistic = _statistic(sample)
    found = inference.estimates(statistic, sample, SETTINGS._replace(seed=seed))[name]
    nominal = intervals(found.value, in_order(found.resampled), found.left_out, SETTINGS.level)
    bounds = [(b.low, b.high) for b in (found.intervals, nominal)]
    bounds += [(b.percentile_low, b.percentile_high) for b in (found.intervals, nominal)]
    wanted = np.array([truth(run, world) for run in runs])
    return np.array([(low <= wanted) & (wanted <= high) for low, high in bounds])


def false_differences(world: World, runs: list[Run], seed: int) -> np.ndarray:
    """Return whether equally good runs are called different, by the one and by the other test.

    With more than two runs: whether any two of them are, after Holm's correction. The bootstrap
    takes much longer, so it is not a number in all but the first campaigns.
    """
    sample = draw(world, runs, np.random.default_rng([SETTINGS.seed, seed]))
    settings = SETTINGS._replace(seed=seed)
    by_swaps = _differ(inference.randomization(sample, settings).p_values)
    if seed >= CAMPAIGNS:
        return np.array([by_swaps, np.nan])
    name, statistic = _statistic(sample)
    found = inference.estimates(statistic, sample, settings)[name]
    level = expanded_level(SETTINGS.level, sample.documents)
    return np.array([by_swaps, _differ(inference.compare(found, level).p_bootstrap)])


def _differ(p_values: np.ndarray) -> float:
    return float(paired_tests.holm(p_values).min() <= SETTINGS.alpha)


def measure(
    what: Callable[[World, list[Run], int], np.ndarray],
    world: World,
    runs: list[Run],
    campaigns: int,
) -> np.ndarray:
    """Return what is measured of each campaign, as [campaign, ...]."""
    with ProcessPoolExecutor() as processes:
        found = processes.map(partial(what, world, runs), range(campaigns), chunksize=50)
        return np.array(list(found))


class Table(NamedTuple):
    """A table that is printed row by row: its columns with their widths, and its rows."""

    title: str
    columns: dict[str, int]
    rows: Callable[[], Iterable[list[str]]]

    def print(self) -> None:
        """Print the table in Markdown."""
        print(f"\n{self.title}\n")
        self._print_row(list(self.columns))
        self._print_row(["-" * width for width in self.columns.values()])
        for row in self.rows():
            self._print_row(row)

    def _print_row(self, cells: list[str]) -> None:
        widths = self.columns.values()
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        print(f"| {' | '.join(padded)} |", flush=True)


FACTS = {"file": 10, "files": 5, "documents": 9, "effects": 7}


def coverages() -> Iterable[list[str]]:
    """Yield the rows of the table of coverage."""
    worlds = [
        ("newspapers", World(NEWSPAPERS, 1, 30, 0.02)),
        ("newspapers", World(NEWSPAPERS, 1, 30, 0.10)),
        ("newspapers", World(NEWSPAPERS, 3, 30, 0.02)),
        ("surprise", World(SURPRISE, 1, 30, 0.02)),
        ("surprise", World(SURPRISE, 1, 30, 0.10)),
        ("newspapers", World(NEWSPAPERS, 1, 19, 0.02)),
        ("newspapers", World(NEWSPAPERS, 1, 19, 0.10)),
        ("newspapers", World(NEWSPAPERS, 3, 19, 0.02)),
    ]
    runs = {"best": BEST, "middle": MIDDLE, "weak": WEAK}
    for name, world in worlds:
        held = measure(coverage, world, list(runs.values()), CAMPAIGNS)
        bca, nominal_bca, percentile, nominal = held.mean(axis=0)
        for place, run in enumerate(runs):
            shares = [each[place] for each in (bca, percentile, nominal_bca, nominal)]
            yield [name, *_facts(world), run, *(f"{share:.1%}" for share in shares)]


COVERAGE = Table(
    "How often 95% intervals hold the true score (standard error 0.5 points)",
    {**FACTS, "run": 6, "BCa": 6, "percentile": 10, "nominal BCa": 11, "nominal percentile": 18},
    coverages,
)


def errors() -> Iterable[list[str]]:
    """Yield the rows of the table of false differences."""
    for name, world in [
        ("newspapers", World(NEWSPAPERS, 1, 30, 0.02)),
        ("newspapers", World(NEWSPAPERS, 1, 30, 0.10)),
        ("surprise", World(SURPRISE, 1, 30, 0.02)),
        ("newspapers", World(NEWSPAPERS, 1, 19, 0.02)),
        ("newspapers", World(NEWSPAPERS, 3, 19, 0.02)),
    ]:
        for kind, runs, campaigns in (
            ("two alike", [MIDDLE, MIDDLE], CAMPAIGNS_ALIKE),
            ("two with other strengths", [MIDDLE, OTHER_STRENGTHS], CAMPAIGNS_OTHERWISE),
            ("ten alike, corrected", [MIDDLE] * 10, CAMPAIGNS_OTHERWISE),
        ):
            found = measure(false_differences, world, runs, campaigns).T
            shares = [_with_error(each[~np.isnan(each)]) for each in found]
            yield [name, *_facts(world), kind, *shares]


def _with_error(found: np.ndarray) -> str:
    share = found.mean()
    return f"{share:.2%} ± {np.sqrt(share * (1 - share) / len(found)):.2%}"


ERRORS = Table(
    "How often equally good runs are called different at 5% (± standard error)",
    {**FACTS, "runs": 24, "randomization": 15, "bootstrap": 15},
    errors,
)


def _facts(world: World) -> list[str]:
    return [str(world.files), str(world.documents), f"{world.effects:.2f}"]


def main() -> None:
    """Measure and print, row by row."""
    start = time.perf_counter()
    print(f"{SETTINGS.resamples} resamples, {CAMPAIGNS} campaigns a row; of the randomization test")
    print(f"{CAMPAIGNS_ALIKE} for two runs alike and {CAMPAIGNS_OTHERWISE} for the others")
    COVERAGE.print()
    ERRORS.print()
    print(f"\n{time.perf_counter() - start:.0f} s on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
