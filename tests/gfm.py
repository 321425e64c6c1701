"""What a reader of GitHub sees of a Markdown page: sections with their tables, text and links."""

from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_TEXT = {"text", "code_inline", "softbreak"}
_LINK = {"link_open", "link_close"}


class Section(NamedTuple):
    """What stands under one heading; the first row of a table is its header."""

    tables: list[list[list[str]]]
    lines: list[str]
    links: list[str]

    @property
    def text(self) -> str:
        """Return the paragraphs and list items."""
        return "\n".join(self.lines)

    def rows(self) -> list[dict[str, str]]:
        """Return the rows of the section's only table."""
        [[header, *rows]] = self.tables
        return [dict(zip(header, row, strict=True)) for row in rows]

    def column(self, name: str) -> list[str]:
        """Return one column of the section's only table."""
        return [row[name] for row in self.rows()]


def read(markdown: str) -> dict[str, Section]:
    """Return the sections of a page by heading; no heading may occur twice."""
    sections: dict[str, Section] = {}
    section = Section([], [], [])
    place = ""
    for token in _PARSER.parse(markdown):
        if token.type == "table_open":
            section.tables.append([])
        elif token.type == "tr_open":
            section.tables[-1].append([])
        elif token.type == "html_block":
            raise AssertionError(f"HTML on the page: {token.content}")
        elif token.type == "inline":
            shown = _shown(token)
            if place == "heading_open":
                assert shown not in sections
                section = sections[shown] = Section([], [], [])
            elif place in ("td_open", "th_open"):
                section.tables[-1][-1].append(shown)
            else:
                section.lines.append(shown)
            section.links.extend(_targets(token))
        place = token.type
    return sections


def broken_links(page: Path) -> list[str]:
    """Return the links of a page that lead to no file beside it, nor to a heading of it."""
    sections = read(page.read_text("utf-8"))
    anchors = {f"#{_slug(heading)}" for heading in sections}
    return [
        target
        for section in sections.values()
        for target in section.links
        if target not in anchors
        and (target.startswith(("/", "#")) or not (page.parent / unquote(target)).is_file())
    ]


def _shown(inline: Token) -> str:
    return "".join(map(_shown_part, inline.children or [])).replace("\xa0", " ")


def _shown_part(token: Token) -> str:
    if token.type in _TEXT:
        return token.content or " "
    if token.type in _LINK:
        return ""
    # A name that turned into markup must not pass for that name.
    return "\n" if token.content == "<br>" else f"<<{token.type} {token.content}>>"


def _targets(inline: Token) -> list[str]:
    links = [token for token in inline.children or [] if token.type == "link_open"]
    return [str(link.attrs["href"]) for link in links]


def _slug(heading: str) -> str:
    # GitHub drops what is neither letter, digit, "_", "-" nor space, then writes "-" for spaces.
    return "".join(c for c in heading.lower() if c in "_- " or c.isalnum()).replace(" ", "-")
