"""Where a text mentions an entity, although lines break and words are hyphenated.

Historical newspapers break words at the end of a line with -, ¬ or ⸗, or with nothing at all.
"""

import re
from functools import lru_cache
from typing import NamedTuple

# What breaks a line within a word or between two; there is nothing else with a line end in it.
_HYPHENS = "-¬⸗"
_BREAK = re.compile(rf"[{_HYPHENS}]?[^\S\n]*\n\s*")
Span = tuple[int, int]


@lru_cache(maxsize=4096)
def mention_spans(text: str, mention: str) -> list[Span]:
    """Return (start, end) of each place where a text holds a mention, in order.

    Spaces match any white space, and a word may be broken at the end of a line. Whole words are
    looked for first, then parts of words, then any case.
    """
    words = _BREAK.sub(lambda match: "" if match[0][0] in _HYPHENS else " ", mention)
    # A mention that ends with a line ends with its hyphen, which is part of the break in a text.
    words = words.rstrip(_HYPHENS)
    pattern = r"\s+".join(r"\n?".join(map(re.escape, word)) for word in words.split())
    if not pattern:
        return []
    shortened, places = _with_short_breaks(text)
    for wanted, flags in (
        (rf"(?<!\w){pattern}(?!\w)", 0),
        (pattern, 0),
        (pattern, re.IGNORECASE),
    ):
        matches = re.finditer(wanted, shortened, flags)
        spans = [(places[match.start()][0], places[match.end() - 1][1]) for match in matches]
        if spans:
            return spans
    return []


@lru_cache(maxsize=64)
def _with_short_breaks(text: str) -> tuple[str, list[Span]]:
    """Return a text whose breaks of lines are single line ends, and where each character was.

    A pattern that allows a line end between any two letters is compiled much faster than one
    that allows all forms of a break.
    """
    pieces: list[str] = []
    places: list[Span] = []
    position = 0
    for match in [*_BREAK.finditer(text), None]:
        start, end = match.span() if match else (len(text), len(text))
        pieces.append(text[position:start])
        places += [(place, place + 1) for place in range(position, start)]
        if match:
            pieces.append("\n")
            places.append((start, end))
        position = end
    return "".join(pieces), places


class Nearest(NamedTuple):
    """The mentions of two entities that are nearest to each other; None where there is none."""

    first: Span | None
    second: Span | None


def nearest_mentions(text: str, first: list[str], second: list[str]) -> Nearest:
    """Return the nearest pair of mentions of two entities, each given by its mention strings."""
    firsts, seconds = (
        sorted({span for mention in mentions for span in mention_spans(text, mention)})
        for mentions in (first, second)
    )
    if not firsts or not seconds:
        return Nearest(next(iter(firsts), None), next(iter(seconds), None))
    return Nearest(*min(((a, b) for a in firsts for b in seconds), key=lambda pair: gap(*pair)))


def gap(one: Span, other: Span) -> int:
    """Return the number of characters between two spans, 0 where they touch or overlap."""
    return max(0, max(one[0], other[0]) - min(one[1], other[1]))


class Piece(NamedTuple):
    """A part of an excerpt; marked where it is a mention."""

    text: str
    marked: bool


def excerpt(text: str, nearest: Nearest, margin: int = 160) -> list[Piece]:
    """Return the text around the nearest mentions, which are marked.

    margin: characters shown on either side. Mentions that are far apart get a window each. If
    neither was found, the beginning of the text.
    """
    marks = sorted({span for span in nearest if span})
    if not marks:
        return [Piece(_plain(text[: 2 * margin]) + ("…" if len(text) > 2 * margin else ""), False)]
    windows: list[list[int]] = []
    for start, end in marks:
        low, high = max(0, start - margin), min(len(text), end + margin)
        if windows and low <= windows[-1][1]:
            windows[-1][1] = max(high, windows[-1][1])
        else:
            windows.append([low, high])
    pieces: list[Piece] = []
    for low, high in windows:
        is_first = low == windows[0][0]
        pieces.append(Piece("… " if low and is_first else "", False))
        position = low
        for start, end in marks:
            if low <= start and end <= high and start >= position:
                pieces.append(Piece(_plain(text[position:start]), False))
                pieces.append(Piece(_plain(text[start:end]), True))
                position = end
        pieces.append(
            Piece(_plain(text[position:high]) + (" … " if high < len(text) else ""), False)
        )
    return [piece for piece in pieces if piece.text]


def _plain(text: str) -> str:
    # Only what breaks lines: other white space, such as a form feed, is for the reader to see.
    return re.sub(r"[ \t\r\n]+", " ", text)
