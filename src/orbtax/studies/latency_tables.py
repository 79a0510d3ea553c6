"""The tables of a message's time: the cost models, the empty call, and every size."""

from __future__ import annotations

import math
from collections.abc import Iterator

from orbtax.histogram import percentile
from orbtax.report.numbers import per_cent, significant
from orbtax.report.tables import MISSING, Align, Column, Table
from orbtax.studies.latency_results import LatencyResult, SweepResult
from orbtax.studies.latency_words import (
    estimate_text,
    setting_text,
    short_estimate_text,
    timer_text,
    usual_text,
)
from orbtax.units import display_size, format_size

_ARM = Column("arm", align=Align.LEFT)
_SETTING = Column("setting", align=Align.LEFT)
POOR_FIT = 0.2
_USUAL_NOTE = (
    "Usual: median of the rounds' medians, in brackets the lowest and the highest of them."
)
_MODEL_NOTES = (
    "Default: buffers left to the kernel, TCP_NODELAY on, from the sender to the receiver.",
    "Time = overhead + size ÷ speed, fitted with relative residuals to the median of each "
    "repetition's calls. In brackets, or after ±: 95 % intervals.",
    "Overhead: the time of a message as its size goes to zero, there and back, since every arm "
    "waits for the reply. Half of it stands only where message and reply are alike.",
    "r∞: speed towards large messages, of one way. n½: the size that reaches half of it.",
    "Law: a line, a bend (only the speed changes) or a jump at the size given, whichever has the "
    "smallest corrected Akaike criterion.",
)


def model_table(result: LatencyResult) -> Table:
    """The cost model of every sweep."""
    columns = (
        _ARM,
        _SETTING,
        Column("overhead", "µs"),
        Column("half", "µs"),
        Column("per byte", "ns"),
        Column("r∞", "MB/s"),
        Column("n½"),
        Column("law", align=Align.LEFT),
        Column("furthest off", "%"),
    )
    notes = (*_MODEL_NOTES, *_poor_fits(result), *_left_out(result), *_not_applied(result))
    return Table(
        title=f"Overhead and speed on {result.name}",
        columns=columns,
        rows=tuple(_model_row(each) for each in result.sweeps),
        notes=notes,
    )


def brief_model_table(result: LatencyResult) -> Table:
    """The same without what a terminal has no room for."""
    rows = [
        (
            str(each.sweep.arm),
            setting_text(each.sweep.options),
            short_estimate_text(model.overhead_us),
            short_estimate_text(model.asymptotic_bytes_s, _mbyte_s),
            MISSING
            if model.half_speed_bytes is None
            else display_size(model.half_speed_bytes.value),
            str(model.shape)
            if model.breakpoint_bytes is None
            else f"{model.shape} at {display_size(model.breakpoint_bytes.value)}",
        )
        for each in result.sweeps
        if (model := each.model) is not None
    ]
    return Table(
        title=f"Overhead and speed on {result.name}",
        columns=(
            _ARM,
            _SETTING,
            Column("overhead", "µs"),
            Column("r∞", "MB/s"),
            Column("n½"),
            Column("law", align=Align.LEFT),
        ),
        rows=tuple(rows),
        notes=(*_MODEL_NOTES, *_poor_fits(result), *_left_out(result), *_not_applied(result)),
    )


def empty_table(result: LatencyResult) -> Table:
    """The empty call measured alone, beside the overhead that the sweep of `corba` gives."""
    rows = [
        (
            setting_text(each.options),
            usual_text(each.point),
            MISSING if each.overhead_us is None else significant(each.overhead_us),
            MISSING if each.overhead_ratio is None else per_cent(each.overhead_ratio),
        )
        for each in result.empty_calls
    ]
    return Table(
        title=f"The empty CORBA call on {result.name}",
        columns=(
            _SETTING,
            Column("usual, measured alone", "µs"),
            Column("overhead by the sweep", "µs"),
            Column("of it", "%"),
        ),
        rows=tuple(rows),
        notes=(_USUAL_NOTE,),
    )


