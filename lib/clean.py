"""Remove what the stages wrote, and nothing else.

Reads   the manifests in the given folders
Writes  nothing; removes the files that the manifests name and what an interrupted stage left of
        them, the manifests, locks, and folders that are empty after that
Exits   0, 1 if a file cannot be removed, 2 for wrong usage
"""

import argparse
from pathlib import Path

import cli
from stage import LOCK_PREFIX, MANIFEST_SUFFIX, Stage


def clean_folder(folder: Path) -> int:
    """Remove the outputs of the stages that have a manifest in a folder; return how many."""
    if not folder.is_dir():
        return 0
    removed = 0
    for manifest in sorted(folder.glob(f"*{MANIFEST_SUFFIX}")):
        removed += len(Stage(manifest.name.removesuffix(MANIFEST_SUFFIX), folder).remove())
    for lock in folder.glob(f"{LOCK_PREFIX}*"):
        lock.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
    return removed


def clean_page(page: Path, results: Path) -> int:
    """Remove the results page if its manifest names it; return how many files that were."""
    stage = Stage("results-md", page.parent, manifest_folder=results)
    if page.name in dict(stage.files()):
        return len(stage.remove())
    (results / f"results-md{MANIFEST_SUFFIX}").unlink(missing_ok=True)
    return 0


def main(arguments: argparse.Namespace) -> int:
    """Clean the folders of all stages and remove the results page; return the exit status."""
    results = arguments.results_dir
    removed = clean_page(arguments.results_md, results)
    folders = [arguments.per_run_dir, arguments.rankings_dir, arguments.diagnostics_dir]
    for folder in (results / "validation", *folders, results):
        removed += clean_folder(folder)
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
        "--results-md",
    )


if __name__ == "__main__":
    cli.run(command_line(), main)
