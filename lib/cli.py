"""What the scripts share at their edges: arguments, error lines, exit statuses."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from campaign import DEFAULT_CONFIG, DEFAULT_TEAMS, BadInput, Config
from data_repo import DEFAULT_DATA_REPO
from problems import Problem

EXIT_OK, EXIT_BAD_INPUT, EXIT_USAGE = 0, 1, 2

# Flag, default and help of each argument that more than one script takes. The Makefile has a
# variable of the same name and default for each of them.
_ARGUMENTS = {
    "--reference-dir": ("data/reference", "folder of the gold files"),
    "--submissions-dir": ("data/systems", "folder of the runs and their info files"),
    "--results-dir": ("results.d", "folder that all outputs go to"),
    "--per-run-dir": (None, "folder of the scores (default: RESULTS_DIR/per-run)"),
    "--rankings-dir": (None, "folder of the rankings (default: RESULTS_DIR/system-rankings)"),
    "--diagnostics-dir": (None, "folder of the diagnostics (default: RESULTS_DIR/diagnostics)"),
    "--significance-dir": (None, "folder of the significance (default: RESULTS_DIR/significance)"),
    "--ensemble-dir": (None, "folder of the ensembles (default: RESULTS_DIR/ensemble)"),
    "--breakdown-dir": (None, "folder of the breakdowns (default: RESULTS_DIR/breakdown)"),
    "--gt-validation-dir": (None, "folder of the workbooks (default: RESULTS_DIR/gt-validation)"),
    "--adjudicated-dir": ("results-adjudicated.d", "folder of the adjudicated evaluation"),
    "--results-md": ("HIPE_2026_evaluation_results.md", "the results page"),
    "--data-repo": (str(DEFAULT_DATA_REPO), "the data repository: schema, loading, imputation"),
    "--config": (str(DEFAULT_CONFIG), "facts of the campaign"),
    "--teams": (str(DEFAULT_TEAMS), "names of the teams and organizer entries"),
}
_SUBFOLDERS = {
    "per_run_dir": "per-run",
    "rankings_dir": "system-rankings",
    "diagnostics_dir": "diagnostics",
    "significance_dir": "significance",
    "ensemble_dir": "ensemble",
    "breakdown_dir": "breakdown",
    "gt_validation_dir": "gt-validation",
}


class UsageError(Exception):
    """A wrong argument, with what to do about it."""


def parser_for(description: str, *flags: str) -> argparse.ArgumentParser:
    """Return an argument parser for a script.

    description: the script's docstring. flags: names of shared arguments that it takes.
    """
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    # lib/current.py alone asks a stage to check without doing anything.
    parser.set_defaults(only_check=False)
    for flag in flags:
        default, text = _ARGUMENTS[flag]
        shown = f"{text} (default: {_from_here(default)})" if default else text
        parser.add_argument(flag, type=Path, default=default, metavar="PATH", help=shown)
    return parser


def add_mode(parser: argparse.ArgumentParser) -> None:
    """Let a script take the label mode; campaign.Config says which there are."""
    parser.add_argument(
        "--at-label-mode",
        default="TERNARY",
        metavar="MODE",
        help="TERNARY, or BINARY to count PROBABLE as TRUE (default: TERNARY)",
    )


def require_mode(mode: str, config: Config) -> None:
    """Raise UsageError for a label mode that the configuration does not have."""
    if mode not in config.modes():
        raise UsageError(f"AT_LABEL_MODE is {mode!r}, not one of {', '.join(config.modes())}")


def add_ties(parser: argparse.ArgumentParser) -> None:
    """Let a script take the way in which tied runs are numbered."""
    parser.add_argument(
        "--ties",
        default="competition",
        choices=["competition", "dense"],
        help="ranks after a tie: 1, 1, 3 or 1, 1, 2 (default: competition)",
    )


def add_skip_invalid(parser: argparse.ArgumentParser) -> None:
    """Let a script go on without files that are invalid."""
    parser.add_argument(
        "--skip-invalid",
        action="store_true",
        help="succeed if any run is valid; invalid files are listed all the same",
    )


def run(
    parser: argparse.ArgumentParser,
    main: Callable[[argparse.Namespace], int],
    words: Sequence[str] | None = None,
) -> None:
    """Parse the arguments, run a script, and leave with its exit status.

    words: the arguments, those of the process if None. A user's mistake becomes lines on
    standard error: status 1 for bad input, 2 for wrong usage.
    """
    arguments = parser.parse_args(words)
    for name, folder in _SUBFOLDERS.items():
        if getattr(arguments, name, ...) is None:
            setattr(arguments, name, arguments.results_dir / folder)
    try:
        status = main(arguments)
        sys.stdout.flush()
    except BadInput as bad:
        print_problems(bad.problems)
        status = EXIT_BAD_INPUT
    except UsageError as wrong:
        parser.error(str(wrong))
    except BrokenPipeError:
        status = EXIT_BAD_INPUT
    except OSError as error:
        place = error.filename or ""
        print(f"error: {place}: {error.strerror}; is it there, and writable?", file=sys.stderr)
        status = EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print("error: interrupted; the next make finishes the work", file=sys.stderr)
        status = 130
    sys.exit(status)


def print_problems(problems: list[Problem]) -> None:
    """Print problems to standard error, a line each."""
    for problem in problems:
        print(problem.text(), file=sys.stderr)


def _from_here(default: str) -> str:
    path = Path(default)
    return str(path.relative_to(DEFAULT_CONFIG.parent.parent)) if path.is_absolute() else default
