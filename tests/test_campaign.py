"""The configuration and teams.json: what they must hold, and what is said where they do not."""

import json

import pytest

import campaign as facts
import kit
from files import digest

CONFIG = json.loads(facts.DEFAULT_CONFIG.read_text("utf-8"))
COMPARE = "compare with the file that the project came with"


def said(load, path):
    """Return the lines that a loader refuses a file with."""
    with pytest.raises(facts.BadInput) as refused:
        load(path)
    return [problem.text() for problem in refused.value.problems]


def config_file(folder, **changes):
    """Write a configuration with some sections replaced; those that are ... are left out."""
    path = folder / "config.json"
    sections = {**CONFIG, **changes}
    kept = {key: value for key, value in sections.items() if value is not ...}
    path.write_text(json.dumps(kept), "utf-8")
    return path


def teams_file(folder, content):
    path = folder / "teams.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def test_the_projects_configuration_is_read_with_the_digest_of_its_bytes():
    config = facts.load_config(facts.DEFAULT_CONFIG)
    assert config.facts == CONFIG
    assert config.digest == digest(facts.DEFAULT_CONFIG.read_bytes())


def test_the_default_mode_comes_first_and_maps_nothing():
    config = facts.load_config(facts.DEFAULT_CONFIG)
    assert config.modes() == ["TERNARY", "BINARY"]
    assert config.labels("at", "TERNARY") == ["TRUE", "PROBABLE", "FALSE"]
    assert config.labels("isAt", "TERNARY") == ["TRUE", "FALSE"]
    assert config.mapping("at", "TERNARY") == {}


def test_the_binary_mode_counts_probable_as_true_for_at_alone():
    config = facts.load_config(facts.DEFAULT_CONFIG)
    assert config.labels("at", "BINARY") == ["TRUE", "FALSE"]
    assert config.mapping("at", "BINARY") == {"PROBABLE": "TRUE"}
    assert config.labels("isAt", "BINARY") == ["TRUE", "FALSE"]
    assert config.mapping("isAt", "BINARY") == {}


def test_what_is_scored_follows_from_the_data_set():
    config = facts.load_config(facts.DEFAULT_CONFIG)
    assert config.profile("impresso")["targets"] == ["at", "isAt"]
    assert config.profile("surprise")["targets"] == ["at"]


def test_a_missing_file_is_named_with_its_path(tmp_path):
    path = tmp_path / "none.json"
    line = (
        f"error: {path}: found no such file or directory; expected a file to read; check its path"
    )
    assert said(facts.load_config, path) == [line]
    assert said(facts.load_teams, path) == [line]


def test_a_folder_is_no_file_to_read(tmp_path):
    assert said(facts.load_config, tmp_path) == [
        f"error: {tmp_path}: found is a directory; expected a file to read; check its path"
    ]


