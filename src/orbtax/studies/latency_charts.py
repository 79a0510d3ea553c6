"""The figures of a message's time: time by size, the model and what it misses, calls, merging."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from orbtax.analysis.sweeps import SweepPoint
from orbtax.model import Options
from orbtax.report.charts import Chart, Line, Panel, Reference, Scale
from orbtax.report.style import ARM_LOOKS, BLUE, INK, VERMILION, Look
from orbtax.studies.latency_results import LatencyResult, SweepResult
from orbtax.studies.latency_words import setting_text, timer_text

_SIZE = "message size"


def latency_charts(result: LatencyResult) -> Iterator[Chart]:
    """The charts of one link that have something to show."""
    if result.sweeps:
        yield time_chart(result)
        yield model_chart(result)
        yield residual_chart(result)
        yield stall_chart(result)
    if any(each.messages_per_segment for each in result.merged):
        yield merging_chart(result)


def time_chart(result: LatencyResult) -> Chart:
    """The usual time of a message by its size, a panel for each setting; bars: the rounds."""
    return Chart(
        name="time",
        title="Time of a message",
        subject=result.name,
        y_label="there and back (µs)",
        x_label=_SIZE,
        scale=Scale.LOG,
        panels=tuple(
            Panel(title, tuple(map(_time_line, sweeps))) for title, sweeps in _by_setting(result)
        ),
    )


def model_chart(result: LatencyResult) -> Chart:
    """Measured and modelled, a panel for each arm with nothing set."""
    panels = []
    for each in result.sweeps:
        model = each.model
        if each.sweep.options == Options() and model is not None:
            arm = each.sweep.arm
            sizes = [size for size in model.sizes_bytes if size]
            fitted = Line(
                label="model",
                look=Look(INK, "", dashed=True),
                x_bytes=sizes,
                y=[model.time_us(size) for size in sizes],
            )
            measured = _line("measured", ARM_LOOKS[arm], each.sweep.points, lambda at: at.usual_us)
            panels.append(Panel(f"{arm}, law: {model.shape}", (measured, fitted)))
    return Chart(
        name="model",
        title="Overhead + size ÷ speed",
        subject=result.name,
        y_label="there and back (µs)",
        x_label=_SIZE,
        scale=Scale.LOG,
        panels=tuple(panels),
    )


def residual_chart(result: LatencyResult) -> Chart:
    """How far each size lies from its model, a panel for each setting."""
    return Chart(
        name="residuals",
        title="Measured against the model",
        subject=result.name,
        y_label="measured ÷ model − 1",
        x_label=_SIZE,
        scale=Scale.SIGNED,
        per_cent=True,
        panels=tuple(
            Panel(title, tuple(line for each in sweeps for line in _residual_lines(each)))
            for title, sweeps in _by_setting(result)
        ),
    )


def stall_chart(result: LatencyResult) -> Chart:
    """Fastest, usual and slowest calls beside the shortest timer.

    A panel for each sweep that stalled; if none did, for each arm with nothing set.
    """
    stalled = [each for each in result.sweeps if each.stalls]
    shown = stalled or [each for each in result.sweeps if each.sweep.options == Options()]
    timer = min(result.timers, key=lambda each: each.wait_s)
    return Chart(
        name="stalls",
        title="Calls",
        subject=result.name,
        y_label="there and back (µs)",
        x_label=_SIZE,
        scale=Scale.LOG,
        reference=Reference(1e6 * timer.wait_s, timer_text(timer)),
        panels=tuple(
            Panel(f"{each.sweep.arm}, {setting_text(each.sweep.options)}", tuple(_call_lines(each)))
            for each in shown
        ),
    )


def merging_chart(result: LatencyResult) -> Chart:
    """Messages in one segment by message size, with TCP_NODELAY on and off."""
    lines = []
    for nodelay, look in ((True, Look(BLUE, "s")), (False, Look(VERMILION, "D"))):
        merged = [each for each in result.merged if each.options.nodelay is nodelay]
        lines.append(
            Line(
                label="on" if nodelay else "off",
                look=look,
                x_bytes=[each.payload_bytes for each in merged],
                y=[each.messages_per_segment or math.nan for each in merged],
            )
        )
    return Chart(
        name="merging",
        title="Messages per segment",
        subject=result.name,
        y_label="messages per segment",
        x_label=_SIZE,
        scale=Scale.LOG,
        reference=Reference(1.0, "one each"),
        panels=(Panel("TCP_NODELAY", tuple(lines)),),
    )


def _by_setting(result: LatencyResult) -> Iterator[tuple[str, list[SweepResult]]]:
    """The sweeps by what was asked of the sockets, of which the ORB's may lack a part."""
    settings: dict[tuple[bool, bool, int | None], list[SweepResult]] = {}
    for each in result.sweeps:
        options = each.sweep.options
        key = options.reverse, options.nodelay, options.send_buffer_bytes
        settings.setdefault(key, []).append(each)
    for sweeps in settings.values():
        raw = next((each for each in sweeps if not each.sweep.arm.is_corba), sweeps[0])
        yield setting_text(raw.sweep.options), sweeps


def _time_line(each: SweepResult) -> Line:
    points = [point for point in each.sweep.points if point.payload_bytes]
    return Line(
        label=str(each.sweep.arm),
        look=ARM_LOOKS[each.sweep.arm],
        x_bytes=[point.payload_bytes for point in points],
        y=[point.usual_us for point in points],
        low=[min(point.medians_us.values()) for point in points],
        high=[max(point.medians_us.values()) for point in points],
    )


def _residual_lines(each: SweepResult) -> Iterator[Line]:
    if each.model is not None:
        seen = [
            (size, math.expm1(residual))
            for size, residual in zip(each.model.sizes_bytes, each.model.residuals, strict=True)
            if size
        ]
        yield Line(
            label=str(each.sweep.arm),
            look=ARM_LOOKS[each.sweep.arm],
            x_bytes=[size for size, _ in seen],
            y=[away for _, away in seen],
        )


def _call_lines(each: SweepResult) -> Iterator[Line]:
    points = each.sweep.points
    colour = ARM_LOOKS[each.sweep.arm].colour
    yield _line("slowest", Look(colour, "^", dashed=True), points, lambda at: at.calls.max_ns / 1e3)
    yield _line("usual", ARM_LOOKS[each.sweep.arm], points, lambda at: at.usual_us)
    yield _line("fastest", Look(colour, "v", dashed=True), points, lambda at: at.calls.min_ns / 1e3)


def _line(
    label: str, look: Look, points: Iterable[SweepPoint], value: Callable[[SweepPoint], float]
) -> Line:
    """A line over the sizes above zero, which is where a logarithmic axis begins."""
    shown: Sequence[SweepPoint] = [point for point in points if point.payload_bytes]
    return Line(
        label=label,
        look=look,
        x_bytes=[point.payload_bytes for point in shown],
        y=[value(point) for point in shown],
    )
