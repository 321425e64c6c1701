"""Intake: what participants sent ends under its right name, and nothing is lost or overwritten."""

import contextlib
import errno
import io
import json
import re
import shutil
import tempfile
import unicodedata
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inbox
import intake as intake_script
from files import digest, read_tsv
from inbox import DECOYS, SYMLINK, Special, with_shadows
from kit import DE, EN, PROJECT, SHARED, SURPRISE, Campaign, as_jsonl, find_pair, perfect
from names import natural_key

P = as_jsonl(perfect())
OTHER = as_jsonl(perfect()[::-1])
RUN1, RUN2 = f"team1_{DE}_run1.jsonl", f"team1_{DE}_run2.jsonl"
INFO1, INFO2 = f"team1_{DE}_run1-info.json", f"team1_{DE}_run2-info.json"
EMPTY_INFO = {
    "hipe_parameter_count": None,
    "team_parameter_count": None,
    "hipe_model_size": None,
    "team_model_size": None,
}
ACTIONS = ("place", "replace", "identical", "skip", "undecided", "conflict", "not placeable")
STEP = re.compile(rf"({'|'.join(ACTIONS)}): (.*)")


def content(folder):
    """Return {path: bytes} of a folder; what is no regular file comes with its mode."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else path.lstat().st_mode
        for path in folder.rglob("*")
    }


class Intake:
    """A campaign with an inbox."""

    def __init__(self, campaign):
        self.campaign = campaign
        self.inbox = campaign.folder / "inbox"
        self.map = campaign.folder / "map.tsv"
        self.inbox.mkdir()

    def __call__(self, *words):
        given = ["--inbox", str(self.inbox), "--map", str(self.map), *map(str, words)]
        return self.campaign.script("intake", *given)

    def take(self, name, members, *words):
        """Take in one archive, which is then removed from the inbox."""
        path = inbox.pack(self.inbox / name, members)
        done = self(*words)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        return done

    @property
    def systems(self):
        return content(self.campaign.systems)

    @property
    def runs(self):
        return {name: data for name, data in self.systems.items() if name.endswith(".jsonl")}

    @property
    def rows(self):
        """Return the rows of the map by source."""
        return {row["source"]: row for row in read_tsv(self.map)}

    def settle(self, **targets):
        """Fill in targets in the map, as the organizer does; the key is part of the source."""
        header, *lines = self.map.read_text("utf-8").splitlines()
        rows = [line.split("\t") for line in lines]
        for row in rows:
            for part, target in targets.items():
                if f"/{part}/" in row[0]:
                    row[1] = target
        text = "\n".join("\t".join(row) for row in [header.split("\t"), *rows]) + "\n"
        self.map.write_text(text, "utf-8")


@pytest.fixture
def intake(campaign):
    for stem in (DE, EN, SURPRISE):
        campaign.reference(stem)
    return Intake(campaign)


def steps(done):
    """Return the lines that say what becomes of a member."""
    return [match[0] for line in (done.out + done.err).splitlines() if (match := STEP.match(line))]


def accepted(done):
    assert done.status == 0, done.out + done.err
    assert done.err == ""
    return done


def blocked(done):
    """Return the lines about what blocks a call that must place nothing."""
    assert done.status == 1
    assert "nothing was placed" in done.out
    assert "Traceback" not in done.err
    return done.err.splitlines()


# Shapes: cases 1 to 4 and 9 to 12


def test_a_shadow_of_macos_is_skipped_and_never_a_second_candidate(intake):
    done = accepted(intake.take("sent.zip", with_shadows({f"team1/run1/{DE}.jsonl": P})))
    assert intake.runs == {RUN1: P}
    shadow = f"sent.zip/__MACOSX/team1/run1/._{DE}.jsonl"
    assert steps(done) == [
        f"place: sent.zip/team1/run1/{DE}.jsonl -> {RUN1}",
        f"skip: {shadow} (left by a file manager)",
    ]


def test_a_run_is_the_same_whether_its_folder_was_wrapped_or_not(intake):
    accepted(intake.take("team1_run1.zip", {f"{DE}.jsonl": P}))
    before = intake.systems
    for wrapped in ("results/", "results/results/"):
        done = accepted(intake.take("team1_run1.zip", {f"{wrapped}{DE}.jsonl": P}))
        assert steps(done) == [
            f"identical: team1_run1.zip/{wrapped}{DE}.jsonl -> {RUN1} (already there)"
        ]
        assert intake.systems == before
    assert intake.runs == {RUN1: P}


def test_masked_goes_from_the_name_and_the_protocol_shows_both_names(intake):
    sent = f"team1_{DE.replace('test', 'test_masked')}_run1.jsonl"
    accepted(intake.take("a.zip", {sent: P}))
    assert intake.runs == {RUN1: P}
    assert intake.rows[f"a.zip/{sent}"]["target"] == RUN1


@pytest.mark.parametrize(
    "sent", [f"team1-{DE}-run1.jsonl", f"team1_{DE.replace('-de', '_de')}_run1.jsonl"]
)
def test_hyphens_and_underscores_may_be_confused_where_one_reading_exists(intake, sent):
    accepted(intake.take("a.zip", {sent: P}))
    assert intake.runs == {RUN1: P}


def test_back_slashes_are_read_like_slashes(intake):
    accepted(intake.take("a.zip", {f"team1\\run1\\{DE}.jsonl": P}))
    assert intake.runs == {RUN1: P}


def test_an_over_long_name_is_reported_shortened_and_a_dry_run_plans_the_others(intake):
    done = intake.take("a.zip", {RUN1: P, "x" * 294 + ".jsonl": P}, "--dry-run")
    assert done.status == 1
    assert f"place: a.zip/{RUN1} -> {RUN1}" in steps(done)
    [said] = [line for line in steps(done) if line.startswith("not placeable: a.zip/xxx")]
    assert "its name is longer than 255 bytes" in said
    assert len(said) < 300


def test_backup_copies_and_other_files_are_skipped_and_each_is_named_once(intake):
    others = {f"{RUN1}.backup": OTHER, f"{RUN1}~": OTHER, ".DS_Store": b"\0", "README.txt": b"x"}
    done = accepted(intake.take("a.zip", {RUN1: P} | others))
    assert intake.runs == {RUN1: P}
    for name in others:
        assert sum(f"a.zip/{name} (" in line for line in steps(done)) == 1


def test_a_run_for_a_set_that_is_not_in_the_competition_is_undecided(intake):
    name = f"team1_{DE.replace('test', 'train')}_run1.jsonl"
    said = blocked(intake.take("a.zip", {name: P}))
    assert said == [f"undecided: a.zip/{name} (candidates: team1_<reference>_run1.jsonl)"]
    assert intake.systems == {}


@pytest.mark.parametrize("name", ["team1.zip", "team1.tar.gz", "team1.tgz", "team1"])
def test_all_kinds_of_archives_are_taken_in(intake, name):
    accepted(intake.take(name, {f"run1/{DE}.jsonl": P} | DECOYS))
    assert intake.runs == {RUN1: P}


def test_a_run_may_lie_in_the_inbox_without_an_archive(intake):
    (intake.inbox / RUN1).write_bytes(P)
    accepted(intake())
    assert intake.runs == {RUN1: P}


def test_archives_can_be_named_on_the_command_line(intake):
    path = inbox.pack(intake.campaign.folder / "team1.zip", {f"run1/{DE}.jsonl": P})
    accepted(intake.campaign.script("intake", str(path), "--map", str(intake.map)))
    assert intake.runs == {RUN1: P}


def test_an_inner_zip_of_macos_with_its_shadow_is_taken_in(intake):
    inner = inbox.packed("run1.zip", {f"{DE}.jsonl": P}, intake.campaign.folder)
    accepted(intake.take("team1.zip", with_shadows({"run1.zip": inner})))
    assert intake.runs == {RUN1: P}


def test_an_archive_in_an_archive_in_an_archive_blocks_until_the_map_leaves_it_out(intake):
    scratch = intake.campaign.folder
    third = {"third.zip": inbox.packed("third.zip", {RUN2: P}, scratch)}
    members = {RUN1: P, "x/second.zip": inbox.packed("second.zip", third, scratch)}
    source = "a.zip/x/second.zip/third.zip"
    said = blocked(intake.take("a.zip", members))
    assert said == [f"not placeable: {source} (an archive in an archive in an archive)"]
    intake.settle(x="-")
    accepted(intake.take("a.zip", members))
    assert intake.runs == {RUN1: P}


def test_an_archive_without_anything_in_it_is_named(intake):
    done = intake.take("team1.zip", {})
    assert "team1.zip" in done.out + done.err


# Undecided: case 8, and the map


def test_a_second_download_with_other_content_is_undecided_and_both_are_candidates(intake):
    again = f"team1_{DE}_run1 (1).jsonl"
    said = blocked(intake.take("a.zip", {RUN1: P, again: OTHER}))
    assert [line.partition(" (candidate")[0] for line in said] == [
        f"undecided: a.zip/{RUN1}",
        f"undecided: a.zip/{again}",
    ]
    assert all(RUN1 in line.partition(" (candidate")[2] for line in said)
    assert "run11" not in "".join(said)
    assert intake.systems == {}


def test_a_second_download_of_the_same_file_is_no_question(intake):
    done = accepted(intake.take("a.zip", {RUN1: P, f"team1_{DE}_run1 (1).jsonl": P}))
    assert intake.runs == {RUN1: P}
    assert f"-> {RUN1} (the same as a.zip/{RUN1})" in done.out


UNDECIDED = {
    f"run1/{DE}.jsonl": f"<team>_{DE}_run1.jsonl",
    f"team1/{DE}.jsonl": f"team1_{DE}_run<1-3>.jsonl",
    "team1/run1/out.jsonl": "team1_<reference>_run1.jsonl",
    "out.jsonl": "<team>_<reference>_run<1-3>.jsonl",
    f"team1/team2/run1/{DE}.jsonl": f"team1_{DE}_run1.jsonl, team2_{DE}_run1.jsonl",
    f"team1/run1/run2/{DE}.jsonl": f"team1_{DE}_run1.jsonl, team1_{DE}_run2.jsonl",
    f"team1/run1/{DE}/{EN}.jsonl": f"team1_{DE}_run1.jsonl, team1_{EN}_run1.jsonl",
    f"team1/run4/{DE}.jsonl": f"team1_{DE}_run<1-3>.jsonl",
}


@pytest.mark.parametrize(("path", "candidates"), UNDECIDED.items())
def test_an_undecided_file_is_listed_with_its_candidates(intake, path, candidates):
    said = blocked(intake.take("a.zip", {path: P}))
    assert said == [f"undecided: a.zip/{path} (candidates: {candidates})"]
    row = intake.rows[f"a.zip/{path}"]
    assert (row["target"], row["action"]) == ("", "undecided")
    assert row["note"] == f"candidates: {candidates}"
    assert row["sha256_source"] == digest(P)
    assert intake.systems == {}


def test_the_map_settles_where_a_file_goes_or_that_it_is_left_out(intake):
    members = {f"first/{DE}.jsonl": P, f"second/{DE}.jsonl": OTHER, f"third/{DE}.jsonl": P}
    blocked(intake.take("a.zip", members))
    intake.settle(first=RUN1, second=RUN2, third="-")
    done = accepted(intake.take("a.zip", members))
    assert intake.runs == {RUN1: P, RUN2: OTHER}
    assert steps(done) == [
        f"place: a.zip/first/{DE}.jsonl -> {RUN1} (by the map)",
        f"place: a.zip/second/{DE}.jsonl -> {RUN2} (by the map)",
        f"skip: a.zip/third/{DE}.jsonl (left out by the map)",
    ]
    assert [row["target"] for row in intake.rows.values()] == [RUN1, RUN2, "-"]


def test_the_map_settles_which_of_two_downloads_it_is(intake):
    members = {f"first/{RUN1}": P, f"second/team1_{DE}_run1 (1).jsonl": OTHER}
    blocked(intake.take("a.zip", members))
    intake.settle(first="-", second=RUN1)
    accepted(intake.take("a.zip", members))
    assert intake.runs == {RUN1: OTHER}


@pytest.mark.parametrize("target", ["run1", "../x.jsonl", f"team1_{DE}_run9.jsonl"])
def test_a_target_of_the_map_that_is_no_name_of_a_run_is_named(intake, target):
    members = {f"first/{DE}.jsonl": P}
    blocked(intake.take("a.zip", members))
    intake.settle(first=target)
    said = blocked(intake.take("a.zip", members))
    assert said == [
        f"not placeable: a.zip/first/{DE}.jsonl (the map's target {target} is no name of a run)"
    ]
    assert intake.systems == {}


def test_a_map_that_is_none_places_nothing(intake):
    intake.map.write_text("what\twhere\nx\ty\n")
    done = intake.take("a.zip", {RUN1: P})
    assert (done.status, len(done.errors)) == (1, 1)
    assert done.errors[0].startswith(f"error: {intake.map}: found rows without source or target")
    assert intake.systems == {}
    assert intake.map.read_text() == "what\twhere\nx\ty\n"


def test_two_archives_of_one_name_keep_their_own_rows_in_the_map(intake):
    paths = []
    for folder, number in (("monday", 1), ("tuesday", 2)):
        (intake.campaign.folder / folder).mkdir()
        path = intake.campaign.folder / folder / "sent.zip"
        paths.append(inbox.pack(path, {"out.jsonl": b"%d\n" % number}))
    intake.campaign.script("intake", *map(str, paths), "--map", str(intake.map))
    assert len(read_tsv(intake.map)) == 2


def test_two_archives_of_one_name_are_settled_each_by_its_content(intake):
    paths = []
    for folder, data in (("monday", P), ("tuesday", OTHER)):
        (intake.campaign.folder / folder).mkdir()
        path = intake.campaign.folder / folder / "sent.zip"
        paths.append(str(inbox.pack(path, {"out.jsonl": data})))
    words = [*paths, "--map", str(intake.map)]
    for first, second in ((RUN1, RUN2), (RUN1, "-"), ("-", RUN2)):
        rows = ["source\ttarget\tsha256_source"]
        rows.append(f"sent.zip/out.jsonl\t{first}\t{digest(P)}")
        rows.append(f"sent.zip/out.jsonl\t{second}\t{digest(OTHER)}")
        intake.map.write_text("\n".join(rows) + "\n")
        accepted(intake.campaign.script("intake", *words))
        wanted = {first: P, second: OTHER}
        assert intake.runs == {name: data for name, data in wanted.items() if name != "-"}
        for path in intake.campaign.systems.iterdir():
            path.unlink()


def test_what_the_organizer_did_not_write_into_the_map_is_no_decision(intake):
    intake.campaign.teams = intake.campaign.folder / "teams.json"
    intake.campaign.teams.write_text('{"team1": {"archives": ["results"]}}')
    members = {f"results/run1/{DE}.jsonl": P, f"rest/{DE}.jsonl": OTHER}
    blocked(intake.take("a.zip", members))
    # The organizer sees in the plan that "results" was put down to the wrong team.
    intake.campaign.teams.write_text('{"team2": {"archives": ["results"]}}')
    intake.settle(rest="-")
    accepted(intake.take("a.zip", members))
    assert intake.runs == {f"team2_{DE}_run1.jsonl": P}


# The protocol


def test_the_protocol_says_what_went_where_with_digests(intake):
    accepted(intake.take("a.zip", {f"team1/run1/{DE}.jsonl": P, "README": b""}))
    assert intake.rows == {
        f"a.zip/team1/run1/{DE}.jsonl": {
            "source": f"a.zip/team1/run1/{DE}.jsonl",
            "target": RUN1,
            "action": "place",
            "sha256_source": digest(P),
            "sha256_target": digest(P),
            "note": "",
        }
    }


def test_the_protocol_of_a_call_that_placed_nothing_claims_no_target(intake):
    intake.campaign.run(OTHER)
    blocked(intake.take("a.zip", {RUN1: P, RUN2: P}))
    targets = {row["target"]: row["sha256_target"] for row in intake.rows.values()}
    assert targets[RUN1] in ("", digest(OTHER))
    assert targets.get(RUN2, "") == ""


def test_the_protocol_keeps_what_earlier_calls_did(intake):
    accepted(intake.take("a.zip", {RUN1: P}))
    accepted(intake.take("b.zip", {RUN2: P}))
    assert set(intake.rows) == {f"a.zip/{RUN1}", f"b.zip/{RUN2}"}


def test_files_deep_in_the_same_folders_keep_their_own_rows(intake):
    deep = "/".join(["the results of our systems on the test files of HIPE-2026"] * 4)
    accepted(intake.take("a.zip", {f"{deep}/{RUN1}": P, f"{deep}/{RUN2}": P}))
    assert intake.runs == {RUN1: P, RUN2: P}
    assert sorted(row["target"] for row in read_tsv(intake.map)) == [RUN1, RUN2]


def test_names_that_would_break_the_columns_of_the_protocol_are_escaped(intake):
    blocked(intake.take("a.zip", {"x\ty\nz.jsonl": P}))
    [source] = intake.rows
    assert "x\\ty\\nz.jsonl" in source


# Refusals: case 6 and the others, whose reasons tests/test_archives.py pins


HARMFUL = {
    "leaves.zip": {f"../{RUN1}": P},
    "leaves.tar.gz": {f"x/../../{RUN1}": P},
    "windows.zip": {"..\\..\\x.jsonl": P},
    "absolute.tgz": {"/tmp/x.jsonl": P},
    "drive.zip": {"C:\\x.jsonl": P},
    "link.tar.gz": {"run1": Special(SYMLINK, "../../.."), "run1/evil.jsonl": P},
    "link.zip": {"run1": Special(SYMLINK, "/etc")},
    "link": {"run1": Special(SYMLINK, "/etc")},
    "device.tgz": {"x": Special(b"3")},
    "pipe.tgz": {"x": Special(b"6")},
    "hard.tgz": {RUN2: P, "x": Special(inbox.HARD_LINK, RUN2)},
    "bomb.zip": {RUN1: bytes(30_000_000)},
}


@pytest.mark.parametrize(("name", "members"), HARMFUL.items(), ids=list(HARMFUL))
def test_a_refused_archive_leaves_nothing_not_even_of_the_others(intake, name, members):
    inbox.pack(intake.inbox / "harmless.zip", {RUN1: P})
    inbox.pack(intake.inbox / name, members)
    before = content(intake.campaign.folder)
    for words in ([], ["--dry-run"]):
        done = intake(*words)
        assert done.status == 1
        [said] = done.err.splitlines()
        assert re.fullmatch(
            rf"error: {re.escape(name)}: found .*: .*; expected a harmless archive;"
            r" nothing was placed",
            said,
        )
    assert content(intake.campaign.folder) == before
    assert not Path("/tmp/x.jsonl").exists()


def test_all_refused_archives_are_named_at_once(intake):
    for name in ("leaves.zip", "absolute.tgz"):
        inbox.pack(intake.inbox / name, HARMFUL[name])
    (intake.inbox / "x.rar").write_bytes(b"Rar!")
    done = intake()
    assert [line.split(":")[1] for line in done.errors] == [
        " absolute.tgz",
        " leaves.zip",
        " x.rar",
    ]


def test_a_refusal_is_one_line_even_if_the_name_has_a_line_end(intake, monkeypatch):
    monkeypatch.setattr("archives.MAX_MEMBER_BYTES", 10)
    done = intake.take("a.zip", {"x\nerror: y": bytes(11)})
    assert (done.status, len(done.err.splitlines())) == (1, 1)


# Nothing is overwritten: case 7


def test_a_different_run_under_the_same_name_is_a_conflict(intake):
    intake.campaign.run(OTHER)
    before = intake.systems
    said = blocked(intake.take("a.zip", {RUN1: P, RUN2: P}))
    assert said == [
        f"conflict: a.zip/{RUN1} -> {RUN1} (another run has this name; --replace puts this one"
        " in its place)"
    ]
    assert intake.systems == before


def test_replace_keeps_the_old_run_with_its_digest(intake):
    intake.campaign.run(OTHER)
    done = accepted(intake.take("a.zip", {RUN1: P}, "--replace"))
    assert steps(done) == [f"replace: a.zip/{RUN1} -> {RUN1}"]
    assert intake.runs == {RUN1: P}
    kept = content(intake.campaign.folder / "systems-replaced")
    assert kept == {f"{RUN1[:-6]}.{digest(OTHER)[:12]}.jsonl": OTHER}


def test_every_replaced_version_is_kept(intake):
    for data in (b"one\n", b"two\n", P):
        accepted(intake.take("a.zip", {RUN1: data}, "--replace"))
    kept = content(intake.campaign.folder / "systems-replaced")
    assert sorted(kept.values()) == [b"one\n", b"two\n"]


def test_replace_does_not_touch_what_is_identical(intake):
    path = intake.campaign.run(P)
    before = path.stat()
    accepted(intake.take("a.zip", {RUN1: P}, "--replace"))
    assert path.stat().st_ino == before.st_ino
    assert not (intake.campaign.folder / "systems-replaced").exists()


def test_a_replaced_run_is_scored_again_though_its_archive_is_older(intake):
    intake.campaign.run()
    assert intake.campaign.make("eval-full").status == 0
    assert intake.campaign.score()["scores"]["at_macro_recall"] == 1
    changed = perfect()
    find_pair(changed, "p1", "l1")["at"] = "FALSE"
    path = intake.inbox / "a.zip"
    inbox.zipped(path, {RUN1: as_jsonl(changed)}, date=inbox.DOS_EPOCH)
    accepted(intake("--replace"))
    assert intake.campaign.make("eval-full").status == 0
    # TRUE 2 of 3, PROBABLE and FALSE 3 of 3.
    recall = intake.campaign.score()["scores"]["at_macro_recall"]
    assert recall == pytest.approx((2 / 3 + 1 + 1) / 3, abs=1e-12)


# All or none, and dry runs


def test_one_undecided_file_blocks_all(intake):
    blocked(intake.take("a.zip", {RUN1: P, "out.jsonl": P}))
    assert intake.systems == {}


def test_one_undecided_file_blocks_the_other_archives_too(intake):
    inbox.pack(intake.inbox / "a.zip", {RUN1: P})
    inbox.pack(intake.inbox / "b.zip", {"out.jsonl": P})
    blocked(intake())
    assert intake.systems == {}


def no_space(*_):
    raise OSError(errno.ENOSPC, "No space left on device", "x.jsonl")


def failing_from(real, call):
    """Return a function that works until a certain call, and then says that the disk is full."""
    calls = iter(range(1, 100))
    return lambda *args, **kwargs: real(*args, **kwargs) if next(calls) < call else no_space(*args)


@pytest.mark.parametrize("call", [1, 2, 3])
def test_a_copy_that_fails_leaves_nothing(intake, monkeypatch, call):
    intake.campaign.run(OTHER, number=3)
    before = intake.systems
    inbox.pack(intake.inbox / "a.zip", {RUN1: P, RUN2: P, f"team1_{DE}_run3.jsonl": P})
    monkeypatch.setattr(shutil, "copyfile", failing_from(shutil.copyfile, call))
    done = intake("--replace")
    assert done.status == 1
    assert done.errors == ["error: x.jsonl: No space left on device; is it there, and writable?"]
    assert intake.systems == before
    assert not intake.map.exists()


@pytest.mark.parametrize("words", [[], ["--replace"]])
def test_a_folder_in_the_place_of_a_run_leaves_nothing_half_done(intake, words):
    (intake.campaign.systems / RUN2).mkdir()
    before = intake.systems
    done = intake.take("a.zip", {RUN1: P, RUN2: P}, *words)
    assert done.status == 1
    assert RUN2 in done.err
    assert intake.systems == before


def test_a_map_that_cannot_be_written_leaves_nothing(intake):
    (intake.campaign.folder / "file").write_text("")
    intake.map = intake.campaign.folder / "file" / "map.tsv"
    done = intake.take("a.zip", {RUN1: P})
    assert (done.status, len(done.errors)) == (1, 1)
    assert intake.systems == {}


def test_a_dry_run_prints_the_whole_plan_and_writes_nothing(intake):
    shutil.rmtree(intake.campaign.systems)
    members = {RUN1: P, f"x/{RUN1}": P, f"run1/{EN}.jsonl": P, "README.md": b"x"}
    inbox.pack(intake.inbox / "a.zip", members)
    before = content(intake.campaign.folder)
    done = intake("--dry-run")
    assert steps(done) == [
        f"place: a.zip/{RUN1} -> {RUN1}",
        f"identical: a.zip/x/{RUN1} -> {RUN1} (the same as a.zip/{RUN1})",
        "skip: a.zip/README.md (not a run file)",
        f"undecided: a.zip/run1/{EN}.jsonl (candidates: <team>_{EN}_run1.jsonl)",
    ]
    assert f"info file: {INFO1}\n" in done.out
    assert "4 files: 1 place, 1 identical, 1 skip, 1 undecided; a dry run" in done.out
    assert done.status == 1
    assert content(intake.campaign.folder) == before


def test_a_dry_run_of_a_replacement_writes_nothing(intake):
    intake.campaign.run(OTHER)
    inbox.pack(intake.inbox / "a.zip", {RUN1: P})
    before = content(intake.campaign.folder)
    done = accepted(intake("--dry-run", "--replace"))
    assert steps(done) == [f"replace: a.zip/{RUN1} -> {RUN1}"]
    assert content(intake.campaign.folder) == before


def test_taking_in_the_same_twice_changes_nothing(intake):
    inbox.pack(intake.inbox / "a.zip", {RUN1: P, RUN2: OTHER})
    accepted(intake())
    before = intake.systems
    assert [line.partition(":")[0] for line in steps(accepted(intake()))] == ["identical"] * 2
    assert intake.systems == before


# Info files


def info(intake, name=INFO1):
    return json.loads(intake.systems[name])


def test_a_run_without_metadata_gets_an_info_file_of_nulls(intake):
    done = accepted(intake.take("a.zip", {RUN1: P}))
    assert info(intake) == EMPTY_INFO
    assert f"info file: {INFO1}\n" in done.out


def test_an_info_file_says_what_the_metadata_of_the_participant_say(intake):
    said = {
        "team_parameter_count": "7B",
        "model_size": 14000,
        "efficiency_opt_out": True,
        "hipe_model_size": 1,
    }
    accepted(intake.take("a.zip", {RUN1: P, "meta.json": json.dumps(said).encode()}))
    assert info(intake) == EMPTY_INFO | {
        "team_parameter_count": "7B",
        "team_model_size": 14000,
        "team_efficiency_opt_out": True,
    }


def test_each_run_gets_the_metadata_beside_it(intake):
    members = {f"team1/run{n}/{DE}.jsonl": P for n in (1, 2)}
    members |= {f"team1/run{n}/info.json": b'{"model_size": %d}' % n for n in (1, 2)}
    accepted(intake.take("a.zip", members))
    assert [info(intake, name)["team_model_size"] for name in (INFO1, INFO2)] == [1, 2]


def test_the_template_is_for_runs_without_metadata(intake):
    template = intake.campaign.folder / "template.json"
    template.write_text('{"team_model_size": "not told", "hipe_model_size": 5}')
    members = {f"team1/run{n}/{DE}.jsonl": P for n in (1, 2)}
    members["team1/run2/info.json"] = b'{"model_size": 2}'
    accepted(intake.take("a.zip", members, "--info-template", template))
    assert info(intake) == EMPTY_INFO | {"team_model_size": "not told"}
    assert info(intake, INFO2) == EMPTY_INFO | {"team_model_size": 2}


@pytest.mark.parametrize("data", [None, b"{", b"[]"], ids=["missing", "broken", "a list"])
def test_a_template_that_cannot_be_used_is_an_error_and_nothing_is_placed(intake, data):
    template = intake.campaign.folder / "template.json"
    if data is not None:
        template.write_bytes(data)
    done = intake.take("a.zip", {RUN1: P}, "--info-template", template)
    assert done.status in (1, 2)
    assert "template.json" in done.err
    assert intake.systems == {}


def test_an_info_file_that_is_there_is_never_touched(intake):
    path = intake.campaign.run(OTHER, info=b'{"by": "the organizer"}').with_name(INFO1)
    before = path.stat()
    members = {RUN1: P, "info.json": b'{"model_size": 2}'}
    accepted(intake.take("a.zip", members, "--replace"))
    assert intake.systems[INFO1] == b'{"by": "the organizer"}'
    assert path.stat().st_ino == before.st_ino


def test_a_run_that_is_there_without_an_info_file_gets_one(intake):
    intake.campaign.run(P, info=None)
    accepted(intake.take("a.zip", {RUN1: P, "info.json": b'{"model_size": 2}'}))
    assert info(intake)["team_model_size"] == 2


def test_metadata_that_cannot_be_read_do_not_stop_a_run(intake):
    accepted(intake.take("a.zip", {RUN1: P, "info.json": b"{'model_size': 2}"}))
    assert info(intake) == EMPTY_INFO


@pytest.mark.parametrize("said", [b"{}", b'{"model_size": ["7B", {"a": null}]}', b"[1]"])
def test_the_info_files_that_are_made_are_valid(intake, said):
    accepted(intake.take("a.zip", {RUN1: P, "info.json": said}))
    done = intake.campaign.validate_info()
    assert (done.status, done.problems) == (0, [])


def test_an_opt_out_in_words_is_kept_for_the_organizer_to_decide(intake):
    said = b'{"team_efficiency_opt_out": "yes"}'
    accepted(intake.take("a.zip", {RUN1: P, "info.json": said}))
    assert info(intake)["team_efficiency_opt_out"] == "yes"
    [error] = intake.campaign.validate_info().errors
    assert error.endswith('$.team_efficiency_opt_out: found "yes"; expected true or false')


# The table


def test_the_table_says_what_is_there_and_what_is_missing(intake):
    intake.campaign.run(team="team10")
    members = {RUN1: P, f"team1_{DE}_run3.jsonl": P, f"team2_{SURPRISE}_run2.jsonl": P}
    done = accepted(intake.take("a.zip", members))
    assert done.out.splitlines()[-5:] == [
        "team    impresso test de    impresso test en    surprise test fr",
        "------  ------------------  ------------------  ------------------",
        "team1   1 3                 -                   -",
        "team2   -                   -                   2",
        "team10  1                   -                   -",
    ]


def test_the_table_of_a_blocked_call_does_not_count_what_was_not_placed(intake):
    intake.campaign.run(team="team2")
    done = intake.take("a.zip", {RUN1: P, "out.jsonl": P})
    assert done.out.splitlines()[-1] == "team2   1                   -                   -"


# Wrong usage


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (
            lambda path: path.rmdir(),
            "error: INBOX, {inbox}, is no folder; name archives or make it",
        ),
        (lambda _: None, "error: INBOX, {inbox}, is empty; put archives or folders there"),
        (
            lambda path: (path / ".DS_Store").write_bytes(b""),
            "error: INBOX, {inbox}, is empty; put archives or folders there",
        ),
    ],
    ids=["missing", "empty", "only hidden files"],
)
def test_an_inbox_without_anything_is_wrong_usage(intake, prepare, said):
    prepare(intake.inbox)
    done = intake()
    assert done.status == 2
    assert done.err.splitlines()[-1].endswith(said.format(inbox=intake.inbox))
    assert not intake.map.exists()


def test_an_archive_that_is_not_there_is_wrong_usage(intake):
    inbox.pack(intake.inbox / "a.zip", {RUN1: P})
    done = intake("nowhere.zip")
    assert done.status == 2
    assert done.err.endswith("error: not there: nowhere.zip\n")
    assert intake.systems == {}


def test_without_references_nothing_can_be_recognized(campaign):
    intake = Intake(campaign)
    done = intake.take("a.zip", {RUN1: P})
    assert (done.status, len(done.errors)) == (1, 1)
    assert str(campaign.references) in done.err


def test_make_takes_in_the_inbox(intake):
    inbox.pack(intake.inbox / "a.zip", {RUN1: P})
    words = ["intake", f"INBOX={intake.inbox}", f"INTAKE_MAP={intake.map}"]
    done = intake.campaign.make(*words, "DRY_RUN=1")
    assert (done.status, intake.systems) == (0, {}), done.err
    assert intake.campaign.make(*words).status == 0
    assert intake.runs == {RUN1: P}
    assert f"a.zip/{RUN1}" in intake.rows
    inbox.pack(intake.inbox / "a.zip", {RUN1: OTHER})
    assert intake.campaign.make(*words).status != 0
    assert intake.campaign.make(*words, "REPLACE=1").status == 0
    assert intake.runs == {RUN1: OTHER}


# A campaign of 16 teams, in all shapes


def sample_runs():
    """Return {(team, stem, number): content}: the sample's runs, and copies up to 16 teams."""
    folder = PROJECT / "HIPE-2026-data" / "data" / "sample"
    runs = read_runs(folder / "systems")
    copies = {
        (f"team{number}", stem, run): data
        for number in range(6, 17)
        for (team, stem, run), data in runs.items()
        if team == f"team{(number - 1) % 5 + 1}"
    }
    return folder / "reference", runs | copies


