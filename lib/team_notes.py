"""Notes that an organizer can send to a team as they are."""

from problems import Problem, is_error, plural
from reports import Entry


def team_note(campaign: str, team: str, runs: list[Entry]) -> str:
    """Return a note on the runs of one team: what would not be accepted, what was noticed.

    runs: the team's entries in the report on the runs.
    """
    refused = [entry for entry in runs if not entry["valid"]]
    noticed = [entry for entry in runs if entry["valid"] and entry["problems"]]
    received = f"We received {plural(len(runs), 'run file')} of {team}."
    if refused:
        number = len(refused)
        them = "One of them" if number == 1 < len(runs) else f"{number} of them"
        them = "It" if len(runs) == 1 else them
        verdict = f"{them} cannot be accepted yet; please mend and resend."
    else:
        verdict = "It is accepted." if len(runs) == 1 else "All of them are accepted."
    parts = [f"{campaign}: check of the runs of {team}", f"{received} {verdict}"]
    if refused:
        parts += ["Not accepted\n------------", _listed(refused)]
    if noticed:
        parts += [
            "Accepted, but please have a look\n--------------------------------",
            _listed(noticed),
        ]
    others = [entry["file"] for entry in runs if entry["valid"] and not entry["problems"]]
    if others:
        parts += ["Accepted\n--------", "\n".join(others)]
    return "\n\n".join(parts) + "\n"


def _listed(entries: list[Entry]) -> str:
    blocks = []
    for entry in entries:
        problems = [Problem(**problem) for problem in entry["problems"]]
        problems.sort(key=lambda problem: not is_error(problem))
        lines = [f"  {problem.text_without_file()}" for problem in problems]
        blocks.append("\n".join([entry["file"], *lines]))
    return "\n\n".join(blocks)
