"""Reviewers' decisions: read from workbooks, checked, and applied to references."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from openpyxl import load_workbook

from alignment import Index, PairId
from build_gt_validation import EXCLUDE, KEEP
from campaign import Config
from json_edit import edit_array
from problems import Problem, quote

SHEET = "mismatches"


class Decision(NamedTuple):
    """What a reviewer decided on one pair and target, and where that is written.

    reference: (dataset, split, language). mode: the label mode of the workbook. gold: the label
    that the reviewer saw.
    """

    book: str
    row: int
    mode: str
    reference: tuple[str, str, str]
    document: str
    pair: PairId
    target: str
    gold: str
    decision: str
    reviewer: str
    comment: str

    @property
    def place(self) -> str:
        """Return where the decision stands, for messages."""
        return f"{self.book}, sheet {SHEET}, row {self.row}"

    @property
    def key(self) -> tuple[tuple[str, str, str], str, PairId]:
        """Return which pair it is about."""
        return self.reference, self.document, self.pair


class Gold(NamedTuple):
    """A reference that decisions are applied to: its name, bytes and pairs."""

    file: str
    data: bytes
    index: Index


class Change(NamedTuple):
    """A label that changes, or a pair that goes (new is EXCLUDE)."""

    file: str
    decision: Decision
    old: str


def read_decisions(path: Path, config: Config) -> tuple[list[Decision], list[Problem]]:
    """Return the decisions in a reviewed workbook and what is wrong with it.

    Rows may be sorted, filtered or moved, and columns added; the headers tell which is which.
    """
    try:
        # Formulas as they are written: a comment may begin with an equals sign.
        book = load_workbook(path)
    except Exception as error:  # openpyxl and zipfile raise whatever a damaged file makes them
        found = f"no workbook that can be opened ({type(error).__name__})"
        return [], [Problem(path.name, None, "", found, "a reviewed .xlsx workbook", "")]
    if SHEET not in book.sheetnames:
        found = f"only the sheets {', '.join(book.sheetnames)}"
        action = "give the sheet its name back"
        return [], [Problem(path.name, None, "", found, f"the sheet {SHEET}", action)]
    header, *rows = book[SHEET].iter_rows(values_only=True)
    columns = {str(name): index for index, name in enumerate(header) if name is not None}
    missing = [name for name in _required(config) if name not in columns]
    if missing:
        found = f"no column {', '.join(missing)}"
        expected = f"the columns of the sheet {SHEET} under their names"
        return [], [Problem(path.name, 1, "", found, expected, "give them back")]
    mode = _mode(book, config)
    decisions = []
    problems = []
    for number, cells in enumerate(rows, 2):
        row = {name: _text(cells[index]) for name, index in columns.items()}
        if not row["decision"]:
            continue
        found = _decision(path.name, number, mode, row, config)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            decisions.append(found)
    return decisions, problems


def _required(config: Config) -> list[str]:
    names = config.facts["documents"]
    return [
        *("dataset", "split", "language", names["id"], *names["pair_id"]),
        *("target", "gold_label", "decision", "reviewer", "comment"),
    ]


def _mode(book: Any, config: Config) -> str:
    """Return the label mode that the sheet summary names, the default one if it does not."""
    if "summary" in book.sheetnames:
        for name, value, *_ in book["summary"].iter_rows(values_only=True, min_row=2, max_col=2):
            if name == "at_label_mode" and value in config.modes():
                return value
    return config.modes()[0]


def _text(value: object) -> str:
    """Return a cell as text; spreadsheets like to turn TRUE into a boolean and back."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return "" if value is None else str(value)


def _decision(
    book: str, number: int, mode: str, row: dict[str, str], config: Config
) -> Decision | Problem:
    names = config.facts["documents"]
    target, word = row["target"], row["decision"].strip().upper()
    if target not in config.facts["targets"]:
        known = " or ".join(config.facts["targets"])
        return Problem(book, number, f"{SHEET}.target", quote(target), known, "")
    choices = [KEEP, *config.labels(target, mode), EXCLUDE]
    if word not in choices:
        found = quote(row["decision"])
        return Problem(book, number, f"{SHEET}.decision", found, " or ".join(choices), "")
    return Decision(
        book,
        number,
        mode,
        (row["dataset"], row["split"], row["language"]),
        row[names["id"]],
        tuple(row[key] for key in names["pair_id"]),
        target,
        row["gold_label"],
        word,
        row["reviewer"],
        row["comment"],
    )


