"""Progress bars, for whoever watches."""

import sys
from collections.abc import Collection, Iterable
from typing import TypeVar

T = TypeVar("T")


def progress(steps: Collection[T], doing: str) -> Iterable[T]:
    """Return the steps, with a bar on a terminal once they take longer than a second.

    doing: what is done, for the bar. In a log or a pipe there is no bar.
    """
    if not sys.stderr.isatty():
        return steps
    from tqdm import tqdm  # noqa: PLC0415  (only where somebody watches)

    return tqdm(steps, desc=doing, delay=1, leave=False)
