"""Make a workbook for each reference with the pairs on which the best runs vote against the gold.

Reads   the rankings by file, the diagnostics of their first TOP_RUNS runs, the references
Writes  GT_VALIDATION_DIR/<reference stem>.gt_validation.xlsx: sheets mismatches, top_runs, summary
Exits   0, 1 if a reference has fewer runs than are to vote (the other workbooks are made), 2 for
        wrong usage

Review a copy in another folder: the workbooks here are made again when anything changes.
"""

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation

import cli
from campaign import Config, load_config
from data_repo import DataRepo
from diagnosed import Diagnostics
from files import digest_of_file, digest_of_values
from mentions import Nearest, Piece, excerpt, nearest_mentions
from problems import Problem
from ranking_tables import RankingTables
from reports import Entry, read_report
from stage import Product, Stage, code_digest, holding
from votes import MAJORITY, Vote, is_flagged, vote
from workbook import (
    BAD,
    GOOD,
    TO_FILL_IN,
    Column,
    add_row,
    add_sheet,
    forbidden_characters,
    new_workbook,
    workbook_bytes,
)

KEEP, EXCLUDE = "KEEP", "EXCLUDE"
SUFFIX = ".gt_validation.xlsx"


class Row(NamedTuple):
    """A pair and target on which the runs disagree with the gold or with each other.

    document: the gold document. pair: the pair in the first run's diagnostics. labels,
    explanations: of each run, in order of rank.
    """

    document: dict[str, Any]
    pair: dict[str, Any]
    target: str
    gold: str
    outcome: Vote
    labels: list[str]
    explanations: list[str | None]


def flagged_rows(
    documents: list[dict], diagnostics: list[list[dict]], targets: list[str], pairs_key: str
) -> tuple[list[Row], dict[str, dict[str, int]]]:
    """Let runs vote on every pair and scored target of a reference.

    documents: the gold documents. diagnostics: for each run its documents, all in gold order.
    Returns the rows that need a look, in gold order, and {target: numbers of pairs, of flagged
    rows, of rows without majority}.
    """
    rows = []
    counts = {t: {"pairs": 0, "flagged": 0, "no majority": 0} for t in targets}
    for document, *of_runs in zip(documents, *diagnostics, strict=True):
        pairs_of_runs = [each[pairs_key] for each in of_runs]
        for answers in zip(*pairs_of_runs, strict=True):
            for target in targets:
                labels = [answer[f"SYS_{target}"] for answer in answers]
                outcome = vote(labels)
                gold = answers[0][target]
                counts[target]["pairs"] += 1
                if is_flagged(gold, outcome):
                    counts[target]["flagged"] += 1
                    counts[target]["no majority"] += outcome.status != MAJORITY
                    explanations = [answer[f"SYS_{target}_explanation"] for answer in answers]
                    rows.append(
                        Row(document, answers[0], target, gold, outcome, labels, explanations)
                    )
    return rows, counts


def excerpt_of(row: Row, names: dict) -> list[Piece]:
    """Return the text around the pair's nearest mentions, with a note on those not found."""
    text = row.document[names["text"]]
    first, second = (row.pair[key] for key in names["mentions"])
    nearest = nearest_mentions(text, first, second)
    missing = [
        mentions[0] if mentions else "?"
        for mentions, span in zip((first, second), nearest, strict=True)
        if span is None
    ]
    pieces = excerpt(text, nearest if not missing else Nearest(None, None))
    note = f"[not found in the text: {', '.join(missing)}] " if missing else ""
    return [Piece(note, True), *pieces] if note else pieces


class Review(NamedTuple):
    """One workbook to make: its reference, the votes' outcome, and who voted."""

    reference: Entry
    ranking: list[dict[str, str]]
    score: str
    rows: list[Row]
    counts: dict[str, dict[str, int]]
    mode: str


def review_workbook(review: Review, config: Config) -> bytes:
    """Return the workbook of one reference."""
    book = new_workbook()
    replaced = _mismatches(book, review, config)
    _top_runs(book, review)
    _summary(book, review, replaced)
    return workbook_bytes(book)


