"""Archives are read without trusting them: each danger is refused, each member is listed."""

import hashlib
import io
import struct
import tarfile
import tempfile
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import archives
import inbox
from archives import Refused, Spool
from inbox import HARD_LINK, SYMLINK, Special

ZIP_TAR_FOLDER = ["a.zip", "a.tar.gz", "a"]
THREE = {"run1/x.jsonl": b"one\n", "run2/x.jsonl": b"two\n", "README": b"read me\n"}
BOMB = bytes(30_000_000)


@pytest.fixture
def read(tmp_path):
    """Read an archive; of its members, those with a wanted ending are kept in a spool."""

    def read(path, ending=""):
        spool = Path(tempfile.mkdtemp(dir=tmp_path))
        return Spool(spool, lambda name: name.endswith(ending)).members(path)

    return read


def contents(members):
    """Return {path: content} of members, None for those that were not kept."""
    assert not isinstance(members, Refused), members
    return {m.path: m.content and m.content.read_bytes() for m in members}


def notes(members):
    assert not isinstance(members, Refused), members
    return {m.source: m.note for m in members if m.note}


# What is read


@pytest.mark.parametrize("name", ["a.zip", "a.ZIP", "a.tar.gz", "a.TAR.GZ", "a.tgz", "a.tar", "a"])
def test_every_kind_of_archive_has_the_same_members(tmp_path, read, name):
    inbox.pack(tmp_path / name, THREE)
    found = read(tmp_path / name)
    assert contents(found) == {f"a/{path}": data for path, data in THREE.items()}
    assert {m.source for m in found} == {f"{name}/{path}" for path in THREE}


@pytest.mark.parametrize("name", ZIP_TAR_FOLDER)
def test_only_what_is_wanted_is_kept_and_the_rest_is_listed(tmp_path, read, name):
    inbox.pack(tmp_path / name, THREE)
    found = read(tmp_path / name, ".jsonl")
    assert contents(found)["a/README"] is None
    assert len(found) == 3


def test_a_member_comes_with_the_digest_of_its_content(tmp_path, read):
    [member] = read(inbox.pack(tmp_path / "a.zip", {"x": b"one\n"}))
    assert member.digest == hashlib.sha256(b"one\n").hexdigest()


def test_folders_are_no_members(tmp_path, read):
    members = {"run1/": b"", "run1/x": b"", "empty/": b""}
    for name in ("a.zip", "a.tgz"):
        assert contents(read(inbox.pack(tmp_path / name, members))) == {"a/run1/x": b""}


def test_back_slashes_separate_folders(tmp_path, read):
    path = inbox.pack(tmp_path / "a.zip", {"team1\\run1\\x": b"", "empty\\": b""})
    assert contents(read(path)) == {"a/team1/run1/x": b""}


@pytest.mark.parametrize("name", ["./run1//x", "run1/./x", ".\\run1\\x"])
def test_empty_parts_of_a_path_are_left_out(tmp_path, read, name):
    assert contents(read(inbox.pack(tmp_path / "a.zip", {name: b""}))) == {"a/run1/x": b""}


@pytest.mark.parametrize("name", ZIP_TAR_FOLDER)
def test_decomposed_names_are_composed(tmp_path, read, name):
    decomposed = unicodedata.normalize("NFD", "Zürich/x")
    path = inbox.pack(tmp_path / name, {decomposed: b""})
    assert contents(read(path)) == {"a/Zürich/x": b""}


@pytest.mark.parametrize("encoding", ["cp437", "utf-8"])
def test_names_of_a_zip_that_does_not_name_their_encoding_are_understood(tmp_path, read, encoding):
    path = inbox.pack(tmp_path / "a.zip", {"Zürich/x".encode(encoding): b""})
    assert contents(read(path)) == {"a/Zürich/x": b""}


@pytest.mark.parametrize("name", ZIP_TAR_FOLDER)
def test_names_in_latin_1_are_read_and_can_be_printed(tmp_path, read, name):
    path = inbox.pack(tmp_path / name, {"Zürich/x".encode("latin-1"): b"one"})
    [member] = read(path)
    assert member.content.read_bytes() == b"one"
    assert member.path.endswith("rich/x")
    assert member.source.isprintable()


def test_a_line_end_in_a_name_is_shown_as_an_escape(tmp_path, read):
    [member] = read(inbox.pack(tmp_path / "a.zip", {"x\ny": b""}))
    assert "x\\ny" in member.source
    assert "\n" not in member.source


