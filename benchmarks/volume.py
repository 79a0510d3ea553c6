"""How long a large run takes to be read, analysed and reported."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from builders import make_run  # of the tests

from benchmarks.figure import Figure
from benchmarks.scale import Scale
from orbtax import store
from orbtax.collector import without_collector
from orbtax.model import Purpose
from orbtax.record import Run, Sample
from orbtax.report.files import write_report
from orbtax.store import Store

AT_MOST_S = 5.0


def title(scale: Scale) -> str:
    """What the table is about."""
    return f"a run of {scale.samples:,} samples"


def figures(scale: Scale) -> Iterator[Figure]:
    """Reading, which has no target, and analysis with report."""
    # Without the collector of cycles, as the command does it.
    with tempfile.TemporaryDirectory() as place, without_collector():
        folder = Path(place) / "run"
        keep(large_run(scale.samples), folder)
        started_s = time.perf_counter()
        run = store.read(folder)
        read_s = time.perf_counter()
        write_report([run], folder / "report")
        reported_s = time.perf_counter()
    yield Figure(what="reading", value=read_s - started_s, unit="s")
    yield Figure(what="analysis and report", value=reported_s - read_s, unit="s", at_most=AT_MOST_S)


def large_run(count: int) -> Run:
    """A plausible `compare` run with so many measured samples."""
    small = make_run(rounds=1, failed=0, refused=0)
    pattern = [sample for sample in small.samples if sample.purpose is Purpose.MEASURE]
    noise = np.random.default_rng(3).normal(0, 0.02, count).tolist()
    rounds = (divmod(number, len(pattern)) for number in range(count))
    samples = (
        _slower(pattern[place], turn, 1 + share)
        for (turn, place), share in zip(rounds, noise, strict=True)
    )
    return replace(small, samples=tuple(samples))


def keep(run: Run, folder: Path) -> None:
    """Stores a run as a measurement would."""
    kept = Store.create(folder, run.record)
    for sample in run.samples:
        kept.append(sample)
    kept.close()


def _slower(sample: Sample, turn: int, factor: float) -> Sample:
    assert sample.window_s is not None
    assert sample.goodput_bit_s is not None
    return replace(
        sample,
        round=turn,
        window_s=sample.window_s * factor,
        goodput_bit_s=sample.goodput_bit_s / factor,
    )