def _mismatches(book: Any, review: Review, config: Config) -> int:
    """Write the sheet of the pairs to look at; return how many characters had to be replaced."""
    names = config.facts["documents"]
    targets = config.facts["targets"]
    fields = [
        key
        for key in (review.rows[0].pair if review.rows else {})
        if key.split("_")[0] not in ("SYS", "CORRECT", "IMPUTED")
        and key not in targets
        and key.removesuffix("_explanation") not in targets
    ]
    before = [("dataset", 10), ("split", 7), ("language", 9), ("document_id", 26)]
    before += [("source", 22), ("date", 12), ("target", 8), ("gold_label", 12)]
    before += [("vote_label", 14), ("vote_status", 14)]
    columns = [Column(*each) for each in before] + [Column(key, 24) for key in fields]
    for position in range(1, len(review.ranking) + 1):
        widths = (("team", 10), ("run", 7), ("label", 11), ("explanation", 36))
        columns += [Column(f"system_{position}_{what}", width) for what, width in widths]
    columns += [Column("excerpt", 80)]
    columns += [Column("decision", 14), Column("reviewer", 14), Column("comment", 36)]
    sheet = add_sheet(book, "mismatches", columns, "E2")
    replaced = 0
    at = {column.name: index for index, column in enumerate(columns)}
    for number, row in enumerate(review.rows, 2):
        values = _cells(row, review, fields, names)
        replaced += sum(forbidden_characters(text) for text in _texts(values))
        fills = {at["gold_label"]: GOOD, at["vote_label"]: BAD}
        for position, label in enumerate(row.labels, 1):
            fills[at[f"system_{position}_label"]] = GOOD if label == row.gold else BAD
        fills |= {at[name]: TO_FILL_IN for name in ("decision", "reviewer", "comment")}
        add_row(sheet, number, values, fills)
    last = get_column_letter(len(columns))
    sheet.auto_filter.ref = f"A1:{last}{max(len(review.rows) + 1, 1)}"
    _drop_downs(sheet, review, config, get_column_letter(at["decision"] + 1))
    return replaced


