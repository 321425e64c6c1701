"""Archives as participants send them, and as nobody should.

Members are (name, content) in order, or a dict of them. A name of bytes is stored as it is, as
programs do that know nothing of Unicode. A content may be a Special: a link, a device or a pipe.
"""

import gzip
import io
import os
import stat
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Special(NamedTuple):
    """A member that is no regular file: its type in tar's terms, and what a link points to."""

    kind: bytes
    target: str = ""


SYMLINK, HARD_LINK = tarfile.SYMTYPE, tarfile.LNKTYPE
Content = bytes | Special
Members = dict[str | bytes, Content] | Iterable[tuple[str | bytes, Content]]
DOS_EPOCH = (1980, 1, 1, 0, 0, 0)
APPLE_DOUBLE = b"\x00\x05\x16\x07" + bytes(80)
# What lies beside the runs and is none.
DECOYS = {
    ".DS_Store": b"\0\0\0\1Bud1",
    "README.md": "# Läufe\nSee code/.\n".encode(),
    "code/train.py": b"print('run1')\n",
    "code/requirements.txt": b"torch\n",
    "code/.git/HEAD": b"ref: refs/heads/run1\n",
    "code/config.json": b'{"run": 1}',
}


def _in_order(members: Members) -> list[tuple[str | bytes, Content]]:
    return list(members.items() if isinstance(members, dict) else members)


def pack(path: Path, members: Members) -> Path:
    """Write members as what the name of the path says: zip, tarball or folder."""
    if path.name.lower().endswith(".zip"):
        return zipped(path, members)
    if path.name.lower().endswith((".tar", ".tar.gz", ".tgz")):
        return tarred(path, members)
    return laid_out(path, members)


def packed(name: str, members: Members, scratch: Path) -> bytes:
    """Return the bytes of an archive, to be a member of another one."""
    return pack(scratch / name, members).read_bytes()


class _RawName(zipfile.ZipInfo):
    """A member whose name is stored as it is, without saying in which encoding."""

    raw = b""

    def _encodeFilenameFlags(self):  # noqa: N802  (zipfile calls it so)
        return self.raw, self.flag_bits & ~0x800


def zipped(
    path: Path,
    members: Members,
    date: tuple[int, ...] = (2026, 5, 20, 12, 0, 0),
    method: int = zipfile.ZIP_DEFLATED,
) -> Path:
    """Write a zip. A name that ends with a slash is a folder."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in _in_order(members):
            if isinstance(name, bytes):
                info = _RawName(f"raw {len(archive.filelist)}", date)
                info.raw = name
            else:
                info = zipfile.ZipInfo("", date)
                info.filename = name  # the constructor would cut it at a zero byte
            is_link = isinstance(content, Special)
            is_folder = name[-1:] in ("/", b"/")
            kind = stat.S_IFLNK if is_link else stat.S_IFDIR if is_folder else stat.S_IFREG
            info.external_attr = (kind | 0o755) << 16
            archive.writestr(info, content.target if is_link else content, method)
    return path


def tarred(path: Path, members: Members) -> Path:
    """Write a tar, compressed unless its name ends with .tar."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in _in_order(members):
            info = tarfile.TarInfo(os.fsdecode(name))
            info.mtime = 1_779_280_000
            if isinstance(content, Special):
                info.type, info.linkname = content
                archive.addfile(info)
            elif info.name.endswith("/"):
                info.type = tarfile.DIRTYPE
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    data = buffer.getvalue()
    return gzipped(path, data) if path.suffix.lower() != ".tar" else written(path, data)


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def gzipped(path: Path, data: bytes) -> Path:
    """Write bytes through gzip, the same bytes on every day."""
    return written(path, gzip.compress(data, 1, mtime=0))


def laid_out(path: Path, members: Members) -> Path:
    """Write a plain folder."""
    path.mkdir()
    for name, content in _in_order(members):
        inner = path / os.fsdecode(name)
        inner.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, Special):
            inner.write_bytes(content)
        elif content.kind == SYMLINK:
            inner.symlink_to(content.target)
        else:
            os.mkfifo(inner)
    return path


def with_shadows(members: dict[str, bytes]) -> dict[str, bytes]:
    """Return members as macOS zips them: a shadow beside each."""
    shadows = {}
    for name in members:
        folder, slash, file = name.rpartition("/")
        shadows[f"__MACOSX/{folder}{slash}._{file}"] = APPLE_DOUBLE
    return members | shadows


def with_decoys(members: dict[str, bytes]) -> dict[str, bytes]:
    """Return members with what else lies about in a folder, and macOS's shadows."""
    return with_shadows(members | DECOYS)


# The shapes of the real campaign's archives. A shape makes the name and the members of a team's
# archive. alias: how the team calls itself. runs: {(reference stem, number): content}.

Runs = dict[tuple[str, int], bytes]


def _masked(stem: str) -> str:
    before, language = stem.rsplit("-", maxsplit=1)
    return f"{before}_masked-{language}"