def contradictions(decisions: list[Decision]) -> list[Problem]:
    """Return a problem for each two decisions that cannot both be carried out."""
    problems = []
    first: dict[tuple, Decision] = {}
    for decision in decisions:
        for key in ((*decision.key, decision.target), (*decision.key, EXCLUDE)):
            other = first.setdefault(key, decision)
            is_about_pair = key[-1] == EXCLUDE
            clash = (
                (other.decision == EXCLUDE) != (decision.decision == EXCLUDE)
                if is_about_pair
                else other.decision != decision.decision
            )
            if clash:
                found = f"{decision.decision} for what {other.place} decides as {other.decision}"
                place = f"{SHEET}.decision"
                expected = "one decision"
                problems.append(
                    Problem(decision.book, decision.row, place, found, expected, "settle it")
                )
                break
    return problems


def changes_of(
    decisions: list[Decision], golds: dict[tuple[str, str, str], Gold], config: Config
) -> tuple[list[Change], list[Problem]]:
    """Return what decisions change in the references, and decisions that do not fit them."""
    changes: dict[tuple, Change] = {}
    problems = []
    for decision in decisions:
        found = _change(decision, golds, config)
        if isinstance(found, Problem):
            problems.append(found)
        elif found is not None:
            # Two workbooks may agree on a change.
            changes.setdefault((*decision.key, decision.target), found)
    return list(changes.values()), problems


def _change(
    decision: Decision, golds: dict[tuple[str, str, str], Gold], config: Config
) -> Change | Problem | None:
    gold = golds.get(decision.reference)
    if gold is None:
        return _misfit(decision, "reference", "-".join(decision.reference), "a reference there is")
    if decision.document not in gold.index.documents:
        return _misfit(decision, "document", decision.document, f"a document of {gold.file}")
    pair = gold.index.documents[decision.document].get(decision.pair)
    if pair is None:
        wanted = f"a pair of document {quote(decision.document)}"
        return _misfit(decision, "pair", " / ".join(decision.pair), wanted)
    old = pair[decision.target]
    mapping = config.mapping(decision.target, decision.mode)
    if mapping.get(old, old) != decision.gold:
        wanted = f"{old}, which is the label in {gold.file} now"
        problem = _misfit(decision, "gold_label", decision.gold, wanted)
        return problem._replace(action="the workbook is of an older reference: make a new one")
    if decision.decision in (KEEP, mapping.get(old, old)):
        return None
    return Change(gold.file, decision, old)


def _misfit(decision: Decision, column: str, found: str, expected: str) -> Problem:
    path = f"{SHEET}.{column}"
    return Problem(decision.book, decision.row, path, quote(found), expected, "")


def apply_changes(gold: Gold, changes: list[Change], config: Config) -> bytes:
    """Return a reference with its labels changed and every other byte as it was."""
    pairs_key = config.facts["documents"]["pairs"]
    pair_id = config.facts["documents"]["pair_id"]
    lines = gold.data.split(b"\n")
    for document, edits in _edits(changes):
        line = gold.index.lines[document]
        ids = [tuple(pair[key] for key in pair_id) for pair in line.value[pairs_key]]
        by_index = {ids.index(pair): edit for pair, edit in edits.items()}
        lines[line.number - 1] = edit_array(lines[line.number - 1], pairs_key, by_index)
    return b"\n".join(lines)


def _edits(changes: list[Change]) -> Iterator[tuple[str, dict[PairId, dict[str, str] | None]]]:
    """Yield (document, {pair: new labels, or None if it goes})."""
    by_document: dict[str, dict[PairId, dict[str, str] | None]] = {}
    for _, decision, _ in changes:
        edits = by_document.setdefault(decision.document, {})
        if decision.decision == EXCLUDE:
            edits[decision.pair] = None
        elif (labels := edits.setdefault(decision.pair, {})) is not None:
            labels[decision.target] = decision.decision
    yield from by_document.items()
