"""Remove what the stages wrote, and nothing else.

Reads   the manifests in the given folders
Writes  nothing; removes the files that the manifests name and what an interrupted stage left of
        them, the manifests, locks, and folders that are empty after that
Exits   0, 1 if a file cannot be removed, 2 for wrong usage
"""

import argparse
import contextlib
from pathlib import Path

import cli
from stage import LOCK_PREFIX, STAGES, holding, stages_in


def clean_folder(folder: Path) -> int:
    """Remove the outputs of the stages that have a manifest in a folder; return how many."""
    removed = sum(len(stage.remove()) for stage in stages_in(folder))
    remove_if_empty(folder)
    return removed


def remove_if_empty(folder: Path) -> None:
    """Remove a folder that holds nothing."""
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def main(arguments: argparse.Namespace) -> int:
    """Clean the folders of all stages, wherever their outputs lie; return the exit status."""
    results = arguments.results_dir
    folders = [arguments.per_run_dir, arguments.rankings_dir]
    folders += [arguments.diagnostics_dir, arguments.gt_validation_dir]
    folders += [arguments.significance_dir, arguments.ensemble_dir, arguments.breakdown_dir]
    if not results.is_dir():
        print("clean: 0 files removed")
        return cli.EXIT_OK
    with contextlib.ExitStack() as locks:
        for stage in STAGES:
            locks.enter_context(holding(results, stage))
        removed = sum(
            clean_folder(folder) for folder in (results / "validation", *folders, results)
        )
        for lock in results.glob(f"{LOCK_PREFIX}*"):
            lock.unlink()
    remove_if_empty(results)
    print(f"clean: {removed} files removed")
    return cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    return cli.parser_for(
        __doc__,
        "--results-dir",
        "--per-run-dir",
        "--rankings-dir",
        "--diagnostics-dir",
        "--significance-dir",
        "--ensemble-dir",
        "--breakdown-dir",
        "--gt-validation-dir",
    )


if __name__ == "__main__":
    cli.run(command_line(), main)
