"""The front of the report on buffers: speed by message size, a line for each setting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle

from orbtax.analysis.buffer_results import BufferResult
from orbtax.analysis.ratio import Interval
from orbtax.model import Arm
from orbtax.report.charts import Chart, Line, Panel, Scale
from orbtax.report.front import Drawing, Front, listed
from orbtax.report.style import BLUE, GREEN, INK, ORANGE, PURPLE, VERMILION, Look
from orbtax.report.tables import Table
from orbtax.socket_buffers import Buffers, base_name
from orbtax.studies.buffers_tables import (
    POST,
    evidence_table,
    goodput_table,
    published_mbit_s,
    reason_table,
    slowdown_table,
)
from orbtax.studies.buffers_windows import in_force_table, window_table
from orbtax.studies.buffers_words import answers, subject_of
from orbtax.units import format_size

_COLOURS = (INK, BLUE, VERMILION, GREEN, ORANGE, PURPLE)
_MARKERS = ("o", "s", "D", "^", "v")


def buffers_front(results: Sequence[BufferResult]) -> Front:
    """What the page shows first; the rest of it is the evidence that every report has."""
    names = listed(map(subject_of, results)) or "no link"
    return Front(
        title=f"Socket buffers and message size on {names}",
        measured=measured(results),
        answers=tuple(sentence for result in results for sentence in answers(result)),
        best=tuple(table for result in results for table in main_tables(result)),
        drawings=tuple(
            Drawing(f"speed-{base_name(result.link.name)}", speed_chart(result))
            for result in results
        ),
        cells=tuple(table for result in results for table in _details(result)),
        best_heading="Speed and what bounds it",
        cells_heading="Why",
    )


def measured(results: Sequence[BufferResult]) -> str:
    """What was measured, in a sentence."""
    if not results:
        return "Nothing was planned in this run."
    sizes = sorted({size for result in results for size in result.sizes_bytes})
    arms = dict.fromkeys(str(arm) for result in results for arm in result.arms)
    settings = dict.fromkeys(str(buffers) for result in results for buffers in result.buffers)
    size_range = " to ".join(dict.fromkeys(map(format_size, (sizes[0], sizes[-1]))))
    return (
        f"The goodput of {listed(arms)} with messages of {size_range} on one connection, with "
        f"socket buffers (the sender's/the receiver's) of {listed(settings)}, on "
        f"{listed(map(subject_of, results))}."
    )


def main_tables(result: BufferResult) -> Iterator[Table]:
    """What came out on one link and what bounds it, arm by arm, and the buffers in force."""
    for arm in result.arms:
        yield goodput_table(result, arm)
        yield reason_table(result, arm)
    yield in_force_table(result)


def speed_chart(result: BufferResult) -> Chart:
    """Goodput over the message size, a panel for each arm and one for the post."""
    panels = [Panel(str(arm), tuple(_lines(result, arm))) for arm in result.arms]
    return Chart(
        name="speed",
        title="Goodput by buffers",
        subject=subject_of(result),
        y_label="goodput (Gbit/s)",
        x_label="message size",
        panels=(*panels, Panel(POST, tuple(_published_lines(result)))),
        scale=Scale.LOG,
    )


def _details(result: BufferResult) -> Iterator[Table]:
    if result.slowdowns:
        yield slowdown_table(result)
    if (windows := window_table(result)).rows:
        yield windows
    for arm in result.arms:
        yield evidence_table(result, arm)


def _lines(result: BufferResult, arm: Arm) -> Iterator[Line]:
    for buffers, look in _looks(result.buffers):
        places = [(arm, size, buffers) for size in result.sizes_bytes]
        cases = [result.cases[place] for place in places if place in result.cases]
        bounds = [_gbit_s(each.goodput_bit_s) for each in cases]
        if cases:
            yield Line(
                label=str(buffers),
                look=look,
                x_bytes=[each.case.payload_bytes for each in cases],
                y=[value for value, _, _ in bounds],
                low=[low for _, low, _ in bounds],
                high=[high for _, _, high in bounds],
            )


def _published_lines(result: BufferResult) -> Iterator[Line]:
    """The post's figures, each setting in the look that it has beside them."""
    published = published_mbit_s()
    theirs = dict.fromkeys(buffers for _, buffers in published)
    for buffers, look in _looks(dict.fromkeys((*result.buffers, *theirs))):
        points = {size: rate for (size, asked), rate in published.items() if asked == buffers}
        if points:
            yield Line(
                label=str(buffers),
                look=look,
                x_bytes=list(points),
                y=[rate / 1000 for rate in points.values()],
            )


def _looks(settings: Iterable[Buffers]) -> Iterator[tuple[Buffers, Look]]:
    """A look for each setting; colours and markers come round at different times."""
    for buffers, colour, marker in zip(settings, cycle(_COLOURS), cycle(_MARKERS), strict=False):
        yield buffers, Look(colour, marker)


def _gbit_s(mean: Interval | None) -> tuple[float, float, float]:
    """Value, low and high; NaN for what there is not."""
    if mean is None:
        return math.nan, math.nan, math.nan
    if mean.low is None or mean.high is None:
        return mean.value / 1e9, math.nan, math.nan
    return mean.value / 1e9, mean.low / 1e9, mean.high / 1e9
