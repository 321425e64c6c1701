"""The data repository (DATA_REPO): schema, loading, imputation and flattening of this task.

The modules ``check_jsonlschema`` and ``evaluation_utils`` are imported from its scripts folder.
The official HIPE-2026-data can stand there instead of ours; it prints where ours returns values,
which is taken care of here, so that the other scripts need not know which one they use.
"""

import contextlib
import importlib
import io
import sys
from pathlib import Path
from typing import Any

from campaign import BadInput
from files import digest, digest_of_file, digest_of_values
from problems import WARNING, Problem, plural, quote
from strict_json import Line, kind_of

DEFAULT_DATA_REPO = Path(__file__).parent.parent / "HIPE-2026-data"
_MODULES = ("check_jsonlschema", "evaluation_utils")


def require_digest(file: str, data: bytes, expected: str) -> None:
    """Raise BadInput if a file is no longer what an earlier stage took it for."""
    if digest(data) != expected:
        found = "other content than when it was validated"
        raise BadInput([Problem(file, None, "", found, "the same", "run make again")])


class DataRepo:
    """The modules and the schema of one data repository."""

    def __init__(self, folder: Path, schema: str) -> None:
        """Find the repository; its modules are imported when they are first used.

        folder: the checkout. schema: path of the JSON Schema within it.
        Raises BadInput where a part is missing.
        """
        self._folder = folder
        self._schema_path = folder / schema
        sources = [folder / "scripts" / f"{module}.py" for module in _MODULES]
        missing = [path for path in [*sources, self._schema_path] if not path.is_file()]
        if missing:
            raise BadInput(
                [
                    Problem(
                        str(path),
                        None,
                        "",
                        "no such file",
                        "a checkout of the data repository",
                        "set DATA_REPO to one, or restore HIPE-2026-data",
                    )
                    for path in missing
                ]
            )
        paths = [*sources, self._schema_path]
        self.digest = digest_of_values([digest_of_file(path) for path in paths])
        self._validator: Any = None

    def check(self, file: str, path: Path, lines: list[Line]) -> list[Problem]:
        """Return what the schema finds wrong in documents that could be read.

        file: the name that problems speak of. path: the file itself. lines: its documents.
        """
        module = self._module("check_jsonlschema")
        if not hasattr(module, "DocumentValidator"):
            return self._check_with_official(module, file, path)
        if self._validator is None:
            self._validator = module.DocumentValidator(module.load_schema(self._schema_path))
        problems = []
        for line in lines:
            for fault in self._validator.faults(line.value):
                found = "nothing" if fault.found is module.MISSING else kind_of(fault.found)
                expected, action = fault.expected, ""
                if expected == module.NO_DETAIL:
                    expected, action = "what the schema accepts", module.NO_DETAIL
                problems.append(Problem(file, line.number, fault.path, found, expected, action))
        return problems

    def oddities(self, file: str, line: Line) -> list[Problem]:
        """Return warnings about a valid document: what is allowed but hardly meant."""
        module = self._module("check_jsonlschema")
        if not hasattr(module, "document_warnings"):
            return []
        return [
            Problem(file, line.number, odd.path, quote(odd.found), odd.expected, "", WARNING)
            for odd in module.document_warnings(line.value)
        ]

    def load(self, path: Path, expected_digest: str) -> dict[str, dict[str, Any]]:
        """Return {document id: document}, its pairs as a dict whose keys stay opaque.

        expected_digest: SHA-256 that the file had when it was validated. Raises BadInput if
        it has another one by now.
        """
        documents = self._quietly("load_jsonl_to_reshaped_dict", path)
        # Only a digest taken after loading speaks of what was loaded.
        require_digest(path.name, path.read_bytes(), expected_digest)
        return documents

    def impute(self, gold: dict, run: dict) -> dict:
        """Return the run with every document and pair of the gold, missing ones as FALSE."""
        return self._quietly("impute_missing_submission_data", gold, run)

    def flatten(self, gold: dict, run: dict) -> dict[str, dict[str, list[str | None]]]:
        """Return {target: {"gold": labels, "pred": labels}} over the pairs of the gold."""
        return self._quietly("flatten_predictions", gold, run)

    def _check_with_official(self, module: Any, file: str, path: Path) -> list[Problem]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            errors = module.validate_jsonl_file(path, module.load_schema(str(self._schema_path)))
        if not errors:
            return []
        lines = [line.strip() for line in said.getvalue().splitlines() if line.strip()]
        return [
            Problem(file, None, "", line, f"a file that {self._schema_path.name} accepts", "")
            for line in lines or [plural(errors, "schema error")]
        ]

    def _quietly(self, function: str, *arguments: Any) -> Any:
        module = self._module("evaluation_utils")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return getattr(module, function)(*arguments)

    def _module(self, name: str) -> Any:
        scripts = str(self._folder / "scripts")
        if scripts not in sys.path:
            sys.path.insert(0, scripts)
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            package = {"sklearn": "scikit-learn"}.get(error.name, error.name)
            raise BadInput(
                [
                    Problem(
                        f"{self._folder}/scripts/{name}.py",
                        None,
                        "",
                        f"no package {quote(package)}, which this data repository imports",
                        "it to be installed",
                        f"run: {Path(sys.executable).name} -m pip install {package}",
                    )
                ]
            ) from None
