"""Check HIPE-2026 documents against the JSON Schema of this repository.

Reads a JSON Lines file and the schema, prints a line for each fault, and exits with 0 (valid),
1 (faults) or 2 (wrong usage).

Two validators share the work: jsonschema-rs says yes or no within microseconds, and only for a
document that it refuses does jsonschema say why.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema_rs
import orjson


class SchemaFault(NamedTuple):
    """One fault of one document: JSON path, the value found, what the schema expects."""

    path: str
    found: Any
    expected: str


class MissingType:
    """Stands for a key that is not there, where None would mean JSON's null."""

    def __repr__(self) -> str:
        """Return the word that messages use."""
        return "nothing"


MISSING = MissingType()
NO_DETAIL = "rejected, no detail"


class DocumentValidator:
    """A schema made ready to check many documents."""

    def __init__(self, schema: dict) -> None:
        self._schema = schema
        self._fast = jsonschema_rs.Draft202012Validator(schema)

    @cached_property
    def _slow(self) -> Any:
        # Imported only once a document is refused: loading it takes longer than checking a file.
        from jsonschema import Draft202012Validator  # noqa: PLC0415

        return Draft202012Validator(self._schema)

    def faults(self, document: Any) -> list[SchemaFault]:
        """Return all faults of a document, in the order of the document; [] if it is valid.

        document: a parsed JSON value. Where the fast validator refuses a document in which the
        slow one finds nothing, one fault says so: a refusal is never dropped.
        """
        if self._fast_accepts(document):
            return []
        try:
            errors = list(self._slow.iter_errors(document))
        except RecursionError:
            errors = []
        faults = [fault for error in errors for fault in _faults_of(error)]
        return faults or [SchemaFault("$", document, NO_DETAIL)]

    def _fast_accepts(self, document: Any) -> bool:
        try:
            return self._fast.is_valid(document)
        except ValueError:  # e.g. a lone surrogate, which has no UTF-8 form
            return False


def document_warnings(document: dict) -> list[SchemaFault]:
    """Return what is odd but allowed in a valid document: a date that is none."""
    value = document["date"]
    if value is None or _is_date(value):
        return []
    return [SchemaFault("$.date", value, "a date such as 1848-03-02 or 1848, or null")]


def load_schema(path: str | Path) -> dict:
    """Return the schema in a file. Raises OSError or ValueError where there is none."""
    return orjson.loads(Path(path).read_bytes())


def validate_jsonl_file(path: str | Path, schema: dict) -> int:
    """Print the faults of a JSON Lines file and return how many there are.

    path: the file. schema: as load_schema returns it. A line that is no JSON is one fault.
    """
    validator = DocumentValidator(schema)
    errors = 0
    for number, raw in enumerate(Path(path).read_bytes().split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            faults = validator.faults(orjson.loads(raw))
        except orjson.JSONDecodeError as error:
            faults = [SchemaFault("$", "no JSON", f"a JSON object ({error})")]
        for fault in faults:
            found = _shown(fault.found)
            print(f"{Path(path).name}:{number}: {fault.path}: {found}, expected {fault.expected}")
        errors += len(faults)
    return errors


def _faults_of(error: Any) -> Iterator[SchemaFault]:
    path = error.json_path
    if error.validator == "enum":
        yield SchemaFault(path, error.instance, _one_of(error.validator_value))
    elif error.validator == "type":
        kinds = error.validator_value
        yield SchemaFault(
            path, error.instance, " or ".join([kinds] if isinstance(kinds, str) else kinds)
        )
    elif error.validator == "required":
        # jsonschema reports each missing key; its message alone names the one it is about.
        key = next(key for key in error.validator_value if error.message.startswith(f"{key!r} is"))
        yield SchemaFault(f"{path}.{key}", MISSING, "this required key")
    elif error.validator == "uniqueItems":
        for index, item in enumerate(error.instance):
            if any(_is_same(item, other) for other in error.instance[:index]):
                yield SchemaFault(f"{path}[{index}]", item, "each mention once")
    else:
        yield SchemaFault(path, error.instance, error.message)


def _is_same(one: Any, other: Any) -> bool:
    # To Python, true is 1; to JSON Schema it is not.
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _shown(value: Any) -> str:
    try:
        return repr(value) if value is MISSING else orjson.dumps(value).decode()
    except TypeError:
        return f"a deeply nested {type(value).__name__}"


def _one_of(values: list) -> str:
    *first, last = (orjson.dumps(value).decode() for value in values)
    return f"{', '.join(first)} or {last}"


def _is_date(text: str) -> bool:
    if re.fullmatch(r"[0-9]{4}", text):
        return True
    try:
        # Python 3.11 and later take other ISO forms, too.
        return bool(re.fullmatch(r"[0-9-]{10}", text)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def main() -> int:
    """Check the files named on the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON Lines files")
    parser.add_argument(
        "--schema",
        type=Path,
        default=Path(__file__).parent.parent / "schemas" / "hipe-2026-data.schema.json",
        help="JSON Schema (default: %(default)s)",
    )
    arguments = parser.parse_args()
    try:
        schema = load_schema(arguments.schema)
        errors = sum(validate_jsonl_file(path, schema) for path in arguments.files)
    except (OSError, orjson.JSONDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