def _texts(values: list[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (piece.text for piece in value)


def _cells(row: Row, review: Review, fields: list[str], names: dict) -> list[Any]:
    reference = review.reference
    cells: list[Any] = [reference["dataset"], reference["split"], reference["language"]]
    cells += [row.document[names["id"]], row.document["source"], row.document["date"]]
    cells += [row.target, row.gold, row.outcome.label, row.outcome.status]
    for field in fields:
        value = row.pair[field]
        cells.append("; ".join(value) if isinstance(value, list) else value)
    for ranked, label, explanation in zip(
        review.ranking, row.labels, row.explanations, strict=True
    ):
        cells += [ranked["team"], ranked["run"], label, explanation]
    return [*cells, excerpt_of(row, names), None, None, None]


def _drop_downs(sheet: Any, review: Review, config: Config, column: str) -> None:
    """Let a decision be KEEP, one of the target's labels, or EXCLUDE."""
    for target in review.counts:
        choices = ",".join([KEEP, *config.labels(target, review.mode), EXCLUDE])
        drop_down = DataValidation("list", formula1=f'"{choices}"', allow_blank=True)
        drop_down.showErrorMessage = True
        drop_down.error = f"One of {choices}"
        for number, row in enumerate(review.rows, 2):
            if row.target == target:
                drop_down.add(f"{column}{number}")
        if drop_down.sqref:
            sheet.add_data_validation(drop_down)


def _top_runs(book: Any, review: Review) -> None:
    columns = [Column("position", 10), Column("rank", 8), Column("team", 14), Column("run", 8)]
    columns += [Column("submission", 60), Column(review.score, 26)]
    sheet = add_sheet(book, "top_runs", columns, "A2")
    for position, row in enumerate(review.ranking, 1):
        values = [position, int(row["rank"]), row["team"], row["run"], row["submission"]]
        add_row(sheet, position + 1, [*values, float(row[review.score])])
    note = (
        "Positions follow the rows of the ranking: of tied runs, the first by team and run votes."
    )
    add_row(sheet, len(review.ranking) + 3, [None, None, None, None, note])


def _summary(book: Any, review: Review, replaced: int) -> None:
    columns = [Column("target", 26), Column("pairs", 10), Column("flagged", 10)]
    columns += [Column("no majority", 12), Column("share flagged", 14)]
    sheet = add_sheet(book, "summary", columns, "A2")
    for row, (target, numbers) in enumerate(review.counts.items(), 2):
        share = numbers["flagged"] / numbers["pairs"] if numbers["pairs"] else 0
        add_row(sheet, row, [target, *numbers.values(), share])
        sheet.cell(row, 5).number_format = "0.0%"
    facts = [
        ("reference", review.reference["file"]),
        ("reference sha256", review.reference["digests"]["reference"]),
        ("at_label_mode", review.mode),
        ("characters replaced", replaced),
    ]
    for row, fact in enumerate(facts, len(review.counts) + 3):
        add_row(sheet, row, list(fact))


class _Reviews:
    """Makes the products: a workbook for each reference with enough runs."""

    def __init__(
        self, arguments: argparse.Namespace, config: Config, index: dict[str, Any]
    ) -> None:
        self._arguments = arguments
        self._config = config
        self._repo = DataRepo(arguments.data_repo, config.facts["schema"])
        self._index = index
        self._diagnostics = Diagnostics(arguments.diagnostics_dir, index)
        results = arguments.results_dir
        entries = read_report(results, "references", "validate-reference")
        self._references = {entry["file"]: entry for entry in entries}

    def product(self, about: dict, ranking: list[dict[str, str]]) -> Product:
        """Return what the workbook of a ranking rests on and how to make it."""
        reference = self._references[about["reference"]]
        inputs = {
            "reference": reference["digests"]["reference"],
            "ranking": digest_of_values(ranking),
            "diagnostics": self._diagnostics.digest_of(row["submission"] for row in ranking),
            "config": self._config.digest,
        }
        output = Path(reference["file"]).stem + SUFFIX
        make = partial(self._make, output, reference, about["score"], ranking)
        return Product([output], inputs, make)

    def _make(
        self, output: str, reference: Entry, score: str, ranking: list[dict[str, str]]
    ) -> dict[str, bytes]:
        path = self._arguments.reference_dir / reference["file"]
        gold = self._repo.load(path, reference["digests"]["reference"])
        told = [self._diagnostics.load(row["submission"]) for row in ranking]
        targets = self._config.profile(reference["dataset"])["targets"]
        rows, counts = flagged_rows(
            list(gold.values()),
            [each["documents"] for each in told],
            targets,
            self._config.facts["documents"]["pairs"],
        )
        mode = self._index["at_label_mode"]
        review = Review(reference, ranking, score, rows, counts, mode)
        return {output: review_workbook(review, self._config)}


def set_aside_edited(stage: Stage) -> None:
    """Rename workbooks that somebody edited in place: decisions are never overwritten."""
    for output in stage.altered():
        path = stage.folder / output
        kept = path.with_name(f"{path.stem}.edited-{digest_of_file(path)[:12]}{path.suffix}")
        path.rename(kept)
        print(f"{path} was edited, kept as {kept.name}; please edit copies in REVIEWED_DIR")


def main(arguments: argparse.Namespace) -> int:
    """Bring the workbooks up to date; return the exit status."""
    if arguments.top_runs < 1 or arguments.top_runs % 2 == 0:
        raise cli.UsageError(f"TOP_RUNS is {arguments.top_runs}, not an odd number from 1")
    config = load_config(arguments.config)
    cli.require_mode(arguments.at_label_mode, config)
    reads = ["references", "rankings", "diagnostics"]
    with holding(arguments.results_dir, "gt-validation", reads):
        rankings = RankingTables(arguments.rankings_dir)
        rankings.require_made_with(arguments.at_label_mode, arguments.ties)
        reviews = _Reviews(arguments, config, rankings.index)
        products = {}
        missing = []
        for about in rankings.by_file:
            ranking = rankings.rows(about)[: arguments.top_runs]
            if len(ranking) < arguments.top_runs:
                found = f"{len(ranking)} of {arguments.top_runs} runs that are to vote"
                action = "no workbook for it; a smaller odd TOP_RUNS makes one"
                expected = f"{arguments.top_runs} runs"
                missing.append(Problem(about["reference"], None, "", found, expected, action))
                continue
            products[about["reference"]] = reviews.product(about, ranking)
        stage = Stage("gt-validation", arguments.gt_validation_dir)
        set_aside_edited(stage)
        outcome = stage.refresh(products, code_digest(__file__), only_check=arguments.only_check)
    print(f"workbooks: {len(products)}, {outcome.summary('written')}")
    cli.print_problems(missing)
    return cli.EXIT_BAD_INPUT if missing else cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(
        __doc__,
        "--reference-dir",
        "--results-dir",
        "--rankings-dir",
        "--diagnostics-dir",
        "--gt-validation-dir",
        "--data-repo",
        "--config",
    )
    cli.add_mode(parser)
    cli.add_ties(parser)
    parser.add_argument(
        "--top-runs",
        type=int,
        default=3,
        metavar="N",
        help="how many runs vote, an odd number (default: %(default)s)",
    )
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
