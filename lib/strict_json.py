"""Reading JSON and JSON Lines without forgiving anything, and saying what is wrong.

orjson decides what is JSON. It keeps the last of two equal keys without a word, so repeated
keys are looked for here; and its findings are turned into the project's one-line problems.
"""

import json
import re
from collections import Counter
from typing import NamedTuple

import orjson

from problems import Problem, plural, quote

MAX_LINE_BYTES = 20_000_000
_UTF8_MARK = b"\xef\xbb\xbf"
_RESAVE = 'save it again as "UTF-8" without byte-order mark'


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
    raw_lines = data.split(b"\n")
    whole = _one_value_over_lines(file, raw_lines, data)
    if whole:
        return [], [*problems, whole]
    for number, raw in enumerate((raw.strip(b" \t\r") for raw in raw_lines), 1):
        if not raw:
            continue
        value, found = _read_value(file, number, raw)
        problems += found
        if isinstance(value, dict):
            lines.append(Line(number, value))
        elif not any(problem.line == number for problem in found):
            problems.append(_not_an_object(file, number, value))
    if not lines and not problems:
        problems.append(
            Problem(file, None, "", "no documents", "one JSON object a line", "send the file again")
        )
    return lines, problems


def read_object(file: str, data: bytes) -> tuple[dict, list[Problem]]:
    """Read a file that is one JSON object, over any number of lines.

    Returns the object ({} where there is none) and all problems of the file.
    """
    problems, data = _check_encoding(file, data)
    if data is None:
        return {}, problems
    if not data.strip():
        return {}, [*problems, Problem(file, None, "", "an empty file", "one JSON object", "")]
    value, found = _read_value(file, 1, data)
    problems += found
    if not isinstance(value, dict):
        if not found:
            problems.append(
                Problem(file, None, "$", kind_of(value), "one JSON object in braces", "")
            )
        return {}, problems
    return value, problems


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


def _read_value(file: str, number: int, raw: bytes) -> tuple[object, list[Problem]]:
    if len(raw) > MAX_LINE_BYTES:
        found = f"a line of {len(raw):,} bytes"
        limit = f"at most {MAX_LINE_BYTES:,}"
        return None, [Problem(file, number, "", found, limit, "write one document a line")]
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return None, [_explain(file, number, raw, error)]
    return value, _repeated_keys(file, number, raw, value)


def _repeated_keys(file: str, number: int, raw: bytes, value: object) -> list[Problem]:
    """Find keys that stand twice in one object.

    A value that was lost to a repeated key lacks at least the two quotation marks of that key
    when it is written again, so equal numbers of marks prove that nothing was lost. Only a
    mark spelled as an escape can disturb the sum; then, too, the slow reader decides.
    """
    if b"\\u0022" not in raw and raw.count(b'"') == orjson.dumps(value).count(b'"'):
        return []
    try:
        tree = json.loads(raw, object_pairs_hook=_keep_repeats)
    except RecursionError:
        return [Problem(file, number, "", _TOO_DEEP, _SCHEMA_SHAPE, "")]
    problems = []
    for path, key, times in _paths_of_repeats(tree, "$"):
        line = number + raw[: raw.rfind(orjson.dumps(key))].count(b"\n")
        found = f"the key {quote(key)} {times} times"
        problems.append(Problem(file, line, path, found, "each key once", "keep one of them"))
    return problems


class _Repeats(list):
    """The (key, value) pairs of an object with a repeated key."""


def _keep_repeats(pairs: list[tuple[str, object]]) -> dict | _Repeats:
    value = dict(pairs)
    return value if len(value) == len(pairs) else _Repeats(pairs)


def _paths_of_repeats(value: object, path: str) -> list[tuple[str, str, int]]:
    """Return (path of the object, key, how often) for each repeated key in a tree."""
    found = []
    inner: list[tuple[str, object]] = []
    if isinstance(value, _Repeats):
        times = Counter(key for key, _ in value)
        found = [(path, key, count) for key, count in times.items() if count > 1]
        inner = [(f"{path}.{key}", item) for key, item in value]
    elif isinstance(value, dict):
        inner = [(f"{path}.{key}", item) for key, item in value.items()]
    elif isinstance(value, list):
        inner = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    for inner_path, item in inner:
        found += _paths_of_repeats(item, inner_path)
    return found


