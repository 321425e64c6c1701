"""Score runs: one JSON file a run, with the counts that its scores are made of.

Reads   the RUNs, their references and info files, the validation reports, the configuration
Writes  PER_RUN_DIR/<run stem>.json
Exits   0, 1 with a line for each run that cannot be scored, 2 for wrong usage

Without RUN, all valid runs of SUBMISSIONS_DIR are scored, and the scores of runs that are no
longer there are removed. Only what changed is scored again.
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import cli
import names
from campaign import VERSION, BadInput, Config, load_config
from counting import Confusion, confusion_matrix, correct, file_scores, total, unused_labels
from data_repo import DataRepo
from files import digest_of_values, json_bytes
from problems import Problem, plural
from reports import Entry, read_report
from stage import Product, Stage, code_digest, holding


def count_run(
    labels: dict[str, dict[str, list]], targets: list[str], config: Config, mode: str
) -> dict[str, Confusion]:
    """Return {target: confusion matrix} of a run.

    labels: {target: {"gold": labels, "pred": labels}} as the data repository flattens them.
    targets: those that are scored. mode: name of the label mode.
    """
    return {
        target: confusion_matrix(
            labels[target]["gold"],
            labels[target]["pred"],
            config.labels(target, mode),
            config.mapping(target, mode),
            config.facts["imputed_label"],
        )
        for target in targets
    }


class Subject(NamedTuple):
    """The validation entries of a run, its reference and its info file."""

    run: Entry
    reference: Entry
    info: Entry


def per_run_result(
    subject: Subject,
    matrices: dict[str, Confusion],
    config: Config,
    mode: str,
    data_repo: str,
) -> dict[str, Any]:
    """Return what the per-run JSON file holds.

    matrices: {target: confusion matrix} of the scored targets. config, mode: the campaign's
    facts and the name of the label mode. data_repo: digest of the data repository.
    """
    run, reference, info = subject
    profile = config.profile(reference["dataset"])
    scores = file_scores(matrices, profile["score"])
    return {
        "submission": run["file"],
        "reference": reference["file"],
        "team": run["team"],
        "dataset": reference["dataset"],
        "split": reference["split"],
        "language": reference["language"],
        "run": run["run"],
        "profile": profile["name"],
        "targets": list(matrices),
        "at_label_mode": mode,
        "scores": {name: float(score) for name, score in scores.items()},
        "counts": {
            target: {"correct": correct(matrix), "total": total(matrix), "confusion": matrix}
            for target, matrix in matrices.items()
        },
        "imputed": run["imputed"],
        "extra": run["extra"],
        "efficiency_metadata": _efficiency_metadata(info, config.facts["info"]),
        "warnings": _warnings(run, info, matrices),
        "digests": {
            "run": run["digests"]["run"],
            "reference": reference["digests"]["reference"],
            "info": info["digests"].get("info"),
            "config": config.digest,
            "data_repo": data_repo,
        },
        "version": VERSION,
    }


def _efficiency_metadata(info: Entry, facts: dict) -> dict[str, Any]:
    """Return the sizes of a run; an info file that is missing or invalid says nothing."""
    is_there = info["kind"] == names.INFO and info["valid"]
    values = info["values"] if is_there else {}
    return {
        "info_file": info["file"],
        "info_missing": not is_there,
        **{key: values.get(key) for key in [*facts["organizer"], *facts["team"]]},
        facts["opt_out"]: values.get(facts["opt_out"], False),
    }


def _warnings(run: Entry, info: Entry, matrices: dict[str, Confusion]) -> list[str]:
    said = [
        Problem(**problem).text().removeprefix("warning: ")
        for problem in [*run["problems"], *info["problems"]]
    ]
    return said + [
        f"the reference has no {target} {label}: it is left out of the mean"
        for target, matrix in matrices.items()
        for label in unused_labels(matrix)
    ]


class _Scorer:
    """Makes the products of runs, loading each reference once."""

    def __init__(self, arguments: argparse.Namespace, config: Config) -> None:
        self._arguments = arguments
        self._config = config
        self._repo = DataRepo(arguments.data_repo, config.facts["schema"])
        results = arguments.results_dir
        self._references = _by_file(read_report(results, "references", "validate-reference"))
        self._infos = _by_file(read_report(results, "info", "validate-info"))
        self._golds: dict[str, dict] = {}

    def product(self, run: Entry) -> Product:
        """Return what a run's scores rest on and how to compute them."""
        stem = Path(run["file"]).stem
        reference = _entry(self._references, run["reference"], "validate-reference")
        info = _entry(self._infos, f"{stem}{names.INFO_SUFFIX}", "validate-info")
        subject = Subject(run, reference, info)
        inputs = {
            "run": run["digests"]["run"],
            "reference": reference["digests"]["reference"],
            "info": subject.info["digests"].get("info"),
            "findings": digest_of_values([_findings(run), _findings(info), reference["labels"]]),
            "config": self._config.digest,
            "data_repo": self._repo.digest,
            "at_label_mode": self._arguments.at_label_mode,
        }
        output = f"{stem}.json"
        return Product([output], inputs, lambda: {output: json_bytes(self._score(subject))})

    def _score(self, subject: Subject) -> dict[str, Any]:
        config, mode = self._config, self._arguments.at_label_mode
        gold = self._gold(subject.reference)
        path = self._arguments.submissions_dir / subject.run["file"]
        answers = self._repo.load(path, subject.run["digests"]["run"])
        _require_pairs(answers, subject.run, config)
        labels = self._repo.flatten(gold, self._repo.impute(gold, answers))
        targets = config.profile(subject.reference["dataset"])["targets"]
        matrices = count_run(labels, targets, config, mode)
        return per_run_result(subject, matrices, config, mode, self._repo.digest)

    def _gold(self, reference: Entry) -> dict:
        file = reference["file"]
        if file not in self._golds:
            path = self._arguments.reference_dir / file
            gold = self._repo.load(path, reference["digests"]["reference"])
            _require_pairs(gold, reference, self._config)
            self._golds[file] = gold
        return self._golds[file]


