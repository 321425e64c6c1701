"""A small campaign to break: documents, files, scripts and make, for the tests.

The base campaign is two invented German documents (reference G) with nine pairs, its English and
French clones, and one surprise document. ``at`` of G has three TRUE, PROBABLE and FALSE each;
``isAt`` has three TRUE and six FALSE. A run that copies G scores 1 throughout.
"""

import argparse
import copy
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import cli

PROJECT = Path(__file__).parent.parent
SHARED = PROJECT.parent / "shared" / "hipe-2026"
DE = "HIPE-2026-v1.0-impresso-test-de"
EN = "HIPE-2026-v1.0-impresso-test-en"
FR = "HIPE-2026-v1.0-impresso-test-fr"
SURPRISE = "HIPE-2026-v1.0-surprise-test-fr"
INFO = {
    "hipe_parameter_count": 1000,
    "team_parameter_count": 1000,
    "hipe_model_size": 10,
    "team_model_size": 10,
}
Document = dict[str, Any]


def pair(person: str, place: str, at: str | None, is_at: str | None) -> dict[str, Any]:
    """Return one pair of a document."""
    return {
        "pers_entity_id": person,
        "pers_wikidata_QID": None,
        "pers_mentions_list": [f"Herr {person}"],
        "loc_entity_id": place,
        "loc_wikidata_QID": "Q72",
        "loc_mentions_list": [f"Ort {place}"],
        "at": at,
        "isAt": is_at,
    }


def document(name: str, date: str | None, pairs: list[dict], language: str = "de") -> Document:
    """Return one document."""
    return {
        "document_id": name,
        "media": {
            "publication_title": "Der Bote",
            "time_period": "1840-1910",
            "source_type": "Newspaper",
        },
        "source": "bote.tsv",
        "language": language,
        "date": date,
        "text": "Herr p1 reiste gestern nach Ort l1. Dort traf er Herrn p2.",
        "sampled_pairs": pairs,
    }


def gold(language: str = "de") -> list[Document]:
    """Return reference G, or its clone in another language, whose ids begin with that language."""
    return [
        document(
            f"{language}-doc-1",
            "1848-03-02",
            [
                pair("p1", "l1", "TRUE", "TRUE"),
                pair("p1", "l2", "TRUE", "FALSE"),
                pair("p2", "l1", "PROBABLE", "FALSE"),
                pair("p2", "l2", "FALSE", "FALSE"),
                pair("p3", "l1", "PROBABLE", "TRUE"),
            ],
            language,
        ),
        document(
            f"{language}-doc-2",
            "1901",
            [
                pair("q1", "m1", "TRUE", "TRUE"),
                pair("q1", "m2", "FALSE", "FALSE"),
                pair("q2", "m1", "PROBABLE", "FALSE"),
                pair("q2", "m2", "FALSE", "FALSE"),
            ],
            language,
        ),
    ]


def surprise() -> list[Document]:
    """Return the surprise reference S: one document, isAt FALSE throughout."""
    labels = ["TRUE", "PROBABLE", "FALSE", "FALSE"]
    pairs = [pair(f"s{n}", "x1", label, "FALSE") for n, label in enumerate(labels)]
    return [document("fr-livre-1", "1756", pairs, "fr")]


GOLDS = {DE: gold("de"), EN: gold("en"), FR: gold("fr"), SURPRISE: surprise()}


def perfect(stem: str = DE) -> list[Document]:
    """Return a copy of a base reference, to be used as a run or changed."""
    return copy.deepcopy(GOLDS[stem])


def find_pair(documents: list[Document], person: str, place: str) -> dict[str, Any]:
    """Return the pair of two entity ids, to be changed in place."""
    return next(
        one
        for each in documents
        for one in each["sampled_pairs"]
        if (one["pers_entity_id"], one["loc_entity_id"]) == (person, place)
    )


def as_jsonl(documents: list[Document]) -> bytes:
    """Return documents as JSON Lines."""
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in documents).encode()


class Done(NamedTuple):
    """How a script or make ended: exit status, standard output and standard error."""

    status: int
    out: str
    err: str

    @property
    def problems(self) -> list[str]:
        """Return the lines that name an error or a warning."""
        return [line for line in self.err.splitlines() if line.startswith(("error", "warning"))]

    @property
    def errors(self) -> list[str]:
        """Return the lines that name an error."""
        return [line for line in self.err.splitlines() if line.startswith("error")]