def _one_value_over_lines(file: str, raw_lines: list[bytes], data: bytes) -> Problem | None:
    """Recognise a file that is JSON but not JSON Lines, to say so once and not per line."""
    first = next((raw.strip() for raw in raw_lines if raw.strip()), b"")
    if len(first) > MAX_LINE_BYTES:
        return None
    if first.startswith(b"[") and (first == b"[" or _is_json(first)):
        found, action = "one JSON array", "write each of its elements on a line of its own"
    elif first == b"{" or (first.endswith(b",") and _starts_with_value(data)):
        found, action = "JSON indented over many lines", "write each document on one line"
    else:
        return None
    return Problem(file, 1, "", found, "one JSON object a line", action)


def _is_json(raw: bytes) -> bool:
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError:
        return False
    return True


def _starts_with_value(data: bytes) -> bool:
    try:
        json.JSONDecoder().raw_decode(data.decode("utf-8", "replace").lstrip())
    except (ValueError, RecursionError):
        return False
    return True


def _explain(file: str, number: int, raw: bytes, error: orjson.JSONDecodeError) -> Problem:
    """Say in the reader's words what orjson found, with the column where it can be told."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as undecodable:
        byte = raw[undecodable.start]
        found = f"byte {byte:02X} at offset {undecodable.start} of the line, which is not UTF-8"
        return Problem(file, number, "", found, "UTF-8", _RESAVE)
    line = number + text.count("\n", 0, error.pos)
    column = error.pos - text.rfind("\n", 0, error.pos)
    found, expected, action = _phrases(text, error)
    return Problem(file, line, "", f"{found} at column {column}", expected, action)


def _phrases(text: str, error: orjson.JSONDecodeError) -> tuple[str, str, str]:
    """Return (found, expected, action) for a text that orjson refused."""
    for message, *phrases in _BY_MESSAGE:
        if error.msg.startswith(message):
            return tuple(phrases)
    if text.startswith("```"):
        return "a code fence", "a JSON object", "send the bare JSON Lines"
    around = text[max(error.pos - 1, 0) :].lstrip(" :,[{")
    word = re.match(r"-?(NaN|Infinity)|None\b|True\b|False\b|'", around)
    if word and word[1]:
        return f"{word[0]}, which JSON has no number for,", "a finite number or null", ""
    if word:
        return "a Python literal", "JSON with double quotes, null, true, false", "use json.dumps"
    if "infinity" in error.msg:
        literal = re.match(r"[-+0-9.eE]*", text[error.pos :])[0]
        return f"the number {_shortened(literal)}, which is too large,", "a finite number", ""
    reason = error.msg.partition(": line")[0]
    return f"{quote(text[error.pos : error.pos + 1])} ({reason})", "JSON", ""


_TOO_DEEP = "brackets nested over 1,000 deep"
_SCHEMA_SHAPE = "a document as the schema has it"
_BY_MESSAGE = [
    (
        "unexpected end of data",
        "a line that ends inside its JSON value",
        "a whole object",
        "look whether the file was cut off",
    ),
    ("depth limit exceeded", _TOO_DEEP, _SCHEMA_SHAPE, ""),
    (
        "unexpected content after document",
        "more text behind the JSON value",
        "one JSON object a line",
        "break the line there",
    ),
    ("trailing comma", "a trailing comma", "nothing after the last element", "remove the comma"),
]


def _shortened(literal: str) -> str:
    return literal if len(literal) <= 20 else f"{literal[:10]}… of {len(literal):,} digits"


def _not_an_object(file: str, number: int, value: object) -> Problem:
    return Problem(file, number, "$", kind_of(value), "one JSON object a line", "")


def kind_of(value: object) -> str:
    """Return a value for a reader: containers by their size, the rest as it is typed."""
    if isinstance(value, list):
        return f"a JSON array of {plural(len(value), 'element')}"
    if isinstance(value, dict):
        return f"a JSON object with {plural(len(value), 'key')}"
    return quote(value)
