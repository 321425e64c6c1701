"""Print which stages are up to date, so that make need not start them.

Reads   all that the stages read and write
Writes  nothing but the names of the stages, in the order in which they run, up to the first
        that has something to do or to say
Exits   0, 2 for wrong usage

It asks each stage itself, in one process, to stop before it would change anything.
"""

import argparse
import contextlib
import io

import build_diagnostics
import build_rankings
import build_results_md
import cli
import score_one
import validate_info
import validate_jsonl
from campaign import BadInput
from stage import Stale

# The stages of eval-full, in the order in which they run.
SCRIPTS = {
    "references": validate_jsonl,
    "submissions": validate_jsonl,
    "info": validate_info,
    "score": score_one,
    "rankings": build_rankings,
    "diagnostics": build_diagnostics,
    "results-md": build_results_md,
}


def is_current(stage: str, arguments: argparse.Namespace) -> bool:
    """Tell whether a stage has nothing to do, to complain of, or to ask for."""
    arguments.what = stage
    silence = io.StringIO()
    try:
        with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
            status = SCRIPTS[stage].main(arguments)
    except (Stale, BadInput, cli.UsageError, OSError):
        return False
    return status == cli.EXIT_OK


def main(arguments: argparse.Namespace) -> int:
    """Print the names of the stages that are up to date; return the exit status."""
    for stage in SCRIPTS:
        if not is_current(stage, arguments):
            break
        print(stage)
    return cli.EXIT_OK


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the script's arguments."""
    parser = cli.parser_for(
        __doc__,
        "--reference-dir",
        "--submissions-dir",
        "--results-dir",
        "--per-run-dir",
        "--rankings-dir",
        "--diagnostics-dir",
        "--significance-dir",
        "--results-md",
        "--data-repo",
        "--config",
        "--teams",
    )
    cli.add_mode(parser)
    cli.add_ties(parser)
    cli.add_skip_invalid(parser)
    parser.set_defaults(only_check=True, runs=[])
    return parser


if __name__ == "__main__":
    cli.run(command_line(), main)
