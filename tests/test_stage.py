"""A stage redoes what changed, keeps the rest, removes what it made, and survives being killed."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading

import pytest

import stage
from campaign import BadInput
from files import digest
from kit import PROJECT
from stage import Outcome, Product, Stage, Stale, code_digest

# Holds the stages of the command line until it is killed or its input ends.
HOLDER = """
import sys
from pathlib import Path
import stage
stage._PATIENCE_SECONDS = 0.1
with stage.holding(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]):
    print("held", flush=True)
    sys.stdin.read()
"""


class Killed(BaseException):
    """Stands for a signal that ends the process between two steps."""


def die(*_, **__):
    raise Killed


def product(**contents):
    """Return a product of files such as a="text" for a.txt, whose inputs are the texts."""
    outputs = {f"{name}.txt": text.encode() for name, text in contents.items()}
    inputs = {name: digest(data) for name, data in outputs.items()}
    return Product(list(outputs), inputs, lambda: outputs)


def killed_product(**contents):
    return product(**contents)._replace(build=die)


def refresh(folder, products, code="code", **options):
    """Let a stage that knows only what lies in its folder bring it up to date."""
    return Stage("made", folder).refresh(products, code, **options)


def killed_refresh(folder, products):
    with contextlib.suppress(Killed):
        refresh(folder, products)


def texts(folder):
    """Return the visible files but the manifest: {name: text}."""
    return {
        path.name: path.read_text()
        for path in sorted(folder.iterdir())
        if not path.name.endswith(".manifest.json")
    }


def identities(folder):
    """Return what changes of each file when it is written again, even with the same bytes."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_everything_is_built_once(tmp_path):
    products = {"a": product(a="one"), "b": product(b="two", c="three")}
    assert refresh(tmp_path, products) == Outcome(["a", "b"], [])
    before = identities(tmp_path)
    assert refresh(tmp_path, products) == Outcome([], [])
    assert texts(tmp_path) == {"a.txt": "one", "b.txt": "two", "c.txt": "three"}
    assert identities(tmp_path) == before


def test_only_the_product_whose_input_changed_is_built_again(tmp_path):
    refresh(tmp_path, {"a": product(a="one"), "b": product(b="two")})
    before = identities(tmp_path)
    assert refresh(tmp_path, {"a": product(a="new"), "b": product(b="two")}).built == ["a"]
    assert texts(tmp_path) == {"a.txt": "new", "b.txt": "two"}
    assert identities(tmp_path)["b.txt"] == before["b.txt"]


def test_an_input_that_came_or_went_is_a_change(tmp_path):
    bare = product(a="one")
    more = bare._replace(inputs={**bare.inputs, "mode": None})
    refresh(tmp_path, {"a": bare})
    assert refresh(tmp_path, {"a": more}).built == ["a"]
    assert refresh(tmp_path, {"a": bare}).built == ["a"]


def test_other_code_builds_everything_again(tmp_path):
    products = {"a": product(a="one"), "b": product(b="two")}
    refresh(tmp_path, products, "code")
    assert refresh(tmp_path, products, "other code").built == ["a", "b"]


def test_a_file_that_comes_out_the_same_is_not_written_again(tmp_path):
    refresh(tmp_path, {"a": product(a="one")}, "code")
    before = identities(tmp_path)["a.txt"]
    refresh(tmp_path, {"a": product(a="one")}, "other code")
    assert identities(tmp_path)["a.txt"] == before


def test_what_is_no_longer_named_is_removed(tmp_path):
    refresh(tmp_path, {"a": product(a="one"), "b": product(b="two", c="three")})
    assert refresh(tmp_path, {"a": product(a="one")}) == Outcome([], ["b"])
    assert texts(tmp_path) == {"a.txt": "one"}
    assert Stage("made", tmp_path).files() == [("a.txt", digest(b"one"))]


def test_a_product_that_loses_a_file_removes_it(tmp_path):
    refresh(tmp_path, {"a": product(a="one", b="two")})
    refresh(tmp_path, {"a": product(a="one")})
    assert texts(tmp_path) == {"a.txt": "one"}


