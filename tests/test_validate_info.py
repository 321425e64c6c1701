"""Info files: what is refused, what is warned of, and what the sizes do in the tables.

tests/data/invalid-info holds one small broken info file per kind of fault, and messages.tsv the
lines that are expected for it, with FILE for the file's name.
"""

import json

import pytest

import kit
from files import read_tsv

BROKEN = kit.PROJECT / "tests" / "data" / "invalid-info"
EXPECTED: dict[str, list[str]] = {}
for row in read_tsv(BROKEN / "messages.tsv"):
    EXPECTED.setdefault(row["file"], []).append(row["message"])

RUN = f"team1_{kit.DE}_run1.jsonl"
INFO = f"team1_{kit.DE}_run1-info.json"
ACCEPTED = (0, "info files: 1 valid, 0 errors, 0 warnings\n", "")


@pytest.fixture
def g(campaign):
    """A campaign with reference G alone."""
    campaign.reference()
    return campaign


def told(campaign, info):
    """Place a perfect run with an info file and return what validation says of the latter."""
    campaign.run(info=info)
    return campaign.validate_info()


def with_literal(key, literal):
    """Return an info file one of whose values is this JSON text."""
    return json.dumps({**kit.INFO, key: "@"}).replace('"@"', literal).encode()


def test_the_table_of_messages_names_every_broken_file():
    assert sorted(EXPECTED) == sorted(path.name for path in BROKEN.glob("*.json"))


@pytest.mark.parametrize("file", EXPECTED)
def test_a_broken_info_file_gets_exactly_these_messages(g, file):
    done = told(g, (BROKEN / file).read_bytes())
    assert done.problems == [message.replace("FILE", INFO) for message in EXPECTED[file]]
    assert done.status == 1
    [entry] = g.json("validation/info.json")["files"]
    assert not entry["valid"]


def test_a_broken_info_file_does_not_fail_a_run_that_is_let_through(g):
    g.skip_invalid = True
    done = told(g, with_literal("hipe_parameter_count", '"3B"'))
    assert (done.status, len(done.errors)) == (0, 1)
    g.evaluate()
    assert g.score()["efficiency_metadata"]["hipe_parameter_count"] is None


@pytest.mark.parametrize("literal", ["0", "14000000000", "1.5", "1e9", "null"])
def test_the_organizers_sizes_are_numbers_from_0_or_null(g, literal):
    assert told(g, with_literal("hipe_parameter_count", literal)) == ACCEPTED


@pytest.mark.parametrize("literal", ['"3B"', '"3,000,000"', "true", "-1", "[3]", "null", '""'])
def test_the_team_may_report_a_size_in_any_words(g, literal):
    assert told(g, with_literal("team_parameter_count", literal)) == ACCEPTED


def test_a_valid_info_file_may_stand_on_one_line_or_on_many_with_crlf(g):
    assert told(g, json.dumps(kit.INFO).encode()) == ACCEPTED
    data = json.dumps(kit.INFO, indent=2).replace("\n", "\r\n").encode()
    assert told(g, data) == ACCEPTED


def test_the_line_of_a_fault_is_that_of_its_key_not_of_a_value_with_the_same_words(g):
    info = {"team_model_size": "hipe_model_size", **kit.INFO, "hipe_model_size": "10 GB"}
    info["team_model_size"] = "hipe_model_size"
    done = told(g, json.dumps(info, indent=0).encode())
    assert done.problems == [
        f'error: {INFO}:5: $.hipe_model_size: found "10 GB"; expected a number from 0, or null;'
        " the organizers write the number; the team's words go to team_*"
    ]


ONLY = (
    "expected only hipe_parameter_count, hipe_model_size, team_parameter_count,"
    " team_model_size, team_efficiency_opt_out; remove it"
)


@pytest.mark.parametrize("ascii_only", [True, False], ids=["escaped", "as it is"])
def test_a_key_beyond_is_found_on_its_line_however_it_is_written(g, ascii_only):
    data = json.dumps({**kit.INFO, "größe": 1}, indent=0, ensure_ascii=ascii_only)
    assert told(g, data.encode()).problems == [
        f'error: {INFO}:6: $.größe: found the key "größe"; {ONLY}'
    ]


def test_a_line_end_in_a_key_does_not_break_the_message_in_two(g):
    done = told(g, json.dumps({**kit.INFO, "no\ntes": 1}).encode())
    assert done.status == 1
    [problem] = done.problems
    assert problem.endswith(rf'found the key "no\ntes"; {ONLY}')


def test_a_deeply_nested_size_is_an_error_like_any_other(g):
    done = told(g, with_literal("hipe_parameter_count", "[" * 300 + "]" * 300))
    assert done.status == 1
    assert done.problems == [
        f"error: {INFO}:1: found brackets nested too deeply; expected at most 250 levels"
    ]


def test_an_orphan_is_an_error(g):
    g.run().unlink()
    done = g.validate_info()
    assert done.status == 1
    assert done.problems == [
        f"error: {INFO}: found an info file without its run; expected both; add the run or"
        " remove this"
    ]


def test_an_orphan_with_a_fault_has_two(g):
    g.run(info=[1]).unlink()
    done = g.validate_info()
    assert done.status == 1
    assert done.problems == [
        f"error: {INFO}: $: found a JSON array of 1 element; expected one JSON object in braces",
        f"error: {INFO}: found an info file without its run; expected both; add the run or"
        " remove this",
    ]


NO_INFO = f"warning: {RUN}: found no info file; expected {INFO}; its sizes count as unknown"


