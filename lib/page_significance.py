"""How sure the rankings are, as the results page shows it."""

from collections.abc import Callable
from typing import Any

from markdown import code, link
from significance_index import Row, Significance, tables_of

FEW_DOCUMENTS = 10
CLUSTER_RULE, TIER_RULE = "———", "· · ·"
_MARK = "†"
RunId = tuple[str, str]


class Certainty:
    """What the page says of one ranking besides its scores."""

    def __init__(self, significance: Significance, file: str, score: str) -> None:
        """Look up a ranking. file: its table. score: the column that decided.

        is_tested then tells whether runs were tested against each other.
        """
        self._about = next(
            each for each in significance.index["rankings"] if each["ranking"] == file
        )
        self._level = significance.index["level"]
        self._tables = tables_of(file)
        self._ranks = {_run(row): row for row in significance.ranks[file]}
        self._intervals = {
            _run(row): row for row in significance.intervals[file] if row["score"] == score
        }
        self.is_tested = self._about["swaps"] is not None

    @property
    def rank_column(self) -> str:
        """Return the heading of the ranges of ranks: by the tests, or over the resamples."""
        return "rank range" if self.is_tested else f"{self._level:.0%} rank range"

    def rank_range(self, row: Row) -> str:
        """Return the ranks that a run may have, such as 1–7."""
        known = self._ranks[_run(row)]
        names = ("best_rank", "worst_rank") if self.is_tested else ("rank_low", "rank_high")
        low, high = (known[name] for name in names)
        return low if low == high else f"{low}–{high}"

    def interval(self, row: Row) -> str:
        """Return the interval of a run's score on a line of its own; empty if there is none."""
        known = self._intervals.get(_run(row))
        if known is None:
            return ""
        mark = _MARK if self.is_tested and known["method"] != "BCa" else ""
        # The space must not break, or narrow columns would spread an interval over two lines.
        return f"<br>[{float(known['low']):.4f},&nbsp;{float(known['high']):.4f}]{mark}"

    def groups(self, row: Row) -> str:
        """Return the letters of the groups that a run of a tested ranking belongs to."""
        known = self._ranks[_run(row)]
        first, last = (_letter(int(known[name])) for name in ("first_group", "last_group"))
        return first if first == last else f"{first}–{last}"

    def rule(self, row: Row, before: Row) -> str | None:
        """Return what the cells of a rule between two neighbouring rows hold; None without one."""
        known, above = self._ranks[_run(row)], self._ranks[_run(before)]
        if known["cluster"] != above["cluster"]:
            return CLUSTER_RULE
        return TIER_RULE if known["tier"] != above["tier"] else None

    def sentences(self, rows: list[Row], name: Callable[[Row], str], folder: str) -> list[str]:
        """Return what is said under the table.

        name: returns how the page names a row's run. folder: path from the page to the tables.
        """
        said = []
        if self.is_tested:
            equals = [name(row) for row in rows if self._ranks[_run(row)]["best_rank"] == "1"]
            said.append(f"No run is significantly better than {_and(equals)}.")
            if len({known["cluster"] for known in self._ranks.values()}) == 1 < len(rows):
                said.append("No place separates all runs above it from all runs below.")
        first = [
            f"{name(row)} {float(share):.0%}"
            for row in rows
            if (share := self._ranks[_run(row)]["probability_first"]) and float(share) >= 0.005
        ]
        if first:
            said.append(f"First in so many of the resamples: {', '.join(first)}.")
        said.append(self._documents())
        links = ", ".join(link(file, f"{folder}/{file}") for file in self._tables)
        return [" ".join(said), f"All intervals, ranks and tests: {links}"]

    def _documents(self) -> str:
        numbers = self._about["documents"]
        shown = " + ".join(map(str, numbers))
        if min(numbers) < 2:
            return f"There are no intervals: a file has a single document ({shown})."
        rough = " Intervals of so few are rough." if min(numbers) < FEW_DOCUMENTS else ""
        return f"Documents with pairs: {shown}.{rough}"


def how_to_read(significance: Significance) -> str:
    """Return the paragraph that says what the columns mean."""
    index = significance.index
    percent, alpha = f"{index['level']:.0%}", f"{1 - index['level']:.2g}"
    return (
        f"Behind each deciding score stands its {percent} confidence interval in brackets: in"
        f" {percent} of campaigns, such an interval holds the score that the run would have on"
        " endlessly many documents of this kind."
        f" It is the BCa bootstrap interval of {index['resamples']:,}"
        f" resamples of the documents; {_MARK} marks a percentile interval where BCa is undefined,"
        " and mean ranks always have one. Two runs differ significantly if swapping their answers"
        " to whole documents at random hardly ever makes a difference as large as theirs"
        f" (randomization test, Holm's correction over all pairs of runs of a table, p ≤ {alpha})."
        f" {code('rank range')} is from 1 + the number of significantly better runs to the number"
        " of runs less those that are significantly worse: a run may claim any rank in it. Runs"
        f" that share a letter of {code('groups')} are neighbours of which no two differ"
        f" significantly. Rules of dots ({TIER_RULE}) part the table into tiers: no two runs of a"
        " tier differ significantly, so that their order may be chance, and the first run below a"
        " rule differs from at least one of the tier above, but not always from its neighbours."
        f" Only a solid rule ({CLUSTER_RULE}) means that every run above it is significantly better"
        " than every run below it. Efficiency tables"
        f" show the ranks that a run has in {percent} of the resamples instead, and no tests,"
        " because a mean rank depends on all other runs."
    )


def _run(row: dict[str, Any]) -> RunId:
    return row["team"], row["run"]


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _letter(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ... for 1, 2, ..."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
