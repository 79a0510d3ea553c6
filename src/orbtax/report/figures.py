"""Curves over the payload size, one panel per number of threads or whatever else sets them apart.

All figures are built through matplotlib's object interface and leave no state behind. Lines are
labelled at their end instead of in a legend, and the panels of a chart share their axes, so that
they can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from orbtax.report.charts import Chart, Line, Panel, Reference, Scale
from orbtax.report.spacing import spread
from orbtax.report.style import INK, LABEL_POINTS, MUTED, PAPER, house_style
from orbtax.units import format_size

PANEL_WIDTH_IN, PANEL_HEIGHT_IN = 4.3, 3.1
PANELS_ACROSS = 3
INTERVAL_REACH = 1.5
"""How far beyond the greatest value an interval may stretch an axis."""

# Margins of a panel around its axes, in inches.
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.7, 0.92, 0.46, 0.48
_LABEL_GAP, _LETTER = 0.22, 0.6 * LABEL_POINTS / 72  # between a line and its label; of the label
_X_TICKS = 6


def draw_chart(chart: Chart) -> Figure:
    """All panels of a chart in one figure, up to three side by side."""
    across = min(PANELS_ACROSS, max(1, len(chart.panels)))
    down = max(1, math.ceil(len(chart.panels) / across))
    heading_in = 0.2
    size = across * PANEL_WIDTH_IN, down * PANEL_HEIGHT_IN + heading_in
    with house_style():
        figure = Figure(figsize=size)
        figure.text(
            _LEFT / size[0],
            1 - 0.12 / size[1],
            f"{chart.title} on {chart.subject}",
            size=LABEL_POINTS + 3,
            weight="bold",
            va="top",
        )
        for place, panel in enumerate(chart.panels):
            row, column = divmod(place, across)
            corner_in = column * PANEL_WIDTH_IN, (down - 1 - row) * PANEL_HEIGHT_IN
            axes = _add_axes(figure, chart, corner_in)
            axes.set_title(panel.title, loc="left", size=LABEL_POINTS + 1, weight="bold")
            _draw_panel(axes, chart, panel)
    return figure


def draw_panel(chart: Chart, panel: Panel) -> Figure:
    """One panel of a chart as a figure of its own, with the axes that all of them share."""
    with house_style():
        figure = Figure(figsize=(PANEL_WIDTH_IN, PANEL_HEIGHT_IN))
        axes = _add_axes(figure, chart, (0.0, 0.0))
        axes.set_title(chart.subject, loc="left", size=LABEL_POINTS, color=MUTED, pad=4)
        figure.text(
            _LEFT / PANEL_WIDTH_IN,
            1 - 0.06 / PANEL_HEIGHT_IN,
            f"{chart.title}, {panel.title}",
            size=LABEL_POINTS + 1,
            weight="bold",
            va="top",
        )
        _draw_panel(axes, chart, panel)
    return figure


def _add_axes(figure: Figure, chart: Chart, corner_in: tuple[float, float]) -> Axes:
    width, height = figure.get_size_inches()
    labels = [line.label for panel in chart.panels for line in panel.lines]
    right = max(_RIGHT, _LABEL_GAP + _LETTER * max(map(len, labels), default=0))
    return figure.add_axes(
        (
            (corner_in[0] + _LEFT) / width,
            (corner_in[1] + _BOTTOM) / height,
            (PANEL_WIDTH_IN - _LEFT - right) / width,
            (PANEL_HEIGHT_IN - _TOP - _BOTTOM) / height,
        )
    )


def _draw_panel(axes: Axes, chart: Chart, panel: Panel) -> None:
    _set_size_axis(axes, chart)
    _set_value_axis(axes, chart)
    if chart.reference is not None:
        _draw_reference(axes, chart.reference)
    for line in panel.lines:
        _draw_line(axes, line)
    _label_ends(axes, chart, panel.lines)
    if not any(np.isfinite(line.y).any() for line in panel.lines):
        axes.text(0.5, 0.5, "no values", transform=axes.transAxes, ha="center", color=MUTED)


def _draw_line(axes: Axes, line: Line) -> None:
    look = line.look
    axes.plot(
        line.x_bytes,
        line.y,
        color=look.colour,
        marker=look.marker,
        linestyle="--" if look.dashed else "-",
    )
    if len(line.low):
        axes.vlines(line.x_bytes, line.low, line.high, color=look.colour, linewidth=1.4)
        for ends in (line.low, line.high):
            axes.plot(line.x_bytes, ends, "_", color=look.colour, markersize=5)


def _draw_reference(axes: Axes, reference: Reference) -> None:
    axes.axhline(reference.value, color=INK, linewidth=1.0, linestyle=(0, (1, 1.5)))
    axes.annotate(
        reference.label,
        (0.01, reference.value),
        xycoords=("axes fraction", "data"),
        xytext=(0, 2),
        textcoords="offset points",
        size=LABEL_POINTS - 1,
        color=MUTED,
        bbox={"facecolor": PAPER, "edgecolor": "none", "alpha": 0.8, "pad": 0.6},
    )


def _set_size_axis(axes: Axes, chart: Chart) -> None:
    sizes = [size for panel in chart.panels for line in panel.lines for size in line.x_bytes]
    low, high = (math.log2(end) for end in (min(sizes), max(sizes))) if sizes else (10.0, 20.0)
    first, last = math.floor(low), math.ceil(high)
    stride = max(1, math.ceil((last - first) / (_X_TICKS - 1)))
    ticks = [2**power for power in range(first, last + 1, stride)]
    axes.set_xscale("log", base=2)
    axes.set_xlim(2 ** (low - 0.3), 2 ** (high + 0.3))
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: format_size(round(size))))
    axes.set_xlabel(chart.x_label)


def _set_value_axis(axes: Axes, chart: Chart) -> None:
    low, high = _value_range(chart)
    if chart.scale is Scale.SIGNED:
        axes.set_ylim(-1.1 * high, 1.1 * high)
        axes.axhline(0, color=MUTED, linewidth=0.8)
    elif chart.scale is Scale.LOG:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.3, high * 1.3)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(0, 1.1 * high)
    shown = (lambda value, _: f"{100 * value:.4g} %") if chart.per_cent else _plain
    axes.yaxis.set_major_formatter(FuncFormatter(shown))
    axes.set_ylabel(chart.y_label)


def _value_range(chart: Chart) -> tuple[float, float]:
    """The range above zero of values and reference, and of intervals as far as they reach a little.

    On a signed scale it is that of the distances from zero.

    Two rounds that disagree give an interval of any length, which would flatten all else.
    """
    lines = [line for panel in chart.panels for line in panel.lines]
    values = np.concatenate([np.empty(0), *(np.asarray(line.y, dtype=float) for line in lines)])
    if chart.reference is not None:
        values = np.append(values, chart.reference.value)
    if chart.scale is Scale.SIGNED:
        values = np.abs(values)
    values = values[np.isfinite(values) & (values > 0)]
    if not values.size:
        return 1.0, 1.0
    low, high = float(values.min()), float(values.max())
    bounds = np.concatenate([np.empty(0), *(np.r_[line.low, line.high] for line in lines)])
    bounds = bounds[np.isfinite(bounds) & (bounds > 0)]
    within = np.clip(bounds, low / INTERVAL_REACH, high * INTERVAL_REACH)
    return min([low, *within]), max([high, *within])


def _plain(value: float, _: int | None) -> str:
    return f"{value:,.6g}"


def _label_ends(axes: Axes, chart: Chart, lines: Sequence[Line]) -> None:
    """Each line's name beside its last value, moved apart where lines end close together."""
    ends = []
    for line in lines:
        seen = np.flatnonzero(np.isfinite(line.y))
        if seen.size:
            ends.append((line, line.x_bytes[seen[-1]], line.y[seen[-1]]))
    to_fraction = axes.transData + axes.transAxes.inverted()
    wanted = [float(to_fraction.transform((x, y))[1]) for _, x, y in ends]
    height_points = 72 * (PANEL_HEIGHT_IN - _TOP - _BOTTOM)
    placed = spread(wanted, 1.3 * LABEL_POINTS / height_points, 0.0, 1.0)
    for (line, x, y), height in zip(ends, placed, strict=True):
        axes.annotate(
            line.label,
            (x, y),
            xytext=(1.06, height),
            textcoords="axes fraction",
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": line.look.colour,
                "linewidth": 1.0,
                "relpos": (0, 0.5),
                "shrinkA": 0,
                "shrinkB": 3,
            },
        )