def shared_runs():
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is not there: it holds the licensed runs")
    return SHARED / "reference", read_runs(SHARED / "systems")


def read_runs(folder):
    found = {}
    for path in folder.glob("*.jsonl"):
        team, stem, run = path.stem.split("_")
        found[team, stem, int(run.removeprefix("run"))] = path.read_bytes()
    return found


def participants_first(item):
    team = item[0][0]
    return not team.startswith("team"), natural_key(team), item[0]


@pytest.mark.parametrize(("source", "number"), [(sample_runs, 110), (shared_runs, 185)])
def test_the_archives_of_a_16_team_campaign_give_every_run_byte_for_byte(
    intake, tmp_path, source, number
):
    intake.campaign.references, runs = source()
    assert len(runs) == number
    runs_of = {}
    for (team, stem, run), data in sorted(runs.items(), key=participants_first):
        runs_of.setdefault(team, {})[stem, run] = data
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    aliases = inbox.send(intake.inbox, runs_of, scratch)
    assert len(list(intake.inbox.iterdir())) == 16
    teams = {team: {"archives": [alias]} for team, alias in aliases.items()}
    teams |= {team: {"organizer": True} for team in ("baseline", "random")}
    intake.campaign.teams = tmp_path / "teams.json"
    intake.campaign.teams.write_text(json.dumps(teams), "utf-8")
    done = accepted(intake())
    assert intake.runs == {
        f"{team}_{stem}_run{run}.jsonl": data for (team, stem, run), data in runs.items()
    }
    assert len(intake.systems) == 2 * number
    told = info(intake, next(name for name in intake.systems if re.search("^team1_.*2-info", name)))
    assert told == EMPTY_INFO | {"team_parameter_count": "2 B"}
    assert len([line for line in steps(done) if line.startswith("place")]) == number
    assert len(steps(done)) > number


