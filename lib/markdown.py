"""Small pieces of GitHub Markdown."""

import html
import re
import urllib.parse

# Within a line of text or a table cell, nothing else means anything to GitHub.
_PUNCTUATION = re.compile(r"([\\`*_\[\]|~$])")


def escape(text: str) -> str:
    """Return text that shows literally on GitHub, within a table cell too."""
    one_line = " ".join(text.split())
    return _PUNCTUATION.sub(r"\\\1", html.escape(one_line, quote=False))


def code(text: str) -> str:
    """Return a name of the project's own, such as a file or column, in type."""
    return f"`{text}`"


def link(text: str, target: str) -> str:
    """Return a link; target: a relative path, which is percent-encoded here."""
    return f"[{text}]({urllib.parse.quote(target)})"


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def table(header: list[str], rows: list[list[str]], right: set[int]) -> str:
    """Return a table of ready-made cells.

    right: indexes of the columns that hold numbers and are aligned to the right.
    """
    import tabulate  # noqa: PLC0415  (only where a page is written)

    # Else the padding would depend on whether the package wcwidth happens to be installed.
    tabulate.WIDE_CHARS_MODE = False
    alignment = ["right" if index in right else "left" for index in range(len(header))]
    # Cells are text already: tabulate must not read "1e5" or "007" as a number.
    return tabulate.tabulate(
        rows, header, tablefmt="pipe", colalign=alignment if rows else None, disable_numparse=True
    )
