"""What a validation found is read as it was written, or not at all."""

import pytest

from campaign import BadInput
from problems import Problem
from reports import Report, entry_of, read_report

WARNING = Problem("a.jsonl", 3, "", "this", "that", "do it", "warning")


@pytest.fixture
def results(tmp_path):
    report = Report("info", tmp_path, "code")
    entry = report.entry("a.jsonl", {"file": "1"}, lambda: entry_of("a.jsonl", "run", [WARNING]))
    report.write("campaign", [entry])
    return tmp_path


def test_entries_come_back_as_they_were(results):
    [entry] = read_report(results, "info", "validate-info")
    assert entry["file"] == "a.jsonl"
    assert entry["valid"]
    assert [Problem(**problem) for problem in entry["problems"]] == [WARNING]


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"null", b'{"files": []}', None], ids=str)
def test_a_report_that_is_not_what_was_written_is_an_error(results, data):
    path = results / "validation" / "info.json"
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    with pytest.raises(BadInput) as raised:
        read_report(results, "info", "validate-info")
    [problem] = raised.value.problems
    assert problem.file == str(path)
    assert problem.action == "run make validate-info"


def test_without_a_report_there_is_something_to_do(tmp_path):
    with pytest.raises(BadInput) as raised:
        read_report(tmp_path, "info", "validate-info")
    assert [problem.text() for problem in raised.value.problems] == [
        f"error: {tmp_path}/validation: found no report info; expected what an earlier stage"
        " writes; run make validate-info"
    ]


def test_an_entry_is_kept_as_long_as_all_that_it_rests_on_is_the_same(results):
    def unused():
        raise AssertionError("a file was judged again")

    report = Report("info", results, "code")
    kept = report.entry("a.jsonl", {"file": "1"}, unused)
    assert kept["valid"]
    assert not report.made
    for code, digests in (("code", {"file": "2"}), ("other code", {"file": "1"})):
        report = Report("info", results, code)
        report.entry("a.jsonl", digests, lambda: entry_of("a.jsonl", "run", []))
        assert report.made == {"a.jsonl"}
