"""A heat map of payload × threads, each cell with its figure, the best one framed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from orbtax.report.charts import HeatMap, Mark
from orbtax.report.numbers import significant
from orbtax.report.style import GRID, LABEL_POINTS, MUTED, VERMILION, house_style
from orbtax.units import format_size

CELL_WIDTH_IN, CELL_HEIGHT_IN = 0.56, 0.36

# Margins around the cells, in inches.
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.62, 0.2, 0.46, 0.62
_MARK_LINE = 0.18
_NARROWEST_IN = 4.3

# Cividis: told apart by colour-blind readers and in grey (Nuñez, Anderton and Renslow 2018).
_COLOURS = colormaps["cividis"]


def draw_heat_map(heat_map: HeatMap) -> Figure:
    """The heat map: payload to the right, threads upwards, the best cell framed and named."""
    across, down = len(heat_map.payload_bytes), len(heat_map.threads)
    cells_in = across * CELL_WIDTH_IN, down * CELL_HEIGHT_IN
    width = max(_NARROWEST_IN, _LEFT + cells_in[0] + _RIGHT)
    bottom = _BOTTOM + _MARK_LINE * len(heat_map.marks)
    height = _TOP + cells_in[1] + bottom
    with house_style():
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes(
            (_LEFT / width, bottom / height, cells_in[0] / width, cells_in[1] / height)
        )
        figure.text(
            _LEFT / width,
            1 - 0.06 / height,
            heat_map.title,
            size=LABEL_POINTS + 1,
            weight="bold",
            va="top",
        )
        subject = f"{heat_map.subject}, {heat_map.unit}"
        axes.set_title(subject, loc="left", size=LABEL_POINTS, color=MUTED, pad=4)
        _draw_cells(axes, heat_map)
        _frame_best(axes, heat_map)
        for number, mark in enumerate(reversed(heat_map.marks)):
            _draw_ring(axes, heat_map, mark)
            line = (0.06 + number * _MARK_LINE) / height
            figure.text(_LEFT / width, line, f"ring: {mark.label}", color=MUTED)
    return figure


def _draw_cells(axes: Axes, heat_map: HeatMap) -> None:
    known = [value for across in heat_map.values for value in across if math.isfinite(value)]
    to_share = Normalize(min(known, default=0.0), max(known, default=1.0))
    for row, across in enumerate(heat_map.values):
        for column, value in enumerate(across):
            seen = math.isfinite(value)
            fill = to_rgb(_COLOURS(float(to_share(value))) if seen else GRID)
            axes.add_patch(Rectangle((column, row), 1, 1, facecolor=fill, edgecolor="white"))
            axes.text(
                column + 0.5,
                row + 0.5,
                significant(value),
                ha="center",
                va="center",
                color="black" if _is_light(fill) else "white",
            )
    axes.set_xlim(0, max(1, len(heat_map.payload_bytes)))
    axes.set_ylim(0, max(1, len(heat_map.threads)))
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    sizes = [format_size(size) for size in heat_map.payload_bytes]
    axes.set_xticks(np.arange(len(sizes)) + 0.5, [size.replace(" ", "\n") for size in sizes])
    axes.set_yticks(np.arange(len(heat_map.threads)) + 0.5, map(str, heat_map.threads))
    axes.set_xlabel("payload per message")
    axes.set_ylabel("threads")


def _is_light(colour: tuple[float, float, float]) -> bool:
    red, green, blue = colour
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.45


def _frame_best(axes: Axes, heat_map: HeatMap) -> None:
    if heat_map.best is None:
        return
    row, column = heat_map.best
    axes.add_patch(
        Rectangle((column, row), 1, 1, fill=False, edgecolor=VERMILION, linewidth=2.6, zorder=3)
    ).set_clip_on(False)
    axes.annotate(
        "best",
        (column + 0.96, row + 0.96),
        size=LABEL_POINTS - 2,
        color="black",
        ha="right",
        va="top",
        zorder=4,
    )


def _draw_ring(axes: Axes, heat_map: HeatMap, mark: Mark) -> None:
    """At the mark's place, between cells where its size or its threads were not measured."""
    place = (
        _between(mark.payload_bytes, heat_map.payload_bytes),
        _between(mark.threads, heat_map.threads),
    )
    for colour, points in (("black", 23), ("white", 21)):
        axes.plot(*place, "o", markersize=points, fillstyle="none", color=colour, clip_on=False)


def _between(wanted: int, measured: Sequence[int]) -> float:
    """Where `wanted` lies on an axis whose cells stand for `measured`, between two by logarithm."""
    middles = np.arange(len(measured)) + 0.5
    return float(np.interp(math.log2(wanted), np.log2(measured), middles))
