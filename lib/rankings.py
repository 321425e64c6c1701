"""Rankings: from the results of single runs to ranked tables, without files.

A result is a per-run JSON object. Scores are computed again from its confusion matrices as exact
fractions, so that runs tie if and only if they are equal; tables carry the fractions until they
are written.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from campaign import Config
from counting import file_scores, mean, unused_labels, weighted_mean
from names import natural_key
from per_run import Result
from problems import plural

Row = dict[str, Any]


class Ranking(NamedTuple):
    """A ranked table and what a reader must know of it.

    columns: their names. rows: a {column: value} for each run, the best first. score: the column
    that decided. left_out: (team, run, reason) of runs that could have been in it. notes:
    sentences about single runs.
    """

    columns: list[str]
    rows: list[Row]
    score: str
    left_out: list[tuple[str, str, str]]
    notes: list[str]


def exact_ranks(values: Iterable[Any], ties: str, *, descending: bool) -> list[int]:
    """Return the rank of each value, from 1; equal values share one, None comes last.

    values: fractions, integers or floats, compared as they are and never as rounded text.
    ties: "competition" (1, 1, 3) or "dense" (1, 1, 2).
    """
    values = list(values)
    known = sorted({value for value in values if value is not None}, reverse=descending)
    numbers = Counter(values)
    ranks = {}
    rank = 1
    for value in (*known, None):
        ranks[value] = rank
        rank += 1 if ties == "dense" else numbers[value]
    return [ranks[value] for value in values]


def ranked(rows: list[Row], score: str, ties: str, *, descending: bool) -> list[Row]:
    """Return rows with the column ``rank`` in front, sorted by it.

    Tied rows stand in natural order of team and run (team2 before team10) on every machine.
    """
    ranks = exact_ranks([row[score] for row in rows], ties, descending=descending)
    with_rank = [{"rank": rank, **row} for rank, row in zip(ranks, rows, strict=True)]
    return sorted(
        with_rank, key=lambda row: (row["rank"], natural_key(row["team"]), natural_key(row["run"]))
    )


def exact_scores(result: Result, config: Config) -> dict[str, Fraction]:
    """Return the scores of a run on one file, from its counts."""
    matrices = {target: result["counts"][target]["confusion"] for target in result["targets"]}
    return file_scores(matrices, config.profile(result["dataset"])["score"])


def rank_file(results: list[Result], config: Config, ties: str) -> Ranking:
    """Rank the runs on one reference by its profile score.

    results: those of the runs on that reference, at least one.
    """
    score = config.profile(results[0]["dataset"])["score"]
    rows = [
        {
            "team": r["team"],
            "run": r["run"],
            "submission": r["submission"],
            **exact_scores(r, config),
        }
        for r in results
    ]
    columns = ["rank", *rows[0]]
    notes = _unused_labels(results[0]) + _identical_runs(results)
    return Ranking(columns, ranked(rows, score, ties, descending=True), score, [], notes)


def _unused_labels(result: Result) -> list[str]:
    """Return a sentence for each label that the reference of a result never uses."""
    return [
        f"The reference has no {target} {label}, which is left out of the mean."
        for target in result["targets"]
        for label in unused_labels(result["counts"][target]["confusion"])
    ]


def _identical_runs(results: list[Result]) -> list[str]:
    """Return a sentence for each set of runs whose files are the same to the byte."""
    same: dict[str, list[str]] = {}
    for result in results:
        same.setdefault(result["digests"]["run"], []).append(result["submission"])
    return [
        f"{' and '.join(sorted(files, key=natural_key))} are identical files."
        for files in same.values()
        if len(files) > 1
    ]


class _Submission(NamedTuple):
    """The results of one run of one team over several references, by language."""

    team: str
    run: str
    results: dict[str, Result]


def _submissions(results: list[Result]) -> list[_Submission]:
    """Group results by team and run; runs of different numbers are never combined."""
    grouped: dict[tuple[str, str], _Submission] = {}
    for result in results:
        key = (result["team"], result["run"])
        submission = grouped.setdefault(key, _Submission(*key, {}))
        submission.results[result["language"]] = result
    return sorted(grouped.values(), key=lambda s: (natural_key(s.team), natural_key(s.run)))


def rank_mean(
    results: list[Result], languages: list[str], score: str, config: Config, ties: str
) -> Ranking:
    """Rank runs by the mean of their profile scores over several files of one data set.

    results: those on the files. languages: of the files there are; a run that lacks one is left
    out. score: name of the mean.
    """
    rows = []
    left_out = []
    for team, run, by_language in _submissions(results):
        missing = [language for language in languages if language not in by_language]
        if missing:
            left_out.append((team, run, f"no run for {', '.join(missing)}"))
            continue
        name = config.profile(by_language[languages[0]]["dataset"])["score"]
        scores = {
            language: exact_scores(by_language[language], config)[name] for language in languages
        }
        single = {f"{name}_{language}": value for language, value in scores.items()}
        row = {"team": team, "run": run, score: mean(list(scores.values()))}
        rows.append(row | (single if len(languages) > 1 else {}))
    columns = ["rank", *(rows[0] if rows else ("team", "run", score))]
    return Ranking(columns, ranked(rows, score, ties, descending=True), score, left_out, [])


def rank_efficiency(
    ranking: Ranking,
    results: list[Result],
    profile: dict[str, Any],
    config: Config,
    ties: str,
    *,
    elsewhere: Sequence[Result] = (),
) -> Ranking:
    """Rank the runs of an accuracy ranking by a weighted mean of their ranks in score and sizes.

    ranking: the accuracy ranking; only its runs take part. results: those that it was made of.
    profile: its "score" names the mean rank, its "weights" are {quantity: weight}, where a
    quantity is an organizer value of the info files (less is better) or else stands for the
    score of the accuracy ranking (more is better). elsewhere: results of the same runs on the
    other files of the data set. A run that opted out in any of its files is left out; ranks are
    given among the others.
    """
    score, weights = profile["score"], profile["weights"]
    sizes = [quantity for quantity in weights if quantity in config.facts["info"]["organizer"]]
    rows = []
    left_out = []
    notes = []
    taking_part = {(row["team"], row["run"]): row[ranking.score] for row in ranking.rows}
    opt_outs = _opt_outs([*results, *elsewhere], config)
    for submission in _submissions(results):
        key = (submission.team, submission.run)
        if key not in taking_part:
            continue
        reason = opt_outs.get(key)
        if reason:
            left_out.append((*key, reason))
            continue
        values, warnings = _sizes(submission, sizes)
        notes += warnings
        rows.append({"team": key[0], "run": key[1], ranking.score: taking_part[key], **values})
    columns_of = {each: each if each in sizes else ranking.score for each in weights}
    ranks = {
        f"rank_{quantity}": exact_ranks(
            [row[column] for row in rows], ties, descending=column == ranking.score
        )
        for quantity, column in columns_of.items()
    }
    for place, row in enumerate(rows):
        own = {name: of_all[place] for name, of_all in ranks.items()}
        row[score] = weighted_mean(zip(weights.values(), own.values(), strict=True))
        row.update(own)
    columns = ["rank", "team", "run", score, *ranks, ranking.score, *sizes]
    return Ranking(columns, ranked(rows, score, ties, descending=False), score, left_out, notes)


def _opt_outs(results: list[Result], config: Config) -> dict[tuple[str, str], str]:
    """Return {(team, run): why it takes no part in efficiency} of those that opted out."""
    key = config.facts["info"]["opt_out"]
    reasons = {}
    for team, run, by_language in _submissions(results):
        out = [name for name, one in by_language.items() if one["efficiency_metadata"][key]]
        if len(out) == len(by_language):
            reasons[team, run] = "opted out"
        elif out:
            languages = ", ".join(out)
            reasons[team, run] = f"opted out in {languages} only, which counts for all its files"
    return reasons


def _sizes(submission: _Submission, quantities: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the sizes of a submission, the largest where its info files disagree, and warnings."""
    values: dict[str, Any] = {}
    warnings = []
    for quantity in quantities:
        given = [result["efficiency_metadata"][quantity] for result in submission.results.values()]
        known = [value for value in given if value is not None]
        values[quantity] = max(known, default=None)
        if len(set(given)) > 1:
            shown = ", ".join(
                f"{language} {'none' if value is None else value}"
                for language, value in zip(submission.results, given, strict=True)
            )
            warnings.append(
                f"{submission.team} {submission.run}: its info files disagree on {quantity}"
                f" ({shown}); the largest counts."
            )
    missing = sum(
        result["efficiency_metadata"]["info_missing"] for result in submission.results.values()
    )
    if missing:
        files = plural(missing, "run file")
        warnings.append(f"{submission.team} {submission.run}: {files} without a valid info file.")
    return values, warnings