def test_a_configuration_that_is_no_json_is_refused_with_line_and_column(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{\n  "campaign": "HIPE-2026",\n}\n', "utf-8")
    assert said(facts.load_config, path) == [
        "error: config.json:2: found a trailing comma at column 26; expected nothing after the"
        " last element; remove the comma"
    ]


def test_a_configuration_that_is_a_list_is_refused(tmp_path):
    path = tmp_path / "config.json"
    path.write_text("[]", "utf-8")
    assert said(facts.load_config, path) == [
        "error: config.json: $: found a JSON array of 0 elements; expected one JSON object in"
        " braces"
    ]


def test_a_key_that_stands_twice_in_the_configuration_is_refused(tmp_path):
    path = tmp_path / "config.json"
    text = json.dumps(CONFIG).removesuffix("}") + ',\n"max_runs": 5}'
    path.write_text(text, "utf-8")
    assert said(facts.load_config, path) == [
        'error: config.json:2: $: found the key "max_runs" 2 times; expected each key once; keep'
        " one of them"
    ]


@pytest.mark.parametrize("section", CONFIG)
def test_each_section_is_required(tmp_path, section):
    path = config_file(tmp_path, **{section: ...})
    assert said(facts.load_config, path) == [
        f'error: config.json: $.{section}: found nothing; expected the section "{section}";'
        f" {COMPARE}"
    ]


def test_all_sections_that_are_wrong_are_told_at_once(tmp_path):
    path = config_file(tmp_path, schema=..., max_runs="3", targets=None)
    assert said(facts.load_config, path) == [
        f'error: config.json: $.max_runs: found "3"; expected the section "max_runs"; {COMPARE}',
        f'error: config.json: $.schema: found nothing; expected the section "schema"; {COMPARE}',
        f'error: config.json: $.targets: found null; expected the section "targets"; {COMPARE}',
    ]


def test_true_is_no_number_of_runs(tmp_path):
    path = config_file(tmp_path, max_runs=True)
    assert said(facts.load_config, path) == [
        f'error: config.json: $.max_runs: found true; expected the section "max_runs"; {COMPARE}'
    ]


@pytest.mark.parametrize(
    ("section", "key", "value", "expected"),
    [
        ("significance", "seed", -1, "0 or more"),
        ("significance", "resamples", 0, "1 or more"),
        ("significance", "draws", 0, "1 or more"),
        ("significance", "level", 1.0, "a fraction between 0 and 1, such as 0.95"),
        ("significance", "level", 0.0, "a fraction between 0 and 1, such as 0.95"),
        ("ensembles", "top", 0, "1 or more"),
        ("breakdowns", "period_years", 0, "1 or more"),
    ],
)
def test_a_number_that_nothing_can_be_computed_with_is_refused(
    tmp_path, section, key, value, expected
):
    path = config_file(tmp_path, **{section: {**CONFIG[section], key: value}})
    assert said(facts.load_config, path) == [
        f"error: config.json: $.{section}.{key}: found {value}; expected {expected}"
    ]


@pytest.mark.parametrize("key", [7, ["pers_wikidata_QID"], None])
def test_a_link_is_the_name_of_a_key(tmp_path, key):
    links = {**CONFIG["breakdowns"]["links"], "person": key}
    path = config_file(tmp_path, breakdowns={**CONFIG["breakdowns"], "links": links})
    [line] = said(facts.load_config, path)
    assert line.startswith("error: config.json: $.breakdowns.links.person: found ")
    assert "expected a string" in line


def test_a_percentage_is_no_level(tmp_path):
    path = config_file(tmp_path, significance={**CONFIG["significance"], "level": 95})
    assert said(facts.load_config, path) == [
        f"error: config.json: $.significance.level: found 95; expected a fraction; {COMPARE}"
    ]


STAGES = [
    ("validate_jsonl", "references"),
    ("validate_jsonl", "submissions"),
    ("validate_info",),
    ("score_one",),
    ("build_rankings",),
]


@pytest.mark.parametrize("section", ["documents", "info", "rankings", "profiles", "targets"])
def test_a_section_without_its_keys_is_told_in_lines_and_is_no_traceback(base, tmp_path, section):
    base.config = config_file(tmp_path, **{section: {}})
    ended = (base.script(*stage) for stage in STAGES)
    failed = next(done for done in ended if done.status != 0)
    assert failed.status == 1
    assert failed.errors


def test_a_script_leaves_with_1_and_the_line_for_a_broken_configuration(campaign, tmp_path):
    campaign.reference()
    campaign.config = config_file(tmp_path, targets=...)
    done = campaign.validate_references()
    assert done.status == 1
    assert done.out == ""
    assert done.err.splitlines() == [
        f'error: config.json: $.targets: found nothing; expected the section "targets"; {COMPARE}'
    ]


def test_all_that_teams_json_says_of_a_team_is_optional(tmp_path):
    content = {
        "baseline": {"name": "Baseline", "affiliation": "HIPE", "organizer": True},
        "team1": {},
    }
    teams = facts.load_teams(teams_file(tmp_path, content))
    assert {key: team[:3] for key, team in teams.items()} == {
        "baseline": ("Baseline", "HIPE", True),
        "team1": ("team1", "", False),
    }


def test_no_teams_need_to_be_named(tmp_path):
    assert facts.load_teams(teams_file(tmp_path, {})) == {}


def test_the_projects_teams_are_read():
    assert facts.load_teams(facts.DEFAULT_TEAMS)["baseline"].organizer
    sample = kit.PROJECT / "HIPE-2026-data" / "data" / "sample" / "teams.json"
    assert not facts.load_teams(sample)["team1"].organizer


def test_all_that_is_wrong_in_teams_json_is_told_at_once(tmp_path):
    content = {
        "team1": "Gazetteers",
        "team2": {"name": 2, "affiliation": None, "organizer": "yes"},
        "team3": {"organizer": 1},
        "team4": {"name": "fine"},
    }
    assert said(facts.load_teams, teams_file(tmp_path, content)) == [
        'error: teams.json: $["team1"]: found "Gazetteers"; expected an object such as'
        ' {"name": "...", "affiliation": "..."}',
        'error: teams.json: $["team2"].name: found 2; expected a string',
        'error: teams.json: $["team2"].affiliation: found null; expected a string',
        'error: teams.json: $["team2"].organizer: found "yes"; expected true or false',
        'error: teams.json: $["team3"].organizer: found 1; expected true or false',
    ]


def test_a_number_is_no_list_of_archives(tmp_path):
    assert said(facts.load_teams, teams_file(tmp_path, {"team1": {"archives": 5}})) == [
        'error: teams.json: $["team1"].archives: found 5; expected a list of strings'
    ]


def test_a_key_that_teams_json_does_not_know_is_not_passed_over(tmp_path):
    [line] = said(facts.load_teams, teams_file(tmp_path, {"team1": {"nmae": "Gazetteers"}}))
    assert line.startswith('error: teams.json: $["team1"].nmae: found ')


def test_a_team_that_stands_twice_in_teams_json_is_refused(tmp_path):
    text = '{"team1": {"name": "A"},\n "team1": {"name": "B"}}'
    assert said(facts.load_teams, teams_file(tmp_path, text)) == [
        'error: teams.json:2: $: found the key "team1" 2 times; expected each key once; keep one'
        " of them"
    ]


@pytest.mark.parametrize("content", ["", " \n"], ids=["no bytes", "blank"])
def test_an_empty_teams_json_is_refused(tmp_path, content):
    assert said(facts.load_teams, teams_file(tmp_path, content)) == [
        "error: teams.json: found an empty file; expected one JSON object in braces"
    ]


def test_a_byte_order_mark_in_teams_json_is_named(tmp_path):
    path = tmp_path / "teams.json"
    path.write_bytes(b"\xef\xbb\xbf{}")
    assert said(facts.load_teams, path) == [
        "error: teams.json:1: found a byte-order mark (EF BB BF); expected plain UTF-8; save it"
        ' again as "UTF-8" without byte-order mark'
    ]


def test_a_script_leaves_with_1_and_the_lines_for_a_broken_teams_json(campaign, tmp_path):
    campaign.reference()
    campaign.teams = teams_file(tmp_path, {"team1": []})
    assert campaign.validate() == (
        1,
        "",
        'error: teams.json: $["team1"]: found []; expected an object such as'
        ' {"name": "...", "affiliation": "..."}\n',
    )
