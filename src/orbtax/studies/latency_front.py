"""The front of the report on a message's time: models, steps and stalls, merging, and 1994."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from orbtax.report.front import Drawing, Front, listed
from orbtax.report.tables import Table
from orbtax.studies.latency_breaks import discontinuity_table
from orbtax.studies.latency_charts import latency_charts
from orbtax.studies.latency_published import merging_table, published_table
from orbtax.studies.latency_results import LatencyResult
from orbtax.studies.latency_tables import empty_table, model_table, points_table
from orbtax.studies.latency_words import answers, setting_text
from orbtax.units import format_size


def latency_front(results: Sequence[LatencyResult]) -> Front:
    """What the page shows first; the rest of it is the evidence that every report has."""
    names = listed(result.name for result in results) or "no link"
    return Front(
        title=f"The time of a message by its size on {names}",
        measured=measured(results),
        answers=tuple(sentence for result in results for sentence in answers(result)),
        best=tuple(table for result in results for table in main_tables(result)),
        drawings=tuple(drawing for result in results for drawing in drawings(result)),
        cells=tuple(points_table(result, each) for result in results for each in result.sweeps),
        best_heading="Overhead, speed, steps and stalls",
        cells_heading="All sizes",
    )


def measured(results: Sequence[LatencyResult]) -> str:
    """What was measured, in a sentence."""
    sweeps = [each.sweep for result in results for each in result.sweeps]
    if not sweeps:
        return "Nothing has been measured in this run."
    sizes = sorted({point.payload_bytes for sweep in sweeps for point in sweep.points})
    arms = dict.fromkeys(str(sweep.arm) for sweep in sweeps)
    settings = dict.fromkeys(setting_text(sweep.options) for sweep in sweeps)
    return (
        f"How long a message of {format_size(sizes[0])} to {format_size(sizes[-1])} takes, there "
        f"and back, with one thread: {listed(arms)}. Settings: {'; '.join(settings)}. Each "
        "repetition goes over all sizes."
    )


def main_tables(result: LatencyResult) -> Iterator[Table]:
    """What came out on one link."""
    if result.sweeps:
        yield model_table(result)
    if result.empty_calls:
        yield empty_table(result)
    if any(each.stalls or each.jumps or each.splits for each in result.sweeps):
        yield discontinuity_table(result)
    if result.merged:
        yield merging_table(result)
    yield published_table(result)


def drawings(result: LatencyResult) -> Iterator[Drawing]:
    """The figures of one link, with what their files are called."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", result.link.name)
    for chart in latency_charts(result):
        yield Drawing(f"{chart.name}-{name}", chart)