def test_a_file_that_is_no_archive_is_its_own_only_member(tmp_path, read):
    (tmp_path / "x.jsonl").write_bytes(b"one\n")
    [member] = read(tmp_path / "x.jsonl")
    assert member.content.read_bytes() == b"one\n"


@pytest.mark.parametrize("outer", ZIP_TAR_FOLDER)
@pytest.mark.parametrize("inner", ["in.zip", "in.tar.gz", "in.v1.0.TGZ"])
def test_an_archive_in_an_archive_is_looked_into(tmp_path, read, outer, inner):
    members = {f"sent/{inner}": inbox.packed(inner, THREE, tmp_path), "y": b"y"}
    found = read(inbox.pack(tmp_path / outer, members))
    stem = inner.removesuffix(".zip").removesuffix(".tar.gz").removesuffix(".TGZ")
    within = {f"a/sent/{stem}/{path}": data for path, data in THREE.items()}
    assert contents(found) == within | {"a/y": b"y"}
    assert f"{outer}/sent/{inner}/README" in {member.source for member in found}


def test_an_archive_in_an_archive_in_an_archive_is_reported(tmp_path, read):
    third = {"third.zip": inbox.packed("third.zip", THREE, tmp_path), "z": b"z"}
    second = {"second.tgz": inbox.packed("second.tgz", third, tmp_path)}
    found = read(inbox.pack(tmp_path / "a.zip", second))
    note = "an archive in an archive in an archive"
    assert notes(found) == {"a.zip/second.tgz/third.zip": note}
    assert contents(found) == {"a/second/third.zip": None, "a/second/z": b"z"}


def test_the_shadow_of_an_archive_is_no_archive(tmp_path, read):
    inner = inbox.packed("in.zip", {"x": b"one"}, tmp_path)
    path = inbox.pack(tmp_path / "a.zip", inbox.with_shadows({"in.zip": inner}))
    found = contents(read(path, "x"))
    assert found == {"a/in/x": b"one", "a/__MACOSX/._in.zip": None}


def test_a_name_of_more_than_255_bytes_is_reported_and_the_others_are_read(tmp_path, read):
    path = inbox.pack(tmp_path / "a.zip", {"x" * 255: b"", "ü" * 128: b"", "y/" + "x" * 256: b""})
    found = read(path)
    assert {m.path: m.note for m in found} == {
        "a/" + "x" * 255: "",
        "a/" + "ü" * 128: "its name is longer than 255 bytes",
        "a/y/" + "x" * 256: "its name is longer than 255 bytes",
    }


# What is refused


def a_file(name):
    return {"run1/x.jsonl": b"harmless", name: b"harmful"}


def a_special(kind, target=""):
    return {"run1/x.jsonl": b"harmless", "evil": Special(kind, target)}


LEAVES, ABSOLUTE = "a path that leaves the archive", "an absolute path"
REFUSED = [
    *((kind, a_file("../x.jsonl"), f"../x.jsonl: {LEAVES}") for kind in ("a.zip", "a.tgz")),
    ("a.tgz", a_file("run1/../../x"), f"run1/../../x: {LEAVES}"),
    ("a.zip", a_file("run1/.."), f"run1/..: {LEAVES}"),
    ("a.zip", a_file("..\\..\\x.jsonl"), f"..\\..\\x.jsonl: {LEAVES}"),
    *((kind, a_file("/tmp/x.jsonl"), f"/tmp/x.jsonl: {ABSOLUTE}") for kind in ("a.zip", "a.tgz")),
    ("a.zip", a_file("C:\\x.jsonl"), f"C:\\x.jsonl: {ABSOLUTE}"),
    ("a.tgz", a_file("c:x.jsonl"), f"c:x.jsonl: {ABSOLUTE}"),
    ("a.zip", a_file("\\\\server\\x"), f"\\\\server\\x: {ABSOLUTE}"),
    *((kind, a_special(SYMLINK, "../.."), "evil: a link or device") for kind in ZIP_TAR_FOLDER),
    ("a.tgz", a_special(SYMLINK, "run1"), "evil: a link or device"),
    ("a.tgz", a_special(HARD_LINK, "run1/x.jsonl"), "evil: a link or device"),
    ("a.tgz", a_special(tarfile.CHRTYPE), "evil: a link or device"),
    ("a.tgz", a_special(tarfile.BLKTYPE), "evil: a link or device"),
    ("a.tgz", a_special(tarfile.FIFOTYPE), "evil: a link or device"),
    ("a", a_special(tarfile.FIFOTYPE), "evil: a link or device"),
]


