"""What participants send: zips, tarballs and folders, read without trusting them.

Nothing is unpacked under the names that an archive gives. Members are listed with harmless paths,
and the content of those that are wanted goes to numbered files in a spool folder.
"""

import os
import re
import stat
import tarfile
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from files import digest_of_stream
from names import display

MAX_MEMBERS = 10_000
MAX_MEMBER_BYTES = 200_000_000
MAX_TOTAL_BYTES = 2_000_000_000
MAX_RATIO = 200
RATIO_APPLIES_FROM = 10_000_000
MAX_NAME_BYTES = 255
_SHOWN = 200
_CHUNK = 1 << 20
_ZIP = (".zip",)
_TAR = (".tar.gz", ".tgz", ".tar", ".tar.xz", ".tar.bz2")
_UNKNOWN = (".rar", ".7z", ".gz", ".xz", ".bz2", ".zst")


class Refused(NamedTuple):
    """The verdict on an archive that is dangerous or broken; nothing of it may be used."""

    reason: str


def is_shadow(path: str) -> bool:
    """Tell whether a member is what a file manager leaves: hidden, or a shadow of another file."""
    parts = path.split("/")
    return "__MACOSX" in parts or any(part.startswith(".") for part in parts[1:] or parts)


class _Refusal(Exception):
    """Carries the reason from wherever it is found."""


class Member(NamedTuple):
    """One file of an archive or folder.

    source: what it is called in messages and the protocol, ``archive.zip/path``. path: the
    archive's name without ending and the path within it, with slashes, in composed Unicode.
    content: its bytes in the spool, or None if it was not wanted. digest: their SHA-256.
    note: why it could not be looked into, or "".
    """

    source: str
    path: str
    content: Path | None
    digest: str | None
    note: str = ""


class Spool:
    """Reads archives, keeps the wanted members, and counts towards the limits.

    folder: where contents are kept, as numbered files. wanted: tells from the path of a member
    whether its content is needed.
    """

    def __init__(self, folder: Path, wanted: Callable[[str], bool]) -> None:
        self._folder = folder
        self._wanted = wanted
        self._kept = 0
        self._at = ""

    def members(self, archive: Path) -> list[Member] | Refused:
        """Return the members of an archive or folder, and those of the archives in it, one level.

        What holds no file has one member, whose path ends in a slash.
        Refused are paths that leave the archive, links, devices, too many or too large members,
        and what is no archive or is damaged.
        """
        self._at = source = _shown(archive.name)
        try:
            members = self._members(archive, source, _stem(archive.name), _Budget(), nested=False)
        except _Refusal as refusal:
            return Refused(str(refusal))
        except OSError as error:
            return Refused(self._located(f"cannot be read: {error.strerror}", source))
        except Exception as error:  # There is no end to what damage makes the readers raise.
            reason = f"damaged or not what its name says: {error}"
            return Refused(self._located(reason, source))
        return members or [Member(source, f"{_stem(archive.name)}/", None, None)]

    def _located(self, reason: str, source: str) -> str:
        return reason if self._at == source else f"{self._at}: {reason}"

    def _members(
        self, archive: Path, source: str, path: str, budget: "_Budget", *, nested: bool
    ) -> list[Member]:
        members = []
        for name, stream in _entries(archive, budget):
            inner_source, inner_path = f"{source}/{_shown(name)}", f"{path}/{name}"
            is_archive = _is_archive(name) and not is_shadow(inner_path)
            if any(len(os.fsencode(part)) > MAX_NAME_BYTES for part in name.split("/")):
                note = f"its name is longer than {MAX_NAME_BYTES} bytes"
                members.append(Member(inner_source, inner_path, None, None, note))
            elif is_archive and nested:
                note = "an archive in an archive in an archive"
                members.append(Member(inner_source, inner_path, None, None, note))
            elif is_archive:
                content, _ = self._keep(stream, budget, suffix="".join(Path(name).suffixes[-2:]))
                self._at = inner_source
                within = _stem(inner_path)
                members += self._members(content, inner_source, within, budget, nested=True)
                self._at = source
            elif self._wanted(inner_path):
                members.append(Member(inner_source, inner_path, *self._keep(stream, budget)))
            else:
                members.append(Member(inner_source, inner_path, None, None))
        return members

    def _keep(self, stream: IO[bytes], budget: "_Budget", suffix: str = "") -> tuple[Path, str]:
        self._kept += 1
        path = self._folder / f"{self._kept}{suffix.lower()}"
        with open(path, "xb") as copy:
            for chunk in iter(lambda: stream.read(_CHUNK), b""):
                budget.spend(len(chunk))
                copy.write(chunk)
        with open(path, "rb") as copy:
            return path, digest_of_stream(copy)


