"""File names: the one place that parses, builds and proposes them.

Reference  ``<campaign>-<version>-<dataset>-<split>-<language>.jsonl``
Run        ``<team>_<reference stem>_run<N>.jsonl``
Info file  ``<run stem>-info.json``
"""

import re
import stat
import unicodedata
from pathlib import Path
from typing import NamedTuple

from campaign import Config, Team
from problems import quote

RUN_SUFFIX = ".jsonl"
INFO_SUFFIX = "-info.json"
_REFERENCE = (
    r"(?P<campaign>[A-Za-z0-9]+-\d+)-(?P<version>v\d+(?:\.\d+)*)"
    r"-(?P<dataset>[a-z0-9]+)-(?P<split>[a-z0-9]+)-(?P<language>[a-z]{2,3})"
)
_REFERENCE_STEM = re.compile(_REFERENCE, re.ASCII)
_RUN_STEM = re.compile(rf"(?P<team>.+?)_(?P<reference>{_REFERENCE})_run(?P<number>[1-9])", re.ASCII)
_TEAM = re.compile(r"team[1-9][0-9]*")


class Reference(NamedTuple):
    """What the name of a gold file says."""

    stem: str
    dataset: str
    split: str
    language: str

    @property
    def file(self) -> str:
        """Return the file name."""
        return self.stem + RUN_SUFFIX


class Run(NamedTuple):
    """What the name of a run says; ``number`` counts from 1."""

    team: str
    reference: Reference
    number: int

    @property
    def name(self) -> str:
        """Return the run as tables show it: ``run1``."""
        return f"run{self.number}"

    @property
    def stem(self) -> str:
        """Return the file name without its ending."""
        return f"{self.team}_{self.reference.stem}_run{self.number}"

    @property
    def file(self) -> str:
        """Return the name of the file with the labels."""
        return self.stem + RUN_SUFFIX

    @property
    def info_file(self) -> str:
        """Return the name of the file with the metadata."""
        return self.stem + INFO_SUFFIX


class Naming(NamedTuple):
    """The rules of one campaign: its name, its organizer entries, its limit of runs."""

    campaign: str
    organizers: frozenset[str]
    max_runs: int

    def reference(self, file_name: str) -> Reference | None:
        """Parse the name of a gold file; None where it is not one."""
        match = _REFERENCE_STEM.fullmatch(file_name.removesuffix(RUN_SUFFIX))
        if not file_name.endswith(RUN_SUFFIX) or not match:
            return None
        return self._reference_of(match)

    def run(self, file_name: str) -> Run | None:
        """Parse the name of a run; None where it is not one.

        The team is all that stands before the reference, so that a team called ``base_line``
        is not taken for ``base``.
        """
        return self._run_with(file_name, RUN_SUFFIX)

    def run_of_info(self, file_name: str) -> Run | None:
        """Parse the name of an info file into the run that it describes; None if it is none."""
        return self._run_with(file_name, INFO_SUFFIX)

    def is_team(self, team: str) -> bool:
        """Tell whether a team may be called so: ``team<N>`` or an entry of teams.json."""
        return team in self.organizers or _TEAM.fullmatch(team) is not None

    def propose_run(self, file_name: str, references: list[str]) -> Run | None:
        """Guess which run a misnamed file is meant to be, for the reader to decide.

        references: stems of the gold files there are. Case, separators, ``_masked``, padding
        zeros and a browser's `` (1)`` are overlooked. None where nothing or several fit.
        """
        squashed = squash(re.sub(r" \(\d+\)|_masked", "", _without_ending(file_name)))
        fitting = [stem for stem in references if f"-{squash(stem)}-" in squashed]
        if not fitting:
            return None
        stem = max(fitting, key=len)
        before, _, after = squashed.partition(f"-{squash(stem)}-")
        team = self._propose_team(before)
        number = re.fullmatch(r"run-?0*([1-9])", after)
        if team is None or number is None or int(number[1]) > self.max_runs:
            return None
        reference = self.reference(stem + RUN_SUFFIX)
        return reference and Run(team, reference, int(number[1]))

    def _propose_team(self, squashed: str) -> str | None:
        number = re.fullmatch(r"team-?0*([1-9][0-9]*)", squashed)
        if number:
            return f"team{number[1]}"
        fitting = [team for team in self.organizers if squash(team) == squashed]
        return fitting[0] if len(fitting) == 1 else None

    def _run_with(self, file_name: str, suffix: str) -> Run | None:
        match = _RUN_STEM.fullmatch(file_name.removesuffix(suffix))
        if not file_name.endswith(suffix) or not match:
            return None
        reference = self._reference_of(match)
        number = int(match["number"])
        if reference is None or not self.is_team(match["team"]) or number > self.max_runs:
            return None
        return Run(match["team"], reference, number)

    def _reference_of(self, match: re.Match[str]) -> Reference | None:
        if match["campaign"] != self.campaign:
            return None
        stem = match["reference"] if "reference" in match.groupdict() else match[0]
        return Reference(stem, match["dataset"], match["split"], match["language"])


