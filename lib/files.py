"""Reading and writing files: digests, and whole files or none."""

import hashlib
from pathlib import Path
from typing import IO

import orjson


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest_of_stream(stream: IO[bytes]) -> str:
    """Return the SHA-256 of the rest of a stream as 64 hex digits, without holding it at once."""
    running = hashlib.sha256()
    for chunk in iter(lambda: stream.read(1 << 20), b""):
        running.update(chunk)
    return running.hexdigest()


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file's content as 64 hex digits.

    Raises OSError if the file cannot be read.
    """
    with open(path, "rb") as stream:
        return digest_of_stream(stream)


def digest_of_values(values: object) -> str:
    """Return the SHA-256 of a JSON value (keys sorted), for values that stand for an input."""
    return digest(orjson.dumps(values, option=orjson.OPT_SORT_KEYS))


def json_bytes(value: object) -> bytes:
    """Return a value as indented UTF-8 JSON with a final line end; keys keep their order."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def tsv_bytes(header: list[str], rows: list[list[object]]) -> bytes:
    """Return a table as tab-separated UTF-8 text with a final line end.

    header: column names. rows: cells; None becomes an empty cell, floats keep full precision.
    Raises ValueError where a cell holds a tab or a line end, which would break the columns.
    """
    return "".join(_line(cells) for cells in (header, *rows)).encode()


def _line(cells: list[object]) -> str:
    texts = ["" if value is None else str(value) for value in cells]
    line = "\t".join(texts)
    if line.count("\t") >= len(texts) or "\n" in line or "\r" in line:
        wrong = next(text for text in texts if any(breaking in text for breaking in "\t\n\r"))
        raise ValueError(f"a TSV cell cannot hold {wrong!r}")
    return line + "\n"


_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def one_line(text: str) -> str:
    """Return text as a cell can hold it: tabs and line ends as backslash escapes.

    Backslashes are doubled, so that no two texts become the same.
    """
    return text.translate(_ESCAPES)


def read_tsv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table that tsv_bytes wrote, each as {column: cell}."""
    return parse_tsv(path.read_bytes().decode())


def parse_tsv(text: str) -> list[dict[str, str]]:
    """Return the rows of a tab-separated table, each as {column: cell}.

    Raises ValueError where a row has more or fewer cells than the header.
    """
    # splitlines() would also break at characters that may stand in a cell, such as U+2028.
    header, *rows = (line.split("\t") for line in text.removesuffix("\n").split("\n"))
    return [dict(zip(header, row, strict=True)) for row in rows]


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a reader finds the old content or the new one, never a part.

    The bytes go to a temporary file in the same folder, which then takes the file's name.
    Raises OSError if the folder cannot be made or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_path(path)
    temporary.write_bytes(data)
    temporary.replace(path)


def temporary_path(path: Path) -> Path:
    """Return where write_whole keeps the bytes of a file until they are complete."""
    return path.with_name(f".{path.name}.tmp")
