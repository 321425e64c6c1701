"""Loading, imputation, flattening and plain metrics of HIPE-2026.

Documents are held as {document_id: document}, where ``sampled_pairs`` is a dict keyed by the
pair's two entity ids. Nothing here prints, and no function changes its arguments.
"""

from pathlib import Path
from typing import Any

import orjson

TARGETS = ("at", "isAt")
IMPUTED_LABEL = "FALSE"


def load_jsonl_to_reshaped_dict(path: str | Path) -> dict[str, dict[str, Any]]:
    """Return the documents of a JSON Lines file by document_id, their pairs by entity ids.

    Raises OSError if the file cannot be read, orjson.JSONDecodeError for a line that is no
    JSON, KeyError for a missing id, and ValueError for a repeated document or pair: neither
    the first nor the last of two answers is the right one.
    """
    documents: dict[str, dict[str, Any]] = {}
    for raw in Path(path).read_bytes().split(b"\n"):
        if not raw.strip():
            continue
        document = orjson.loads(raw)
        pairs = {
            (pair["pers_entity_id"], pair["loc_entity_id"]): pair
            for pair in document["sampled_pairs"]
        }
        name = document["document_id"]
        if name in documents or len(pairs) < len(document["sampled_pairs"]):
            raise ValueError(f"document {name!r} or one of its pairs stands twice in {path}")
        document["sampled_pairs"] = pairs
        documents[name] = document
    return documents


def impute_missing_submission_data(gold: dict, run: dict) -> dict:
    """Return a run that has every document and pair of the gold.

    gold, run: as load_jsonl_to_reshaped_dict returns them. A missing pair takes the gold's ids
    and mentions with the label FALSE for both targets and no explanation; what the run has
    beyond the gold stays.
    """
    filled = dict(run)
    for name, gold_document in gold.items():
        document = run.get(name, {**gold_document, "sampled_pairs": {}})
        pairs = document["sampled_pairs"]
        missing = {
            key: _without_answer(pair)
            for key, pair in gold_document["sampled_pairs"].items()
            if key not in pairs
        }
        filled[name] = {**document, "sampled_pairs": {**pairs, **missing}} if missing else document
    return filled


def flatten_predictions(gold: dict, run: dict) -> dict[str, dict[str, list[str]]]:
    """Return {target: {"gold": labels, "pred": labels}} over the gold's pairs, in its order.

    gold, run: as load_jsonl_to_reshaped_dict returns them, the run after imputation. A label
    of the run that is null counts as FALSE. Raises KeyError for a pair that the run lacks.
    """
    labels = {target: {"gold": [], "pred": []} for target in TARGETS}
    for name, document in gold.items():
        answers = run[name]["sampled_pairs"]
        for key, pair in document["sampled_pairs"].items():
            answer = answers[key]
            for target in TARGETS:
                labels[target]["gold"].append(pair[target])
                labels[target]["pred"].append(answer[target] or IMPUTED_LABEL)
    return labels


def calculate_metrics(labels: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, float]]:
    """Return accuracy, macro recall, correct and total per target, and their "global" mean.

    labels: as flatten_predictions returns them. Macro recall is the mean, over the labels that
    the gold uses, of the share of a label's gold instances that were predicted so (balanced
    accuracy in Brodersen et al., 2010). Raises ZeroDivisionError where there is no pair.
    """
    metrics = {}
    for target, columns in labels.items():
        gold, predicted = columns["gold"], columns["pred"]
        hits = [
            reference
            for reference, answer in zip(gold, predicted, strict=True)
            if reference == answer
        ]
        recalls = [hits.count(label) / gold.count(label) for label in sorted(set(gold))]
        metrics[target] = {
            "accuracy": len(hits) / len(gold),
            "macro_recall": sum(recalls) / len(recalls),
            "correct": len(hits),
            "total": len(gold),
        }
    metrics["global"] = {
        "macro_recall": sum(m["macro_recall"] for m in metrics.values()) / len(metrics),
        "correct": sum(m["correct"] for m in metrics.values()),
        "total": sum(m["total"] for m in metrics.values()),
    }
    return metrics


def _without_answer(pair: dict[str, Any]) -> dict[str, Any]:
    blank = dict.fromkeys((f"{target}_explanation" for target in TARGETS), None)
    return {**pair, **dict.fromkeys(TARGETS, IMPUTED_LABEL), **blank}
