"""Measure time and memory of `make eval-full`, `gt-validation` and `significance` with 185 runs.

Run it with `make bench`. The campaign is a copy of ../shared/hipe-2026 if that is there, else an
invented one of the same size. Each figure is the median of five times of the whole process, start
of make and Python included; the targets are for two cores. It always succeeds: it measures.
"""

import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "lib"))

import published_campaign
from kit import DE, SHARED, Campaign

TIMES = 5
Row = tuple[str, str, str]


def campaign_in(folder: Path) -> tuple[Campaign, str]:
    """Return a campaign of full size in a folder, and what it is."""
    campaign = Campaign(folder, lambda: ("", ""))
    if SHARED.is_dir():
        for name in ("reference", "systems"):
            shutil.copytree(SHARED / name, folder / name, dirs_exist_ok=True)
        return campaign, f"a copy of {os.path.relpath(SHARED)}"
    published_campaign.build(folder)
    return campaign, "an invented campaign of the size of HIPE-2026"


def seconds(campaign: Campaign, before: Callable[[int], None], target: str = "eval-full") -> float:
    """Return the median time of make for a target; before(n) prepares its n-th call."""
    measured = []
    for number in range(TIMES):
        before(number)
        start = time.perf_counter()
        done = campaign.make(target)
        measured.append(time.perf_counter() - start)
        if done.status:
            print(done.err, file=sys.stderr)
    return statistics.median(measured)


def measure(campaign: Campaign) -> list[Row]:
    """Return a row for each figure: what, measured, target."""
    run = campaign.systems / f"team1_{DE}_run1.jsonl"
    original = run.read_bytes()

    def forget(_: int) -> None:
        shutil.rmtree(campaign.results, ignore_errors=True)

    def change(number: int) -> None:
        run.write_bytes(original.replace(b'"FALSE"', b'"TRUE"', number + 1))

    def forget_workbooks(_: int) -> None:
        shutil.rmtree(campaign.results / "gt-validation", ignore_errors=True)

    def forget_significance(_: int) -> None:
        for folder in ("significance", "ensemble", "breakdown"):
            shutil.rmtree(campaign.results / folder, ignore_errors=True)

    cold = seconds(campaign, forget)
    nothing = seconds(campaign, lambda _: None)
    one = seconds(campaign, change)
    workbooks = seconds(campaign, forget_workbooks, "gt-validation")
    evaluation_peak = peak()
    significance = seconds(campaign, forget_significance, "significance")
    return [
        ("everything, into an empty folder", f"{cold:.2f} s", "4 s"),
        ("nothing changed", f"{nothing:.2f} s", "0.7 s"),
        ("one run changed", f"{one:.2f} s", "1.5 s"),
        ("workbooks of all references", f"{workbooks:.2f} s", "5 s"),
        ("peak memory of any process of these", f"{evaluation_peak:.0f} MB", "400 MB"),
        ("significance, ensembles, breakdowns", f"{significance:.2f} s", "10 s"),
        ("peak memory of any process", f"{peak():.0f} MB", "1000 MB"),
    ]


def peak() -> float:
    """Return the largest memory of any process that has been waited for, in MB (on Linux)."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def aligned(rows: list[Row]) -> str:
    """Return rows of text as a table; figures stand on the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"{what:<{widths[0]}}  {found:>{widths[1]}}  {target:>{widths[2]}}"
        for what, found, target in rows
    )


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        campaign, what = campaign_in(Path(folder))
        runs = len(list(campaign.systems.glob("*.jsonl")))
        print(f"make on {what}: {runs} runs, {os.cpu_count()} cores, median of {TIMES}\n")
        print(aligned([("", "measured", "target"), *measure(campaign)]))


if __name__ == "__main__":
    main()
