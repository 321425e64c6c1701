"""Apply reviewers' decisions to copies of the references.

Reads   the workbooks of REVIEWED_DIR, the gold files of REFERENCE_DIR, the configuration
Writes  ADJUDICATED_DIR/reference/*.jsonl (only decided labels differ, excluded pairs are gone,
        all other bytes are as they were) and ADJUDICATED_DIR/changes.tsv
Exits   0, 1 with a line for each decision that cannot be carried out, 2 for wrong usage

REFERENCE_DIR is never changed.
"""

import argparse
from pathlib import Path

import cli
import names
from campaign import BadInput, Config, load_config
from checks import Checker, File
from data_repo import DataRepo
from decisions import (
    Change,
    Decision,
    Gold,
    apply_changes,
    changes_of,
    contradictions,
    read_decisions,
)
from files import digest, digest_of_file, one_line, tsv_bytes
from problems import Problem, is_error, plural
from stage import Product, Stage, code_digest, holding

HEADER = ["file", "document", "target", "old", "new", "reviewer", "comment"]


def read_golds(folder: Path, config: Config, repo: DataRepo) -> dict[tuple[str, str, str], Gold]:
    """Return the references by (dataset, split, language). Raises BadInput for invalid ones."""
    checker = Checker(config, repo)
    golds = {}
    problems = []
    for listed in names.list_references(folder, names.naming_of(config, {})):
        if listed.kind != names.REFERENCE:
            continue
        path = folder / listed.file
        data = path.read_bytes()
        index, found = checker.documents(File(listed.file, path, data))
        problems += [problem for problem in found if is_error(problem)]
        if index is not None:
            about = listed.reference
            key = (about.dataset, about.split, about.language)
            golds[key] = Gold(listed.file, data, index)
    if problems:
        raise BadInput(problems)
    return golds


def read_all(folder: Path, config: Config) -> tuple[list[Path], list[Decision]]:
    """Return the workbooks of a folder and all decisions in them.

    Raises BadInput if there is none, one cannot be read, or two decisions contradict.
    """
    books = sorted(p for p in folder.glob("*.xlsx") if not p.name.startswith((".", "~")))
    if not books:
        found = "no reviewed workbooks"
        action = "put reviewed copies of those of make gt-validation there, or set REVIEWED_DIR"
        raise BadInput([Problem(str(folder), None, "", found, "at least one", action)])
    decisions: list[Decision] = []
    problems: list[Problem] = []
    for book in books:
        found, wrong = read_decisions(book, config)
        decisions += found
        problems += wrong
    problems += contradictions(decisions)
    if problems:
        raise BadInput(problems)
    return books, decisions


def changes_tsv(changes: list[Change], config: Config) -> bytes:
    """Return changes.tsv: a row for each changed label or excluded pair."""
    ids = config.facts["documents"]["pair_id"]
    header = [*HEADER[:2], *ids, *HEADER[2:]]
    rows = [
        [
            *(file, *map(one_line, (decision.document, *decision.pair)), decision.target),
            *(old, decision.decision),
            # A cell of a workbook may hold line ends and tabs, a cell of a TSV may not.
            *(" ".join(text.split()) for text in (decision.reviewer, decision.comment)),
        ]
        for file, decision, old in changes
    ]
    return tsv_bytes(header, sorted(rows))


def main(arguments: argparse.Namespace) -> int:
    """Adjudicate the references; return the exit status."""
    config = load_config(arguments.config)
    repo = DataRepo(arguments.data_repo, config.facts["schema"])
    golds = read_golds(arguments.reference_dir, config, repo)
    books, decisions = read_all(arguments.reviewed_dir, config)
    changes, problems = changes_of(decisions, golds, config)
    if problems:
        raise BadInput(problems)

    def build() -> dict[str, bytes]:
        copies = {
            f"reference/{gold.file}": apply_changes(
                gold, [change for change in changes if change.file == gold.file], config
            )
            for gold in golds.values()
        }
        return {**copies, "changes.tsv": changes_tsv(changes, config)}

    outputs = [*(f"reference/{gold.file}" for gold in golds.values()), "changes.tsv"]
    inputs = {gold.file: digest(gold.data) for gold in golds.values()}
    inputs |= {book.name: digest_of_file(book) for book in books} | {"config": config.digest}
    with holding(arguments.adjudicated_dir, "adjudicated"):
        Stage("adjudicated", arguments.adjudicated_dir).refresh(
            {"references": Product(outputs, inputs, build)}, code_digest(__file__)
        )
    print(
        f"adjudication: {plural(len(decisions), 'decision')} in {plural(len(books), 'workbook')},"
        f" {plural(len(changes), 'change')}"
    )
    return cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(
        __doc__, "--reference-dir", "--adjudicated-dir", "--data-repo", "--config"
    )
    parser.add_argument(
        "--reviewed-dir",
        type=Path,
        default="data/reviewed",
        metavar="PATH",
        help="folder of the reviewed workbooks (default: %(default)s)",
    )
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
