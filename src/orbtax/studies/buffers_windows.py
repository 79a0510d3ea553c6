"""Buffers and windows of the study: asked for, in force, and beside what they allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median

from orbtax.analysis.bottleneck import Label
from orbtax.analysis.buffer_results import BufferResult
from orbtax.model import Arm
from orbtax.report.numbers import gbit_s, per_cent, significant
from orbtax.report.tables import MISSING, Align, Column, Table
from orbtax.socket_buffers import Buffers
from orbtax.studies.buffers_words import lacking, path_text, subject_of
from orbtax.units import display_size, format_size


def in_force_table(result: BufferResult) -> Table:
    """Buffers as asked for and as in force, with what the path holds, over all message sizes."""
    rows = [
        (str(arm), str(buffers), *_in_force(result, arm, buffers))
        for arm in result.arms
        for buffers in result.buffers
        if (arm, buffers) not in result.lacking
    ]
    columns = (
        Column("arm", align=Align.LEFT),
        Column("asked for", align=Align.LEFT),
        Column("send buffer in force", align=Align.LEFT),
        Column("receive buffer in force", align=Align.LEFT),
        Column("window", align=Align.LEFT),
        Column("least round trip", "µs"),
        Column("round trip under load", "µs"),
    )
    notes = (
        path_text(result),
        "In force: as the kernel counts, which is twice what is asked for. The window is what the "
        "receiver offered while the blocks ran. Both: smallest to largest over the message sizes. "
        "Round trip under load: the middle one over the message sizes.",
        *_clipped(result),
        *lacking(result, result.arms),
    )
    title = f"Socket buffers on {subject_of(result)}"
    return Table(title=title, columns=columns, rows=tuple(rows), notes=notes)


def window_table(result: BufferResult) -> Table:
    """The cases that are bound by the window: what it allows beside what was moved."""
    rows = []
    for each in result.cases.values():
        flow = each.flow
        allowed_bit_s, moved_bit_s = flow.window_bit_s, flow.busy_bit_s
        if Label.WINDOW not in each.labels or allowed_bit_s is None or moved_bit_s is None:
            continue
        rows.append(
            (
                str(each.case.arm),
                format_size(each.case.payload_bytes),
                str(each.buffers),
                display_size(flow.window_bytes or 0),
                significant(flow.rtt_us or 0),
                gbit_s(allowed_bit_s),
                gbit_s(moved_bit_s),
                per_cent(moved_bit_s / allowed_bit_s),
                MISSING if each.goodput_bit_s is None else gbit_s(each.goodput_bit_s.value),
                per_cent(flow.busy_share or 0),
            )
        )
    columns = (
        Column("arm", align=Align.LEFT),
        Column("message"),
        Column("buffers", align=Align.LEFT),
        Column("window"),
        Column("round trip", "µs"),
        Column("window ÷ round trip", "Gbit/s"),
        Column("moved", "Gbit/s"),
        Column("of that", "%"),
        Column("goodput", "Gbit/s"),
        Column("with data to send", "%"),
    )
    notes = (
        "Window and round trip: means over what was seen every 10 ms while the blocks ran, of the "
        "round trip the harmonic one. Moved: the rate in the time with data to send, which is the "
        "goodput where there always was some. A call has none while it waits for its reply, nor "
        "has a sender that must be woken to fill a send buffer as small as the window.",
    )
    title = f"Windows that bound the speed on {subject_of(result)}"
    return Table(title=title, columns=columns, rows=tuple(rows), notes=notes)


def _in_force(result: BufferResult, arm: Arm, buffers: Buffers) -> tuple[str, ...]:
    flows = [
        each.flow
        for (of_arm, _, asked), each in result.cases.items()
        if (of_arm, asked) == (arm, buffers)
    ]
    loaded = [flow.rtt_us for flow in flows if flow.rtt_us is not None]
    least = [flow.least_rtt_us for flow in flows if flow.least_rtt_us is not None]
    return (
        _sizes(flow.send_buffer_bytes for flow in flows),
        _sizes(flow.receive_buffer_bytes for flow in flows),
        _sizes(flow.window_bytes for flow in flows),
        significant(min(least)) if least else MISSING,
        significant(median(loaded)) if loaded else MISSING,
    )


def _sizes(sizes: Iterable[float | None]) -> str:
    known = [size for size in sizes if size is not None]
    if not known:
        return MISSING
    return " to ".join(dict.fromkeys(display_size(size) for size in (min(known), max(known))))


def _clipped(result: BufferResult) -> Iterator[str]:
    """What is smaller than what was asked for, each setting and side once."""
    said = {
        (each.buffers, shortfall.side, shortfall.limit): (
            f"Clipped: the {shortfall.side} buffer of {each.buffers} was "
            f"{display_size(shortfall.in_force_bytes)} instead of "
            f"{display_size(2 * shortfall.asked_bytes)} ({shortfall.limit or 'the kernel'})."
        )
        for each in result.cases.values()
        for shortfall in each.shortfalls
    }
    return iter(said.values())
