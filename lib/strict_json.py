"""Reading JSON and JSON Lines without forgiving anything, and saying what is wrong.

orjson decides what is JSON. It keeps the last of two equal keys without a word, so repeated
keys are looked for here; and its findings are turned into the project's one-line problems.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import orjson

from problems import Problem, plural, quote

# A document has some 20 kB. Parsing a hostile line takes up to 30 times its size in memory.
MAX_LINE_BYTES = 10_000_000
_UTF8_MARK = b"\xef\xbb\xbf"
_RESAVE = 'save it again as "UTF-8" without byte-order mark'
_BLANKS = b" \t\r"
_A_LINE, _AN_OBJECT = "one JSON object a line", "one JSON object in braces"


class Line(NamedTuple):
    """One object of a JSON Lines file; ``number`` counts lines from 1, blank ones included."""

    number: int
    value: dict


def read_lines(file: str, data: bytes) -> tuple[list[Line], list[Problem]]:
    """Read JSON Lines: one object a line, blank lines and CRLF allowed.

    file: the name that problems speak of. Returns the objects that could be read and all
    problems of the file.
    """
    problems, data = _check_encoding(file, data)
    if data is None:
        return [], problems
    lines: list[Line] = []
    for number, start, raw in _raw_lines(data):
        whole = _value_over_lines(raw, data, start)
        if whole:
            problems.append(Problem(file, number, "", whole[0], _A_LINE, whole[1]))
            break
        value, found = _read_value(file, number, raw, _A_LINE)
        problems += found
        if isinstance(value, dict):
            lines.append(Line(number, value))
        elif not found:
            problems.append(Problem(file, number, "$", kind_of(value), _A_LINE, ""))
    if not lines and not problems:
        problems.append(Problem(file, None, "", "no documents", _A_LINE, "send the file again"))
    return lines, problems


def read_object(file: str, data: bytes) -> tuple[dict, list[Problem]]:
    """Read a file that is one JSON object, over any number of lines.

    Returns the object ({} where there is none) and all problems of the file.
    """
    problems, data = _check_encoding(file, data)
    if data is None:
        return {}, problems
    if not data.strip():
        return {}, [*problems, Problem(file, None, "", "an empty file", _AN_OBJECT, "")]
    value, found = _read_value(file, 1, data, _AN_OBJECT)
    problems += found
    if not isinstance(value, dict):
        if not found:
            problems.append(Problem(file, None, "$", kind_of(value), _AN_OBJECT, ""))
        return {}, problems
    return value, problems


def kind_of(value: object) -> str:
    """Return a value for a reader: containers by their size, the rest as it is typed."""
    if isinstance(value, list):
        return f"a JSON array of {plural(len(value), 'element')}"
    if isinstance(value, dict):
        return f"a JSON object with {plural(len(value), 'key')}"
    return quote(value)


def _check_encoding(file: str, data: bytes) -> tuple[list[Problem], bytes | None]:
    """Return problems of the encoding, and the bytes to go on with, or None to stop."""
    if data.startswith(_UTF8_MARK):
        rest = data[len(_UTF8_MARK) :]
        problem = Problem(file, 1, "", "a byte-order mark (EF BB BF)", "plain UTF-8", _RESAVE)
        return [problem], rest if rest.strip() else None
    zeros = data[:400].count(0)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or zeros * 3 > len(data[:400]):
        found = "bytes that are not UTF-8 but look like UTF-16"
        return [Problem(file, 1, "", found, "UTF-8", _RESAVE)], None
    return [], data


def _raw_lines(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield (number, offset, bytes without blanks at the end) of each line that is not blank."""
    number = start = 0
    while start < len(data):
        number += 1
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        raw = data[start:end].rstrip(_BLANKS)
        if raw:
            yield number, start, raw
        start = end + 1


def _value_over_lines(raw: bytes, data: bytes, start: int) -> tuple[str, str] | None:
    """Recognise JSON that is not JSON Lines, to say so once and not for each line.

    raw: a line; data, start: the whole file and where the line begins. Returns what was found
    and what to do about it, or None if the line has to be read by itself.
    """
    text = raw.lstrip(_BLANKS)
    if not text.startswith((b"{", b"[")) or len(text) > MAX_LINE_BYTES:
        return None
    is_alone = text in (b"{", b"[") and data[start:].strip() != text
    is_opened = is_alone or (text[-1:] in b",{[" and _spans_lines(data, start))
    is_whole_file = text.startswith(b"[") and text == data.strip() and _is_json(text)
    if not is_opened and not is_whole_file:
        return None
    if text.startswith(b"["):
        return "one JSON array", "write each of its elements on a line of its own"
    return "JSON indented over many lines", "write each document on one line"


def _spans_lines(data: bytes, start: int) -> bool:
    """Tell whether the JSON value that begins at an offset goes on after the end of its line."""
    text = data[start:].decode("utf-8", "replace").lstrip()
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return "\n" in text[:end]


def _is_json(raw: bytes) -> bool:
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError:
        return False
    return True


def _read_value(file: str, number: int, raw: bytes, wanted: str) -> tuple[object, list[Problem]]:
    if len(raw) > MAX_LINE_BYTES:
        found = f"a line of {len(raw):,} bytes"
        limit = f"at most {MAX_LINE_BYTES:,}"
        return None, [Problem(file, number, "", found, limit, "write one document a line")]
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return None, [_explain(file, number, raw, error, wanted)]
    try:
        written = orjson.dumps(value)
    except TypeError:
        # orjson reads values that are nested more deeply than it, or any later stage, can write.
        return None, [Problem(file, number, "", _TOO_DEEP, _SHALLOW, "")]
    # A value that was lost to a repeated key lacks at least the two quotation marks of that key
    # when it is written again, so equal numbers of marks prove that nothing was lost. Only a
    # mark spelled as an escape can disturb the sum; then, too, the slow reader decides.
    if b"\\u0022" not in raw and raw.count(b'"') == written.count(b'"'):
        return value, []
    return value, _repeated_keys(file, number, raw)