@pytest.mark.parametrize(
    ("name", "members", "reason"), REFUSED, ids=[f"{name}, {why}" for name, _, why in REFUSED]
)
def test_a_member_that_can_do_harm_refuses_the_archive(tmp_path, read, name, members, reason):
    assert read(inbox.pack(tmp_path / name, members)) == Refused(reason)


@pytest.mark.parametrize("name", ["b.zip", "b.tgz"])
def test_what_an_inner_archive_hides_refuses_the_outer_one(tmp_path, read, name):
    inner = inbox.packed(name, a_file("../x.jsonl"), tmp_path)
    path = inbox.pack(tmp_path / "a.zip", {"x": b"", name: inner})
    assert read(path).reason.endswith(f"../x.jsonl: {LEAVES}")


def test_an_inner_archive_that_is_damaged_is_named(tmp_path, read):
    path = inbox.pack(tmp_path / "a.zip", {"one.zip": b"Rar!", "run1/x.jsonl": b"one"})
    assert "one.zip" in read(path).reason


def test_a_link_and_a_member_written_through_it_are_refused(tmp_path, read):
    members = {"run1": Special(SYMLINK, "../../.."), "run1/evil.jsonl": b""}
    assert read(inbox.pack(tmp_path / "a.tar.gz", members)) == Refused("run1: a link or device")


def test_a_zero_byte_in_a_name_is_not_called_an_absolute_path(tmp_path, read):
    found = read(inbox.pack(tmp_path / "a.zip", {"x\0.jsonl": b""}))
    assert "absolute" not in str(found)


@pytest.mark.parametrize("name", ["", "\0x.jsonl", ".", "./"])
@pytest.mark.parametrize("kind", ["a.zip", "a.tar"])
def test_a_member_without_a_name_does_not_crash(tmp_path, read, kind, name):
    assert isinstance(read(inbox.pack(tmp_path / kind, {name: b""})), list | Refused)


@pytest.mark.parametrize("name", ["a.rar", "a.7z", "a.RAR", "a.jsonl.gz"])
def test_other_kinds_of_archives_are_refused_with_the_known_kinds(tmp_path, read, name):
    (tmp_path / name).write_bytes(b"Rar!\x1a\x07")
    refused = read(tmp_path / name)
    assert refused.reason.startswith("not an archive of a known kind: .zip, .tar.gz, .tgz")


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tar"])
def test_what_is_not_what_its_name_says_is_refused(tmp_path, read, name):
    (tmp_path / name).write_bytes(b"Rar!\x1a\x07\n" * 100)
    assert read(tmp_path / name).reason.startswith("damaged or not what its name says: ")


# Limits


def test_the_limits_are_those_of_the_issue():
    limits = (archives.MAX_MEMBERS, archives.MAX_MEMBER_BYTES, archives.MAX_TOTAL_BYTES)
    assert limits == (10_000, 200_000_000, 2_000_000_000)
    assert (archives.MAX_RATIO, archives.RATIO_APPLIES_FROM) == (200, 10_000_000)


@pytest.mark.parametrize(("number", "is_read"), [(10_000, True), (10_001, False)])
def test_an_archive_may_have_ten_thousand_members(tmp_path, read, number, is_read):
    path = inbox.tarred(tmp_path / "a.tar", ((f"{n}.txt", b"") for n in range(number)))
    found = read(path, ".jsonl")
    if is_read:
        assert len(found) == number
    else:
        assert found == Refused("more than 10,000 members")


@pytest.mark.parametrize("name", ZIP_TAR_FOLDER)
def test_members_are_counted_in_every_kind_of_archive(tmp_path, read, monkeypatch, name):
    inbox.pack(tmp_path / name, THREE)
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    assert len(read(tmp_path / name)) == 3
    monkeypatch.setattr(archives, "MAX_MEMBERS", 2)
    assert read(tmp_path / name) == Refused("more than 2 members")


def test_members_of_inner_archives_count_too(tmp_path, read, monkeypatch):
    inner = inbox.packed("in.zip", THREE, tmp_path)
    path = inbox.pack(tmp_path / "a.zip", {"in1.zip": inner, "in2.zip": inner})
    monkeypatch.setattr(archives, "MAX_MEMBERS", 7)
    assert read(path) == Refused("more than 7 members")


@pytest.mark.parametrize("ending", ["", ".jsonl"], ids=["wanted", "not wanted"])
@pytest.mark.parametrize("name", ZIP_TAR_FOLDER)
def test_a_member_over_the_limit_refuses_the_archive(tmp_path, read, monkeypatch, name, ending):
    monkeypatch.setattr(archives, "MAX_MEMBER_BYTES", 1000)
    inbox.pack(tmp_path / name, {"x": bytes(1000)})
    assert len(read(tmp_path / name, ending)) == 1
    inbox.pack(tmp_path / f"b{name}", {"x": bytes(1001)})
    assert read(tmp_path / f"b{name}", ending) == Refused("x: more than 1,000 bytes unpacked")