def naming_of(config: Config, teams: dict[str, Team]) -> Naming:
    """Return the rules that the configuration and teams.json make for file names."""
    return Naming(config.facts["campaign"], frozenset(teams), config.facts["max_runs"])


def display(file_name: str) -> str:
    """Return a file name for messages and reports: escapes where it cannot be shown as it is."""
    return file_name if file_name.isprintable() else quote(file_name, 300)


def _without_ending(file_name: str) -> str:
    return re.sub(r"([-_.]?info)?\.jsonl?$", "", file_name, flags=re.IGNORECASE)


def squash(text: str) -> str:
    """Return a name without what people vary: case, accents, spaces, kinds of separators."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return re.sub(r"(?:[^\w.]|_)+", "-", plain.casefold()).strip("-")


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Return a sort key that counts: team2 before team10; the same on every machine."""
    parts = re.split(r"([0-9]+)", text)
    # Every second part is a number: "²" counts as a digit to Python, but is none here.
    return [(1, int(part), part) if i % 2 else (0, 0, part) for i, part in enumerate(parts)]


RUN, INFO, REFERENCE, IGNORED, MISNAMED, NOT_A_FILE = (
    "run",
    "info",
    "reference",
    "ignored",
    "misnamed",
    "not a file",
)


class Listed(NamedTuple):
    """One name in a folder, and what it is taken for.

    kind: RUN, INFO or REFERENCE (a regular file with a right name), MISNAMED (it looks like
    one of them), NOT_A_FILE (a folder, dead link or pipe in the place of one), IGNORED.
    run: what its name says where that could be parsed.
    """

    file: str
    kind: str
    run: Run | None = None
    reference: Reference | None = None


def list_submissions(folder: Path, naming: Naming) -> list[Listed]:
    """Return what lies in a folder of runs, in order of name: every entry exactly once."""
    return [_submission_entry(folder, name, naming) for name in _names(folder)]


def list_references(folder: Path, naming: Naming) -> list[Listed]:
    """Return what lies in a folder of gold files, in order of name: every entry once."""
    return [_reference_entry(folder, name, naming) for name in _names(folder)]


def looks_like_info(file_name: str) -> bool:
    """Tell whether a misnamed file is meant as an info file rather than as a run."""
    return re.search(r"info\.jsonl?$", file_name, re.IGNORECASE) is not None


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _submission_entry(folder: Path, name: str, naming: Naming) -> Listed:
    run = naming.run(name)
    run_of_info = naming.run_of_info(name)
    path = folder / name
    if _looks_like_json(name) or (path.is_dir() and _holds_json_lines(path)):
        if not _is_regular(path):
            return Listed(name, NOT_A_FILE, run or run_of_info)
        if run:
            return Listed(name, RUN, run)
        if run_of_info:
            return Listed(name, INFO, run_of_info)
        return Listed(name, MISNAMED)
    return Listed(name, IGNORED)


def _reference_entry(folder: Path, name: str, naming: Naming) -> Listed:
    if not _looks_like_json(name):
        return Listed(name, IGNORED)
    if not _is_regular(folder / name):
        return Listed(name, NOT_A_FILE)
    reference = naming.reference(name)
    return Listed(name, REFERENCE if reference else MISNAMED, reference=reference)


def _looks_like_json(name: str) -> bool:
    endings = (".json", ".jsonl", ".jsonl.txt", ".jsonl.gz", ".jsonl.zip")
    return not name.startswith(".") and name.lower().endswith(endings)


def _holds_json_lines(folder: Path) -> bool:
    return any(path.name.lower().endswith(RUN_SUFFIX) for path in folder.rglob("*"))


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False
