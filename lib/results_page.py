"""The results page: its sections as Markdown, from what the earlier stages found."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import orjson

import names
from campaign import VERSION, Config, Team
from files import digest_of_values
from markdown import anchor, code, escape, link, table
from page_significance import Certainty, how_to_read
from problems import Problem, is_error, plural
from ranking_tables import Row
from reports import Entry
from significance_index import Significance


class Findings(NamedTuple):
    """All that the page is made of.

    references, runs, infos: entries of the three validation reports. rankings: content of
    rankings.json. tables: {ranking file: rows as text}. rankings_folder, diagnostics,
    significance_folder: relative paths from the page to the folders of those stages.
    significance: what is known of how sure the rankings are, None if that is not up to date.
    """

    config: Config
    teams: dict[str, Team]
    references: list[Entry]
    runs: list[Entry]
    infos: list[Entry]
    rankings: dict[str, Any]
    tables: dict[str, list[Row]]
    rankings_folder: str
    diagnostics: str
    significance_folder: str
    significance: Significance | None


def page(found: Findings, diagnostics_of: Callable[[str], list[tuple[str, str]]]) -> str:
    """Return the whole page as Markdown with a final line end.

    diagnostics_of: returns (caption, file name) of each diagnostics file of a run file.
    """
    links = _Links(found, diagnostics_of)
    sections = [
        ("Teams", _teams(found)),
        ("Scores and ranks", _definitions(found)),
        ("How sure the ranks are", [_certainty(found)]),
        *((title, _ranking(about, found, links)) for title, about in _titled_rankings(found)),
        ("Answers that were imputed", _imputed(found)),
        ("Files that were left out", _left_out_files(found)),
    ]
    contents = [f"- [{title}](#{anchor(title)})" for title, _ in sections]
    parts = [f"# {found.config.facts['campaign']} evaluation results", _summary(found)]
    parts += ["## Contents", "\n".join(contents)]
    for title, body in sections:
        parts += [f"## {title}", *body]
    parts += ["---", _signature(found)]
    return "\n\n".join(parts) + "\n"


def _valid_runs(found: Findings) -> list[Entry]:
    return [entry for entry in found.runs if entry["kind"] == names.RUN and entry["valid"]]


def _team_ids(found: Findings) -> list[str]:
    return sorted({entry["team"] for entry in _valid_runs(found)}, key=names.natural_key)


def _is_organizer(team: str, found: Findings) -> bool:
    return team in found.teams and found.teams[team].organizer


def _team(team: str, found: Findings) -> str:
    """Return a team as tables show it: its name, with the id behind it where they differ."""
    name = found.teams[team].name if team in found.teams else team
    is_same = name.casefold() == team.casefold()
    return escape(name) if is_same else f"{escape(name)} ({escape(team)})"


def _summary(found: Findings) -> str:
    teams = [team for team in _team_ids(found) if not _is_organizer(team, found)]
    organizers = [team for team in _team_ids(found) if _is_organizer(team, found)]
    entries = f" and {len(organizers)} organizer entries" if organizers else ""
    references = [entry for entry in found.references if entry["kind"] == names.REFERENCE]
    return (
        f"{plural(len(_valid_runs(found)), 'run file')} of {plural(len(teams), 'team')}{entries},"
        f" scored against {plural(len(references), 'reference')}. {_mode_sentence(found)}"
    )


def _mode_sentence(found: Findings) -> str:
    mode = found.rankings["at_label_mode"]
    mappings = found.config.facts["at_label_modes"][mode]
    changes = [
        f"{code(old)} counts as {code(new)} for {code(target)}"
        for target, mapping in mappings.items()
        for old, new in mapping.items()
    ]
    said = f", so {' and '.join(changes)}, in references and runs alike" if changes else ""
    return f"The label mode is {code(mode)}{said}."


def _teams(found: Findings) -> list[str]:
    header = ["Team", "Id", "Affiliation", "Run files", "Runs"]
    rows = []
    for team in _team_ids(found):
        own = [entry for entry in _valid_runs(found) if entry["team"] == team]
        runs = sorted({entry["run"] for entry in own}, key=names.natural_key)
        about = found.teams.get(team, Team(team, "", organizer=False))
        cells = [about.name, team, about.affiliation, str(len(own)), ", ".join(runs)]
        rows.append([escape(cell) for cell in cells])
    return [table(header, rows, {3})]


def _definitions(found: Findings) -> list[str]:
    """Explain every score and rank that the tables show, in the mode at hand."""
    config, mode = found.config, found.rankings["at_label_mode"]
    datasets = {entry["dataset"] for entry in found.references if entry["kind"] == names.REFERENCE}
    profiles = {key: value for key, value in config.facts["profiles"].items() if key in datasets}
    lines = [_mode_sentence(found)]
    targets = dict.fromkeys(t for profile in profiles.values() for t in profile["targets"])
    items = []
    for target in targets:
        labels = config.labels(target, mode)
        recalls = " + ".join(f"recall {label}" for label in labels)
        items.append(
            f"{code(f'{target}_macro_recall')} = ({recalls}) / {len(labels)}, where the recall of"
            " a label is the share of its gold pairs that the run gives that label. A label that"
            " a reference never uses is left out of the mean."
        )
        items.append(f"{code(f'{target}_accuracy')} = correct pairs / all pairs; for information.")
    for profile in profiles.values():
        parts = " and ".join(code(f"{target}_macro_recall") for target in profile["targets"])
        said = f"mean of {parts}" if len(profile["targets"]) > 1 else parts
        others = [code(target) for target in targets if target not in profile["targets"]]
        unscored = f", where {' and '.join(others)} is not evaluated" if others else ""
        items.append(f"{code(profile['score'])} = {said}, on the {profile['title']}{unscored}.")
    items += _definitions_of_rankings(found)
    ties = {"competition": "1, 1, 3", "dense": "1, 1, 2"}[found.rankings["ties"]]
    lines.append("\n".join(f"- {item}" for item in items))
    lines.append(
        "The gold decides which pairs count. A missing document, a missing pair and a"
        f" {code('null')} count as {code(config.facts['imputed_label'])}. Equal scores, compared"
        f" as exact fractions, share a rank, numbered {ties} ({found.rankings['ties']} ranking);"
        " tied runs stand in order of team and run. Figures are shown at four decimals; the"
        " files behind the tables have all of them."
    )
    return lines


def _definitions_of_rankings(found: Findings) -> list[str]:
    facts = found.config.facts["rankings"]
    shown = {about.get("key") for about in found.rankings["rankings"]}
    items = []
    for key, mean in facts["means"].items():
        profile = found.config.profile(mean["dataset"])
        if key in shown:
            items.append(
                f"{code(mean['score'])} in “{mean['title']}” = mean of"
                f" {code(profile['score'])} over the files of that data set; only for runs that"
                " have all of them."
            )
    for key, profile in facts["efficiency"].items():
        if key in shown:
            total = sum(profile["weights"].values())
            terms = " + ".join(
                f"{Fraction(weight, total)} {code(f'rank_{quantity}')}"
                for quantity, weight in profile["weights"].items()
            )
            items.append(f"{code(profile['score'])} in “{profile['title']}” = {terms}.")
    if any(about["kind"] == "efficiency" for about in found.rankings["rankings"]):
        items.append(
            f"{code('rank_*')}: the rank of a run among those of the same table, the highest"
            " score or the smallest size first. Who opted out is left out, organizer entries take"
            f" part. Sizes are those that the organizers confirmed ({_units(found)}); unknown ones"
            " rank last. Where the info files of a run disagree, the largest counts."
        )
    return items


def _units(found: Findings) -> str:
    units = found.config.facts["info"]["units"]
    return ", ".join(f"{code(quantity)} in {unit}" for quantity, unit in units.items())


def _titled_rankings(found: Findings) -> list[tuple[str, dict[str, Any]]]:
    """Return the rankings with their headings, those over several files first."""
    titled = []
    for about in found.rankings["rankings"]:
        title = about.get("title")
        if "reference" in about:
            where = _where(about, found.config)
            title = f"{title}: {where}" if title else f"{where[0].upper()}{where[1:]}"
        titled.append((title, about))
    order = ["means", "efficiency", "files"]
    return sorted(titled, key=lambda item: ("reference" in item[1], order.index(item[1]["kind"])))


def _where(about: dict[str, Any], config: Config) -> str:
    language = config.facts["languages"].get(about["language"], about["language"])
    return f"{config.profile(about['dataset'])['title']}, {language} ({about['split']})"


class _Links:
    """Links from a run in a table to its diagnostics files."""

    def __init__(
        self, found: Findings, diagnostics_of: Callable[[str], list[tuple[str, str]]]
    ) -> None:
        self._means = found.config.facts["rankings"]["means"]
        self._references = {
            entry["file"]: entry for entry in found.references if entry["kind"] == names.REFERENCE
        }
        self._links: dict[tuple[str, str], dict[str, str]] = {}
        for entry in _valid_runs(found):
            files = diagnostics_of(entry["file"])
            # Unbreakable spaces keep a run's links on one line of a narrow cell.
            links = "&nbsp;".join(link(text, f"{found.diagnostics}/{name}") for text, name in files)
            of_run = self._links.setdefault((entry["team"], entry["run"]), {})
            of_run[entry["reference"]] = links

    def of(self, row: Row, about: dict[str, Any]) -> str:
        """Return the links of one row: one pair of files, or one pair for each language."""
        links = self._links[row["team"], row["run"]]
        if "reference" in about:
            return links[about["reference"]]
        facts = self._means[about["of"]] if about["kind"] == "efficiency" else about
        return "<br>".join(
            f"{self._references[reference]['language']}:&nbsp;{text}"
            for reference, text in links.items()
            if all(self._references[reference][key] == facts[key] for key in ("dataset", "split"))
        )


def _certainty(found: Findings) -> str:
    if found.significance is None:
        return (
            "Not computed for these results, so a difference between two ranks may be chance:"
            f" {code('make significance')} adds intervals and tests."
        )
    return how_to_read(found.significance)


def _ranking(about: dict[str, Any], found: Findings, links: _Links) -> list[str]:
    rows = found.tables[about["file"]]
    parts = []
    certainty = None
    if found.significance and rows:
        certainty = Certainty(found.significance, about["file"], about["score"])
    if not rows:
        is_mean = about["kind"] == "means"
        parts.append("No run has all files of this ranking." if is_mean else "No run takes part.")
    else:
        parts.append(_table(rows, about, found, links, certainty))
    if about["kind"] != "efficiency" and rows:
        parts.append(_top_teams(rows, about["score"], found))
    if certainty:
        parts += certainty.sentences(
            rows,
            lambda row: f"{_team(row['team'], found)} ({row['run']})",
            found.significance_folder,
        )
    if about["left_out"]:
        reasons = "; ".join(
            f"{_team(item['team'], found)} {item['run']}: {item['reason']}"
            for item in about["left_out"]
        )
        parts.append(f"Left out: {reasons}.")
    parts += [f"Note: {escape(note)}" for note in about["notes"]]
    target = f"{found.rankings_folder}/{about['file']}"
    parts.append(f"All digits: {link(about['file'], target)}")
    return parts


def _table(
    rows: list[Row],
    about: dict[str, Any],
    found: Findings,
    links: _Links,
    certainty: Certainty | None,
) -> str:
    hidden = ("submission", "at_label_mode")
    columns = [column for column in rows[0] if column not in hidden]
    sizes = found.config.facts["info"]["organizer"]
    numbers = {index for index, column in enumerate(columns) if column not in ("team", "run")}
    header = [column.replace("_", " ") for column in columns]
    cells = []
    for place, row in enumerate(rows):
        shown = [_cell(column, row[column], found, sizes) for column in columns]
        if certainty:
            shown[columns.index(about["score"])] += certainty.interval(row)
            shown.insert(1, certainty.rank_range(row))
            shown += [certainty.groups(row)] if certainty.is_tested else []
            if place and (rule := certainty.rule(row, rows[place - 1])):
                cells.append([rule] * (len(shown) + 1))
        cells.append([*shown, links.of(row, about)])
    if certainty:
        header.insert(1, certainty.rank_column)
        header += ["groups"] if certainty.is_tested else []
        numbers = {0} | {index + 1 for index in numbers}
    return table([*header, "diagnostics"], cells, numbers)


def _cell(column: str, text: str, found: Findings, sizes: list[str]) -> str:
    if column == "team":
        return _team(text, found)
    if column in sizes:
        return _size(orjson.loads(text)) if text else ""
    if column == "run" or column.startswith("rank"):
        return text
    return f"{float(text):.4f}" if text else ""


def _size(value: float) -> str:
    return f"{int(value) if float(value).is_integer() else value:,}"


def _top_teams(rows: list[Row], score: str, found: Findings) -> str:
    """Return the first three teams by their best run; a tie for a place shares it."""
    best: dict[str, Row] = {}
    for row in rows:
        if not _is_organizer(row["team"], found):
            best.setdefault(row["team"], row)
    places = []
    for row in best.values():
        place = 1 + sum(int(other["rank"]) < int(row["rank"]) for other in best.values())
        if place <= 3:
            team = f"{_team(row['team'], found)} ({row['run']}, {float(row[score]):.4f})"
            places.append(f"{place}. {team}")
    if not places:
        return "No team has a run."
    return f"Top three teams by best run, organizer entries apart: {', '.join(places)}."


def _imputed(found: Findings) -> list[str]:
    rows = []
    for entry in _valid_runs(found):
        imputed = entry["imputed"]
        nulls = ", ".join(f"{target} {n}" for target, n in imputed["null_labels"].items() if n)
        if imputed["pairs"] or nulls:
            numbers = [str(imputed["documents"]), str(imputed["pairs"])]
            rows.append([escape(entry["file"]), *numbers, nulls])
    label = code(found.config.facts["imputed_label"])
    if not rows:
        return [f"None: every run answers every pair. A missing answer would count as {label}."]
    header = ["Run file", "Missing documents", "Missing pairs", "Null labels"]
    rows.sort(key=lambda row: names.natural_key(row[0]))
    return [f"These missing answers counted as {label}.", table(header, rows, {1, 2})]


def _left_out_files(found: Findings) -> list[str]:
    """Account for every file of the folder of runs and every reference."""
    refused = [e for e in [*found.runs, *found.infos] if not e["valid"]]
    ignored = [entry["file"] for entry in found.runs if entry["kind"] == names.IGNORED]
    infos = [e for e in found.infos if e["kind"] == names.INFO and e["valid"]]
    scored = len(_valid_runs(found))
    counted = scored + len(infos) + len(refused) + len(ignored)
    parts = [
        f"The folder of runs holds {plural(counted, 'file')}: {scored} scored,"
        f" {plural(len(infos), 'info file')} read, {len(refused)} refused, {len(ignored)} ignored."
    ]
    if refused:
        rows = []
        for entry in refused:
            first = next(p for p in (Problem(**p) for p in entry["problems"]) if is_error(p))
            others = sum(is_error(Problem(**p)) for p in entry["problems"]) - 1
            more = f" (and {others} more)" if others else ""
            rows.append([escape(entry["file"]), escape(first.text_without_file() + more)])
        parts.append(table(["Refused file", "First error"], rows, set()))
    if ignored:
        parts.append(f"Ignored, neither run nor info file: {', '.join(map(escape, ignored))}.")
    without = found.rankings["references_without_runs"]
    return parts + [f"No run for {code(file)}, so it has no table." for file in without]


def _signature(found: Findings) -> str:
    references = [e for e in found.references if e["kind"] == names.REFERENCE]
    infos = [e for e in found.infos if e["kind"] == names.INFO and e["valid"]]
    return (
        f"Made by the {found.config.facts['campaign']} evaluation {VERSION}."
        f" Label mode {found.rankings['at_label_mode']}, ties {found.rankings['ties']}."
        f" References: {_short_digest(references, 'reference')};"
        f" runs: {_short_digest(_valid_runs(found), 'run')};"
        f" info files: {_short_digest(infos, 'info')};"
        f" configuration: {code(found.config.digest[:12])}."
    )


def _short_digest(entries: list[Entry], kind: str) -> str:
    digests = sorted([entry["file"], entry["digests"][kind]] for entry in entries)
    return f"{plural(len(entries), 'file')}, {code(digest_of_values(digests)[:12])}"