def test_a_file_that_moves_to_another_product_stays(tmp_path):
    refresh(tmp_path, {"a": product(x="one")})
    refresh(tmp_path, {"b": product(x="two"), "a": product(y="one")})
    assert texts(tmp_path) == {"x.txt": "two", "y.txt": "one"}
    refresh(tmp_path, {"c": product(x="two")})
    assert texts(tmp_path) == {"x.txt": "two"}


def test_a_caller_that_was_asked_for_some_keeps_the_others(tmp_path):
    refresh(tmp_path, {"a": product(a="one"), "b": product(b="two")})
    outcome = refresh(tmp_path, {"a": product(a="new")}, only_these=False)
    assert outcome == Outcome(["a"], [])
    assert texts(tmp_path) == {"a.txt": "new", "b.txt": "two"}


def test_an_altered_file_is_healed(tmp_path):
    products = {"a": product(a="one"), "b": product(b="two")}
    refresh(tmp_path, products)
    times = (tmp_path / "a.txt").stat()
    (tmp_path / "a.txt").write_text("eno")
    os.utime(tmp_path / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert Stage("made", tmp_path).intact() == {"b.txt": b"two"}
    assert refresh(tmp_path, products).built == ["a"]
    assert texts(tmp_path) == {"a.txt": "one", "b.txt": "two"}


def test_a_deleted_file_is_made_again(tmp_path):
    products = {"a": product(a="one", b="two")}
    refresh(tmp_path, products)
    (tmp_path / "b.txt").unlink()
    assert refresh(tmp_path, products).built == ["a"]
    assert texts(tmp_path) == {"a.txt": "one", "b.txt": "two"}


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b"null", b'{"a": 1}', b'{"a": {}}'])
def test_a_damaged_manifest_only_costs_building_again(tmp_path, content):
    refresh(tmp_path, {"a": product(a="one")})
    (tmp_path / "made.manifest.json").write_bytes(content)
    assert refresh(tmp_path, {"a": product(a="one")}).built == ["a"]
    assert texts(tmp_path) == {"a.txt": "one"}


def test_files_of_others_are_never_touched(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "old.json").write_text("mine")
    refresh(tmp_path, {"a": product(a="one"), "b": product(b="two")})
    refresh(tmp_path, {"a": product(a="new")})
    assert texts(tmp_path) == {"a.txt": "new", "notes.txt": "mine", "old.json": "mine"}


