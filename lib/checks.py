"""What is wrong with one gold file or one run, from its bytes: no folders, no reports."""

from pathlib import Path
from typing import NamedTuple

import strict_json
from alignment import Alignment, Index, align, alignment_problems, index_documents
from campaign import Config
from data_repo import DataRepo
from names import Run
from problems import WARNING, Problem, is_error, plural


class File(NamedTuple):
    """A file to check: the name that problems speak of, where it lies, its content."""

    name: str
    path: Path
    data: bytes


class ReferenceCheck(NamedTuple):
    """Findings about a gold file; labels: {target: {label: gold instances}}."""

    problems: list[Problem]
    index: Index | None
    labels: dict[str, dict[str, int]]


class RunCheck(NamedTuple):
    """Findings about a run; index and alignment are None where it could not be aligned."""

    problems: list[Problem]
    index: Index | None
    alignment: Alignment | None


class Checker:
    """The checks of one campaign against one data repository."""

    def __init__(self, config: Config, repo: DataRepo) -> None:
        self._config = config
        self._repo = repo
        self._names = config.facts["documents"]

    def documents(self, file: File) -> tuple[Index | None, list[Problem]]:
        """Check a file by itself: syntax, schema, repeated documents and pairs.

        Returns its pairs, or None where an error leaves them in doubt, and all problems.
        """
        index, problems = self._read(file)
        return (None if any(map(is_error, problems)) else index), problems

    def _read(self, file: File) -> tuple[Index, list[Problem]]:
        """Return the documents that have no error of their own, and all problems."""
        lines, problems = strict_json.read_lines(file.name, file.data)
        problems += self._repo.check(file.name, file.path, lines)
        faulty = {problem.line for problem in problems}
        # With the official data repository a schema error may have no line.
        whole = [] if None in faulty else [line for line in lines if line.number not in faulty]
        index, repeated = index_documents(file.name, whole, self._config)
        return index, sorted(problems + repeated, key=lambda problem: problem.line or 0)

    def reference(self, file: File, dataset: str) -> ReferenceCheck:
        """Check a gold file: it must answer every pair that it asks, for each scored target."""
        index, problems = self._read(file)
        targets = self._config.profile(dataset)["targets"]
        labels = {
            target: dict.fromkeys(self._config.facts["targets"][target], 0) for target in targets
        }
        for line in index.lines.values():
            problems += self._repo.oddities(file.name, line)
            for position, pair in enumerate(line.value[self._names["pairs"]]):
                for target in targets:
                    if pair[target] is None:
                        path = f"$.{self._names['pairs']}[{position}].{target}"
                        problems.append(_undecided(file.name, line.number, path))
                    else:
                        labels[target][pair[target]] += 1
        if any(map(is_error, problems)):
            return ReferenceCheck(problems, None, labels)
        if not any(index.documents.values()):
            found = "no pairs in any document"
            problems.append(Problem(file.name, None, "", found, "pairs with gold labels", ""))
        else:
            problems += _unused(file.name, labels)
        return ReferenceCheck(problems, index, labels)

    def run(self, file: File, run: Run, golds: dict[str, Index]) -> RunCheck:
        """Check a run against its reference.

        golds: the pairs of each valid reference by stem; the run's own must be among them.
        """
        index, problems = self.documents(file)
        if index is None:
            return RunCheck(problems, None, None)
        gold = golds[run.reference.stem]
        found = align(gold, index, self._config.profile(run.reference.dataset)["targets"])
        if found.shared == 0:
            return RunCheck([*problems, _foreign(file.name, run, index, golds)], index, None)
        problems += alignment_problems(file.name, gold, index, found, self._config)
        for document, line in index.lines.items():
            if document not in gold.lines or line.value != gold.lines[document].value:
                problems += self._odd_by_itself(file.name, line, gold.lines.get(document))
        return RunCheck(problems, index, found)

    def _odd_by_itself(
        self, file: str, line: strict_json.Line, gold: strict_json.Line | None
    ) -> list[Problem]:
        """Return what is odd in a run's document and not the same in the reference."""
        known = (
            {(odd.path, odd.found) for odd in self._repo.oddities(file, gold)} if gold else set()
        )
        return [
            odd for odd in self._repo.oddities(file, line) if (odd.path, odd.found) not in known
        ]


def _undecided(file: str, line: int, path: str) -> Problem:
    return Problem(file, line, path, "null", "a gold label", "decide it, or remove the pair")


def _unused(file: str, labels: dict[str, dict[str, int]]) -> list[Problem]:
    return [
        Problem(
            file,
            None,
            "",
            f"no gold label {label} for {target}",
            "each label at least once",
            "it is left out of the mean",
            WARNING,
        )
        for target, counts in labels.items()
        for label, number in counts.items()
        if number == 0
    ]


def _foreign(file: str, run: Run, index: Index, golds: dict[str, Index]) -> Problem:
    fitting = [
        stem for stem, gold in sorted(golds.items()) if gold.documents.keys() & index.documents
    ]
    action = f"they are documents of {fitting[0]}" if fitting else ""
    found = f"{plural(len(index.documents), 'document')}, none of which its reference has"
    return Problem(file, None, "", found, f"documents of {run.reference.stem}", action)