def points_table(result: LatencyResult, each: SweepResult) -> Table:
    """Every size of a sweep: the calls, the rounds' medians, and what the model says."""
    rows = [
        (
            format_size(point.payload_bytes),
            str(len(point.by_round)),
            f"{point.calls.calls:,}",
            significant(point.calls.min_ns / 1000),
            usual_text(point),
            _microseconds(percentile(point.calls, 0.99)),
            significant(point.calls.max_ns / 1000),
            *_model_cells(each, point.payload_bytes, point.usual_us),
            "; ".join(timer_text(stall.timer) for stall in each.stalls_at(point.payload_bytes))
            or MISSING,
        )
        for point in each.sweep.points
    ]
    return Table(
        title=f"{each.sweep.arm} on {result.name}, {setting_text(each.sweep.options)}",
        columns=(
            Column("message"),
            Column("rounds"),
            Column("calls"),
            Column("fastest", "µs"),
            Column("usual", "µs"),
            Column("p99", "µs"),
            Column("slowest", "µs"),
            Column("model", "µs"),
            Column("off", "%"),
            Column("stalls", align=Align.LEFT),
        ),
        rows=tuple(rows),
        notes=(_USUAL_NOTE,),
    )


def _model_row(each: SweepResult) -> tuple[str, ...]:
    head = str(each.sweep.arm), setting_text(each.sweep.options)
    model = each.model
    if model is None:
        return (*head, *[MISSING] * 5, "too few sizes", MISSING)
    alike = each.sweep.ways == 2 and model.overhead_us is not None
    law = str(model.shape)
    if model.breakpoint_bytes is not None:
        law += f" at {estimate_text(model.breakpoint_bytes, display_size)}"
    return (
        *head,
        estimate_text(model.overhead_us),
        significant(model.overhead_us.value / 2) if alike and model.overhead_us else MISSING,
        estimate_text(model.byte_ns),
        estimate_text(model.asymptotic_bytes_s, _mbyte_s),
        estimate_text(model.half_speed_bytes, display_size),
        law,
        significant(100 * math.expm1(max(model.residuals, key=abs))),
    )


def _mbyte_s(speed_bytes_s: float) -> str:
    return significant(speed_bytes_s / 1e6)


def _poor_fits(result: LatencyResult) -> Iterator[str]:
    poor = [
        f"{each.sweep.arm}, {setting_text(each.sweep.options)}"
        for each in result.sweeps
        if each.model is not None and max(map(abs, each.model.residuals)) > math.log1p(POOR_FIT)
    ]
    if poor:
        yield (
            f"Off by more than {per_cent(POOR_FIT)} % somewhere, so that overhead and speed are to "
            f"be read with the residuals: {'; '.join(poor)}."
        )


def _left_out(result: LatencyResult) -> Iterator[str]:
    for each in result.sweeps:
        if each.left_out_bytes:
            sizes = ", ".join(map(format_size, each.left_out_bytes))
            yield (
                f"{each.sweep.arm}, {setting_text(each.sweep.options)}: not in the model, since "
                f"the usual call stalled: {sizes}."
            )


def _not_applied(result: LatencyResult) -> Iterator[str]:
    """What a setting could not be for the ORB."""
    options = [each.sweep.options for each in result.sweeps]
    if any(not each.nodelay for each in options):
        yield "TCP_NODELAY off: not for CORBA, since omniORB always sets it and has no option."
    if any(each.receive_buffer_bytes is not None for each in options):
        yield (
            "Buffers: for CORBA the send buffer alone, since omniORB has no option for the "
            "receive buffer, which stays with the kernel."
        )


def _model_cells(each: SweepResult, size: int, usual_us: float) -> tuple[str, str]:
    if each.model is None:
        return MISSING, MISSING
    model_us = each.model.time_us(size)
    return significant(model_us), significant(100 * (usual_us / model_us - 1))


def _microseconds(duration_ns: float | None) -> str:
    return MISSING if duration_ns is None else significant(duration_ns / 1000)
