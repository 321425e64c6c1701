"""A campaign of the size and the scores of HIPE-2026, built from the published figures alone.

The labels of a gold file are known by their numbers, and the macro recall and accuracy of a run
fix how many pairs of each label it has right. So invented documents with as many labels, and
runs that have as many of them right, must get the published scores to the last digit.
"""

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path

from files import read_tsv
from kit import DE, EN, FR, SURPRISE, Document, as_jsonl, document, pair

PUBLISHED = Path(__file__).parent / "data" / "published"
AT, IS_AT = ("TRUE", "PROBABLE", "FALSE"), ("TRUE", "FALSE")
# Gold instances of each label, in the order of AT and of IS_AT, and the number of documents.
GOLD = {
    DE: ((54, 38, 146), (67, 171), 19),
    EN: ((75, 28, 59), (65, 97), 19),
    FR: ((85, 19, 134), (81, 157), 19),
    SURPRISE: ((130, 60, 290), (0, 480), 30),
}
_SENTENCE = "Herr p1 reiste mit der Eisenbahn über die Grenze und blieb bis zum Abend in Ort l1. "
Row = dict[str, str]


def published(table: str) -> list[Row]:
    """Return the rows of a published table, e.g. "overall"."""
    return read_tsv(PUBLISHED / f"{table}.tsv")


def true_positives(macro: float, accuracy: float, gold: tuple[int, ...]) -> tuple[int, ...]:
    """Return the number of right pairs of each label that gives two published scores.

    gold: gold instances of each label. Raises ValueError where not exactly one answer fits.
    """
    right = round(accuracy * sum(gold))
    (found,) = (
        (*first, last)
        for first in itertools.product(*(range(number + 1) for number in gold[:-1]))
        if 0 <= (last := right - sum(first)) <= gold[-1]
        and abs(_mean_recall((*first, last), gold) - macro) < 1e-12
    )
    return found


def _mean_recall(right: tuple[int, ...], gold: tuple[int, ...]) -> float:
    return sum(hits / number for hits, number in zip(right, gold, strict=True)) / len(gold)


def build(folder: Path) -> None:
    """Write reference/ and systems/ of the campaign into a folder: 4 gold files, 185 runs."""
    references, systems = folder / "reference", folder / "systems"
    references.mkdir(parents=True, exist_ok=True)
    systems.mkdir(exist_ok=True)
    for stem in GOLD:
        (references / f"{stem}.jsonl").write_bytes(as_jsonl(_documents(stem, *_gold_labels(stem))))
    for row in published("runs"):
        path = systems / f"{row['team']}_{row['reference']}_{row['run']}.jsonl"
        path.write_bytes(as_jsonl(_documents(row["reference"], *_run_labels(row))))
    for row in published("sizes"):
        path = systems / f"{row['team']}_{row['reference']}_{row['run']}-info.json"
        path.write_text(json.dumps(_info(row)), "utf-8")


def _gold_labels(stem: str) -> tuple[list[str], list[str]]:
    at, is_at, _ = GOLD[stem]
    return _shuffled(AT, at, f"{stem} at"), _shuffled(IS_AT, is_at, f"{stem} isAt")


def _shuffled(labels: tuple[str, ...], numbers: tuple[int, ...], seed: str) -> list[str]:
    pool = [label for label, number in zip(labels, numbers, strict=True) for _ in range(number)]
    random.Random(seed).shuffle(pool)
    return pool


def _run_labels(row: Row) -> tuple[list[str], list[str]]:
    stem = row["reference"]
    at, is_at = _gold_labels(stem)
    # Nothing was published on isAt of the surprise file, which is not scored.
    if row["isAt_macro_recall"]:
        is_at = _answers(row, "isAt", IS_AT, GOLD[stem][1], is_at)
    return _answers(row, "at", AT, GOLD[stem][0], at), is_at


def _answers(
    row: Row, target: str, labels: tuple[str, ...], numbers: tuple[int, ...], gold: list[str]
) -> list[str]:
    """Return a run's labels: as many right ones as published, drawn by a seed of its own."""
    macro, accuracy = float(row[f"{target}_macro_recall"]), float(row[f"{target}_accuracy"])
    drawing = random.Random(f"{target} {row['reference']} {row['team']} {row['run']}")
    right: set[int] = set()
    for label, hits in zip(labels, true_positives(macro, accuracy, numbers), strict=True):
        right.update(drawing.sample([n for n, one in enumerate(gold) if one == label], hits))
    wrong = {label: labels[place - 1] for place, label in enumerate(labels)}
    return [label if n in right else wrong[label] for n, label in enumerate(gold)]


def _documents(stem: str, at: list[str], is_at: list[str]) -> list[Document]:
    number, language = GOLD[stem][2], stem[-2:]
    answers = enumerate(zip(at, is_at, strict=True))
    pairs = [pair(f"p{n}", f"l{n}", *labels) for n, labels in answers]
    documents = []
    for n, own in enumerate(_portions(pairs, number)):
        made = document(f"{stem[13:]}-doc-{n}", f"{1800 + n}-03-02", own, language)
        documents.append({**made, "text": _SENTENCE * 18})
    return documents


def _portions(pairs: list[dict], number: int) -> Iterator[list[dict]]:
    bounds = [len(pairs) * n // number for n in range(number + 1)]
    return (pairs[start:end] for start, end in itertools.pairwise(bounds))


def _info(row: Row) -> dict:
    sizes = {
        key: json.loads(row[key] or "null") for key in ("hipe_parameter_count", "hipe_model_size")
    }
    info = {**sizes, "team_parameter_count": None, "team_model_size": "as told"}
    return {**info, "team_efficiency_opt_out": True} if row["opt_out"] == "true" else info
