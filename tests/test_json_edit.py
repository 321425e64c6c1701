"""Labels change, and every other byte stays."""

import json

from hypothesis import given
from hypothesis import strategies as st

from json_edit import edit_array, parse

LINE = (
    b'{ "x":[1, "a]"] ,"pairs" : [ {"a": "T\\"}", "b":"F"} ,'
    b' {"a":"P","b": "\xc3\xa9"},{"b":null}\t] }'
)


def test_a_label_changes_and_nothing_else():
    assert edit_array(LINE, "pairs", {0: {"b": "TRUE"}, 2: {"b": "FALSE"}}) == (
        LINE.replace(b'"b":"F"', b'"b":"TRUE"').replace(b"null", b'"FALSE"')
    )
    assert edit_array(LINE, "pairs", {}) == LINE


def test_an_element_goes_with_the_separator_before_it():
    first = b'{"a": "T\\"}", "b":"F"}'
    second = b'{"a":"P","b": "\xc3\xa9"}'
    assert edit_array(LINE, "pairs", {1: None}) == LINE.replace(b" , " + second, b"")
    assert edit_array(LINE, "pairs", {0: None}) == LINE.replace(first + b" , ", b"")
    assert edit_array(LINE, "pairs", {2: None}) == LINE.replace(b',{"b":null}', b"")
    assert json.loads(edit_array(LINE, "pairs", dict.fromkeys(range(3))))["pairs"] == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(
        st.dictionaries(st.text(min_size=1), VALUES).map(lambda d: d | {"at": "X"}), max_size=5
    ),
    st.dictionaries(st.integers(0, 4), st.none() | st.just({"at": "NEW"})),
    st.sampled_from([None, 1]),
)
def test_an_edited_line_reads_as_the_edited_value(pairs, edits, indent):
    edits = {index: edit for index, edit in edits.items() if index < len(pairs)}
    line = json.dumps({"before": pairs, "pairs": pairs, "after": 1}, indent=indent).encode()
    expected = [
        pair | (edits.get(index) or {})
        for index, pair in enumerate(pairs)
        if edits.get(index, {}) is not None
    ]
    edited = json.loads(edit_array(line, "pairs", edits))
    assert edited == {"before": pairs, "pairs": expected, "after": 1}


@given(VALUES)
def test_the_tree_covers_the_line(value):
    line = json.dumps(value).encode()
    node = parse(line)
    assert (node.start, node.end) == (0, len(line))
