"""A problem is one line that says where, what was found, what was expected and what to do."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import WARNING, Problem, is_error, plural, quote

TEXT = st.text(alphabet=st.characters())


def test_a_problem_says_file_line_path_found_expected_and_what_to_do():
    problem = Problem("run.jsonl", 3, "$.a[0]", '"x"', '"y"', "write y")
    assert problem.text() == 'error: run.jsonl:3: $.a[0]: found "x"; expected "y"; write y'


def test_a_problem_of_a_whole_file_has_no_line_and_no_path():
    problem = Problem("run.jsonl", None, "", "no pairs", "some", "ignored", WARNING)
    assert problem.text() == "warning: run.jsonl: found no pairs; expected some; ignored"


def test_a_problem_that_says_enough_ends_without_advice():
    assert Problem("a", 1, "", "x", "y", "").text() == "error: a:1: found x; expected y"


def test_only_an_error_refuses_its_file():
    problem = Problem("a", 1, "", "x", "y", "")
    assert is_error(problem)
    assert not is_error(problem._replace(severity=WARNING))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("TRUE", '"TRUE"'),
        (True, "true"),
        (None, "null"),
        (7, "7"),
        ("7", '"7"'),
        (["TRUE"], '["TRUE"]'),
        ("TRUE ", '"TRUE "'),
        ("TRUE\u00a0", r'"TRUE\u00a0"'),
        ("a\tb\n", r'"a\tb\n"'),
        ("\u0000", r'"\u0000"'),
        ("\u007f", r'"\u007f"'),
        ("\u200b", r'"\u200b"'),
        ("\ud800", r'"\ud800"'),
        ("Zürich", '"Zürich"'),
        ("Zu\u0308rich", r'"Zu\u0308rich"'),
    ],
)
def test_a_quoted_value_shows_its_type_and_what_cannot_be_seen(value, shown):
    assert quote(value) == shown


def test_a_long_value_is_cut_with_a_visible_mark():
    assert quote("x" * 100, 10) == '"xxxxxxxx…'
    assert quote("x" * 8, 10) == '"xxxxxxxx"'


@given(TEXT)
def test_a_quoted_text_can_be_printed_and_read_back(text):
    shown = quote(text, limit=1_000_000)
    assert shown.isprintable()
    assert json.loads(shown) == text


@given(TEXT, st.integers(min_value=1, max_value=80))
def test_a_quoted_text_is_never_longer_than_its_limit(text, limit):
    assert len(quote(text, limit)) <= limit


def test_a_count_agrees_with_its_noun():
    assert [plural(n, "pair") for n in (0, 1, 2)] == ["0 pairs", "1 pair", "2 pairs"]
