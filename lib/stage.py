"""What a stage redoes, what it keeps, and what it removes.

Time stamps lie after unpacking, so nothing here looks at them. A stage names its products: the
files of each, the digests of all that each is computed from, and how to build it. A manifest
beside the files records both. A product is kept if its inputs are the recorded ones and its
files hold the recorded bytes; otherwise it is built again. Files of products that are no longer
named are removed.

The names go into the manifest before the files are written, so a stage that is killed knows the
next time what it may have left behind, and touches no file that it did not make.
"""

import contextlib
import fcntl
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson

from campaign import LIB, VERSION, BadInput
from files import (
    digest,
    digest_of_file,
    digest_of_values,
    json_bytes,
    temporary_path,
    write_whole,
)
from problems import Problem
from progress import progress

MANIFEST_SUFFIX = ".manifest.json"
LOCK_PREFIX = ".lock-"
# In the order in which they run, which is the order in which all processes lock them.
STAGES = (
    "references",
    "submissions",
    "info",
    "score",
    "rankings",
    "diagnostics",
    "significance",
    "ensemble",
    "breakdown",
    "results-md",
    "gt-validation",
)
_PATIENCE_SECONDS = 2.0


class Product(NamedTuple):
    """Files that are computed together.

    outputs: their names within the stage's folder. inputs: {name: digest or setting} of all
    that decides their bytes, other than the code. build: returns {output name: bytes}.
    """

    outputs: list[str]
    inputs: dict[str, str | None]
    build: Callable[[], dict[str, bytes]]


class Outcome(NamedTuple):
    """Names of the products that were built again and of those that were removed."""

    built: list[str]
    removed: list[str]

    def summary(self, done: str) -> str:
        """Return what was done, for the closing line of a script: ``3 scored, 1 removed``."""
        return f"{len(self.built)} {done}, {len(self.removed)} removed"


class Stale(Exception):
    """Something needs to be done, found where only a check was asked for."""


class Stage:
    """One stage's folder and its manifest ``<name>.manifest.json``."""

    def __init__(self, name: str, folder: Path, manifest_folder: Path | None = None) -> None:
        self.folder = folder
        self._name = name
        self._manifest_path = (manifest_folder or folder) / f"{name}{MANIFEST_SUFFIX}"
        self._place = os.path.relpath(folder, self._manifest_path.parent)
        place, recorded = _read_manifest(self._manifest_path)
        # What was made for another folder says nothing about this one.
        self._recorded = recorded if place == self._place else {}

    def files(self) -> list[tuple[str, str]]:
        """Return (file name, SHA-256) of all finished outputs in the manifest, in order of name."""
        return sorted(
            output
            for record in self._recorded.values()
            for output in record["outputs"].items()
            if output[1]
        )

    def inputs(self, name: str) -> dict[str, str | None]:
        """Return the recorded value of one input of each product, by the product's name."""
        return {product: record["inputs"].get(name) for product, record in self._recorded.items()}

    def unfinished(self) -> list[str]:
        """Return the outputs that a killed stage announced and did not come to write."""
        return sorted(
            output
            for record in self._recorded.values()
            for output, recorded_digest in record["outputs"].items()
            if recorded_digest is None
        )

    def altered(self) -> list[str]:
        """Return the finished outputs that are there with other content than was written."""
        return [
            output
            for output, recorded_digest in self.files()
            if (self.folder / output).is_file() and not self._holds(output, recorded_digest)
        ]

    def intact(self) -> dict[str, bytes]:
        """Return the content of each output that still is what this stage wrote, by file name."""
        contents = {}
        for output, recorded_digest in self.files():
            with contextlib.suppress(OSError):
                data = (self.folder / output).read_bytes()
                if digest(data) == recorded_digest:
                    contents[output] = data
        return contents

    def contents(self, what: str, target: str) -> dict[str, bytes]:
        """Return the content of each output by file name, for the stages after this one.

        what: what the outputs are. target: the make target that writes them. Raises BadInput if
        there are none, or if one is missing or is not what this stage wrote.
        """
        intact = self.intact()
        announced = {output for record in self._recorded.values() for output in record["outputs"]}
        wrong = sorted(announced - intact.keys())
        if wrong or not announced:
            found = "no such file, or not the one that was written" if wrong else f"no {what}"
            places = [str(self.folder / output) for output in wrong] or [str(self.folder)]
            expected, action = "what an earlier stage writes", f"run make {target}"
            raise BadInput([Problem(place, None, "", found, expected, action) for place in places])
        return intact

    def remove(self) -> list[str]:
        """Remove all outputs and the manifest; return the outputs that were removed.

        A file that is not what the stage wrote stays, unless the stage was killed at it.
        """
        self._remove_temporary_files()
        there = []
        for record in self._recorded.values():
            for output, recorded_digest in record["outputs"].items():
                path = self.folder / output
                if path.is_file() and (
                    recorded_digest is None or self._holds(output, recorded_digest)
                ):
                    path.unlink()
                    there.append(output)
        self._manifest_path.unlink(missing_ok=True)
        return there

    def refresh(
        self,
        products: dict[str, Product],
        code: str,
        *,
        only_these: bool = True,
        only_check: bool = False,
    ) -> Outcome:
        """Bring the folder up to date with the products, by name, and say what was done.

        code: digest of the code that builds them. only_these: whether products that are not
        named are to be removed; False for a caller that was asked for some of many. only_check:
        write nothing, and raise Stale if there is something to do. Raises OSError where the
        folder cannot be written.
        """
        wanted = {
            name: {"inputs": {**product.inputs, "code": code}, "outputs": product.outputs}
            for name, product in products.items()
        }
        stale = [name for name, record in wanted.items() if not self._is_current(name, record)]
        gone = sorted(self._recorded.keys() - products.keys()) if only_these else []
        if only_check and (stale or gone):
            raise Stale(", ".join(stale + gone))
        self._remove_temporary_files()
        if not stale and not gone:
            return Outcome([], [])
        leftovers = self._announce(wanted, stale, gone)
        for name in progress(stale, self._name):
            built = products[name].build()
            self._recorded[name]["outputs"] = {
                output: self._write(output, built[output]) for output in products[name].outputs
            }
        for output in leftovers:
            (self.folder / output).unlink(missing_ok=True)
        for name in gone:
            del self._recorded[name]
        self._write_manifest()
        return Outcome(stale, gone)

    def _remove_temporary_files(self) -> None:
        """Remove what an interrupted write may have left of the files in the manifest."""
        outputs = [output for record in self._recorded.values() for output in record["outputs"]]
        for path in (self._manifest_path, *(self.folder / output for output in outputs)):
            temporary_path(path).unlink(missing_ok=True)

    def _announce(self, wanted: dict, stale: list[str], gone: list[str]) -> set[str]:
        """Record what is about to be written; return files that nothing will need after."""
        before = {output for record in self._recorded.values() for output in record["outputs"]}
        for name in stale:
            earlier = self._recorded.get(name, {"outputs": {}})["outputs"]
            names = {*wanted[name]["outputs"], *earlier}
            self._recorded[name] = {
                "inputs": wanted[name]["inputs"],
                "outputs": dict.fromkeys(sorted(names)),
            }
        self._write_manifest()
        needed = {
            output
            for name, record in self._recorded.items()
            if name not in gone
            for output in (wanted[name]["outputs"] if name in wanted else record["outputs"])
        }
        return before - needed

    def _is_current(self, name: str, wanted: dict) -> bool:
        recorded = self._recorded.get(name)
        if recorded is None or recorded["inputs"] != wanted["inputs"]:
            return False
        if recorded["outputs"].keys() != set(wanted["outputs"]):
            return False
        return all(
            self._holds(output, recorded_digest)
            for output, recorded_digest in recorded["outputs"].items()
        )

    def _holds(self, output: str, recorded_digest: str | None) -> bool:
        try:
            return digest_of_file(self.folder / output) == recorded_digest
        except OSError:
            return False

    def _write(self, output: str, data: bytes) -> str:
        content_digest = digest(data)
        if not self._holds(output, content_digest):
            write_whole(self.folder / output, data)
        return content_digest

    def _write_manifest(self) -> None:
        products = dict(sorted(self._recorded.items()))
        manifest = {"folder": self._place, "products": products}
        write_whole(self._manifest_path, json_bytes(manifest))


