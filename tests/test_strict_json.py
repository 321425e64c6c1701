"""JSON is read without forgiving anything: what cannot be read is named, line by line."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from files import read_tsv
from problems import quote
from strict_json import MAX_LINE_BYTES, Line, read_lines, read_object

INVALID = Path(__file__).parent / "data" / "invalid-jsonl"
EXPECTED = read_tsv(INVALID / "messages.tsv")


def array_of(values):
    return f"[{', '.join(values)}]"


def object_of(members):
    return "{" + ", ".join(f"{key}: {value}" for key, value in members) + "}"


# Texts as they stand in JSON: the same ones spelled in several ways, most with quotation marks.
TEXTS = ['""', '"a"', r'"\u0061"', r'"\""', r'"\u0022"', r'"\u0022\u0022"', r'"\\u0022"', r'"\\\""']
OBJECTS = st.recursive(
    st.sampled_from(["1", "null", *TEXTS]),
    lambda inner: (
        st.lists(inner, max_size=3).map(array_of)
        | st.lists(st.tuples(st.sampled_from(TEXTS), inner), max_size=4).map(object_of)
    ),
    max_leaves=10,
).filter(lambda raw: raw.startswith("{"))


def texts(problems):
    return [problem.text() for problem in problems]


@pytest.mark.parametrize("path", sorted(INVALID.glob("*.jsonl")), ids=lambda path: path.stem)
def test_each_kind_of_fault_has_its_own_message_and_no_other(path):
    expected = [row["message"] for row in EXPECTED if row["file"] == path.name]
    assert texts(read_lines("FILE", path.read_bytes())[1]) == expected


def test_every_message_belongs_to_a_file():
    assert {row["file"] for row in EXPECTED} == {path.name for path in INVALID.glob("*.jsonl")}


def test_lines_are_read_as_they_are_and_counted_with_the_blank_ones():
    data = '{"a": "Zürich\u2028\\u0000"}\r\n\r\n \t\n{"a": 2}\r\n\n\n'.encode()
    assert read_lines("a", data) == ([Line(1, {"a": "Zürich\u2028\0"}), Line(4, {"a": 2})], [])


def test_the_last_line_needs_no_line_end():
    assert read_lines("a", b'{"a": 1}\n{"a": 2}') == ([Line(1, {"a": 1}), Line(2, {"a": 2})], [])


def test_what_can_be_read_beside_a_fault_is_returned():
    lines, problems = read_lines("a", b'{"a": 1}\n{"a": NaN}\n{"a": 3}\n')
    assert (lines, len(problems)) == ([Line(1, {"a": 1}), Line(3, {"a": 3})], 1)


GOOD = b'{"a": 1}'
FRAGMENTS = [GOOD, b"", b" ", b"[]", b'"a"', b"x", b"\xe9", b'{"a": NaN}', b'{"a": 1, "a": 2}']


@given(st.lists(st.sampled_from([*FRAGMENTS, GOOD + GOOD, b"}", b"```", b"\xef\xbb\xbf"])))
def test_no_line_goes_unread_without_a_word(fragments):
    lines, problems = read_lines("a", b"\n".join([GOOD, *fragments]))
    answered = {line.number for line in lines} | {problem.line for problem in problems}
    assert answered == {1, *(n for n, raw in enumerate(fragments, 2) if raw.strip())}


@given(st.binary() | st.lists(st.sampled_from([*FRAGMENTS, b"{", b"[", b","])).map(b"\n".join))
def test_any_bytes_are_read_or_refused_in_lines_of_plain_text(data):
    lines, problems = read_lines("a", data)
    assert lines or problems
    assert all(text.isprintable() for text in texts(problems))
    value, problems = read_object("a", data)
    assert value or problems or data.strip() == b"{}"
    assert all(text.isprintable() for text in texts(problems))


@given(st.text(st.characters()))
def test_a_problem_is_one_line_whatever_the_key_that_its_path_names(key):
    data = f'{{{json.dumps(key)}: {{"b": 1, "b": 2}}}}'.encode()
    assert all(text.isprintable() for text in texts(read_lines("a", data)[1]))


@given(OBJECTS)
@example(r'{"a": 1, "a": "\u0022\u0022"}')
@example(r'{"\u0022": 1, "\"": 2}')
@example('{"a": {"b": 1, "b": 2}, "a": 3}')
def test_repeated_keys_are_found_however_they_are_spelled(raw):
    expected = []

    def count(members):
        keys = [key for key, _ in members]
        repeated = [key for key in dict.fromkeys(keys) if keys.count(key) > 1]
        expected.extend(f"the key {quote(key)} {keys.count(key)} times" for key in repeated)
        return dict(members)

    value = json.loads(raw, object_pairs_hook=count)
    lines, problems = read_lines("a", raw.encode())
    assert sorted(problem.found for problem in problems) == sorted(expected)
    assert lines == [Line(1, value)]


@pytest.mark.parametrize(
    "literal", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 10_000]
)
@pytest.mark.parametrize("around", ['{{"a": {}}}', '{{"a": 1, "a": {}}}', r'{{"\u0022": {}}}'])
def test_the_fast_and_the_slow_reader_refuse_the_same_numbers(literal, around):
    data = around.format(literal).encode()
    for read in (read_lines, read_object):
        value, problems = read("a", data)
        assert (not value, [problem.line for problem in problems]) == (True, [1])


@pytest.mark.parametrize("read", [read_lines, read_object])
@pytest.mark.parametrize("start", ['{"a":', '{"a":1,"a":', r'{"\u0022":'])
def test_deep_nesting_is_accepted_or_refused_without_a_traceback(read, start):
    for depth in (200, 255, 300, 900, 990, 1000, 1020, 1030, 100_000):
        value, problems = read("a", f"{start}{'[' * depth}{']' * depth}}}".encode())
        found = {problem.found.partition(" at column")[0] for problem in problems}
        assert found <= {"brackets nested too deeply", 'the key "a" 2 times'}
        assert found or (value and start != '{"a":1,"a":')


def test_brackets_that_are_never_closed_are_too_deep():
    assert texts(read_lines("a", b"[" * 100_000)[1]) == [
        "error: a:1: found brackets nested too deeply at column 1026; expected at most 250 levels"
    ]


def test_a_line_beyond_the_limit_is_refused_and_the_others_are_read():
    long = b'{"a": "' + b"x" * MAX_LINE_BYTES + b'"}'
    lines, problems = read_lines("a", b'{"a": 1}\n' + long + b'\n{"a": 3}\n')
    assert [line.number for line in lines] == [1, 3]
    assert texts(problems) == [
        "error: a:2: found a line of 10,000,009 bytes; expected at most 10,000,000;"
        " write one document a line"
    ]


def test_an_object_may_stand_on_many_lines():
    assert read_object("a", b'\r\n{\n  "a": 1\r\n}\n\n') == ({"a": 1}, [])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b" \n", "a: found an empty file; expected one JSON object in braces"),
        (b"[{}]", "a: $: found a JSON array of 1 element; expected one JSON object in braces"),
        (b"null", "a: $: found null; expected one JSON object in braces"),
        (
            b'\xef\xbb\xbf{"a": 1}',
            "a:1: found a byte-order mark (EF BB BF); expected plain UTF-8;"
            ' save it again as "UTF-8" without byte-order mark',
        ),
        (
            b'{\n "a": NaN\n}',
            "a:2: found NaN at column 7; expected a finite number or null; JSON has no such number",
        ),
        (
            b'{\n "a": 1,\n "b": "caf\xe9"\n}',
            "a:3: found byte E9 at offset 10 of the line, which is not UTF-8; expected UTF-8;"
            ' save it again as "UTF-8" without byte-order mark',
        ),
        (
            b'{\n "a": 1,\n "b": {},\n "a": 2\n}',
            'a:4: $: found the key "a" 2 times; expected each key once; keep one of them',
        ),
        (
            b'{\n "a": 1, "a": 2,\n "b": "a"\n}',
            'a:2: $: found the key "a" 2 times; expected each key once; keep one of them',
        ),
    ],
)
def test_a_fault_of_an_object_is_named_with_its_line(data, message):
    assert texts(read_object("a", data)[1]) == [f"error: {message}"]