class _Budget:
    """What one archive, with the archives in it, may still use up."""

    def __init__(self) -> None:
        self._members = 0
        self._total = 0
        self._member = self._claimed = 0
        self._name = ""
        self._packed: int | None = None

    def begin(self, name: str, size: int, packed: int | None) -> None:
        """Count a member. size: bytes that it claims; packed: its compressed bytes, if known."""
        self._members += 1
        if self._members > MAX_MEMBERS:
            raise _Refusal(f"more than {MAX_MEMBERS:,} members")
        self._name, self._packed = _shown(name), packed
        self._member, self._claimed = 0, size
        self._total += size
        self._check(size)

    def spend(self, size: int) -> None:
        """Count bytes that were really unpacked: a header can lie."""
        before = max(self._member, self._claimed)
        self._member += size
        self._total += max(self._member, self._claimed) - before
        self._check(self._member)

    def _check(self, member: int) -> None:
        if member > MAX_MEMBER_BYTES:
            raise _Refusal(f"{self._name}: more than {MAX_MEMBER_BYTES:,} bytes unpacked")
        if self._total > MAX_TOTAL_BYTES:
            raise _Refusal(f"more than {MAX_TOTAL_BYTES:,} bytes unpacked in all")
        is_large = self._packed is not None and member > RATIO_APPLIES_FROM
        if is_large and member > MAX_RATIO * max(self._packed, 1):
            raise _Refusal(f"{self._name}: compressed more than {MAX_RATIO} to 1")


def _stem(name: str) -> str:
    lower = name.lower()
    ending = next((e for e in (*_ZIP, *_TAR) if lower.endswith(e)), "")
    return name[: len(name) - len(ending)]


def _is_archive(name: str) -> bool:
    return name.lower().endswith((*_ZIP, *_TAR))


def _entries(archive: Path, budget: _Budget) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield (harmless path, stream) of each regular file; folders are passed over."""
    lower = archive.name.lower()
    if archive.is_dir():
        yield from _folder_entries(archive, budget)
    elif lower.endswith(_ZIP):
        yield from _zip_entries(archive, budget)
    elif lower.endswith(_TAR):
        yield from _tar_entries(archive, budget)
    elif lower.endswith(_UNKNOWN):
        raise _Refusal(f"not an archive of a known kind: {', '.join((*_ZIP, *_TAR))}")
    else:
        _refuse_unless_regular(archive.name, archive.lstat().st_mode)
        with open(archive, "rb") as stream:
            yield archive.name, stream


def _folder_entries(folder: Path, budget: _Budget) -> Iterator[tuple[str, IO[bytes]]]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode):
            continue
        _refuse_unless_regular(name, status.st_mode)
        budget.begin(name, status.st_size, None)
        with open(path, "rb") as stream:
            yield _harmless(name), stream


def _zip_entries(archive: Path, budget: _Budget) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            name = _zip_name(info)
            mode = info.external_attr >> 16
            is_folder = name.endswith(("/", "\\"))
            # Zips made on Windows have no file type in their attributes.
            if stat.S_IFMT(mode) and not is_folder:
                _refuse_unless_regular(name, mode)
            harmless = _harmless(name)
            budget.begin(harmless, 0 if is_folder else info.file_size, info.compress_size)
            if not is_folder:
                with opened.open(info) as stream:
                    yield harmless, stream


def _tar_entries(archive: Path, budget: _Budget) -> Iterator[tuple[str, IO[bytes]]]:
    packed = archive.stat().st_size
    with tarfile.open(archive) as opened:
        for info in opened:
            if not (info.isreg() or info.isdir()):
                raise _Refusal(f"{_shown(info.name)}: a link or device")
            harmless = _harmless(info.name)
            budget.begin(harmless, info.size, packed)
            if info.isreg():
                yield harmless, opened.extractfile(info)
        # tarfile stops without a word at a header that is damaged or cut off.
        opened.fileobj.seek(opened.offset)
        if opened.fileobj.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
            raise _Refusal("cut off or damaged: it does not end as a tar does")


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Return a member's name; zips that do not say so often hold UTF-8 all the same."""
    says_utf8 = info.flag_bits & 0x800
    if says_utf8:
        return info.orig_filename
    raw = info.orig_filename.encode("cp437")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return info.orig_filename


def _harmless(name: str) -> str:
    """Return a member's path with slashes and composed Unicode. Raises _Refusal if it leaves."""
    slashed = unicodedata.normalize("NFC", name.replace("\\", "/"))
    if slashed.startswith("/") or re.match(r"[A-Za-z]:", slashed):
        raise _Refusal(f"{_shown(name)}: an absolute path")
    if "\0" in slashed:
        raise _Refusal(f"{_shown(name)}: a zero byte in a path")
    parts = [part for part in slashed.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise _Refusal(f"{_shown(name)}: a path that leaves the archive")
    return "/".join(parts) or "."


def _shown(name: str) -> str:
    """Return a path for messages: printable, and no part longer than anybody reads."""
    parts = display(name).split("/")
    return "/".join(part if len(part) <= _SHOWN else f"{part[: _SHOWN - 1]}…" for part in parts)


def _refuse_unless_regular(name: str, mode: int) -> None:
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise _Refusal(f"{_shown(name)}: a link or device")