def test_a_missing_info_file_is_warned_of_and_the_run_stays_valid(g):
    done = told(g, None)
    assert done.status == 0
    assert done.problems == [NO_INFO]


def test_all_faults_of_all_info_files_are_told_at_once(g):
    g.run(info=(BROKEN / "several.json").read_bytes())
    g.run(number=2, info=b"[]")
    g.run(number=3, info=None)
    done = g.validate_info()
    assert done.status == 1
    assert len(done.errors) == 3
    assert done.out == "info files: 0 valid, 3 errors, 1 warning\n"


# What the sizes do in the tables


def sized(parameters, **others):
    return {**kit.INFO, "hipe_parameter_count": parameters, **others}


def test_the_organizers_number_counts_and_the_teams_words_stay_words(g):
    g.run(info=sized(14000000000, team_parameter_count="2 x 7B + adapters"))
    g.evaluate()
    assert g.score()["efficiency_metadata"] == {
        "info_file": INFO,
        "info_missing": False,
        "hipe_parameter_count": 14000000000,
        "hipe_model_size": 10,
        "team_parameter_count": "2 x 7B + adapters",
        "team_model_size": 10,
        "team_efficiency_opt_out": False,
    }
    [row] = g.ranking("efficiency-test-a")
    assert row["hipe_parameter_count"] == "14000000000"
    assert " 14,000,000,000 |" in g.page.read_text("utf-8")
    assert "7B" not in "".join(row.values())


def ranks(campaign, ranking="efficiency-test-a"):
    """Return {team: (rank by parameter count, parameter count)} of an efficiency ranking."""
    return {
        row["team"]: (row["rank_hipe_parameter_count"], row["hipe_parameter_count"])
        for row in campaign.ranking(ranking)
    }


@pytest.mark.parametrize("ties", ["competition", "dense"])
def test_unknown_sizes_rank_last_and_tied_with_empty_cells(g, ties):
    g.ties = ties
    for team, parameters in [("team1", 10), ("team2", None), ("team3", 5), ("team4", None)]:
        g.run(team=team, info=sized(parameters))
    g.evaluate()
    assert ranks(g) == {
        "team1": ("2", "10"),
        "team2": ("3", ""),
        "team3": ("1", "5"),
        "team4": ("3", ""),
    }
    page = g.page.read_text("utf-8")
    assert "nan" not in page.lower()
    assert "None |" not in page


def test_a_missing_info_file_counts_as_unknown_and_is_warned_of_once(g):
    g.run(team="team2", info=sized(10))
    g.run(team="team3", info=sized(None))
    g.run(info=None)
    said = [line for done in g.evaluate() for line in done.problems]
    assert said == [NO_INFO]
    assert ranks(g) == {"team1": ("2", ""), "team2": ("1", "10"), "team3": ("2", "")}
    metadata = g.score()["efficiency_metadata"]
    assert metadata["info_missing"]
    assert metadata["hipe_parameter_count"] is None


def test_opting_out_leaves_a_run_out_of_the_efficiency_tables_only(g):
    g.run(info={**kit.INFO, "team_efficiency_opt_out": True})
    g.run(team="team2", info={**kit.INFO, "team_efficiency_opt_out": False})
    g.evaluate()
    for table in ("impresso-test-de", "overall-test-a"):
        assert [row["team"] for row in g.ranking(table)] == ["team1", "team2"]
    for table in ("test-a", "balanced-test-a", "impresso-test-de"):
        assert [row["team"] for row in g.ranking(f"efficiency-{table}")] == ["team2"]
    assert g.page.read_text("utf-8").count("Left out: team1 run1: opted out.") == 3


def test_opting_out_in_one_language_counts_for_all(base):
    base.run(stem=kit.EN, info={**kit.INFO, "team_efficiency_opt_out": True})
    for stem in (kit.DE, kit.EN, kit.FR):
        base.run(stem=stem, team="team2")
    base.evaluate()
    assert [row["team"] for row in base.ranking("overall-test-a")] == ["team1", "team2"]
    languages = [f"impresso-test-{language}" for language in ("de", "en", "fr")]
    tables = ["test-a", "balanced-test-a", *languages]
    for table in tables:
        assert [row["team"] for row in base.ranking(f"efficiency-{table}")] == ["team2"]
    said = "Left out: team1 run1: opted out in en only, which counts for all its files."
    assert base.page.read_text("utf-8").count(said) == len(tables)


def test_where_info_files_disagree_the_largest_counts_in_both_tables(base):
    for stem, parameters in [(kit.DE, 5), (kit.EN, 5), (kit.FR, 50)]:
        base.run(stem=stem, info=sized(parameters))
        base.run(stem=stem, team="team2", info=sized(20))
    base.evaluate()
    for table in ("efficiency-test-a", "efficiency-balanced-test-a"):
        assert ranks(base, table) == {"team1": ("2", "50"), "team2": ("1", "20")}
    said = (
        "Note: team1 run1: its info files disagree on hipe\\_parameter\\_count"
        " (de 5, en 5, fr 50); the largest counts."
    )
    assert base.page.read_text("utf-8").count(said) == 2


def test_a_known_size_counts_where_other_files_of_the_run_have_none(base):
    for stem, info in [(kit.DE, sized(None)), (kit.EN, sized(5)), (kit.FR, None)]:
        base.run(stem=stem, info=None).with_name(f"team1_{stem}_run1-info.json").unlink()
        base.run(stem=stem, info=info)
    base.evaluate()
    assert ranks(base) == {"team1": ("1", "5")}
    said = "(de none, en 5, fr none); the largest counts."
    assert base.page.read_text("utf-8").count(said) == 2