# Whatever comes: nothing is written elsewhere, nothing is lost without a word


FOLDERS = [
    "run1",
    "run 2",
    "run4",
    "team1",
    "Team_2",
    "results",
    DE,
    f"team1_{DE}_run1",
    "",
    ".",
    "..",
    ".hidden",
    "__MACOSX",
    "C:",
    "back\\slash",
    "..\\up",
    unicodedata.normalize("NFD", "Zürich"),
    "x" * 300,
    "two\nlines",
]
FILES = [
    f"{DE}.jsonl",
    f"{EN}.JSONL",
    f"{DE.replace('test', 'test_masked')}.jsonl",
    RUN1,
    RUN2,
    f"team1_{DE}_run1 (1).jsonl",
    "out.jsonl",
    "info.json",
    "README.md",
    ".DS_Store",
    "._out.jsonl",
    "ü" * 130 + ".jsonl",
    "tab\t.jsonl",
    "back\\slash.jsonl",
    "folder/",
    "",
]
NAMES = st.builds(
    lambda absolute, folders, file: absolute + "/".join([*folders, file]),
    st.sampled_from([*[""] * 20, "/", "ABSOLUTE/", "\\"]),
    st.lists(st.sampled_from([*FOLDERS[:8] * 5, *FOLDERS[8:]]), max_size=3),
    st.sampled_from([*FILES[:9] * 3, *FILES[9:]]),
)
CONTENTS = st.sampled_from([b"", b"one\n", b"two\n"])
WILD = st.lists(st.tuples(NAMES, CONTENTS), max_size=6)
TAME = st.lists(
    st.sampled_from(
        [
            (f"{folder}{n}/{stem}.jsonl", b"one\n")
            for folder in ("run", "results/run_", "back\\slash/Run 0")
            for n in (1, 2, 3)
            for stem in (DE, EN)
        ]
        + [(name, b"one\n") for name in (*DECOYS, f"__MACOSX/._{DE}.jsonl", "run1/info.json")]
    ),
    max_size=6,
    unique=True,
)
LAYOUTS = TAME | WILD
# An archive is the ending that tells its kind and its members; one of them may be an archive.
INNER = st.tuples(st.sampled_from([".zip", ".tgz"]), LAYOUTS)
ARCHIVE = st.tuples(
    st.sampled_from([".zip", ".tar.gz", ""]), LAYOUTS, st.lists(INNER, max_size=1), st.booleans()
)