def _repeated_keys(file: str, number: int, raw: bytes) -> list[Problem]:
    """Return a problem for each key that stands more than once in one object."""
    tree = json.loads(raw, object_pairs_hook=_keep_repeats)
    problems = []
    for path, key, times in _paths_of_repeats(tree):
        line = number + line_of_key(raw, key) - 1
        found = f"the key {quote(key)} {times} times"
        problems.append(Problem(file, line, path, found, "each key once", "keep one of them"))
    return problems


def line_of_key(data: bytes, key: str) -> int:
    """Return the line, from 1, on which a key of a JSON text last stands; 1 if it does not."""
    spellings = {re.escape(orjson.dumps(key)), re.escape(json.dumps(key).encode())}
    pattern = b"(?:" + b"|".join(sorted(spellings)) + rb")\s*:"
    places = [place.start() for place in re.finditer(pattern, data)]
    return 1 + data.count(b"\n", 0, max(places, default=0))


class _Repeats(list):
    """The (key, value) pairs of an object with a repeated key."""


def _keep_repeats(pairs: list[tuple[str, object]]) -> dict | _Repeats:
    value = dict(pairs)
    return value if len(value) == len(pairs) else _Repeats(pairs)


def _paths_of_repeats(tree: object) -> list[tuple[str, str, int]]:
    """Return (path of the object, key, how often) for each repeated key in a tree."""
    found = []
    waiting: list[tuple[str, object]] = [("$", tree)]
    while waiting:
        path, value = waiting.pop()
        inner: list[tuple[str, object]] = []
        if isinstance(value, _Repeats):
            times = Counter(key for key, _ in value)
            found += [(path, key, count) for key, count in times.items() if count > 1]
            inner = [(f"{path}.{key}", item) for key, item in value]
        elif isinstance(value, dict):
            inner = [(f"{path}.{key}", item) for key, item in value.items()]
        elif isinstance(value, list):
            inner = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
        waiting += reversed(inner)
    return found


def _explain(
    file: str, number: int, raw: bytes, error: orjson.JSONDecodeError, wanted: str
) -> Problem:
    """Say in the reader's words what orjson found, with the column where it can be told."""
    try:
        text, position = raw.decode(), error.pos
    except UnicodeDecodeError as undecodable:
        if undecodable.reason != "unexpected end of data":
            return _undecodable(file, number, raw, undecodable.start)
        text, position = raw[: undecodable.start].decode(), undecodable.start
        position = len(text)
    found, expected, action, position = _phrases(text, position, error.msg, wanted)
    line = number + text.count("\n", 0, position)
    column = position - text.rfind("\n", 0, position)
    return Problem(file, line, "", f"{found} at column {column}", expected, action)


def _undecodable(file: str, number: int, raw: bytes, start: int) -> Problem:
    offset = start - (raw.rfind(b"\n", 0, start) + 1)
    found = f"byte {raw[start]:02X} at offset {offset} of the line, which is not UTF-8"
    return Problem(file, number + raw.count(b"\n", 0, start), "", found, "UTF-8", _RESAVE)


def _phrases(text: str, position: int, message: str, wanted: str) -> tuple[str, str, str, int]:
    """Return (found, expected, action, position) for a text that orjson refused.

    position, message: where and why it refused it. wanted: what should stand there as a whole.
    """
    rest = text[position:]
    if position == len(text) or message.startswith("unexpected end of data"):
        action = "look whether the file was cut off"
        return "a line that ends inside its JSON value", "a whole object", action, position
    if message.startswith("depth limit exceeded"):
        return _TOO_DEEP, _SHALLOW, "", position
    if message.startswith("trailing comma") or rest.strip() == ",":
        return "a trailing comma", "nothing after the last element", "remove the comma", position
    if message.startswith("unexpected content after document"):
        action = "break the line there" if wanted == _A_LINE else "remove what follows"
        return "more text behind the JSON value", wanted, action, position
    if text.lstrip().startswith("```"):
        return "a code fence", "a JSON object", "send the bare JSON Lines", position
    if rest.startswith("\ufeff"):
        return "a byte-order mark inside the file", "plain UTF-8", "remove it", position
    word = _foreign_word(text, position)
    if word:
        return word
    if "infinity" in message:
        literal = re.match(r"[-+0-9.eE]*", rest)[0]
        found = f"the number {_shortened(literal)}"
        return found, "a finite number", "it is too large", position
    reason = message.partition(": line")[0]
    return f"{quote(rest[:1])} ({reason})", "JSON", "", position


def _foreign_word(text: str, position: int) -> tuple[str, str, str, int] | None:
    """Return the phrases for a word of JavaScript or Python at a position, None for others."""
    start = position - text.startswith("-", max(position - 1, 0), position)
    word = re.compile(r"-?(NaN|Infinity)|None\b|True\b|False\b|'").match(text, start)
    if word is None:
        return None
    if word[1]:
        return word[0], "a finite number or null", "JSON has no such number", start
    wanted = "JSON with double quotes, null, true, false"
    return "a Python literal", wanted, "use json.dumps", position


_TOO_DEEP = "brackets nested too deeply"
_SHALLOW = "at most 250 levels"


def _shortened(literal: str) -> str:
    return literal if len(literal) <= 20 else f"{literal[:10]}… of {len(literal):,} digits"
