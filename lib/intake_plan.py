"""What becomes of the files in participants' archives: decided here, done by intake.py."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import names
from archives import Member, is_shadow
from campaign import BadInput
from files import parse_tsv, tsv_bytes
from problems import Problem
from recognition import Recognizer

LEFT_OUT = "-"
BY_MAP = "by the map"
LEFT_OUT_BY_MAP = "left out by the map"
PLACE, REPLACE, SAME, SKIP = "place", "replace", "identical", "skip"
UNDECIDED, CONFLICT, UNPLACEABLE = "undecided", "conflict", "not placeable"
BLOCKING = (UNDECIDED, CONFLICT, UNPLACEABLE)
NO_FILE = "no file"
MAP_HEADER = ["source", "target", "action", "sha256_source", "sha256_target", "note"]


# {source, or (source, SHA-256 of its content): name in the folder of runs, or LEFT_OUT}
Decisions = dict[str | tuple[str, str], str]


class Step(NamedTuple):
    """What is to become of one member of an archive.

    target: its name in the folder of runs, or "" where it gets none. action: one of the words
    above. note: the reason, or the candidates.
    """

    member: Member
    target: str
    action: str
    note: str = ""


def is_run_file(path: str) -> bool:
    """Tell whether a member may be a run."""
    return path.lower().endswith(names.RUN_SUFFIX) and not is_shadow(path)


def is_metadata(path: str) -> bool:
    """Tell whether a member may say how large a system is."""
    name = path.rsplit("/", maxsplit=1)[-1].lower()
    is_named_so = name.endswith(".json") and ("info" in name or "meta" in name)
    return is_named_so and not is_shadow(path)


def plan(
    members: list[Member],
    recognizer: Recognizer,
    naming: names.Naming,
    decided: Decisions,
    present: dict[str, str],
    *,
    replace: bool,
) -> list[Step]:
    """Decide what becomes of each member; every member gets exactly one step.

    decided: what the organizer decided, as decisions() returns it. present: {file name: SHA-256,
    or NO_FILE} of what is there under the names of runs. replace: whether a run may take the
    place of a different one.
    """
    steps = [_first_step(member, recognizer, naming, decided) for member in members]
    by_target: dict[str, list[Step]] = {}
    for step in steps:
        if step.action == PLACE:
            by_target.setdefault(step.target, []).append(step)
    return [
        _against_others(step, by_target[step.target], present, replace=replace)
        if step.action == PLACE
        else step
        for step in steps
    ]


def _first_step(
    member: Member, recognizer: Recognizer, naming: names.Naming, decided: Decisions
) -> Step:
    """Return a step from the member alone."""
    target = decided.get((member.source, member.digest), decided.get(member.source, ""))
    if target == LEFT_OUT:
        return Step(member, "", SKIP, LEFT_OUT_BY_MAP)
    if member.note:
        return Step(member, "", UNPLACEABLE, member.note)
    reason = _no_run(member.path)
    if reason:
        return Step(member, "", SKIP, reason)
    if target and naming.run(target) is None:
        return Step(member, "", UNPLACEABLE, f"the map's target {target} is no name of a run")
    if target:
        return Step(member, target, PLACE, BY_MAP)
    clues = recognizer.clues(member.path)
    run = recognizer.run(clues)
    if run is None:
        candidates = ", ".join(recognizer.candidates(clues))
        return Step(member, "", UNDECIDED, f"candidates: {candidates}")
    return Step(member, run.file, PLACE)


def _no_run(path: str) -> str | None:
    """Return why a member is no run, None if it may be one."""
    if path.endswith("/"):
        return "there is no file in it"
    if is_shadow(path):
        return "left by a file manager"
    if is_metadata(path):
        return "metadata"
    return None if is_run_file(path) else "not a run file"


def _against_others(
    step: Step, rivals: list[Step], present: dict[str, str], *, replace: bool
) -> Step:
    """Return a step in view of the other members for its target, and of what is there."""
    if len({rival.member.digest for rival in rivals}) > 1:
        others = ", ".join(r.member.source for r in rivals if r is not step)
        note = f"candidate for {step.target}, as is, with other content, {others}"
        return step._replace(target="", action=UNDECIDED, note=note)
    if step is not rivals[0]:
        return step._replace(action=SAME, note=f"the same as {rivals[0].member.source}")
    there = present.get(step.target)
    if there == NO_FILE:
        return step._replace(action=CONFLICT, note="a folder or link has this name")
    if there == step.member.digest:
        return step._replace(action=SAME, note="already there")
    if there is not None and not replace:
        note = "another run has this name; --replace puts this one in its place"
        return step._replace(action=CONFLICT, note=note)
    return step._replace(action=PLACE if there is None else REPLACE)


def nearest_metadata(run: str, metadata: list[str]) -> str | None:
    """Return which metadata file speaks of a run: the only one in the nearest folder above it.

    run, metadata: paths of members. Of several in one folder, the one that has the run's own
    name counts; else none does.
    """
    folder = run
    while "/" in folder:
        folder = folder.rsplit("/", maxsplit=1)[0]
        near = [path for path in metadata if path.rsplit("/", maxsplit=1)[0] == folder]
        own = names.squash(run.rsplit("/", maxsplit=1)[-1].rsplit(".", maxsplit=1)[0])
        named = [path for path in near if own in names.squash(path.rsplit("/", maxsplit=1)[-1])]
        # What is called like a run speaks of that run alone.
        general = [path for path in near if not re.search(r"_run\d", path.rsplit("/", 1)[-1])]
        for chosen in (named, general):
            if len(chosen) == 1:
                return chosen[0]
        if near:
            return None
    return None


def info_from(metadata: dict[str, Any], facts: dict) -> dict[str, Any]:
    """Return an info file from what a participant's metadata says.

    facts: section ``info`` of the configuration. The organizer's values are null: they are for
    the organizer to decide. A team's value may stand under its key with or without ``team_``.
    """
    info: dict[str, Any] = {}
    for organizer, team in zip(facts["organizer"], facts["team"], strict=True):
        info[organizer] = None
        info[team] = metadata.get(team, metadata.get(team.removeprefix("team_")))
    opt_out = facts["opt_out"]
    value = metadata.get(opt_out, metadata.get(opt_out.removeprefix("team_")))
    if value is not None:
        # As it is: the validation of info files asks for true or false.
        info[opt_out] = value
    return info


def read_map(path: Path) -> list[dict[str, str]]:
    """Return the rows of the map; none if there is no map yet.

    The columns source and target are required, so that a map can be written by hand. Raises
    BadInput for anything else.
    """
    if not path.exists():
        return []
    try:
        # Spreadsheets and editors on Windows write a byte-order mark and CRLF.
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        rows = parse_tsv(text)
    except ValueError:
        rows = [{}]
    if any(not {"source", "target"} <= row.keys() for row in rows):
        found = "rows without source or target"
        expected = "tab-separated columns source and target under a header"
        raise BadInput([Problem(str(path), None, "", found, expected, "mend or delete it")])
    return rows


def decisions(rows: list[dict[str, str]]) -> Decisions:
    """Return {source: target} of what the map decides, {(source, digest): target} where it can.

    A row with a digest speaks of that content only: another archive may have the same name.
    """
    decided: Decisions = {}
    for row in rows:
        if row["target"]:
            digest = row.get("sha256_source", "")
            decided[(row["source"], digest) if digest else row["source"]] = row["target"]
    return decided


def map_bytes(rows: list[dict[str, str]], steps: list[Step], *, placed: bool = True) -> bytes:
    """Return the map with the steps of this call; earlier rows stay unless they recur.

    placed: whether the runs of this call are in place, with the digests that the map then shows;
    if not, only what blocked them and what the map itself decided is worth a row.
    """
    cells = [[row.get(column, "") for column in MAP_HEADER] for row in rows]
    for step in steps:
        is_decided = step.note in (LEFT_OUT_BY_MAP, BY_MAP)
        if not is_decided and (step.action == SKIP or not (placed or step.action in BLOCKING)):
            continue
        member = step.member
        target = step.target or (LEFT_OUT if step.action == SKIP else "")
        digest = member.digest or ""
        result = digest if step.target and placed else ""
        cells.append([member.source, target, step.action, digest, result, step.note])
    merged = {(row[0], row[3]): row for row in cells}
    # A row that was written by hand has no digest yet; the step that follows from it has.
    known = {source for source, digest in merged if digest}
    kept = [
        row for (source, digest), row in sorted(merged.items()) if digest or source not in known
    ]
    return tsv_bytes(MAP_HEADER, kept)
