"""Requirements are exact, so that every machine computes with the same libraries."""

import re

import pytest

from kit import PROJECT

# A package may need another version on an older Python.
PINNED = r'[a-z][a-z0-9-]*==\d+(\.\d+)+(; python_version (<|>=) "3\.\d+")?'


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-dev.txt"])
def test_every_requirement_is_pinned_to_one_version(file):
    lines = (PROJECT / file).read_text("ascii").split("\n")
    assert lines.pop() == ""
    loose = [line for line in lines if not re.fullmatch(PINNED, line)]
    assert loose in ([], ["-r requirements.txt"])
