"""From results to charts: goodput, efficiency, latency and the surface of an arm on one link."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from orbtax.analysis.efficiency import CellResult, LinkResult
from orbtax.analysis.ratio import Interval
from orbtax.histogram import percentile
from orbtax.model import Arm, Case, Link, Options
from orbtax.record import Latencies
from orbtax.report.charts import Chart, HeatMap, Line, Mark, Panel, Reference, Scale
from orbtax.report.numbers import counted
from orbtax.report.results import arms_of, subject_of
from orbtax.report.style import ARM_LOOKS, BLUE, INK, Look
from orbtax.report.wording import options_text
from orbtax.units import format_rate

_NOTHING = math.nan

Measured = Callable[[CellResult], Interval | None]


def link_charts(
    result: LinkResult, link: Link, latencies: Mapping[Case, Latencies]
) -> tuple[Chart, ...]:
    """The charts of one link: goodput, efficiency and, where calls were timed, latency."""
    charts = goodput_chart(result, link), efficiency_chart(result)
    return (*charts, latency_chart(result, latencies)) if latencies else charts


def goodput_chart(result: LinkResult, link: Link) -> Chart:
    """Goodput of each arm over the payload size, a panel per number of threads."""
    reference = None
    if link.rate_bit_s is not None:
        label = f"rate of the link, {format_rate(link.rate_bit_s)}"
        reference = Reference(link.rate_bit_s / 1e9, label)
    return Chart(
        name="goodput",
        title="Goodput",
        subject=subject_of(result),
        y_label="goodput (Gbit/s)",
        panels=_panels(
            result,
            {str(arm): (ARM_LOOKS[arm], _goodput_of(arm)) for arm in arms_of(result)},
            1e-9,
        ),
        reference=reference,
    )


def efficiency_chart(result: LinkResult) -> Chart:
    """The arm over `stream` and over `call` at the same size and threads."""
    return Chart(
        name="efficiency",
        title=f"Efficiency of {result.arm}",
        subject=subject_of(result),
        y_label=f"{result.arm} ÷ baseline",
        panels=_panels(
            result,
            {
                "÷ stream": (Look(INK, "o"), lambda cell: cell.efficiency_stream),
                "÷ call": (Look(BLUE, "s"), lambda cell: cell.efficiency_call),
            },
            1.0,
        ),
        per_cent=True,
        reference=Reference(1.0, "as fast as the baseline"),
    )


def latency_chart(result: LinkResult, latencies: Mapping[Case, Latencies]) -> Chart:
    """Median (solid) and 99th percentile (dashed) of the time per call of each arm that waits.

    `latencies` hold the calls of each case, all rounds together.
    """
    arms = [arm for arm in arms_of(result) if any(case.arm is arm for case in latencies)]
    panels = []
    for threads, options in _by_panel(result):
        lines = []
        for arm in arms:
            of_size = {
                case.payload_bytes: latencies[case]
                for case in latencies
                if case.link == result.link
                and (case.arm, case.threads, case.options) == (arm, threads, options)
            }
            for share, name in ((0.5, "p50"), (0.99, "p99")):
                look = Look(ARM_LOOKS[arm].colour, ARM_LOOKS[arm].marker, dashed=share > 0.5)
                lines.append(_latency_line(f"{arm} {name}", look, of_size, share))
        panels.append(Panel(_panel_title(result, threads, options), tuple(lines)))
    return Chart(
        name="latency",
        title="Time per call",
        subject=subject_of(result),
        y_label="time per call (µs)",
        panels=tuple(panels),
        scale=Scale.LOG,
    )


def has_surface(result: LinkResult) -> bool:
    """Whether more than one payload size was planned, so that a heat map has something to show."""
    return len({cell.payload_bytes for cell in result.cells}) > 1


def surface(
    result: LinkResult, arm: Arm, options: Options | None = None, marks: Iterable[Mark] = ()
) -> HeatMap:
    """Goodput of `arm` by payload and threads, with `options` or those of the first cell."""
    wanted = options or (result.cells[0].options if result.cells else Options())
    cells = [cell for cell in result.cells if cell.options == wanted]
    sizes = sorted({cell.payload_bytes for cell in cells})
    threads = sorted({cell.threads for cell in cells})
    measured = {
        (cell.threads, cell.payload_bytes): _bounds(_goodput_of(arm)(cell), 1e-9)[0]
        for cell in cells
    }
    return HeatMap(
        name="surface",
        title=f"Goodput of {arm}",
        subject=subject_of(result),
        unit="Gbit/s",
        payload_bytes=sizes,
        threads=threads,
        values=[[measured.get((count, size), _NOTHING) for size in sizes] for count in threads],
        marks=tuple(marks),
    )


def _goodput_of(arm: Arm) -> Measured:
    def goodput(cell: CellResult) -> Interval | None:
        result = cell.arm(arm)
        return result.goodput_bit_s if result else None

    return goodput


def _by_panel(result: LinkResult) -> dict[tuple[int, Options], list[CellResult]]:
    """The cells that share a panel, each panel's in the order of their sizes."""
    panels: dict[tuple[int, Options], list[CellResult]] = {}
    for cell in sorted(result.cells, key=lambda cell: (cell.threads, cell.payload_bytes)):
        panels.setdefault((cell.threads, cell.options), []).append(cell)
    return panels


def _panels(
    result: LinkResult, measured: Mapping[str, tuple[Look, Measured]], unit: float
) -> tuple[Panel, ...]:
    return tuple(
        Panel(
            _panel_title(result, threads, options),
            tuple(
                _line(label, look, cells, measure, unit)
                for label, (look, measure) in measured.items()
            ),
        )
        for (threads, options), cells in _by_panel(result).items()
    )


def _panel_title(result: LinkResult, threads: int, options: Options) -> str:
    title = counted(threads, "thread")
    varied = len({cell.options for cell in result.cells}) > 1
    return f"{title}, {options_text(options)}" if varied else title


def _line(
    label: str, look: Look, cells: Sequence[CellResult], measure: Measured, unit: float
) -> Line:
    intervals = [_bounds(measure(cell), unit) for cell in cells]
    return Line(
        label=label,
        look=look,
        x_bytes=[cell.payload_bytes for cell in cells],
        y=[value for value, _, _ in intervals],
        low=[low for _, low, _ in intervals],
        high=[high for _, _, high in intervals],
    )


def _latency_line(label: str, look: Look, of_size: Mapping[int, Latencies], share: float) -> Line:
    sizes = sorted(of_size)
    return Line(
        label=label,
        look=look,
        x_bytes=sizes,
        y=[_scaled(percentile(of_size[size], share), 1e-3) for size in sizes],
    )


def _bounds(interval: Interval | None, unit: float) -> tuple[float, float, float]:
    """Value, low and high of an interval in the chart's unit, NaN for what it does not have."""
    if interval is None:
        return _NOTHING, _NOTHING, _NOTHING
    return interval.value * unit, _scaled(interval.low, unit), _scaled(interval.high, unit)


def _scaled(value: float | None, unit: float) -> float:
    return _NOTHING if value is None else value * unit