def _findings(entry: Entry) -> Entry:
    """Return what validation says of a file, apart from what that rests on."""
    return {key: value for key, value in entry.items() if key != "digests"}


def _require_pairs(documents: dict, entry: Entry, config: Config) -> None:
    """Raise BadInput if a data repository's loader lost documents or pairs of a valid file."""
    pairs_key = config.facts["documents"]["pairs"]
    loaded = (len(documents), sum(len(each[pairs_key]) for each in documents.values()))
    expected = (entry["documents"], entry["pairs"])
    if loaded != expected:
        found = f"{loaded[0]} documents and {loaded[1]} pairs as DATA_REPO loads it"
        wanted = f"{expected[0]} and {expected[1]}"
        action = "its ids or line ends are more than that loader can tell apart"
        raise BadInput([Problem(entry["file"], None, "", found, wanted, action)])


def _entry(entries: dict[str, Entry], file: str, target: str) -> Entry:
    if file not in entries:
        found = "no entry in the report"
        raise BadInput(
            [Problem(file, None, "", found, "one as new as its run", f"run make {target}")]
        )
    return entries[file]


def _by_file(entries: list[Entry]) -> dict[str, Entry]:
    return {entry["file"]: entry for entry in entries}


def _requested(paths: list[Path], folder: Path, valid: dict[str, Entry]) -> list[str]:
    """Return the file names of the runs that the command line asks for."""
    problems = []
    for path in paths:
        if path.parent.resolve() != folder.resolve():
            raise cli.UsageError(f"{path} does not lie in SUBMISSIONS_DIR, {folder}")
        if path.name not in valid:
            found = "no valid run in the report on the runs"
            action = "run make validate-submissions"
            problems.append(Problem(str(path), None, "", found, "a run that passed", action))
    if problems:
        raise BadInput(problems)
    return [path.name for path in paths]


def main(arguments: argparse.Namespace) -> int:
    """Score the runs of the command line, or all; return the exit status."""
    config = load_config(arguments.config)
    cli.require_mode(arguments.at_label_mode, config)
    with holding(arguments.results_dir, "score", reads=["references", "submissions", "info"]):
        report = read_report(arguments.results_dir, "submissions", "validate-submissions")
        valid = {e["file"]: e for e in report if e["kind"] == names.RUN and e["valid"]}
        requested = _requested(arguments.runs, arguments.submissions_dir, valid)
        scorer = _Scorer(arguments, config)
        products = {file: scorer.product(valid[file]) for file in requested or valid}
        stage = Stage("score", arguments.per_run_dir)
        outcome = stage.refresh(
            products,
            code_digest(__file__),
            only_these=not requested,
            only_check=arguments.only_check,
        )
    print(f"scores: {plural(len(products), 'run')}, {outcome.summary('scored')}")
    return cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(
        __doc__,
        "--reference-dir",
        "--submissions-dir",
        "--results-dir",
        "--per-run-dir",
        "--data-repo",
        "--config",
    )
    cli.add_mode(parser)
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="runs to score")
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