class Campaign:
    """A campaign in a folder of its own, with the scripts and make to run on it."""

    def __init__(self, folder: Path, capture: Callable[[], tuple[str, str]]) -> None:
        self.folder = folder
        self.references = folder / "reference"
        self.systems = folder / "systems"
        self.results = folder / "results.d"
        self.page = folder / "results.md"
        self.config = PROJECT / "lib" / "competition_config.json"
        self.teams = PROJECT / "lib" / "teams.json"
        self.data_repo = PROJECT / "HIPE-2026-data"
        self.mode = "TERNARY"
        self.ties = "competition"
        self.skip_invalid = False
        self._capture = capture
        self.references.mkdir()
        self.systems.mkdir()

    def reference(self, stem: str = DE, documents: list[Document] | None = None) -> Path:
        """Write a gold file, a base one by default, and return its path."""
        path = self.references / f"{stem}.jsonl"
        path.write_bytes(as_jsonl(perfect(stem) if documents is None else documents))
        return path

    def run(
        self,
        documents: list[Document] | bytes | None = None,
        *,
        team: str = "team1",
        stem: str = DE,
        number: int = 1,
        info: dict | bytes | None = INFO,
    ) -> Path:
        """Write a run (a perfect one by default) and its info file; return the run's path.

        documents may be the bytes of the file. info None writes no info file.
        """
        path = self.systems / f"{team}_{stem}_run{number}.jsonl"
        documents = perfect(stem) if documents is None else documents
        path.write_bytes(documents if isinstance(documents, bytes) else as_jsonl(documents))
        if info is not None:
            data = info if isinstance(info, bytes) else json.dumps(info).encode()
            path.with_name(f"{path.stem}-info.json").write_bytes(data)
        return path

    def script(self, name: str, *words: str) -> Done:
        """Run a script of lib/ in this process with the campaign's folders and settings."""
        module = importlib.import_module(name)
        parser: argparse.ArgumentParser = module.command_line()
        values = {
            "--reference-dir": self.references,
            "--submissions-dir": self.systems,
            "--results-dir": self.results,
            "--results-md": self.page,
            "--data-repo": self.data_repo,
            "--config": self.config,
            "--teams": self.teams,
            "--at-label-mode": self.mode,
            "--ties": self.ties,
        }
        known = {option for action in parser._actions for option in action.option_strings}
        line = [word for flag, v in values.items() if flag in known for word in (flag, str(v))]
        if self.skip_invalid and "--skip-invalid" in known:
            line.append("--skip-invalid")
        self._capture()
        try:
            cli.run(parser, module.main, [*words, *line])
        except SystemExit as end:
            return Done(int(end.code or 0), *self._capture())
        raise AssertionError("a script must leave with a status")

    def validate_references(self) -> Done:
        """Run make's validate-reference by itself."""
        return self.script("validate_jsonl", "references")

    def validate(self) -> Done:
        """Validate the references, which must pass, and then the runs."""
        done = self.validate_references()
        assert done.status == 0, done.err
        return self.script("validate_jsonl", "submissions")

    def validate_info(self) -> Done:
        """Validate the references, which must pass, and then the info files."""
        done = self.validate_references()
        assert done.status == 0, done.err
        return self.script("validate_info")

    def evaluate(self) -> list[Done]:
        """Run all stages, each of which must succeed; return how they ended."""
        stages = [
            ("validate_jsonl", "references"),
            ("validate_jsonl", "submissions"),
            ("validate_info",),
            ("score_one",),
            ("build_rankings",),
            ("build_diagnostics",),
            ("build_results_md",),
        ]
        ended = []
        for stage in stages:
            ended.append(self.script(*stage))
            assert ended[-1].status == 0, ended[-1].err
        return ended

    def infer(self) -> list[Done]:
        """Run the stages of make significance on an evaluation; each must succeed."""
        ended = []
        for stage in ("build_significance", "build_ensemble", "build_breakdown"):
            ended.append(self.script(stage))
            assert ended[-1].status == 0, ended[-1].err
        return ended

    def score(self, team: str = "team1", stem: str = DE, number: int = 1) -> dict[str, Any]:
        """Return the per-run JSON of a run."""
        return self.json(f"per-run/{team}_{stem}_run{number}.json")

    def json(self, path: str) -> Any:
        """Return the content of a JSON file in the results folder."""
        return json.loads((self.results / path).read_text("utf-8"))

    def ranking(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a ranking, e.g. "overall-test-a", as text."""
        text = (self.results / "system-rankings" / f"ranking-{name}.tsv").read_text("utf-8")
        header, *rows = [line.split("\t") for line in text.splitlines()]
        return [dict(zip(header, row, strict=True)) for row in rows]

    def make(self, *words: str, **environment: str) -> Done:
        """Run make on the campaign in a process of its own; variables can be given as words."""
        variables = {
            "REFERENCE_DIR": self.references,
            "SUBMISSIONS_DIR": self.systems,
            "RESULTS_DIR": self.results,
            "RESULTS_MD": self.page,
            "TEAMS": self.teams,
            "CONFIG": self.config,
            "DATA_REPO": self.data_repo,
            "PYTHON": sys.executable,
        }
        given = [f"{name}={value}" for name, value in variables.items()]
        ended = subprocess.run(
            ["make", *given, *words],
            cwd=PROJECT,
            env=make_environment(**environment),
            capture_output=True,
            text=True,
            check=False,
        )
        return Done(ended.returncode, ended.stdout, ended.stderr)

    def tree(self) -> dict[str, bytes]:
        """Return all results and the page: {path: content}, locks apart."""
        files = {
            str(path.relative_to(self.results)): path.read_bytes()
            for path in sorted(self.results.rglob("*"))
            if path.is_file() and not path.name.startswith(".lock")
        }
        if self.page.exists():
            files["(page)"] = self.page.read_bytes()
        return files


def make_environment(**changes: str) -> dict[str, str]:
    """Return the environment for a make that does not belong to one that runs the tests."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    return {**{key: value for key, value in kept.items() if key != "MFLAGS"}, **changes}
