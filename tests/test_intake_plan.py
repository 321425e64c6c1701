"""The plan of an intake: each member gets one step, and whatever is in doubt blocks the call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archives import Member
from campaign import DEFAULT_CONFIG, BadInput, load_config
from files import digest
from intake_plan import (
    BLOCKING,
    MAP_HEADER,
    info_from,
    is_metadata,
    is_run_file,
    is_shadow,
    map_bytes,
    nearest_metadata,
    plan,
    read_map,
)
from kit import DE, EN
from names import Naming
from recognition import Recognizer

NAMING = Naming("HIPE-2026", frozenset({"baseline"}), 3)
RECOGNIZER = Recognizer(NAMING, {}, [DE, EN])
RUN1, RUN2 = f"team1_{DE}_run1.jsonl", f"team1_{DE}_run2.jsonl"
INFO_FACTS = load_config(DEFAULT_CONFIG).facts["info"]


def member(path, content=b"", note=""):
    return Member(f"a.zip/{path}", f"a/{path}", None, None if note else digest(content), note)


def steps(*members, decided=None, present=None, replace=False):
    """Return the (action, target) of each member."""
    planned = plan(list(members), RECOGNIZER, NAMING, decided or {}, present or {}, replace=replace)
    assert [step.member for step in planned] == list(members)
    return [(step.action, step.target) for step in planned]


# What a member is


@pytest.mark.parametrize(
    "path",
    [
        "a/__MACOSX/run1/._x.jsonl",
        "a/__MACOSX/run1/x.jsonl",
        "a/.DS_Store",
        "a/run1/.DS_Store",
        "a/.git/x.jsonl",
        "a/.ipynb_checkpoints/x-checkpoint.jsonl",
    ],
)
def test_what_a_file_manager_or_an_editor_left_is_no_run(path):
    assert is_shadow(path)
    assert not is_run_file(path)


@pytest.mark.parametrize("path", ["a/x.jsonl", "a/X.JSONL", "a/v1.0/x.jsonl", ".a/x.jsonl"])
def test_files_with_json_lines_are_run_files(path):
    assert is_run_file(path)


@pytest.mark.parametrize(
    "path", ["a/x.jsonl.backup", "a/x.jsonl~", "a/x.json", "a/README.md", "a/x.jsonl/train.py"]
)
def test_backups_and_other_files_are_no_run_files(path):
    assert not is_run_file(path)


@pytest.mark.parametrize(
    "path", ["a/info.json", "a/x_run1-info.json", "a/METADATA.json", "a/run1/meta.JSON"]
)
def test_metadata_are_known_by_their_names(path):
    assert is_metadata(path)


@pytest.mark.parametrize(
    "path", ["a/info.txt", "a/config.json", "a/._info.json", "a/info/x.json", "a/info.jsonl"]
)
def test_other_files_are_no_metadata(path):
    assert not is_metadata(path)


# Steps


def test_a_run_is_placed_under_its_right_name():
    assert steps(member(f"team1/run1/{DE}.jsonl")) == [("place", RUN1)]


def test_other_files_are_skipped():
    others = [".DS_Store", "README.md", "run1/info.json", f"{RUN1}~", f"__MACOSX/._{RUN1}"]
    assert steps(*map(member, others)) == [("skip", "")] * 5


def test_a_run_without_a_team_is_undecided():
    assert steps(member(f"run1/{DE}.jsonl")) == [("undecided", "")]


def test_the_map_decides_what_the_path_leaves_open():
    undecided = member(f"run1/{DE}.jsonl")
    assert steps(undecided, decided={undecided.source: RUN2}) == [("place", RUN2)]
    assert steps(undecided, decided={undecided.source: "-"}) == [("skip", "")]


def test_the_map_overrules_the_path():
    clear = member(f"team1/run1/{DE}.jsonl")
    assert steps(clear, decided={clear.source: RUN2}) == [("place", RUN2)]
    assert steps(clear, decided={clear.source: "-"}) == [("skip", "")]


@pytest.mark.parametrize(
    "target",
    ["x.jsonl", f"{RUN1}.txt", f"../{RUN1}", f"/tmp/{RUN1}", f"team1_{DE}_run4.jsonl", f" {RUN1}"],
)
def test_a_target_that_is_no_name_of_a_run_blocks(target):
    one = member(f"run1/{DE}.jsonl")
    [(action, placed)] = steps(one, decided={one.source: target})
    assert action in BLOCKING
    assert placed == ""


def test_what_cannot_be_looked_into_blocks_until_the_map_leaves_it_out():
    inner = member("b.zip/c.zip", note="an archive in an archive in an archive")
    assert steps(inner) == [("not placeable", "")]
    assert steps(inner, decided={inner.source: "-"}) == [("skip", "")]


def test_two_contents_for_one_name_are_both_undecided():
    two = [member(RUN1, b"one"), member(f"sent again/{RUN1}", b"two")]
    assert steps(*two) == [("undecided", "")] * 2
    present = {RUN1: digest(b"one")}
    assert steps(*two, present=present, replace=True) == [("undecided", "")] * 2


def test_the_map_settles_which_of_two_contents_it_is():
    first, second = member(RUN1, b"one"), member(f"sent again/{RUN1}", b"two")
    decided = {first.source: "-", second.source: RUN1}
    assert steps(first, second, decided=decided) == [("skip", ""), ("place", RUN1)]


def test_the_same_content_twice_is_placed_once():
    two = [member(RUN1, b"one"), member(f"copy/{RUN1}", b"one")]
    assert steps(*two) == [("place", RUN1), ("identical", RUN1)]


def test_what_is_there_already_is_not_placed_again():
    one = member(RUN1, b"one")
    for replace in (False, True):
        assert steps(one, present={RUN1: digest(b"one")}, replace=replace) == [("identical", RUN1)]


def test_a_different_run_under_the_same_name_is_a_conflict_unless_it_may_be_replaced():
    present = {RUN1: digest(b"old")}
    one = member(RUN1, b"new")
    assert steps(one, present=present) == [("conflict", RUN1)]
    assert steps(one, present=present, replace=True) == [("replace", RUN1)]


PATHS = st.sampled_from(
    [RUN1, f"x/{RUN1}", RUN2, f"run1/{DE}.jsonl", "README.md", ".x.jsonl", "info.json", "y.jsonl"]
)
MEMBERS = st.lists(
    st.builds(member, PATHS, st.sampled_from([b"one", b"two"]), st.sampled_from(["", "", "deep"]))
)
TARGETS = st.sampled_from([RUN1, RUN2, "-", "x.jsonl", ""])
DECIDED = st.dictionaries(PATHS.map(lambda path: f"a.zip/{path}"), TARGETS)
PRESENT = st.dictionaries(st.sampled_from([RUN1, RUN2]), st.sampled_from([digest(b"one"), "x"]))


@given(MEMBERS, DECIDED, PRESENT, st.booleans())
def test_every_member_gets_one_step_and_every_name_one_content(members, decided, present, replace):
    planned = plan(members, RECOGNIZER, NAMING, decided, present, replace=replace)
    assert [step.member for step in planned] == members
    written = [step for step in planned if step.action in ("place", "replace")]
    assert len({step.target for step in written}) == len(written)
    for step in planned:
        assert step.action in ("place", "replace", "identical", "skip", *BLOCKING)
        assert step.note or step.action in ("place", "replace")
        if step.action in ("place", "replace", "identical", "conflict"):
            assert NAMING.run(step.target)
        there = present.get(step.target)
        if step.action == "place":
            assert there is None
        if step.action == "replace":
            assert replace
            assert there not in (None, step.member.digest)
        if step.action == "identical":
            others = [one for one in planned if one is not step and one.target == step.target]
            assert step.member.digest in (there, *(other.member.digest for other in others))


# Metadata


def test_metadata_beside_a_run_speak_of_it():
    there = ["a/run1/info.json", "a/run2/info.json", "a/info.json"]
    assert nearest_metadata("a/run1/x.jsonl", there) == "a/run1/info.json"


def test_metadata_above_a_run_speak_of_it_where_there_are_none_beside_it():
    assert nearest_metadata("a/run3/de/x.jsonl", ["a/run1/info.json", "a/info.json"]) == (
        "a/info.json"
    )
    assert nearest_metadata("a/run3/x.jsonl", ["a/run1/info.json"]) is None


def test_of_several_metadata_the_one_that_is_called_like_the_run_speaks_of_it():
    there = [f"a/{RUN1[:-6]}-info.json", f"a/{RUN2[:-6]}-info.json"]
    assert nearest_metadata(f"a/{RUN2}", there) == there[1]
    assert nearest_metadata("a/x.jsonl", there) is None


def test_metadata_that_are_called_like_another_run_do_not_speak_of_this_one():
    assert nearest_metadata(f"a/{RUN2}", [f"a/{RUN1[:-6]}-info.json"]) is None


@pytest.mark.parametrize("prefix", ["", "team_"])
def test_an_info_file_says_what_the_team_said(prefix):
    said = {
        f"{prefix}parameter_count": "about 7B",
        f"{prefix}model_size": 12.5,
        f"{prefix}efficiency_opt_out": True,
        "contact": "somebody",
    }
    assert info_from(said, INFO_FACTS) == {
        "hipe_parameter_count": None,
        "team_parameter_count": "about 7B",
        "hipe_model_size": None,
        "team_model_size": 12.5,
        "team_efficiency_opt_out": True,
    }


def test_what_the_organizers_decide_is_not_taken_from_the_team():
    said = {"hipe_parameter_count": 1, "hipe_model_size": 1}
    assert info_from(said, INFO_FACTS) == dict.fromkeys(
        ["hipe_parameter_count", "team_parameter_count", "hipe_model_size", "team_model_size"]
    )


# The map


def test_the_map_that_is_written_can_be_read(tmp_path):
    one, two = member(RUN1, b"one"), member(f"run1/{DE}.jsonl", b"two")
    planned = plan([one, two, member("README")], RECOGNIZER, NAMING, {}, {}, replace=False)
    path = tmp_path / "map.tsv"
    path.write_bytes(map_bytes([], planned))
    second, first = read_map(path)  # in order of source
    assert [first["source"], first["target"], first["action"]] == [one.source, RUN1, "place"]
    assert first["sha256_source"] == first["sha256_target"] == digest(b"one")
    assert [second["source"], second["target"], second["action"]] == [two.source, "", "undecided"]
    assert second["sha256_source"] == digest(b"two")
    assert second["note"] == f"candidates: <team>_{DE}_run1.jsonl"


def test_rows_of_earlier_calls_stay_unless_their_source_comes_again():
    earlier = [
        {"source": "b.zip/x", "target": RUN2, "action": "place"},
        {"source": "a.zip/" + RUN1, "target": "", "action": "undecided"},
    ]
    planned = plan([member(RUN1, b"one")], RECOGNIZER, NAMING, {}, {}, replace=False)
    rows = [line.split("\t") for line in map_bytes(earlier, planned).decode().splitlines()]
    assert rows[0] == MAP_HEADER
    assert [row[:3] for row in rows[1:]] == [
        [f"a.zip/{RUN1}", RUN1, "place"],
        ["b.zip/x", RUN2, "place"],
    ]


def test_what_the_map_left_out_stays_in_it():
    one = member(f"run1/{DE}.jsonl")
    decided = {one.source: "-"}
    planned = plan([one], RECOGNIZER, NAMING, decided, {}, replace=False)
    [_, row] = map_bytes([], planned).decode().splitlines()
    assert row.split("\t")[:3] == [one.source, "-", "skip"]


def test_no_map_is_no_decision(tmp_path):
    assert read_map(tmp_path / "map.tsv") == []


def test_a_map_may_be_written_by_hand(tmp_path):
    path = tmp_path / "map.tsv"
    path.write_text(f"source\ttarget\na.zip/x\t{RUN1}\n")
    assert read_map(path) == [{"source": "a.zip/x", "target": RUN1}]


def test_a_map_may_be_written_by_hand_on_windows(tmp_path):
    path = tmp_path / "map.tsv"
    path.write_bytes(f"source\ttarget\r\na.zip/x\t{RUN1}\r\n".encode())
    assert read_map(path) == [{"source": "a.zip/x", "target": RUN1}]


@pytest.mark.parametrize(
    "data",
    [
        b"from\tto\nx\ty\n",
        b"source\ttarget\nx\n",
        b"source\ttarget\nx\ty\tz\n",
        b"source\ttarget\nx\t\xff\n",
        b"\n\n",
    ],
)
def test_anything_else_is_no_map_and_is_said_in_one_line(tmp_path, data):
    path = tmp_path / "map.tsv"
    path.write_bytes(data)
    with pytest.raises(BadInput) as refused:
        read_map(path)
    [problem] = refused.value.problems
    assert problem.text() == (
        f"error: {path}: found rows without source or target; expected tab-separated columns"
        " source and target under a header; mend or delete it"
    )
