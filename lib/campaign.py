"""The campaign's facts: what competition_config.json and teams.json say."""

from pathlib import Path
from typing import NamedTuple

import strict_json
from files import digest
from problems import Problem, quote

LIB = Path(__file__).parent
DEFAULT_CONFIG = LIB / "competition_config.json"
DEFAULT_TEAMS = LIB / "teams.json"
VERSION = (LIB / "VERSION").read_text("ascii").strip()


class BadInput(Exception):
    """Input that a user has to mend; ``problems`` holds a line for each fault."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(f"{len(problems)} problems")
        self.problems = problems


class Config(NamedTuple):
    """competition_config.json, and the SHA-256 of the bytes that it was read from."""

    facts: dict
    digest: str

    def labels(self, target: str, mode: str) -> list[str]:
        """Return a target's labels in a mode, in the order of the confusion matrix."""
        mapping = self.mapping(target, mode)
        return [label for label in self.facts["targets"][target] if label not in mapping]

    def mapping(self, target: str, mode: str) -> dict[str, str]:
        """Return which labels of a target a mode counts as another one."""
        return self.facts["at_label_modes"][mode].get(target, {})

    def modes(self) -> list[str]:
        """Return the names of the label modes, the default one first."""
        return list(self.facts["at_label_modes"])

    def profile(self, dataset: str) -> dict:
        """Return what is scored on a dataset: name, title, score, targets."""
        return self.facts["profiles"][dataset]


def load_config(path: Path) -> Config:
    """Read the configuration.

    Raises BadInput where the file is missing, is no JSON or lacks a section.
    """
    facts, content_digest = _load_object(path)
    missing = [key for key in _SECTIONS if not isinstance(facts.get(key), _SECTIONS[key])]
    if missing:
        raise BadInput(
            [
                Problem(
                    path.name,
                    None,
                    f"$.{key}",
                    quote(facts.get(key)) if key in facts else "nothing",
                    f"the section {quote(key)}",
                    "compare with the file that the project came with",
                )
                for key in missing
            ]
        )
    return Config(facts, content_digest)


_SECTIONS = {
    "campaign": str,
    "languages": dict,
    "max_runs": int,
    "schema": str,
    "documents": dict,
    "targets": dict,
    "imputed_label": str,
    "at_label_modes": dict,
    "profiles": dict,
    "info": dict,
    "rankings": dict,
}


class Team(NamedTuple):
    """A team or organizer entry: how pages name it, and how its archives may name it."""

    name: str
    affiliation: str
    organizer: bool
    archives: tuple[str, ...] = ()


def load_teams(path: Path) -> dict[str, Team]:
    """Read teams.json: {team id: {"name", "affiliation", "organizer", "archives"}}, all optional.

    Returns the teams by id. An organizer entry may be called anything; teams are called
    ``team<N>`` and need no entry. Raises BadInput for a file that says anything else.
    """
    facts, _ = _load_object(path)
    problems = []
    teams = {}
    for team, entry in facts.items():
        if not isinstance(entry, dict):
            problems.append(
                Problem(
                    path.name,
                    None,
                    f"$[{quote(team)}]",
                    quote(entry),
                    'an object such as {"name": "...", "affiliation": "..."}',
                    "",
                )
            )
            continue
        for key, kind, wanted in _TEAM_KEYS:
            value = entry.get(key, kind())
            is_list = kind is list and isinstance(value, list)
            if not isinstance(value, kind) or (
                is_list and not all(isinstance(item, str) for item in value)
            ):
                found = quote(entry[key])
                problems.append(
                    Problem(path.name, None, f"$[{quote(team)}].{key}", found, wanted, "")
                )
        teams[team] = Team(
            entry.get("name", team),
            entry.get("affiliation", ""),
            entry.get("organizer", False),
            tuple(entry.get("archives", [])),
        )
    if problems:
        raise BadInput(problems)
    return teams


_TEAM_KEYS = [
    ("name", str, "a string"),
    ("affiliation", str, "a string"),
    ("organizer", bool, "true or false"),
    ("archives", list, "a list of strings"),
]


def _load_object(path: Path) -> tuple[dict, str]:
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise BadInput(
            [Problem(str(path), None, "", reason.lower(), "a file to read", "check its path")]
        ) from None
    value, problems = strict_json.read_object(path.name, data)
    if problems:
        raise BadInput(problems)
    return value, digest(data)
