"""Workbooks whose cells are what they say: text that stays text, and the same bytes every time."""

import io
import re
import zipfile
from datetime import datetime
from typing import NamedTuple

from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from mentions import Piece

MAX_CELL = 32_767
_CUT = "… [cut]"
_EPOCH = datetime(2026, 1, 1)
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
# What XML cannot hold, or openpyxl refuses.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_LINE = Side(style="thin", color="D9D9D9")
BORDER = Border(left=_LINE, right=_LINE, top=_LINE, bottom=_LINE)
HEADER_FILL = PatternFill("solid", fgColor="1F3864")
GOOD = PatternFill("solid", fgColor="E2EFDA")
BAD = PatternFill("solid", fgColor="FCE4D6")
TO_FILL_IN = PatternFill("solid", fgColor="FFF2CC")
_LINE_HEIGHT, _MOST_LINES = 15, 12
WRAPPED = Alignment(wrap_text=True, vertical="top")


class Column(NamedTuple):
    """A column of a sheet: its header and its width in characters."""

    name: str
    width: int


def visible(text: str) -> str:
    """Return text with visible signs for characters that a workbook cannot hold."""
    return _FORBIDDEN.sub(_sign, text)


def forbidden_characters(text: str) -> int:
    """Return how many characters of a text visible() replaces."""
    return len(_FORBIDDEN.findall(text))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"


def fitted(text: str) -> str:
    """Return text that fits a cell, which holds 32,767 UTF-16 units; what is cut is marked."""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) // 2 <= MAX_CELL:
        return text
    kept = units[: 2 * (MAX_CELL - len(_CUT))].decode("utf-16-le", "ignore")
    return kept + _CUT


def new_workbook() -> Workbook:
    """Return a workbook without sheets."""
    book = Workbook()
    book.remove(book.active)
    return book


def add_sheet(book: Workbook, name: str, columns: list[Column], frozen: str) -> Worksheet:
    """Add a sheet with its header. frozen: the first cell that scrolls, such as "E2"."""
    sheet = book.create_sheet(name)
    for index, column in enumerate(columns, 1):
        cell = sheet.cell(1, index)
        cell.value, cell.data_type = column.name, "s"
        cell.font = Font(bold=True, color="FFFFFF")
        cell.fill, cell.border = HEADER_FILL, BORDER
        cell.alignment = Alignment(wrap_text=True, vertical="center")
        sheet.column_dimensions[get_column_letter(index)].width = column.width
    # High enough for the long names of narrow columns.
    sheet.row_dimensions[1].height = 3 * _LINE_HEIGHT
    sheet.freeze_panes = frozen
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    return sheet


def add_row(
    sheet: Worksheet, row: int, values: list[object], fills: dict[int, PatternFill] | None = None
) -> None:
    """Write a row of a sheet.

    values: text, numbers, lists of pieces (rich text) or None. fills: {index of a value: fill}.
    """
    for index, value in enumerate(values):
        cell = sheet.cell(row, index + 1)
        if isinstance(value, str):
            # openpyxl would take "=1+1" for a formula and "#N/A" for an error.
            cell.value, cell.data_type = fitted(visible(value)), "s"
        elif isinstance(value, list):
            cell.value = _rich(value)
        else:
            cell.value = value
        cell.border, cell.alignment = BORDER, WRAPPED
        if fills and index in fills:
            cell.fill = fills[index]
    sheet.row_dimensions[row].height = _LINE_HEIGHT * _lines(sheet, values)


def _lines(sheet: Worksheet, values: list[object]) -> int:
    """Return how many lines the fullest cell of a row needs; not every program works it out."""
    needed = [1]
    for index, value in enumerate(values, 1):
        width = sheet.column_dimensions[get_column_letter(index)].width
        is_rich = isinstance(value, list)
        text = "".join(piece.text for piece in value) if is_rich else str(value or "")
        needed.append(-(-len(text) // int(width * 0.9)) + text.count("\n"))
    return min(max(needed), _MOST_LINES)


def _rich(pieces: list[Piece]) -> CellRichText:
    bold = InlineFont(rFont="Calibri", sz=11, b=True, color="C00000")
    return CellRichText(
        *(
            TextBlock(bold, visible(piece.text)) if piece.marked else visible(piece.text)
            for piece in pieces
        )
    )


def workbook_bytes(book: Workbook) -> bytes:
    """Return a workbook as a file whose bytes depend on its content alone."""
    book.properties.creator = "evaluation"
    book.properties.created = _EPOCH
    written = io.BytesIO()
    book.save(written)
    fixed = io.BytesIO()
    with zipfile.ZipFile(written) as source, zipfile.ZipFile(fixed, "w") as target:
        for name in sorted(
            source.namelist(), key=lambda name: (name != "[Content_Types].xml", name)
        ):
            data = source.read(name)
            if name == "docProps/core.xml":
                # openpyxl stamps the time of saving.
                stamp = f"{_EPOCH.isoformat()}Z".encode()
                data = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>" + stamp, data)
            info = zipfile.ZipInfo(name, _ZIP_TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(info, data)
    return fixed.getvalue()
