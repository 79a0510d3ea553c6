"""`invoke bench` from the command line, in its smallest form."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.live, pytest.mark.slow]

CHECKOUT = Path(__file__).parents[2]


def bench(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    invoke = [sys.executable, "-m", "invoke", "--search-root", str(CHECKOUT)]
    return subprocess.run(
        [*invoke, "bench", *words], cwd=cwd, capture_output=True, text=True, timeout=120
    )


def test_loops_and_start_up_are_benchmarked_from_anywhere(tmp_path: Path) -> None:
    done = bench("--smoke", "--only", "bare,recording,integrity,memory,startup", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in (
        "our loop ÷ a bare loop",
        "corba, 1 KiB",
        "call, 64 KiB",
        "stream, 64 KiB",
        "stream, servant",
        "invoke --list",
        "≥ 0.970",
        "≤ 3.00 %",
        "≤ 250 MB",
    ):
        assert words in done.stdout


def test_an_unknown_benchmark_is_refused(tmp_path: Path) -> None:
    done = bench("--smoke", "--only", "nosuch", cwd=tmp_path)
    assert done.returncode != 0
    assert "nosuch" in done.stderr
