"""Diagnose runs: every pair with gold and predicted label, and the metrics of each label.

Reads   the JSON files of PER_RUN_DIR that its manifest names, the runs and references that they
        were computed from, the configuration
Writes  DIAGNOSTICS_DIR/<run stem>.diagnostics.json and <run stem>.diagnostic_metrics.json
Exits   0, 1 if there are no scores or a run has changed since it was scored, 2 for wrong usage
"""

import argparse
from fractions import Fraction
from pathlib import Path
from typing import Any

import cli
import counting
from campaign import Config, load_config
from data_repo import DataRepo
from files import json_bytes
from per_run import Result, read_results
from problems import plural
from stage import Product, Stage, code_digest, holding

_HEADER = (
    "submission",
    "reference",
    "team",
    "dataset",
    "split",
    "language",
    "run",
    "at_label_mode",
)
PAIRS_SUFFIX, METRICS_SUFFIX = ".diagnostics.json", ".diagnostic_metrics.json"


def label_metrics(matrix: counting.Confusion, label: str) -> dict[str, Any]:
    """Return precision, recall and F1 of one label with the counts that they are made of.

    A ratio without instances is None: the precision of a label that is never predicted, the
    recall of one that the gold never uses, the F1 of one that is neither.
    """
    true_positive = matrix[label][label]
    support = counting.support(matrix, label)
    predicted = counting.predictions(matrix, label)
    return {
        "precision": _float(counting.ratio(true_positive, predicted)),
        "recall": _float(counting.ratio(true_positive, support)),
        "f1": _float(counting.ratio(2 * true_positive, predicted + support)),
        "support": support,
        "true_positive": true_positive,
        "false_positive": predicted - true_positive,
        "false_negative": support - true_positive,
    }


def target_metrics(matrix: counting.Confusion) -> dict[str, Any]:
    """Return what diagnostic_metrics.json says of one target."""
    labels = list(matrix)
    return {
        "labels": labels,
        "rows": "gold",
        "columns": "predicted",
        "matrix": [list(row.values()) for row in matrix.values()],
        "table": [
            {"gold": label, **{f"pred_{column}": row[column] for column in labels}}
            for label, row in matrix.items()
        ],
        "total": counting.total(matrix),
        "accuracy": float(counting.accuracy(matrix)),
        "macro_recall": float(counting.macro_recall(matrix)),
        "per_label": {label: label_metrics(matrix, label) for label in labels},
    }


def _float(ratio: Fraction | None) -> float | None:
    return None if ratio is None else float(ratio)


def merge_documents(gold: dict, run: dict, result: Result, config: Config) -> list[dict[str, Any]]:
    """Return the gold documents, without their text, with the run's answers in each pair.

    gold, run: as the data repository loads them, the run before imputation. Per target a pair
    gets ``SYS_<target>`` (the label that was counted), ``CORRECT_<target>`` (None where the
    target is not scored), ``IMPUTED_<target>`` (why the label was imputed, or None) and
    ``SYS_<target>_explanation``.
    """
    names = config.facts["documents"]
    pairs_key = names["pairs"]
    elsewhere = (pairs_key, names["text"])
    merged = []
    for name, document in gold.items():
        answers = run.get(name)
        shown = {key: value for key, value in document.items() if key not in elsewhere}
        shown[pairs_key] = [
            _merge_pair(pair, _answer(answers, pairs_key, key), result, config)
            for key, pair in document[pairs_key].items()
        ]
        merged.append(shown)
    return merged


def _answer(answers: dict | None, pairs_key: str, key: object) -> dict | str:
    """Return a run's answer to a pair, or why there is none."""
    if answers is None:
        return "missing document"
    return answers[pairs_key].get(key, "missing pair")


def _merge_pair(pair: dict, answer: dict | str, result: Result, config: Config) -> dict[str, Any]:
    merged = {}
    targets = config.facts["targets"]
    for key, value in pair.items():
        if key in targets:
            merged |= _merge_target(key, value, answer, result, config)
        else:
            merged[key] = value
    return merged


def _merge_target(
    target: str, gold: str | None, answer: dict | str, result: Result, config: Config
) -> dict[str, Any]:
    mapping = config.mapping(target, result["at_label_mode"])
    label = answer if isinstance(answer, str) else answer[target]
    imputed = None
    if isinstance(answer, str) or label is None:
        imputed = answer if isinstance(answer, str) else "null label"
        label = config.facts["imputed_label"]
    reference, system = mapping.get(gold, gold), mapping.get(label, label)
    explanation = f"{target}_explanation"
    return {
        target: reference,
        f"SYS_{target}": system,
        f"CORRECT_{target}": reference == system if target in result["targets"] else None,
        f"IMPUTED_{target}": imputed,
        f"SYS_{explanation}": None if isinstance(answer, str) else answer.get(explanation),
    }


class _Diagnoser:
    """Makes the products of runs, loading each reference once."""

    def __init__(self, arguments: argparse.Namespace, config: Config) -> None:
        self._folders = (arguments.reference_dir, arguments.submissions_dir)
        self._config = config
        self._repo = DataRepo(arguments.data_repo, config.facts["schema"])
        self._golds: dict[str, dict] = {}

    def product(self, result: Result, result_digest: str) -> Product:
        """Return what the diagnostics of a run rest on and how to compute them."""
        stem = Path(result["submission"]).stem
        inputs = {
            "per_run": result_digest,
            "config": self._config.digest,
            "data_repo": self._repo.digest,
        }
        outputs = [stem + PAIRS_SUFFIX, stem + METRICS_SUFFIX]
        return Product(outputs, inputs, lambda: self._diagnose(stem, result))

    def _diagnose(self, stem: str, result: Result) -> dict[str, bytes]:
        header = {key: result[key] for key in _HEADER}
        gold = self._gold(result)
        path = self._folders[1] / result["submission"]
        run = self._repo.load(path, result["digests"]["run"])
        documents = merge_documents(gold, run, result, self._config)
        metrics = {
            target: target_metrics(counts["confusion"])
            for target, counts in result["counts"].items()
        }
        return {
            stem + PAIRS_SUFFIX: json_bytes({**header, "documents": documents}),
            stem + METRICS_SUFFIX: json_bytes({**header, "confusion_matrices": metrics}),
        }

    def _gold(self, result: Result) -> dict:
        file = result["reference"]
        if file not in self._golds:
            path = self._folders[0] / file
            self._golds[file] = self._repo.load(path, result["digests"]["reference"])
        return self._golds[file]


def main(arguments: argparse.Namespace) -> int:
    """Bring the diagnostics of all scored runs up to date; return the exit status."""
    config = load_config(arguments.config)
    cli.require_mode(arguments.at_label_mode, config)
    with holding(arguments.results_dir, "diagnostics", reads=["score"]):
        scores = Stage("score", arguments.per_run_dir)
        results = read_results(scores, arguments.at_label_mode)
        digests = dict(scores.files())
        diagnoser = _Diagnoser(arguments, config)
        products = {}
        for result in results:
            file = f"{Path(result['submission']).stem}.json"
            products[result["submission"]] = diagnoser.product(result, digests[file])
        outcome = Stage("diagnostics", arguments.diagnostics_dir).refresh(
            products, code_digest(__file__), only_check=arguments.only_check
        )
    print(f"diagnostics: {plural(len(results), 'run')}, {outcome.summary('written')}")
    return cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(
        __doc__,
        "--reference-dir",
        "--submissions-dir",
        "--results-dir",
        "--per-run-dir",
        "--diagnostics-dir",
        "--data-repo",
        "--config",
    )
    cli.add_mode(parser)
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
