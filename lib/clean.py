"""Remove what the stages wrote, and nothing else.

Reads   the manifests in the given folders
Writes  nothing; removes the files that the manifests name, the manifests, temporary files of an
        interrupted stage, and folders that are empty after that
Exits   0, 1 if a file cannot be removed, 2 for wrong usage
"""

import argparse
from pathlib import Path

import orjson

import cli
from files import remove_temporary_files
from stage import LOCK_PREFIX, MANIFEST_SUFFIX


def clean_folder(folder: Path) -> int:
    """Remove the outputs of the stages that have a manifest in a folder; return how many."""
    if not folder.is_dir():
        return 0
    removed = 0
    remove_temporary_files(folder)
    for manifest in sorted(folder.glob(f"*{MANIFEST_SUFFIX}")):
        for record in orjson.loads(manifest.read_bytes()).values():
            for output in record["outputs"]:
                removed += (folder / output).exists()
                (folder / output).unlink(missing_ok=True)
        manifest.unlink()
    for lock in folder.glob(f"{LOCK_PREFIX}*"):
        lock.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
    return removed


def main(arguments: argparse.Namespace) -> int:
    """Clean the folders of all stages and remove the results page; return the exit status."""
    results = arguments.results_dir
    folders = [
        results / "validation",
        arguments.per_run_dir,
        arguments.rankings_dir,
        arguments.diagnostics_dir,
        results,
    ]
    removed = sum(clean_folder(folder) for folder in folders)
    if arguments.results_md.is_file():
        arguments.results_md.unlink()
        removed += 1
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