def test_a_single_file_over_the_limit_is_refused(tmp_path, read, monkeypatch):
    monkeypatch.setattr(archives, "MAX_MEMBER_BYTES", 1000)
    (tmp_path / "x.jsonl").write_bytes(bytes(1001))
    assert isinstance(read(tmp_path / "x.jsonl"), Refused)


@pytest.mark.parametrize(
    ("name", "ending"),
    [*((name, "") for name in ZIP_TAR_FOLDER), ("a.zip", ".jsonl"), ("a.tar.gz", ".jsonl")],
    ids=["zip", "tar", "folder", "zip, not wanted", "tar, not wanted"],
)
def test_a_total_over_the_limit_refuses_the_archive(tmp_path, read, monkeypatch, name, ending):
    monkeypatch.setattr(archives, "MAX_TOTAL_BYTES", 1000)
    inbox.pack(tmp_path / name, {"x": bytes(400), "y": bytes(400), "z": bytes(200)})
    assert len(read(tmp_path / name, ending)) == 3
    inbox.pack(tmp_path / f"b{name}", {"x": bytes(400), "y": bytes(400), "z": bytes(201)})
    assert read(tmp_path / f"b{name}", ending) == Refused("more than 1,000 bytes unpacked in all")


def test_the_content_of_inner_archives_counts_towards_the_total(tmp_path, read, monkeypatch):
    inner = inbox.packed("in.zip", {"x": bytes(600)}, tmp_path)
    path = inbox.pack(tmp_path / "a.zip", {"in1.zip": inner, "in2.zip": inner})
    monkeypatch.setattr(archives, "MAX_TOTAL_BYTES", 1000)
    assert read(path) == Refused("more than 1,000 bytes unpacked in all")


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_thirty_megabytes_of_zeros_are_a_bomb(tmp_path, read, name):
    path = inbox.pack(tmp_path / name, {"run1/x.jsonl": BOMB})
    assert path.stat().st_size < len(BOMB) / 200
    assert read(path) == Refused("run1/x.jsonl: compressed more than 200 to 1")
    hidden = inbox.pack(tmp_path / "outer.zip", {name: path.read_bytes()})
    assert read(hidden).reason.endswith("run1/x.jsonl: compressed more than 200 to 1")


def test_the_ratio_matters_from_ten_megabytes_on(tmp_path, read):
    path = inbox.pack(tmp_path / "a.zip", {"x": BOMB[:10_000_000]})
    assert path.stat().st_size < 50_000
    assert len(read(path)) == 1
    inbox.pack(path, {"x": BOMB[:10_000_001]})
    assert read(path) == Refused("x: compressed more than 200 to 1")


def test_a_large_member_that_is_not_compressed_is_no_bomb(tmp_path, read):
    path = inbox.zipped(tmp_path / "a.zip", {"x": BOMB}, method=zipfile.ZIP_STORED)
    assert len(read(path, ".jsonl")) == 1
    folder = inbox.laid_out(tmp_path / "a", {"x": BOMB})
    assert len(read(folder, ".jsonl")) == 1


# Damage


def claiming(path, size):
    """Let both headers of a zip's only member claim another size."""
    data = bytearray(path.read_bytes())
    for at in (22, data.index(b"PK\x01\x02") + 24):
        data[at : at + 4] = struct.pack("<I", size)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("content", [b"one line\n" * 100, BOMB], ids=["a run", "a bomb"])
def test_a_zip_header_that_claims_less_than_there_is_is_refused(tmp_path, read, content):
    path = claiming(inbox.pack(tmp_path / "a.zip", {"x": content}), 10)
    assert isinstance(read(path), Refused)


def test_a_zip_header_that_claims_a_terabyte_is_refused(tmp_path, read):
    path = claiming(inbox.pack(tmp_path / "a.zip", {"x": b"small"}), 2**32 - 2)
    assert isinstance(read(path), Refused)


def test_an_encrypted_zip_is_refused_and_the_reason_says_so(tmp_path, read):
    path = inbox.pack(tmp_path / "a.zip", {"run1/x.jsonl": b"one\n"})
    data = bytearray(path.read_bytes())
    for at in (6, data.index(b"PK\x01\x02") + 8):
        data[at] |= 1
    path.write_bytes(data)
    refused = read(path, ".jsonl")
    assert "run1/x.jsonl" in refused.reason
    assert "encrypted" in refused.reason


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tar"])
@pytest.mark.parametrize("ending", ["", ".pdf"], ids=["wanted", "not wanted"])
def test_a_broken_upload_is_refused(tmp_path, read, name, ending):
    path = inbox.pack(tmp_path / name, {"x": bytes(range(256)) * 40, "y": bytes(range(256)) * 40})
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert isinstance(read(path, ending), Refused)


