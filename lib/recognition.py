"""Whose run is it? Team, reference and run number from the path of a file in an archive.

Every part of the path is looked at. A fact counts as known if all parts that speak of it agree;
nothing is guessed.
"""

import re
from typing import NamedTuple

from campaign import Team
from names import Naming, Run, squash

_EDGE_BEFORE, _EDGE_AFTER = r"(?<![^-.])", r"(?![^-.])"


class Clues(NamedTuple):
    """All that a path says: each of the lists holds one value where the fact is known."""

    teams: list[str]
    references: list[str]
    numbers: list[int]


class Recognizer:
    """The names that a campaign's archives may use.

    naming: rules for file names. teams: entries of teams.json, by id. references: stems of the
    gold files.
    """

    def __init__(self, naming: Naming, teams: dict[str, Team], references: list[str]) -> None:
        self._naming = naming
        self._references = {squash(stem): {stem} for stem in references}
        self._aliases: dict[str, set[str]] = {}
        for team, about in teams.items():
            for alias in filter(None, map(squash, (about.name, *about.archives, team))):
                self._aliases.setdefault(alias, set()).add(team)

    def clues(self, path: str) -> Clues:
        """Return what the parts of a path say, the archive's name among them."""
        parts = [squash(re.sub(r"_masked", "", part)) for part in path.split("/")]
        parts[-1] = re.sub(r"\.jsonl?$", "", parts[-1])
        teams: dict[str, None] = {}
        references: dict[str, None] = {}
        numbers: dict[int, None] = {}
        for part in parts:
            stems, rest = _take(part, self._references)
            references |= dict.fromkeys(stems)
            named, rest = _take(rest, self._aliases)
            teams |= dict.fromkeys(named)
            number = rf"{_EDGE_BEFORE}team-?0*([1-9][0-9]*){_EDGE_AFTER}"
            teams |= dict.fromkeys(f"team{found}" for found in re.findall(number, rest))
            run = rf"{_EDGE_BEFORE}run-?0*([0-9]+){_EDGE_AFTER}"
            numbers |= dict.fromkeys(int(found) for found in re.findall(run, rest))
        return Clues(list(teams), list(references), list(numbers))

    def run(self, clues: Clues) -> Run | None:
        """Return the run that clues point to, or None where they leave a choice or nothing."""
        if any(len(facts) != 1 for facts in clues):
            return None
        reference = self._naming.reference(f"{clues.references[0]}.jsonl")
        if reference is None or not 1 <= clues.numbers[0] <= self._naming.max_runs:
            return None
        return Run(clues.teams[0], reference, clues.numbers[0])

    def candidates(self, clues: Clues) -> list[str]:
        """Return the names that a file could get, with <...> for what the path does not say."""
        numbers = [n for n in clues.numbers if 1 <= n <= self._naming.max_runs]
        return [
            f"{team}_{stem}_run{number}.jsonl"
            for team in clues.teams or ["<team>"]
            for stem in clues.references or ["<reference>"]
            for number in numbers or [f"<1-{self._naming.max_runs}>"]
        ]


def _take(part: str, known: dict[str, set[str]]) -> tuple[list[str], str]:
    """Return what the known names in a part may mean, and the part without them.

    Longer names first, so that ``nel`` is not seen in ``nel-only``.
    """
    found = []
    for name in sorted(known, key=lambda name: (-len(name), name)):
        pattern = f"{_EDGE_BEFORE}{re.escape(name)}{_EDGE_AFTER}"
        part, times = re.subn(pattern, "/", part)
        if times:
            found += sorted(known[name])
    return found, part