def stages_in(folder: Path) -> list[Stage]:
    """Return the stages whose manifests lie in a folder, each with the folder that it writes."""
    stages = []
    for path in sorted(folder.glob(f"*{MANIFEST_SUFFIX}")):
        place, _ = _read_manifest(path)
        name = path.name.removesuffix(MANIFEST_SUFFIX)
        stages.append(Stage(name, Path(os.path.normpath(folder / place)), folder))
    return stages


def _read_manifest(path: Path) -> tuple[str, dict[str, dict]]:
    """Return the folder and the products of a manifest; no products if it cannot be read."""
    try:
        manifest = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return ".", {}
    try:
        place, products = manifest["folder"], manifest["products"]
        are_ours = all(isinstance(product["outputs"], dict) for product in products.values())
    except (TypeError, KeyError, AttributeError):
        return ".", {}
    return (place, products) if are_ours else (".", {})


def code_digest(script: str) -> str:
    """Return a digest of a script of lib/ with the project's modules that it stands on.

    script: its ``__file__``. The modules are those that it imports, directly or through others,
    at the beginning of a line; the release number counts as code, too.
    """
    sources: dict[str, bytes] = {}
    waiting = [Path(script).stem]
    while waiting:
        module = waiting.pop()
        path = LIB / f"{module}.py"
        if module not in sources and path.is_file():
            sources[module] = path.read_bytes()
            waiting += [name.decode() for name in _IMPORT.findall(sources[module])]
    return digest_of_values(
        [VERSION, sorted((name, digest(code)) for name, code in sources.items())]
    )


_IMPORT = re.compile(rb"^(?:import|from) (\w+)", re.MULTILINE)


@contextlib.contextmanager
def holding(results: Path, writes: str, reads: Sequence[str] = ()) -> Iterator[None]:
    """Hold the folder of one stage for writing and those of earlier stages for reading.

    Another make that works in the same results folder waits meanwhile, and says so after a
    while. writes, reads: names of stages, reads in the order in which the stages run: all
    processes lock in that order, so that they cannot wait for each other in a circle. A lock
    goes with its process, however that ends. Raises OSError if the folder cannot be made.
    """
    results.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        for stage in (*reads, writes):
            kind = fcntl.LOCK_EX if stage == writes else fcntl.LOCK_SH
            stack.callback(os.close, _locked(results / f"{LOCK_PREFIX}{stage}", kind))
        yield


def _locked(path: Path, kind: int) -> int:
    """Return the descriptor of a lock file that is held and still has its name."""
    while True:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
        _wait_for(descriptor, kind, path.parent)
        try:
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
        # lib/clean.py removed the file while this process waited for it.
        os.close(descriptor)


def _wait_for(descriptor: int, kind: int, results: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not _lock(descriptor, kind):
        if time.monotonic() > deadline:
            # Not to sys.stderr, which lib/current.py silences.
            print(f"{results} is in use by another make; waiting for it", file=sys.__stderr__)
            fcntl.flock(descriptor, kind)
            return
        time.sleep(0.01)


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
