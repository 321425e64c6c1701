"""Per-run results as later stages read them: those of the manifest, of one mode, none missing."""

import json

import pytest

from campaign import BadInput
from files import json_bytes
from per_run import read_results
from stage import Product, Stage


@pytest.fixture
def folder(tmp_path):
    """A folder in which the score stage wrote the results of two runs."""
    contents = {
        f"team{number}.json": json_bytes({"team": f"team{number}", "at_label_mode": "TERNARY"})
        for number in (2, 1)
    }
    products = {
        name: Product([name], {}, lambda name=name: {name: contents[name]}) for name in contents
    }
    Stage("score", tmp_path).refresh(products, "code")
    return tmp_path


def problem(folder, mode="TERNARY"):
    with pytest.raises(BadInput) as raised:
        read_results(Stage("score", folder), mode)
    return [each.text() for each in raised.value.problems]


def test_results_come_in_order_of_name(folder):
    results = read_results(Stage("score", folder), "TERNARY")
    assert [result["team"] for result in results] == ["team1", "team2"]


def test_json_that_no_stage_wrote_is_no_result(folder):
    (folder / "team9.json").write_text(json.dumps({"team": "team9", "at_label_mode": "TERNARY"}))
    assert len(read_results(Stage("score", folder), "TERNARY")) == 2


def test_without_results_there_is_something_to_do(tmp_path):
    expected = (
        f"error: {tmp_path}: found no scores; expected what an earlier stage writes; run make score"
    )
    assert problem(tmp_path) == [expected]


def test_results_of_another_mode_are_refused(folder):
    assert problem(folder, "BINARY") == [
        f"error: {folder}: found scores in the mode TERNARY; expected the mode BINARY;"
        " run make score with the same variables"
    ]


@pytest.mark.parametrize("change", ["alter", "remove"])
def test_a_result_that_is_not_what_was_written_is_an_error_and_not_left_out(folder, change):
    path = folder / "team1.json"
    if change == "alter":
        path.write_bytes(path.read_bytes().replace(b"team1", b"team7"))
    else:
        path.unlink()
    [line] = problem(folder)
    assert "team1.json" in line
    assert "make score" in line


def test_a_result_that_an_interrupted_scoring_did_not_reach_is_an_error_too(folder):
    def interrupt():
        raise KeyboardInterrupt

    late = Product(["team3.json"], {}, interrupt)
    with pytest.raises(KeyboardInterrupt):
        Stage("score", folder).refresh({"team3.json": late}, "code", only_these=False)
    [line] = problem(folder)
    assert "team3.json" in line
    assert "make score" in line
