"""Confusion counts by document, the table that all inference is a function of, and scores of it.

A row of ``counts-<reference stem>.tsv`` says how many pairs of a document have a gold label and a
predicted label in a run. Documents without pairs have no rows: they change no score.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from files import one_line

HEADER = ["team", "run", "document_id", "target", "gold", "predicted", "count", "at_label_mode"]
RunId = tuple[str, str]


class Counts(NamedTuple):
    """Gold instances and true positives on one reference, by document.

    runs: (team, run) of each. documents: ids. gold: {target: numbers as [document, label]}.
    hits: {target: true positives as [document, run, label]}. Floats that hold whole numbers, so
    that they can be multiplied fast and exactly.
    """

    runs: list[RunId]
    documents: list[str]
    gold: dict[str, np.ndarray]
    hits: dict[str, np.ndarray]

    def of_runs(self, runs: Iterable[RunId]) -> "Counts":
        """Return the counts of some of the runs, in their order."""
        place = {run: index for index, run in enumerate(self.runs)}
        chosen = [place[run] for run in runs]
        hits = {target: hits[:, chosen] for target, hits in self.hits.items()}
        return self._replace(runs=[self.runs[index] for index in chosen], hits=hits)


def rows_of(diagnosed: dict[str, Any], targets: list[str], names: dict[str, Any]) -> list[list]:
    """Return the rows of one run.

    diagnosed: content of its diagnostics file. targets: those that are scored. names: the
    section "documents" of the configuration.
    """
    rows = []
    for document in diagnosed["documents"]:
        for target in targets:
            counted = Counter(
                (pair[target], pair[f"SYS_{target}"]) for pair in document[names["pairs"]]
            )
            rows += [
                [
                    *(diagnosed["team"], diagnosed["run"], one_line(document[names["id"]])),
                    *(target, *labels, number, diagnosed["at_label_mode"]),
                ]
                for labels, number in sorted(counted.items())
            ]
    return rows


def counts_of(rows: list[dict[str, str]], labels: dict[str, list[str]]) -> Counts:
    """Return the counts that the rows of a table hold, runs and documents in order of appearance.

    labels: {target: its labels}.
    """
    runs = list(dict.fromkeys((row["team"], row["run"]) for row in rows))
    documents = list(dict.fromkeys(row["document_id"] for row in rows))
    run_at = {run: index for index, run in enumerate(runs)}
    document_at = {document: index for index, document in enumerate(documents)}
    gold, hits = {}, {}
    for target, own in labels.items():
        label_at = {label: index for index, label in enumerate(own)}
        every_gold = np.zeros((len(documents), len(runs), len(own)))
        hits[target] = np.zeros_like(every_gold)
        for row in rows:
            if row["target"] == target:
                run = run_at[row["team"], row["run"]]
                place = document_at[row["document_id"]], run, label_at[row["gold"]]
                number = int(row["count"])
                every_gold[place] += number
                if row["gold"] == row["predicted"]:
                    hits[target][place] += number
        # The gold is the same for every run.
        gold[target] = every_gold[:, 0]
    return Counts(runs, documents, gold, hits)


def scores(counts: Counts, weights: np.ndarray, profile_score: str) -> dict[str, np.ndarray]:
    """Return all scores of all runs on one reference, as [row of weights, run].

    weights: how often each document counts, as [row, document]. profile_score: what the mean of
    the targets' macro recalls is called. The names and formulas are those of
    counting.file_scores. A label without gold instances in a row is left out of its mean; where
    a row has no pairs at all, its scores are not numbers.
    """
    recalls = {
        target: macro_recall(gold, counts.hits[target], weights)
        for target, gold in counts.gold.items()
    }
    first, *others = recalls.values()
    found = {profile_score: sum(others, first) / len(recalls)}
    for target, values in recalls.items():
        found[f"{target}_macro_recall"] = values
        found[f"{target}_accuracy"] = accuracy(counts.gold[target], counts.hits[target], weights)
    return found


def macro_recall(gold: np.ndarray, hits: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the macro recall of each run, as [row of weights, run].

    gold, hits: of one target, as in Counts. weights: as for scores.
    """
    instances = weights @ gold
    total = np.zeros((len(weights), hits.shape[1]))
    # Label by label, because a sum over an axis may be rounded otherwise on another machine.
    for label in range(gold.shape[1]):
        recall = weights @ hits[:, :, label]
        recall /= np.maximum(instances[:, label, None], 1.0)
        total += recall
    with np.errstate(invalid="ignore"):
        return total / (instances > 0).sum(axis=1)[:, None]


def accuracy(gold: np.ndarray, hits: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the share of pairs that each run has right, as [row of weights, run].

    gold, hits: of one target, as in Counts. weights: as for scores.
    """
    right = weights @ hits.sum(axis=2)
    with np.errstate(invalid="ignore"):
        return right / (weights @ gold.sum(axis=1))[:, None]


def shares(counts: Counts) -> np.ndarray:
    """Return what each document adds to the profile score of each run, as [document, run].

    The mean of macro recalls is a sum over pairs that are right, each divided by the gold
    instances of its label, so it falls apart into documents.
    """
    found = np.zeros((len(counts.documents), len(counts.runs)))
    for target, gold in counts.gold.items():
        instances = gold.sum(axis=0)
        used = int((instances > 0).sum())
        for label, number in enumerate(instances):
            if number:
                weight = number * used * len(counts.gold)
                found = found + counts.hits[target][:, :, label] / weight
    return found
