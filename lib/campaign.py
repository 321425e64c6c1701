"""The campaign's facts: what competition_config.json and teams.json say."""

import re
from collections.abc import Iterator
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
    problems = _misshapen(path.name, "$", facts, _SHAPE)
    if not problems:
        problems = _unknown_targets(path.name, facts) + _out_of_range(path.name, facts)
    if problems:
        raise BadInput(problems)
    return Config(facts, content_digest)


# What the configuration must hold: keys with the type of their value; "*" stands for names that
# the campaign chooses, at least one of them.
_SHAPE = {
    "campaign": str,
    "languages": dict,
    "max_runs": int,
    "schema": str,
    "documents": {"id": str, "pairs": str, "text": str, "pair_id": list, "mentions": list},
    "targets": {"*": list},
    "imputed_label": str,
    "at_label_modes": {"*": dict},
    "profiles": {"*": {"name": str, "title": str, "score": str, "targets": list}},
    "info": {"organizer": list, "team": list, "opt_out": str, "units": dict},
    "rankings": {
        "files": {"file": str},
        "means": {"*": {"title": str, "file": str, "dataset": str, "split": str, "score": str}},
        "efficiency": {"*": {"title": str, "file": str, "of": str, "score": str, "weights": dict}},
    },
    "significance": {"seed": int, "level": float, "resamples": int, "draws": int},
    "ensembles": {"baseline": str, "top": int},
    "breakdowns": {"period_years": int, "date": str, "links": {"*": str}},
}
_TYPES = {
    str: "a string",
    int: "a whole number",
    float: "a fraction",
    list: "a list",
    dict: "an object",
}


def _misshapen(file: str, path: str, value: dict, shape: dict) -> list[Problem]:
    """Return a problem for each part of the configuration that is missing or of another type."""
    problems = []
    for key, wanted in shape.items():
        names = list(value) if key == "*" else [key]
        for name in names or ["*"]:
            there = value.get(name)
            kind = dict if isinstance(wanted, dict) else wanted
            if not isinstance(there, kind) or isinstance(there, bool):
                found = quote(there) if name in value else "nothing"
                expected = f"the section {quote(name)}" if path == "$" else _TYPES[kind]
                action = "compare with the file that the project came with"
                problems.append(Problem(file, None, f"{path}.{name}", found, expected, action))
            elif isinstance(wanted, dict):
                problems += _misshapen(file, f"{path}.{name}", there, wanted)
    return problems


def _unknown_targets(file: str, facts: dict) -> list[Problem]:
    known = " or ".join(facts["targets"])
    return [
        Problem(file, None, f"$.profiles.{name}.targets", quote(target), known, "")
        for name, profile in facts["profiles"].items()
        for target in profile["targets"]
        if target not in facts["targets"]
    ]


# The least value of each number that decides how something is computed.
_LEAST = {
    "significance": {"seed": 0, "resamples": 1, "draws": 1},
    "ensembles": {"top": 1},
    "breakdowns": {"period_years": 1},
}


def _out_of_range(file: str, facts: dict) -> list[Problem]:
    problems = [
        Problem(file, None, f"$.{section}.{key}", quote(value), f"{least} or more", "")
        for section, numbers in _LEAST.items()
        for key, least in numbers.items()
        if (value := facts[section][key]) < least
    ]
    level = facts["significance"]["level"]
    if not 0 < level < 1:
        expected = "a fraction between 0 and 1, such as 0.95"
        problems.append(Problem(file, None, "$.significance.level", quote(level), expected, ""))
    return problems


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
        found = list(_team_problems(path.name, team, entry))
        problems += found
        if not found:
            archives = tuple(entry.get("archives", []))
            name, affiliation = entry.get("name", team), entry.get("affiliation", "")
            teams[team] = Team(name, affiliation, entry.get("organizer", False), archives)
    if problems:
        raise BadInput(problems)
    return teams


def _team_problems(file: str, team: str, entry: object) -> Iterator[Problem]:
    path = f"$[{quote(team)}]"
    if not re.fullmatch(r"[\w.-]+", team):
        expected = "letters, digits, _, - and . in the id of a team"
        yield Problem(file, None, path, quote(team), expected, "its full name goes to name")
    if not isinstance(entry, dict):
        expected = 'an object such as {"name": "...", "affiliation": "..."}'
        yield Problem(file, None, path, quote(entry), expected, "")
        return
    for key, value in entry.items():
        if key not in _TEAM_KEYS:
            yield Problem(
                file, None, f"{path}.{key}", quote(value), f"only {', '.join(_TEAM_KEYS)}", ""
            )
            continue
        kind, expected = _TEAM_KEYS[key]
        is_right = isinstance(value, kind)
        if is_right and kind is list:
            is_right = all(isinstance(item, str) for item in value)
        if not is_right:
            yield Problem(file, None, f"{path}.{key}", quote(value), expected, "")


_TEAM_KEYS = {
    "name": (str, "a string"),
    "affiliation": (str, "a string"),
    "organizer": (bool, "true or false"),
    "archives": (list, "a list of strings"),
}


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
