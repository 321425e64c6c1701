"""Rank the scored runs: per file, over several files, and by efficiency.

Reads   the JSON files of PER_RUN_DIR that its manifest names, the report on the references,
        the configuration
Writes  RANKINGS_DIR/ranking-*.tsv, and rankings.json: what each is, who is left out and why
Exits   0, 1 if there are no scores or scores of another label mode, 2 for wrong usage
"""

import argparse
from fractions import Fraction
from functools import partial
from typing import Any

import cli
import names
from campaign import VERSION, Config, load_config
from files import digest_of_values, json_bytes, tsv_bytes
from per_run import Result, read_results
from ranking_tables import INDEX, runs_digest
from rankings import Ranking, rank_efficiency, rank_file, rank_mean
from reports import Entry, read_report
from stage import Product, Stage, code_digest, holding


class Plan:
    """Which rankings a campaign has, from its references and the runs that were scored."""

    def __init__(self, references: list[Entry], results: list[Result], config: Config) -> None:
        self._config = config
        self._references = references
        self._results = results
        scored = {result["reference"] for result in results}
        self.with_runs = [entry for entry in references if entry["file"] in scored]
        self.without_runs = [entry["file"] for entry in references if entry["file"] not in scored]

    def files(self) -> list[tuple[Entry, str]]:
        """Return (reference, ranking file) for each reference that has runs."""
        template = self._config.facts["rankings"]["files"]["file"]
        return [(entry, template.format_map(entry)) for entry in self.with_runs]

    def means(self) -> dict[str, list[Entry]]:
        """Return the references of each ranking over several files, if any of them has runs."""
        return {
            key: chosen
            for key, facts in self._config.facts["rankings"]["means"].items()
            if (chosen := self._matching(self._references, facts))
            and self._matching(self.with_runs, facts)
        }

    def efficiency_by_file(self, facts: dict) -> list[tuple[Entry, str]]:
        """Return (reference, ranking file) of an efficiency profile that is ranked per file."""
        chosen = self._matching(self.with_runs, facts)
        return [(entry, facts["file"].format_map(entry)) for entry in chosen]

    def outputs(self) -> list[str]:
        """Return the names of all files that the rankings will be written to."""
        outputs = [file for _, file in self.files()]
        outputs += [self._config.facts["rankings"]["means"][key]["file"] for key in self.means()]
        for facts in self._config.facts["rankings"]["efficiency"].values():
            if facts["of"] in self.means():
                outputs.append(facts["file"])
            elif facts["of"] == "files":
                outputs += [file for _, file in self.efficiency_by_file(facts)]
        return [*outputs, INDEX]

    def results_of(self, references: list[Entry]) -> list[Result]:
        """Return the results of the runs on some references."""
        wanted = {entry["file"] for entry in references}
        return [result for result in self._results if result["reference"] in wanted]

    def runs_digest(self) -> str:
        """Return a digest that tells whether rankings are those of the runs there are now."""
        return runs_digest([(r["submission"], r["digests"]["run"]) for r in self._results])

    def reference_digests(self) -> dict[str, str]:
        """Return {reference file: SHA-256 that it had when its runs were scored}."""
        return dict(sorted((r["reference"], r["digests"]["reference"]) for r in self._results))

    @staticmethod
    def _matching(references: list[Entry], facts: dict) -> list[Entry]:
        return [
            entry
            for entry in references
            if (entry["dataset"], entry["split"]) == (facts["dataset"], facts["split"])
        ]


