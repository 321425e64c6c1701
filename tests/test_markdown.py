"""Markdown: a name shows as it was written, in a cell and in a sentence."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gfm
from kit import PROJECT, make_environment
from markdown import anchor, escape, link, table

ODD_NAMES = [
    "A|B",
    r"A\|B",
    "my_team_x",
    "__init__",
    "`x`",
    "*",
    "**bold**",
    "~~gone~~",
    "<img src=x onerror=1>",
    "<!-- hidden -->",
    "a < b & c",
    "&amp;",
    "&#124;",
    "[a](b)",
    "![a](b)",
    "[^1]",
    "<https://example.org>",
    "1e5",
    "007",
    "1.0",
    "-",
    "---",
    "# x",
    "1. x",
    "$x$",
    "Équipe “Ω” 東京",
]
# Without spaces, which Markdown folds; without controls, which no name of a team should hold.
TEXTS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)


def cells(markdown):
    """Return the rows of the table of a page, as a reader sees them."""
    return gfm.read(f"# x\n\n{markdown}\n")["x"].tables[0]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_shows_literally_in_a_cell(name):
    row = [escape(name), "next"]
    assert cells(table(["team", "run"], [row, ["b", "c"]], set())) == [
        ["team", "run"],
        [name, "next"],
        ["b", "c"],
    ]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_shows_literally_in_a_sentence(name):
    assert gfm.read(f"# x\n\nTeams: {escape(name)}, b.\n")["x"].text == f"Teams: {name}, b."


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_any_two_names_show_literally_beside_each_other(one, other):
    rows = [[escape(one), escape(other)]]
    assert cells(table(["a", "b"], rows, {1})) == [["a", "b"], [one, other]]


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\u2028b", "a \t b"])
def test_a_name_of_several_lines_stays_within_its_cell(text):
    assert cells(table(["a", "b"], [[escape(text), "c"]], set())) == [["a", "b"], ["a b", "c"]]


def test_every_row_of_a_table_has_the_cells_of_its_header():
    lines = table(["a", "b"], [[escape("x|y"), ""], ["", escape("\\")]], {0}).split("\n")
    assert {line.replace(r"\|", "").count("|") for line in lines} == {3}


def test_a_table_may_have_no_rows():
    assert cells(table(["a", "b"], [], {1})) == [["a", "b"]]


def test_bytes_of_a_table_do_not_depend_on_an_optional_package(tmp_path):
    (tmp_path / "wcwidth.py").write_text("def wcswidth(text): return 2 * len(text)\n")
    code = "import markdown; print(ascii(markdown.table(['team'], [['東京']], set())))"
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=make_environment(PYTHONPATH=f"{PROJECT / 'lib'}:{more}"),
            capture_output=True,
            check=True,
        ).stdout
        for more in ("", tmp_path)
    ]
    assert said[0] == said[1]


def test_a_link_leads_where_it_should_whatever_the_path_holds(tmp_path):
    path = tmp_path / "é team" / "a|b (1) [c]#d?e%20f.json"
    path.parent.mkdir()
    path.touch()
    page = tmp_path / "page.md"
    page.write_text(link("pairs", str(path.relative_to(tmp_path))), "utf-8")
    page.write_text(f"# x\n\n{page.read_text('utf-8')}\n", "utf-8")
    assert gfm.read(page.read_text("utf-8"))["x"].text == "pairs"
    assert gfm.broken_links(page) == []


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Overall accuracy profile (test A)", "overall-accuracy-profile-test-a"),
        ("Efficiency: newspapers, German", "efficiency-newspapers-german"),
        ("Étude n_1 - b", "étude-n_1---b"),
    ],
)
def test_the_anchor_of_a_heading_is_that_of_github(heading, expected):
    assert anchor(heading) == expected
