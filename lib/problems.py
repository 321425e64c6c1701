"""What is wrong with an input file, said in one line: where, found, expected, what to do."""

import json
import unicodedata
from typing import NamedTuple

ERROR = "error"
WARNING = "warning"


class Problem(NamedTuple):
    """One finding about one input file.

    file: name of the file within its folder (str).
    line: line in the file, from 1, or None where the finding is about the whole file.
    path: JSON path such as ``$.sampled_pairs[3].at``, or "" where there is none.
    found, expected, action: phrases for the reader, without a full stop at the end.
    severity: ERROR (the file is refused) or WARNING (the file is used).
    """

    file: str
    line: int | None
    path: str
    found: str
    expected: str
    action: str
    severity: str = ERROR

    def text(self) -> str:
        """Return the problem as one line of plain text."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return _one_line(f"{self.severity}: {place}: {self._finding()}")

    def text_without_file(self) -> str:
        """Return the line for a reader who knows which file it is about."""
        place = "" if self.line is None else f"line {self.line}: "
        return _one_line(f"{self.severity}: {place}{self._finding()}")

    def _finding(self) -> str:
        path = f"{self.path}: " if self.path else ""
        phrases = [f"found {self.found}", f"expected {self.expected}", self.action]
        return f"{path}{'; '.join(phrase for phrase in phrases if phrase)}"


def _one_line(text: str) -> str:
    """Return text with escapes for what would break a line or steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def is_error(problem: Problem) -> bool:
    """Tell whether a problem refuses its file."""
    return problem.severity == ERROR


def quote(value: object, limit: int = 60) -> str:
    """Return a JSON value as it would be typed, so that spaces and look-alikes can be seen.

    value: anything that JSON can hold. Strings with invisible or decomposed characters come
    with escapes; what is longer than ``limit`` characters is cut with an ellipsis.
    """
    plain = json.dumps(value, ensure_ascii=False)
    if not plain.isprintable() or unicodedata.normalize("NFC", plain) != plain:
        plain = json.dumps(value)
    visible = plain.replace("\u007f", "\\u007f")
    return visible if len(visible) <= limit else visible[: limit - 1] + "…"


def plural(number: int, noun: str) -> str:
    """Return a count with its noun: ``1 pair``, ``2 pairs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
