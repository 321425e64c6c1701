"""What a participant wants to know of a run: would it be accepted, and what would be counted."""

import difflib
import json
from typing import Any, NamedTuple

from alignment import Index
from campaign import Config
from checks import Checker, File, RunCheck
from counting import Confusion, confusion_matrix, file_scores
from names import Naming, Reference, Run
from problems import Problem, is_error, plural


class ReferenceFile(NamedTuple):
    """A gold or masked file that runs are checked against."""

    reference: Reference
    index: Index


class Verdict(NamedTuple):
    """The findings about one run.

    problems: errors and warnings. counted: numbers of what is missing, null, unknown or changed,
    by the keys of _COUNTED. labels: {target: {label or "null": pairs of the reference}}. matrices,
    scores: confusion matrices and scores by name; empty where the labels are masked.
    """

    file: str
    reference: str | None
    accepted: bool
    problems: list[Problem]
    counted: dict[str, int]
    labels: dict[str, dict[str, int]]
    matrices: dict[str, Confusion]
    scores: dict[str, float]


def judge(
    file: File, known: list[ReferenceFile], checker: Checker, naming: Naming, config: Config
) -> Verdict:
    """Judge one run.

    known: the references there are. The run's name tells its own; if it does not, the run is
    checked against the only one, or the only one that has some of its documents. A wrong name
    is an error like any other.
    """
    run = naming.run(file.name)
    own, problems = _own_reference(file, known, checker, naming)
    if own is None:
        _, found = checker.documents(file)
        problems = [with_suggestion(problem, config) for problem in found] + problems
        return Verdict(file.name, None, False, problems, {}, {}, {}, {})
    golds = {each.reference.stem: each.index for each in known}
    check = checker.run(file, run or Run("<team>", own.reference, 1), golds)
    problems += [with_suggestion(problem, config) for problem in check.problems]
    accepted = not any(map(is_error, problems))
    verdict = Verdict(file.name, own.reference.file, accepted, problems, {}, {}, {}, {})
    return verdict if check.alignment is None else _count(verdict, own, check, config)


def _own_reference(
    file: File, known: list[ReferenceFile], checker: Checker, naming: Naming
) -> tuple[ReferenceFile | None, list[Problem]]:
    """Return the reference that a run is for, if that can be told, and what its name lacks."""
    by_stem = {each.reference.stem: each for each in known}
    run = naming.run(file.name)
    meant = run or naming.propose_run(file.name, list(by_stem))
    own = by_stem.get(meant.reference.stem) if meant else None
    fitting = own or _fitting(checker.documents(file)[0], known)
    problems = [] if run else [_misnamed(file.name, meant, fitting, naming)]
    if run and own is None:
        return None, [_no_reference(file.name, run, fitting, list(by_stem))]
    if fitting is None:
        problems.append(_no_reference(file.name, run, fitting, list(by_stem)))
    return fitting, problems


def _fitting(index: Index | None, known: list[ReferenceFile]) -> ReferenceFile | None:
    documents = index.documents if index else {}
    fitting = [each for each in known if each.index.documents.keys() & documents]
    chosen = known if len(known) == 1 else fitting
    return chosen[0] if len(chosen) == 1 else None


def _count(verdict: Verdict, own: ReferenceFile, check: RunCheck, config: Config) -> Verdict:
    """Return a verdict with what would be counted of a run that could be aligned."""
    profile = config.profile(own.reference.dataset)
    alignment = check.alignment
    changed_documents, changed_pairs = changed_content(own.index, check.index, config)
    counted = {
        "missing_documents": len(alignment.missing_documents),
        "missing_pairs": alignment.missing_pairs,
        "null_labels": sum(alignment.null_labels.values()),
        "unknown_documents": len(alignment.extra_documents),
        "unknown_pairs": alignment.extra_pairs,
        "changed_documents": changed_documents,
        "changed_pairs": changed_pairs,
    }
    answers = {t: answers_of(own.index, check.index, t) for t in profile["targets"]}
    labels = {t: _distribution(given, config.facts["targets"][t]) for t, given in answers.items()}
    matrices = _matrices(own.index, answers, config)
    scores = file_scores(matrices, profile["score"]) if matrices else {}
    return verdict._replace(
        counted=counted,
        labels=labels,
        matrices=matrices,
        scores={name: float(value) for name, value in scores.items()},
    )