def is_possible(name):
    """Tell whether a file system can hold a name below a folder."""
    parts = name.rstrip("/").split("/")
    long = any(len(part.encode()) > 255 for part in parts)
    return not (long or set(parts) & {"", ".", ".."} or name.endswith("/"))


def built(folder, number, archive):
    """Write an archive into a folder; return how many regular members there are to account for."""
    ending, layout, inner, has_link = archive
    layout = [(name.replace("ABSOLUTE", f"{folder}/outside"), data) for name, data in layout]
    accounted = 0
    for inner_ending, inner_layout in inner:
        own = [(name.replace("ABSOLUTE", f"{folder}/outside"), data) for name, data in inner_layout]
        layout.append((f"in{inner_ending}", inbox.packed(f"in{inner_ending}", own, folder)))
        accounted += regular(inner_ending, own) - 1
    if not ending:
        layout = [
            (name, data)
            for name, data in dict(layout).items()
            if is_possible(name) and not any(other.startswith(f"{name}/") for other, _ in layout)
        ]
    if has_link and number == 2:
        layout.append(("link", Special(SYMLINK, "/etc")))
    inbox.pack(folder / "inbox" / f"team{number}{ending}", layout)
    return accounted + regular(ending, layout)


def regular(ending, layout):
    """Return how many regular files a layout holds; what ends with a separator is a folder."""
    separators = ("/", "\\") if ending == ".zip" else "/"
    return sum(not name.endswith(separators) for name, _ in layout)