def test_a_stage_whose_folder_moved_removes_nothing_from_the_new_one(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    new.mkdir()
    (new / "page.txt").write_text("mine")
    Stage("made", old, tmp_path).refresh({"page": product(page="one")}, "code")
    Stage("made", new, tmp_path).refresh({"page": product(other="one")}, "code")
    assert texts(new) == {"other.txt": "one", "page.txt": "mine"}


def test_killed_between_announcing_and_writing_the_next_call_finishes(tmp_path):
    wanted = {"a": product(a="new"), "b": product(b="new")}
    refresh(tmp_path, {"a": product(a="old"), "b": product(b="old")})
    killed_refresh(tmp_path, {"a": product(a="new"), "b": killed_product(b="new")})
    assert texts(tmp_path) == {"a.txt": "new", "b.txt": "old"}
    assert "b" in refresh(tmp_path, wanted).built
    assert texts(tmp_path) == {"a.txt": "new", "b.txt": "new"}
    assert refresh(tmp_path, wanted) == Outcome([], [])


def test_what_a_killed_stage_left_is_not_taken_for_its_result(tmp_path):
    refresh(tmp_path, {"a": product(a="old"), "b": product(b="two")})
    killed_refresh(tmp_path, {"a": killed_product(a="new"), "b": product(b="two")})
    assert Stage("made", tmp_path).files() == [("b.txt", digest(b"two"))]
    assert Stage("made", tmp_path).intact() == {"b.txt": b"two"}


def test_killed_and_the_change_taken_back_the_files_are_right_again(tmp_path):
    first = {"a": product(a="old"), "b": product(b="old")}
    refresh(tmp_path, first)
    killed_refresh(tmp_path, {"a": product(a="new"), "b": killed_product(b="new")})
    refresh(tmp_path, first)
    assert texts(tmp_path) == {"a.txt": "old", "b.txt": "old"}


def test_what_a_killed_stage_wrote_first_is_removed_when_it_is_withdrawn(tmp_path):
    killed_refresh(tmp_path, {"a": product(a="one"), "b": killed_product(b="two")})
    assert texts(tmp_path) == {"a.txt": "one"}
    refresh(tmp_path, {})
    assert texts(tmp_path) == {}


def test_killed_while_it_removes_the_next_call_removes_the_rest(tmp_path, monkeypatch):
    refresh(tmp_path, {"a": product(a="one"), "b": product(b="two"), "c": product(c="three")})

    with monkeypatch.context() as patch:
        patch.setattr(type(tmp_path), "unlink", die)
        killed_refresh(tmp_path, {"a": product(a="one")})
    refresh(tmp_path, {"a": product(a="one")})
    assert texts(tmp_path) == {"a.txt": "one"}


def test_killed_in_the_middle_of_a_file_the_old_one_is_still_whole(tmp_path, monkeypatch):
    whole = type(tmp_path).write_bytes

    def write_half(path, data):
        if "manifest" in path.name:
            return whole(path, data)
        whole(path, data[: len(data) // 2])
        raise Killed

    refresh(tmp_path, {"a": product(a="old text")})
    with monkeypatch.context() as patch:
        patch.setattr(type(tmp_path), "write_bytes", write_half)
        killed_refresh(tmp_path, {"a": product(a="new text")})
    assert (tmp_path / "a.txt").read_text() == "old text"
    refresh(tmp_path, {"a": product(a="new text")})
    assert texts(tmp_path) == {"a.txt": "new text"}


def test_temporary_files_of_a_killed_stage_are_cleaned(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(type(tmp_path), "replace", die)
        killed_refresh(tmp_path, {"a": product(a="one")})
    assert len(texts(tmp_path)) == 1
    refresh(tmp_path, {"a": product(a="one")})
    assert texts(tmp_path) == {"a.txt": "one"}


def test_a_temporary_file_that_another_stage_is_writing_is_left_alone(tmp_path):
    # Three stages share the validation folder, two of them at the same time.
    (tmp_path / ".b.txt.tmp").write_text("half")
    (tmp_path / ".draft.tmp").write_text("mine")
    refresh(tmp_path, {"a": product(a="one")})
    assert texts(tmp_path) == {".b.txt.tmp": "half", ".draft.tmp": "mine", "a.txt": "one"}


@pytest.mark.parametrize(
    "products",
    [
        {"a": product(a="new"), "b": product(b="two")},
        {"a": product(a="one")},
        {"a": product(a="one"), "b": product(b="two"), "c": product(c="three")},
        {"a": product(a="one", c="three"), "b": product(b="two")},
    ],
    ids=["changed", "withdrawn", "added", "another file"],
)
def test_a_check_finds_work_and_does_none(tmp_path, products):
    refresh(tmp_path, {"a": product(a="one"), "b": product(b="two")})
    before = identities(tmp_path)
    with pytest.raises(Stale):
        refresh(tmp_path, products, only_check=True)
    assert identities(tmp_path) == before


def test_a_check_finds_altered_files_and_other_code(tmp_path):
    products = {"a": product(a="one")}
    refresh(tmp_path, products)
    with pytest.raises(Stale):
        refresh(tmp_path, products, "other code", only_check=True)
    (tmp_path / "a.txt").write_text("eno")
    with pytest.raises(Stale):
        refresh(tmp_path, products, only_check=True)
    assert texts(tmp_path) == {"a.txt": "eno"}


def test_a_check_makes_no_folder(tmp_path):
    with pytest.raises(Stale):
        refresh(tmp_path / "new", {"a": product(a="one")}, only_check=True)
    assert not (tmp_path / "new").exists()


def test_a_check_finds_nothing_where_all_is_done(tmp_path):
    refresh(tmp_path, {"a": product(a="one")})
    before = identities(tmp_path)
    assert refresh(tmp_path, {"a": product(a="one")}, only_check=True) == Outcome([], [])
    assert identities(tmp_path) == before


def test_the_code_digest_follows_imports_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(stage, "LIB", tmp_path)
    script = tmp_path / "script.py"
    script.write_text("from near import x\n")
    (tmp_path / "near.py").write_text("import far\n")
    (tmp_path / "far.py").write_text("x = 1\n")
    (tmp_path / "stranger.py").write_text("x = 1\n")
    first = code_digest(str(script))
    (tmp_path / "stranger.py").write_text("x = 2\n")
    assert code_digest(str(script)) == first
    (tmp_path / "far.py").write_text("x = 2\n")
    assert code_digest(str(script)) != first


def test_every_stage_that_is_held_is_one_that_clean_waits_for():
    sources = [path.read_text("utf-8") for path in (PROJECT / "lib").glob("build_*.py")]
    held = {m[1] for source in sources for m in re.finditer(r'holding\(\S+, "([\w-]+)"', source)}
    assert {"rankings", "significance", "ensemble", "breakdown", "results-md"} <= held
    assert held <= set(stage.STAGES)


def test_every_import_within_lib_stands_where_the_code_digest_looks():
    lib = PROJECT / "lib"
    modules = "|".join(path.stem for path in lib.glob("*.py"))
    hidden = re.compile(
        rf"^[ \t]+(from|import) ({modules})\b|^import \w+, |import_module\(",
        re.MULTILINE,
    )
    found = {p.name: m[0] for p in lib.glob("*.py") if (m := hidden.search(p.read_text("utf-8")))}
    # data_repo imports the modules of DATA_REPO, which are digested as an input.
    assert found.keys() <= {"data_repo.py"}


# What later stages read


def wrong(folder):
    with pytest.raises(BadInput) as raised:
        Stage("made", folder).contents("tables", "tables")
    return [problem.text() for problem in raised.value.problems]


def test_later_stages_get_what_was_written(tmp_path):
    refresh(tmp_path, {"p": product(a="1", b="2"), "q": product(c="3")})
    (tmp_path / "d.txt").write_text("of somebody else")
    contents = Stage("made", tmp_path).contents("tables", "tables")
    assert contents == {"a.txt": b"1", "b.txt": b"2", "c.txt": b"3"}


def test_later_stages_get_nothing_where_one_file_is_missing_or_altered(tmp_path):
    refresh(tmp_path, {"p": product(a="1", b="2"), "q": product(c="3")})
    (tmp_path / "a.txt").unlink()
    (tmp_path / "c.txt").write_text("4")
    assert wrong(tmp_path) == [
        f"error: {tmp_path / name}: found no such file, or not the one that was written;"
        " expected what an earlier stage writes; run make tables"
        for name in ("a.txt", "c.txt")
    ]


def test_later_stages_get_nothing_of_a_stage_that_was_killed(tmp_path):
    refresh(tmp_path, {"p": product(a="1")})
    killed_refresh(tmp_path, {"p": product(a="1"), "q": killed_product(b="2")})
    [line] = wrong(tmp_path)
    assert "b.txt" in line


def test_a_stage_that_never_ran_is_named_by_its_folder(tmp_path):
    assert wrong(tmp_path) == [
        f"error: {tmp_path}: found no tables; expected what an earlier stage writes;"
        " run make tables"
    ]


@pytest.fixture
def holder(tmp_path):
    """Start a process that holds stages: holder("score", "info") writes score, reads info."""
    started = []

    def start(*stages):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(tmp_path / "results"), *stages],
            env={**os.environ, "PYTHONPATH": str(PROJECT / "lib")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        guard = threading.Timer(30, process.kill)
        guard.start()
        started.append((process, guard))
        return process

    yield start
    for process, guard in started:
        guard.cancel()
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def test_a_second_process_waits_says_so_and_goes_on_when_the_first_is_killed(holder):
    first = holder("score")
    assert first.stdout.readline() == "held\n"
    second = holder("score")
    assert "is in use by another make" in second.stdout.readline()
    first.send_signal(signal.SIGKILL)
    assert second.stdout.readline() == "held\n"


def test_a_reader_waits_for_the_writer_and_a_writer_for_the_readers(holder):
    writer = holder("score")
    assert writer.stdout.readline() == "held\n"
    reader = holder("rankings", "score")
    assert "is in use" in reader.stdout.readline()
    writer.stdin.close()
    assert reader.stdout.readline() == "held\n"
    next_writer = holder("score")
    assert "is in use" in next_writer.stdout.readline()
    reader.stdin.close()
    assert next_writer.stdout.readline() == "held\n"


def test_two_readers_and_two_different_stages_do_not_wait_for_each_other(holder):
    for process in (holder("rankings", "score"), holder("diagnostics", "score")):
        assert process.stdout.readline() == "held\n"
