"""What figures show, before it is drawn: curves over the payload size and heat maps, as records.

Each can also be told in words, for those who cannot see it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from orbtax.report.numbers import counted, per_cent, significant
from orbtax.report.style import Look
from orbtax.units import format_size


class Scale(StrEnum):
    """How the upright axis runs."""

    LINEAR = "linear"  # from zero
    LOG = "log"
    SIGNED = "signed"  # as far below zero as above


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Values over payload sizes, with an interval where there is one; NaN where there is none.

    `x_bytes`, `y` and, if given, `low` and `high` are of one length; sizes are above zero.
    """

    label: str
    look: Look
    x_bytes: Sequence[int]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """The lines that share a pair of axes."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A level that is drawn across a panel, such as the efficiency of 1."""

    value: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Panels with common axes: what is shown, of what, in which unit."""

    name: str  # `goodput`: what its files are called
    title: str  # `Goodput`
    subject: str  # `ib (emulated)`
    y_label: str
    panels: tuple[Panel, ...]
    x_label: str = "payload per message"
    scale: Scale = Scale.LINEAR
    per_cent: bool = False  # y is a ratio, shown in per cent
    reference: Reference | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A place on a heat map that is not one of its cells, such as a published optimum."""

    payload_bytes: int
    threads: int
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """One value per payload size and number of threads, one of which is marked as the best.

    `values[i][j]` belongs to `threads[i]` and `payload_bytes[j]`, both rising; NaN where nothing
    was measured. The best is the greatest, or the one at `taken`, its threads and payload, where
    the noise does not tell several apart.
    """

    name: str  # `surface`: what its files are called
    title: str  # `Goodput of corba`
    subject: str  # `ib (emulated)`
    unit: str
    payload_bytes: Sequence[int]
    threads: Sequence[int]
    values: Sequence[Sequence[float]]
    marks: tuple[Mark, ...] = ()
    taken: tuple[int, int] | None = None

    @property
    def best(self) -> tuple[int, int] | None:
        """Row and column of the best value; None if there is none."""
        if self.taken is not None:
            threads, payload_bytes = self.taken
            return self.threads.index(threads), self.payload_bytes.index(payload_bytes)
        places = [
            (row, column)
            for row, across in enumerate(self.values)
            for column, value in enumerate(across)
            if math.isfinite(value)
        ]
        return max(places, key=lambda at: self.values[at[0]][at[1]], default=None)


def describe_panel(chart: Chart, panel: Panel) -> str:
    """A panel in words, for those who cannot see it: where each line begins, ends and peaks."""
    parts = []
    for line in panel.lines:
        points = [(x, y) for x, y in zip(line.x_bytes, line.y, strict=True) if math.isfinite(y)]
        if not points:
            parts.append(f"{line.label} has no value")
            continue
        (first_x, first_y), (last_x, last_y) = points[0], points[-1]
        top_x, top_y = max(points, key=lambda point: point[1])
        parts.append(
            f"{line.label} goes from {_value(chart, first_y)} at {format_size(first_x)} to "
            f"{_value(chart, last_y)} at {format_size(last_x)}, "
            f"highest {_value(chart, top_y)} at {format_size(top_x)}"
        )
    lines = "; ".join(parts) or "no values"
    return f"{chart.title} on {chart.subject}, {panel.title}, {chart.y_label}: {lines}."


def _value(chart: Chart, value: float) -> str:
    return f"{per_cent(value)} %" if chart.per_cent else significant(value)


def describe_heat_map(heat_map: HeatMap) -> str:
    """A heat map in words: its range and its best cell."""
    heading = f"{heat_map.title} on {heat_map.subject} by payload and threads"
    if heat_map.best is None:
        return f"{heading}: no values."
    row, column = heat_map.best
    known = [value for across in heat_map.values for value in across if math.isfinite(value)]
    size, threads = format_size(heat_map.payload_bytes[column]), heat_map.threads[row]
    return (
        f"{heading}: from {significant(min(known))} to {significant(max(known))} {heat_map.unit}, "
        f"best at {size} and {counted(threads, 'thread')}."
    )