def build_all(plan: Plan, config: Config, mode: str, ties: str, scores: str) -> dict[str, bytes]:
    """Return {file name: content} of all rankings and of their index.

    scores: digest of all that the scores are, for stages that build on more than the tables.
    """
    facts = config.facts["rankings"]
    built: list[tuple[dict[str, Any], Ranking]] = []
    by_file = {}
    for reference, file in plan.files():
        ranking = rank_file(plan.results_of([reference]), config, ties)
        by_file[reference["file"]] = ranking
        built.append(({"kind": "files", **_about(reference), "file": file}, ranking))
    means = {}
    for key, references in plan.means().items():
        results = plan.results_of(references)
        languages = [reference["language"] for reference in references]
        ranking = rank_mean(results, languages, facts["means"][key]["score"], config, ties)
        means[key] = (ranking, results)
        about = {"dataset": references[0]["dataset"], "languages": languages}
        built.append(({"kind": "means", "key": key, **about, **facts["means"][key]}, ranking))
    for key, profile in facts["efficiency"].items():
        shown = {"kind": "efficiency", "key": key, **profile}
        if profile["of"] in means:
            accuracy, results = means[profile["of"]]
            built.append((shown, rank_efficiency(accuracy, results, profile, config, ties)))
        elif profile["of"] == "files":
            by_reference = plan.efficiency_by_file(profile)
            everywhere = plan.results_of([reference for reference, _ in by_reference])
            for reference, file in by_reference:
                ranking = rank_efficiency(
                    by_file[reference["file"]],
                    plan.results_of([reference]),
                    profile,
                    config,
                    ties,
                    elsewhere=everywhere,
                )
                built.append(({**shown, **_about(reference), "file": file}, ranking))
    contents = {about["file"]: ranking_tsv(ranking, mode) for about, ranking in built}
    index = {
        "campaign": config.facts["campaign"],
        "version": VERSION,
        "at_label_mode": mode,
        "ties": ties,
        "runs": plan.runs_digest(),
        "scores": scores,
        "references": plan.reference_digests(),
        "rankings": [_index_entry(about, ranking) for about, ranking in built],
        "references_without_runs": plan.without_runs,
    }
    return {**contents, INDEX: json_bytes(index)}


def ranking_tsv(ranking: Ranking, mode: str) -> bytes:
    """Return a ranking as a table: fractions at full float precision, the mode in each row."""
    rows = [[*(_plain(row[column]) for column in ranking.columns), mode] for row in ranking.rows]
    return tsv_bytes([*ranking.columns, "at_label_mode"], rows)


def _plain(cell: Any) -> Any:
    return float(cell) if isinstance(cell, Fraction) else cell


def _about(reference: Entry) -> dict[str, str]:
    return {
        "reference": reference["file"],
        **{key: reference[key] for key in ("dataset", "split", "language")},
    }


def _index_entry(about: dict[str, Any], ranking: Ranking) -> dict[str, Any]:
    left_out = [
        {"team": team, "run": run, "reason": reason} for team, run, reason in ranking.left_out
    ]
    runs = {"score": ranking.score, "runs": len(ranking.rows)}
    return {**about, **runs, "left_out": left_out, "notes": ranking.notes}


def main(arguments: argparse.Namespace) -> int:
    """Bring all rankings up to date; return the exit status."""
    config = load_config(arguments.config)
    cli.require_mode(arguments.at_label_mode, config)
    mode, ties = arguments.at_label_mode, arguments.ties
    with holding(arguments.results_dir, "rankings", reads=["references", "score"]):
        references = [
            entry
            for entry in read_report(arguments.results_dir, "references", "validate-reference")
            if entry["kind"] == names.REFERENCE and entry["valid"]
        ]
        scores = Stage("score", arguments.per_run_dir)
        results = read_results(scores, mode)
        plan = Plan(references, results, config)
        scores_digest = digest_of_values(scores.files())
        inputs = {
            "per_run": scores_digest,
            "references": digest_of_values([entry["file"] for entry in references]),
            "config": config.digest,
            "at_label_mode": mode,
            "ties": ties,
        }
        build = partial(build_all, plan, config, mode, ties, scores_digest)
        product = Product(plan.outputs(), inputs, build)
        outcome = Stage("rankings", arguments.rankings_dir).refresh(
            {"rankings": product}, code_digest(__file__), only_check=arguments.only_check
        )
    number = len(plan.outputs()) - 1
    print(f"rankings: {number} tables {'written' if outcome.built else 'unchanged'}")
    return cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(__doc__, "--results-dir", "--per-run-dir", "--rankings-dir", "--config")
    cli.add_mode(parser)
    cli.add_ties(parser)
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
