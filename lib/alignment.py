"""How a run lines up with its reference: which documents and pairs are there, and how often.

Works on documents as they were read, before any loader has made dicts of them, since a dict
keeps only the last of two equal keys.
"""

import unicodedata
from typing import NamedTuple

from campaign import Config
from problems import WARNING, Problem, plural, quote
from strict_json import Line

PairId = tuple[str, ...]


class Index(NamedTuple):
    """The pairs of a file: {document id: {pair id: pair}}, and the line of each document."""

    documents: dict[str, dict[PairId, dict]]
    lines: dict[str, Line]


class Alignment(NamedTuple):
    """What a run lacks and what it has beyond its reference.

    missing_documents: gold documents with pairs that the run lacks. missing_pairs: gold pairs
    that the run lacks, those of missing documents included. null_labels: {target: gold pairs
    that the run answers with null}. extra_documents: the run's documents that the gold lacks.
    extra_pairs: pairs that the gold lacks, in documents that it has. shared: documents of both.
    """

    missing_documents: list[str]
    missing_pairs: int
    null_labels: dict[str, int]
    extra_documents: list[str]
    extra_pairs: int
    shared: int


def index_documents(file: str, lines: list[Line], config: Config) -> tuple[Index, list[Problem]]:
    """Return the pairs of valid documents by id, and a problem for each repeated id."""
    names = config.facts["documents"]
    documents: dict[str, dict[PairId, dict]] = {}
    line_of: dict[str, Line] = {}
    problems = []
    for line in lines:
        document = line.value[names["id"]]
        if document in documents:
            found = f"document {quote(document)} again, after line {line_of[document].number}"
            action = "keep one of the two lines"
            path = f"$.{names['id']}"
            problems.append(Problem(file, line.number, path, found, "each document once", action))
            continue
        line_of[document] = line
        documents[document], repeated = _index_pairs(file, line, names)
        problems += repeated
    return Index(documents, line_of), problems


def _index_pairs(file: str, line: Line, names: dict) -> tuple[dict, list[Problem]]:
    pairs: dict[PairId, dict] = {}
    place: dict[PairId, int] = {}
    problems = []
    for position, pair in enumerate(line.value[names["pairs"]]):
        pair_id = tuple(pair[key] for key in names["pair_id"])
        if pair_id in pairs:
            path = f"$.{names['pairs']}[{position}]"
            ids = " and ".join(quote(part) for part in pair_id)
            found = f"the pair {ids} again, after $.{names['pairs']}[{place[pair_id]}]"
            problems.append(
                Problem(file, line.number, path, found, "each pair once", "keep one of the two")
            )
            continue
        pairs[pair_id] = pair
        place[pair_id] = position
    return pairs, problems


def align(gold: Index, run: Index, targets: list[str]) -> Alignment:
    """Compare a run with its reference; gold decides which pairs count, order never matters.

    targets: those that are scored, whose null labels are counted.
    """
    missing_documents = []
    missing_pairs = extra_pairs = 0
    null_labels = dict.fromkeys(targets, 0)
    for document, gold_pairs in gold.documents.items():
        answers = run.documents.get(document)
        if answers is None:
            if gold_pairs:
                missing_documents.append(document)
            missing_pairs += len(gold_pairs)
            continue
        shared = gold_pairs.keys() & answers.keys()
        missing_pairs += len(gold_pairs) - len(shared)
        extra_pairs += len(answers) - len(shared)
        for target in targets:
            null_labels[target] += sum(answers[pair][target] is None for pair in shared)
    extra = [document for document in run.documents if document not in gold.documents]
    return Alignment(
        missing_documents,
        missing_pairs,
        null_labels,
        extra,
        extra_pairs,
        len(run.documents) - len(extra),
    )


def alignment_problems(
    file: str, gold: Index, run: Index, found: Alignment, config: Config
) -> list[Problem]:
    """Return a warning for each way in which a run differs from its reference."""
    imputed = f"count as {config.facts['imputed_label']}"
    every_pair = "a label for every pair of the reference"
    only_these = "only what the reference has"
    warnings = []
    if found.missing_pairs:
        documents = len(found.missing_documents)
        inside = f", {plural(documents, 'whole document')} among them" if documents else ""
        text = f"{plural(found.missing_pairs, 'pair')} missing{inside}"
        warnings.append((None, "", text, every_pair, imputed))
    for target, number in found.null_labels.items():
        if number:
            text = f"{plural(number, 'null label')} for {target}"
            warnings.append((None, "", text, every_pair, imputed))
    if found.extra_pairs:
        text = f"{plural(found.extra_pairs, 'pair')} beyond those of the reference"
        warnings.append((None, "", text, only_these, "ignored"))
    near = {_overlook(document): document for document in gold.documents}
    path = f"$.{config.facts['documents']['id']}"
    for document in found.extra_documents:
        text = f"{quote(document)}, which the reference does not have"
        meant = near.get(_overlook(document))
        action = f"ignored; was {quote(meant)} meant?" if meant else "ignored"
        warnings.append((run.lines[document].number, path, text, only_these, action))
    return [Problem(file, *warning, WARNING) for warning in warnings]


def _overlook(document: str) -> str:
    """Return an id without what a reader would not see: case, spaces at the ends, composition."""
    return unicodedata.normalize("NFC", document).strip().casefold()
