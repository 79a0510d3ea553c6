"""How long a person waits for the list of commands."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.figure import Figure
from benchmarks.scale import Scale

TITLE = "start-up"
AT_MOST_S = 0.5
ROOT = Path(__file__).parent.parent


def figures(scale: Scale) -> Iterator[Figure]:
    """`invoke --list` in the checkout."""
    taken_s = [_list_commands() for _ in range(scale.starts)]
    yield Figure(
        what="invoke --list",
        value=median(taken_s),
        unit="s",
        rounds=len(taken_s),
        at_most=AT_MOST_S,
    )


def _list_commands() -> float:
    started_s = time.perf_counter()
    words = [sys.executable, "-m", "invoke", "--list"]
    subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started_s