def team_and_run_folders(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    members = {f"{alias}/run{n}/{stem}.jsonl": data for (stem, n), data in runs.items()}
    told = {f"{alias}/run{n}/info.json": b'{"parameter_count": "%d B"}' % n for _, n in runs}
    return "submission.zip", with_decoys(members) | told


def run_results_folders(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    members = {f"run_{n}_results/{stem}.jsonl": data for (stem, n), data in runs.items()}
    return f"{alias}.zip", with_decoys(members)


def run_results_folders_without_underscore(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    members = {f"all/run{n}_results/{stem}.jsonl": data for (stem, n), data in runs.items()}
    return f"{alias}.tgz", members | DECOYS


def team_and_run_in_a_folder_name(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    folder = f"{alias}_HIPE-2026-v1.0-test-de_en_fr_surprisefr_run"
    members = {f"{folder}{n}/{stem}.jsonl": data for (stem, n), data in runs.items()}
    return "hipe results.zip", with_decoys(members)


def official_names(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    members = {f"{alias}_{stem}_run{n}.jsonl": data for (stem, n), data in runs.items()}
    return "runs.zip", with_decoys(members)


def official_names_as_folders(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    members = {f"{alias}_{stem}_run{n}/predictions.jsonl": d for (stem, n), d in runs.items()}
    return "predictions.tar.gz", members | DECOYS


def reference_names_as_folders(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    members = {f"Run {n}/{stem}/predictions.jsonl": data for (stem, n), data in runs.items()}
    return f"{alias} (final).zip", with_decoys(members)


def masked_names(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    members = {f"{alias}_{_masked(stem)}_run{n}.jsonl": d for (stem, n), d in runs.items()}
    return "out.zip", with_decoys(members)


def upper_case_endings(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    members = {f"RUN{n}/{stem}.JSONL": data for (stem, n), data in runs.items()}
    return f"{alias.upper()}.ZIP", members | {"Thumbs.db": b"\xd0\xcf", "desktop.ini": b"[x]\r\n"}


def back_slashes(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    members = {f"{alias}\\run{n}\\{stem}.jsonl": data for (stem, n), data in runs.items()}
    return "windows.zip", members | {"Thumbs.db": b"\xd0\xcf", f"{alias}\\code\\x.py": b"1"}


def dos_names(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    folder = alias.encode("cp437")
    members = {folder + f"/run{n}/{stem}.jsonl".encode(): d for (stem, n), d in runs.items()}
    return "Archiv.zip", members | DECOYS


def latin_1_names(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    folder = "Ergebnisse für HIPE".encode("latin-1")
    members = {folder + f"/run{n}/{stem}.jsonl".encode(): d for (stem, n), d in runs.items()}
    return f"{alias}.tar.gz", members | DECOYS


def decomposed_names(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    folder = unicodedata.normalize("NFD", alias)
    members = {f"{folder}/run-{n}/{stem}.jsonl": data for (stem, n), data in runs.items()}
    return "Mac.zip", with_decoys(members)


def zips_in_a_zip(alias: str, runs: Runs, scratch: Path) -> tuple[str, Members]:
    inner = {}
    for number in sorted({n for _, n in runs}):
        own = {f"{stem}.jsonl": data for (stem, n), data in runs.items() if n == number}
        inner[f"run{number}.zip"] = packed(f"run{number}.zip", with_decoys(own), scratch)
    return f"{alias}.zip", inner | DECOYS


def plain_folder(alias: str, runs: Runs, _: Path) -> tuple[str, Members]:
    members = {f"run{n}/out/{stem}.jsonl": data for (stem, n), data in runs.items()}
    return alias, with_decoys(members)


SHAPES = [
    team_and_run_folders,
    run_results_folders,
    run_results_folders_without_underscore,
    team_and_run_in_a_folder_name,
    official_names,
    official_names_as_folders,
    reference_names_as_folders,
    masked_names,
    upper_case_endings,
    back_slashes,
    dos_names,
    latin_1_names,
    decomposed_names,
    zips_in_a_zip,
    plain_folder,
]
# How the teams of these shapes call themselves, in the same order.
ALIASES = [
    "Gazetteers",
    "Les Colporteurs",
    "almanac",
    "Cedar-Fork",
    "team5",
    "team6",
    "Small Type",
    "Q&A @ Home",
    "valbrume",
    "Müller & Söhne",
    "Café Zürich",
    "TÜ Lab",
    "Éditions d'Été",
    "nested_team",
    "L'Œuvre & C° @ Liège",
]


def send(folder: Path, runs_of: dict[str, Runs], scratch: Path) -> dict[str, str]:
    """Write 16 archives with the runs of at least 16 teams; return {team id: alias}.

    Each of the first teams has a shape of its own. What is left shares the last archive.
    """
    teams = list(runs_of)
    alias_of = dict(zip(teams, ALIASES, strict=False))
    for shape, team in zip(SHAPES, teams, strict=False):
        name, members = shape(alias_of[team], runs_of[team], scratch)
        pack(folder / name, members)
    others = {}
    for team in teams[len(SHAPES) :]:
        for (stem, number), data in runs_of[team].items():
            others[f"{team}/results/results/{team}_{stem}_run{number}.jsonl"] = data
    pack(folder / "by mail.tar.gz", with_decoys(others))
    return alias_of
