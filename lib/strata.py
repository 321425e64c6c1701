"""Which part of a reference a pair belongs to: period, distance of mentions, links, gold label."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mentions import gap, nearest_mentions

UNDATED, NOT_FOUND = "undated", "not found"
_NIL = (None, "", "NIL")
_DATE = re.compile(r"(\d{4})(-\d\d-\d\d)?", re.ASCII)


def period(date: str | None, years: int) -> str:
    """Return the period of a date such as 1848-03-02 or 1848, or UNDATED for anything else.

    years: the length of a period; periods begin at multiples of it.
    """
    match = _DATE.fullmatch(date or "")
    if not match:
        return UNDATED
    first = int(match[1]) // years * years
    return f"{first:04}-{first + years - 1:04}"


def distance(text: str, first: list[str], second: list[str]) -> int | None:
    """Return how many characters lie between the nearest mentions of two entities.

    None where a mention of either is not found in the text.
    """
    nearest = nearest_mentions(text, first, second)
    if nearest.first is None or nearest.second is None:
        return None
    return gap(nearest.first, nearest.second)


class Quartiles(NamedTuple):
    """Quartiles of distances: the largest distance of the first, second and third."""

    bounds: tuple[int, ...]
    smallest: int
    largest: int

    def name(self, value: int | None) -> str:
        """Return the name of the quartile that a distance belongs to."""
        if value is None:
            return NOT_FOUND
        number = sum(value > bound for bound in self.bounds)
        low = [self.smallest, *(bound + 1 for bound in self.bounds)][number]
        high = [*self.bounds, self.largest][number]
        return f"quartile {number + 1} ({low}-{high})"


def quartiles(distances: Sequence[int | None]) -> Quartiles:
    """Return the quartiles of the distances that are known.

    Equal distances belong to the same quartile, so quartiles need not be of the same size.
    """
    known = [value for value in distances if value is not None]
    if not known:
        return Quartiles((), 0, 0)
    bounds = np.quantile(known, [0.25, 0.5, 0.75], method="inverted_cdf")
    return Quartiles(tuple(int(bound) for bound in bounds), min(known), max(known))


def links(pair: dict, entities: dict[str, str]) -> str:
    """Return which entities of a pair are linked to Wikidata.

    entities: {what an entity is called: key of its Wikidata id}. The id is null, empty or NIL for
    an entity that Wikidata does not have.
    """
    return ", ".join(
        f"{name} {'NIL' if pair[key] in _NIL else 'linked'}" for name, key in entities.items()
    )
