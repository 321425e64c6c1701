"""Cells hold what they are given, and the same content gives the same bytes."""

import io
import time
import zipfile

import openpyxl
import pytest

from mentions import Piece
from workbook import (
    MAX_CELL,
    Column,
    add_row,
    add_sheet,
    fitted,
    forbidden_characters,
    new_workbook,
    visible,
    workbook_bytes,
)


def written(*values):
    """Return the cells of a row after writing and reading back."""
    book = new_workbook()
    sheet = add_sheet(book, "s", [Column(f"c{n}", 10) for n in range(len(values))], "A2")
    add_row(sheet, 2, list(values))
    loaded = openpyxl.load_workbook(io.BytesIO(workbook_bytes(book)), rich_text=True)
    return list(loaded["s"][2])


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "=HYPERLINK(1)", "+33 6", "-jH. Müller", "@x", "\t=1", "#N/A", "TRUE"),
        *("219E01", "0012", "1-2", "1848-03-02", "27058621", "1542", "NA", "a\nb"),
    ],
)
def test_text_stays_the_text_that_it_is(text):
    [cell] = written(text)
    assert (cell.data_type, cell.value) == ("s", text)


def test_null_is_an_empty_cell_and_a_number_a_number():
    empty, number = written(None, 0.5)
    assert (empty.value, number.value, number.data_type) == (None, 0.5, "n")


@pytest.mark.parametrize(
    ("text", "shown", "number"),
    [
        ("a\x0cb", "a␌b", 1),
        ("\x00\x1f", "␀␟", 2),
        ("\ufffe\uffff\ud800", "\ufffd\ufffd\ufffd", 3),
        ("tab\tand\nline end", "tab\tand\nline end", 0),
    ],
)
def test_what_a_workbook_cannot_hold_is_replaced_visibly(text, shown, number):
    assert visible(text) == shown
    assert forbidden_characters(text) == number
    assert written(text)[0].value == shown


def units(text):
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize("text", ["x" * MAX_CELL, "x" * (MAX_CELL - 2) + "😀", ""])
def test_text_that_fits_a_cell_is_whole(text):
    assert fitted(text) == text


@pytest.mark.parametrize("text", ["x" * 40_000, "x" * (MAX_CELL - 1) + "😀", "😀" * 20_000])
def test_text_that_does_not_fit_is_cut_with_a_mark(text):
    cut = fitted(text)
    assert units(cut) <= MAX_CELL
    assert cut.endswith("… [cut]")
    assert text.startswith(cut.removesuffix("… [cut]"))


def test_marked_pieces_are_bold():
    [cell] = written([Piece("before ", False), Piece("Bern", True), Piece(" after", False)])
    assert str(cell.value) == "before Bern after"
    assert [part.font.b for part in cell.value if not isinstance(part, str)] == [True]


def test_the_same_content_gives_the_same_bytes_at_any_time(monkeypatch):
    def made():
        book = new_workbook()
        add_row(add_sheet(book, "s", [Column("a", 10)], "A2"), 2, ["x"])
        return workbook_bytes(book)

    first = made()
    tomorrow = time.time() + 86_400
    monkeypatch.setattr(time, "time", lambda: tomorrow)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert made() == first
    finally:
        monkeypatch.undo()
        time.tzset()
    dates = {info.date_time for info in zipfile.ZipFile(io.BytesIO(first)).infolist()}
    assert dates == {(1980, 1, 1, 0, 0, 0)}