def answers_of(gold: Index, run: Index, target: str) -> list[str | None]:
    """Return a run's label of each pair of the reference, None where there is none."""
    return [
        run.documents.get(document, {}).get(pair, {}).get(target)
        for document, pairs in gold.documents.items()
        for pair in pairs
    ]


def changed_content(gold: Index, run: Index, config: Config) -> tuple[int, int]:
    """Return in how many documents and pairs a run differs from what participants were given.

    Labels and explanations are theirs to change; so are keys that the reference does not have.
    """
    pairs_key = config.facts["documents"]["pairs"]
    own = {key for target in config.facts["targets"] for key in (target, f"{target}_explanation")}
    changed_documents = changed_pairs = 0
    for document in gold.documents.keys() & run.documents.keys():
        given, sent = gold.lines[document].value, run.lines[document].value
        changed_documents += _differs(given, sent, {pairs_key})
        answers = run.documents[document]
        for pair_id, pair in gold.documents[document].items():
            changed_pairs += pair_id in answers and _differs(pair, answers[pair_id], own)
    return changed_documents, changed_pairs


def _differs(given: dict, sent: dict, free: set[str]) -> bool:
    return any(sent.get(key) != value for key, value in given.items() if key not in free)


def with_suggestion(problem: Problem, config: Config) -> Problem:
    """Return a problem about a label with the label that was probably meant."""
    target = problem.path.rsplit(".", maxsplit=1)[-1]
    labels = config.facts["targets"].get(target)
    if not is_error(problem) or not labels:
        return problem
    try:
        value = json.loads(problem.found)
    except ValueError:
        return problem
    if isinstance(value, list | dict | int | float) and not isinstance(value, bool):
        return problem
    near = difflib.get_close_matches(str(value).strip().upper(), labels, n=1)
    return problem._replace(action=f"did you mean {json.dumps(near[0])}?") if near else problem


def _distribution(given: list[str | None], labels: list[str]) -> dict[str, int]:
    return {label: given.count(label) for label in labels} | {"null or missing": given.count(None)}


def _matrices(
    gold: Index, answers: dict[str, list[str | None]], config: Config
) -> dict[str, Confusion]:
    """Return {target: confusion matrix}, or {} if the reference is masked."""
    matrices = {}
    for target, given in answers.items():
        labels = [pair[target] for pairs in gold.documents.values() for pair in pairs.values()]
        if None in labels:
            return {}
        all_labels = config.facts["targets"][target]
        imputed = config.facts["imputed_label"]
        matrices[target] = confusion_matrix(labels, given, all_labels, {}, imputed)
    return matrices


def _misnamed(file: str, meant: Run | None, own: ReferenceFile | None, naming: Naming) -> Problem:
    reference = own.reference.stem if own else "<reference>"
    expected = meant.file if meant else f"<team>_{reference}_run<1-{naming.max_runs}>.jsonl"
    return Problem(file, None, "", "this file name", expected, "rename it")


def _no_reference(
    file: str, run: Run | None, fitting: ReferenceFile | None, stems: list[str]
) -> Problem:
    found = "a name that does not tell its reference"
    if run:
        found = f"a run for {run.reference.stem}, which is not among the references"
    action = f"its documents are those of {fitting.reference.stem}" if fitting else ""
    return Problem(file, None, "", found, f"a run for one of: {', '.join(stems)}", action)


_COUNTED = {
    "missing_documents": ("document", "missing: the pairs would count as {imputed}"),
    "missing_pairs": (
        "pair",
        "missing, those of missing documents included: would count as {imputed}",
    ),
    "null_labels": ("null label", "would count as {imputed}"),
    "unknown_documents": ("document", "that the reference does not have: ignored"),
    "unknown_pairs": ("pair", "that the reference does not have: ignored"),
    "changed_documents": ("document", "with changed text or metadata: harmless, but look why"),
    "changed_pairs": ("pair", "with changed mentions or links: harmless, but look why"),
}


def sentences(verdict: Verdict, config: Config) -> list[str]:
    """Return what would be counted, in plain words: a phrase for each number above zero."""
    imputed = config.facts["imputed_label"]
    return [
        f"{plural(verdict.counted[key], noun)} {phrase.format(imputed=imputed)}"
        for key, (noun, phrase) in _COUNTED.items()
        if verdict.counted.get(key)
    ]


def as_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict for machines."""
    return verdict._asdict() | {"problems": [problem._asdict() for problem in verdict.problems]}