def take_in(folder):
    """Run intake on a folder made for it and return how it ended."""
    out, err = io.StringIO(), io.StringIO()
    campaign = Campaign(folder / "campaign", lambda: (out.getvalue(), err.getvalue()))
    for stem in (DE, EN):
        campaign.reference(stem)
    campaign.run(b"one\n", number=2)
    before = content(folder)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        words = ["--inbox", str(folder / "inbox"), "--map", str(folder / "map.tsv")]
        return before, campaign.script("intake", *words)


def rows_of(data):
    header, *lines = [line.split("\t") for line in data.decode().removesuffix("\n").split("\n")]
    return [dict(zip(header, line, strict=True)) for line in lines]


@settings(max_examples=120, deadline=None)
@given(st.lists(ARCHIVE, min_size=1, max_size=2))
def test_no_layout_writes_elsewhere_or_loses_a_member_without_a_word(archives):
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of names that come twice
        folder = Path(scratch)
        for name in ("inbox", "campaign", "outside"):
            (folder / name).mkdir()
        # An archive without members is reported by itself.
        members = sum(built(folder, number, one) or 1 for number, one in enumerate(archives, 1))
        before, done = take_in(folder)
        after = content(folder)
    written = {path for path in after if after[path] != before.get(path)}
    assert before.keys() <= after.keys()
    placed = [line for line in steps(done) if line.startswith("place")]
    if done.errors:  # an archive was refused
        assert (done.status, written, steps(done)) == (1, set(), [])
        return
    assert len(steps(done)) == members
    if done.status == 0:
        runs = {path for path in written if path.endswith(".jsonl")}
        assert len(runs) == len(placed)
        for row in rows_of(after["map.tsv"]):
            if row["action"] == "place":
                path = f"campaign/systems/{row['target']}"
                assert digest(after[path]) == row["sha256_source"] == row["sha256_target"]
        infos = {path.replace(".jsonl", "-info.json") for path in runs} - set(before)
        assert written - {"map.tsv"} >= runs | infos
    else:
        assert written <= {"map.tsv"}
    assert all(path.startswith("campaign/systems/team") for path in written - {"map.tsv"})


def test_the_script_says_what_it_reads_and_writes():
    said = intake_script.command_line().format_help()
    for word in ("Reads", "Writes", "Exits", "--map", "--info-template", "--replace", "--dry-run"):
        assert word in said