def test_a_tar_that_is_cut_inside_a_header_is_refused(tmp_path, read):
    path = inbox.pack(tmp_path / "a.tar", {"x": b"one", "y": b"two"})
    path.write_bytes(path.read_bytes()[:1300])  # 512 header, 512 content, then half a header
    assert isinstance(read(path), Refused)


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz"])
def test_members_behind_a_damaged_header_are_not_lost_without_a_word(tmp_path, read, name):
    data = bytearray(inbox.pack(tmp_path / "b.tar", {"x": b"one", "y": b"two"}).read_bytes())
    data[1024] ^= 1  # the first byte of the second header, which has a checksum
    write = inbox.written if name == "a.tar" else inbox.gzipped
    write(tmp_path / name, bytes(data))
    assert isinstance(read(tmp_path / name), Refused)


def test_a_zip_that_calls_its_names_utf_8_though_they_are_not_does_not_crash(tmp_path, read):
    path = inbox.pack(tmp_path / "a.zip", {"Zürich/x": b"one"})
    path.write_bytes(path.read_bytes().replace("ü".encode(), b"\xfc\xfc"))
    assert isinstance(read(path), list | Refused)


@pytest.mark.parametrize(
    "method",
    [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA],
    ids=["deflate", "bzip2", "lzma"],
)
def test_a_damaged_member_is_refused_whatever_it_is_compressed_with(tmp_path, read, method):
    content = bytes(n * n % 251 for n in range(20_000))
    path = inbox.zipped(tmp_path / "a.zip", {"x": content}, method=method)
    data = bytearray(path.read_bytes())
    data[100:140] = bytes(byte ^ 0xFF for byte in data[100:140])
    path.write_bytes(data)
    assert isinstance(read(path), Refused)


def test_an_unknown_compression_is_refused(tmp_path, read):
    path = inbox.pack(tmp_path / "a.zip", {"x": b"one"})
    data = bytearray(path.read_bytes())
    for at in (8, data.index(b"PK\x01\x02") + 10):
        data[at] = 99  # what WinZip's AES encryption calls itself
    path.write_bytes(data)
    assert isinstance(read(path), Refused)


def small_archives():
    """Return the bytes of small archives of every kind, by the ending that tells it."""
    with tempfile.TemporaryDirectory() as scratch:
        inner = inbox.packed("in.tgz", {"x.jsonl": b"inner\n"}, Path(scratch))
        members = {"run1/x.jsonl": b"one\n" * 9, "Zürich/y": b"two", "in.tgz": inner}
        made = {
            name: inbox.packed(name, members, Path(scratch))
            for name in ("a.zip", "a.tar", "a.tar.gz")
        }
        lzma = inbox.zipped(Path(scratch) / "l.zip", members, method=zipfile.ZIP_LZMA)
        return made | {"l.zip": lzma.read_bytes()}


ARCHIVES = small_archives()


@settings(deadline=None)
@given(
    st.sampled_from(list(ARCHIVES)),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), max_size=3),
    st.floats(0, 1),
)
def test_no_damage_ends_in_a_traceback(name, flips, kept):
    data = ARCHIVES[name]
    damaged = bytearray(data)
    for place, bits in flips:
        damaged[int(place * len(data))] ^= bits
    # Half of the files are whole; the others end early.
    size = len(data) if kept > 0.5 else int(2 * kept * len(data))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(damaged[:size])
        assert isinstance(Spool(Path(folder), lambda _: True).members(path), list | Refused)


@settings(deadline=None)
@given(st.sampled_from(list(ARCHIVES)), st.floats(0, 1))
def test_what_was_cut_off_is_either_refused_or_lost_nothing(name, kept):
    data = ARCHIVES[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data[: int(kept * len(data))])
        found = Spool(Path(folder), lambda _: True).members(path)
    assert isinstance(found, Refused) or len(found) == 3


def test_a_long_name_of_a_tar_that_claims_megabytes_is_not_repeated_in_full(tmp_path, read):
    name = "x" * 1_000_000 + ".jsonl"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo(name))
    found = read(inbox.gzipped(tmp_path / "a.tgz", buffer.getvalue()))
    said = found.reason if isinstance(found, Refused) else found[0].source
    assert len(said) < 1000
