"""Changing labels in a line of JSON and leaving every other byte as it is."""

import json
import re
from typing import NamedTuple

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


class Node(NamedTuple):
    """A JSON value and where it stands: its bytes are line[start:end].

    members: (key, value) of an object. elements: those of an array.
    """

    start: int
    end: int
    members: list[tuple[str, "Node"]]
    elements: list["Node"]

    def member(self, key: str) -> "Node":
        """Return the value of a key. Raises KeyError if there is none."""
        return dict(self.members)[key]


def parse(line: bytes) -> Node:
    """Return the tree of a line that is known to be valid JSON."""
    tokens = [(match[0], match.start(), match.end()) for match in _TOKEN.finditer(line)]
    return _value(tokens, 0)[0]


def _value(tokens: list[tuple[bytes, int, int]], at: int) -> tuple[Node, int]:
    """Return the value that begins with a token, and the index of the token after it."""
    token, start, end = tokens[at]
    members: list[tuple[str, Node]] = []
    elements: list[Node] = []
    at += 1
    if token in (b"{", b"["):
        while tokens[at][0] not in (b"}", b"]"):
            key = None
            if token == b"{":
                key = json.loads(tokens[at][0])
                at += 2  # the key and its colon
            node, at = _value(tokens, at)
            if key is None:
                elements.append(node)
            else:
                members.append((key, node))
            at += tokens[at][0] == b","
        end = tokens[at][2]
        at += 1
    return Node(start, end, members, elements), at


def edit_array(line: bytes, key: str, edits: dict[int, dict[str, str] | None]) -> bytes:
    """Return a line with changed elements in the array under a key of its object.

    edits: {index: {key of the element: new string}, or None to remove the element}. All other
    bytes stay, white space included; a removed element takes the separator before it along.
    """
    array = parse(line).member(key)
    kept = [
        (index, node)
        for index, node in enumerate(array.elements)
        if edits.get(index, {}) is not None
    ]
    parts = [line[: array.elements[0].start]] if array.elements else [line[: array.end - 1]]
    for place, (index, node) in enumerate(kept):
        if place:
            parts.append(line[array.elements[index - 1].end : node.start])
        parts.append(_edited(line, node, edits.get(index) or {}))
    last = array.elements[-1].end if array.elements else array.end - 1
    return b"".join([*parts, line[last:]])


def _edited(line: bytes, node: Node, changes: dict[str, str]) -> bytes:
    spans = sorted((node.member(key), value) for key, value in changes.items())
    parts = []
    position = node.start
    for span, value in spans:
        parts += [line[position : span.start], json.dumps(value, ensure_ascii=False).encode()]
        position = span.end
    return b"".join([*parts, line[position : node.end]])
