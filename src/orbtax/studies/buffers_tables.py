"""The tables of the study of buffers, in the shape in which the post gave its figures."""

from __future__ import annotations

from orbtax.analysis.beside import CHANGED, MARGIN
from orbtax.analysis.bottleneck import Label
from orbtax.analysis.bounds import Measured
from orbtax.analysis.buffer_results import BufferResult
from orbtax.model import Arm
from orbtax.published.sdp_buffers import sdp_results
from orbtax.report.numbers import counted, gbit_s, per_cent, significant, with_bounds
from orbtax.report.results import INTERVALS
from orbtax.report.tables import MISSING, Align, Column, Table
from orbtax.socket_buffers import Buffers
from orbtax.studies.buffers_words import (
    changes_text,
    lacking,
    reason_text,
    subject_of,
)
from orbtax.units import format_size

POST = "SDP 2008"
_MESSAGE = Column("message")
_ORDER = "Buffers: the sender's to send/the receiver's to receive."


def goodput_table(result: BufferResult, arm: Arm) -> Table:
    """Goodput by message size and buffers; of `stream` beside the post, whose netperf sent one."""
    published = published_mbit_s() if arm is Arm.STREAM else {}
    theirs = list(dict.fromkeys(buffers for _, buffers in published))
    rows = [
        (
            format_size(size),
            *(_goodput(result.cases.get((arm, size, buffers))) for buffers in result.buffers),
            *(_mbit_s_text(published.get((size, buffers))) for buffers in theirs),
        )
        for size in result.sizes_bytes
    ]
    post = (f"{POST}: netperf on a machine with InfiniBand. It is there for its shape.",)
    return Table(
        title=f"Goodput of {arm} on {subject_of(result)} by message size and socket buffers",
        columns=(
            _MESSAGE,
            *(Column(str(buffers), "Mbit/s") for buffers in result.buffers),
            *(Column(str(buffers), f"{POST}, Mbit/s") for buffers in theirs),
        ),
        rows=tuple(rows),
        notes=(_ORDER, *(post if theirs else ()), *lacking(result, [arm])),
    )


def published_table() -> Table:
    """The figures of the post alone."""
    published = published_mbit_s()
    theirs = list(dict.fromkeys(buffers for _, buffers in published))
    sizes = dict.fromkeys(size for size, _ in published)
    return Table(
        title="Bandwidth of SDP by message size and socket buffers, as published",
        columns=(_MESSAGE, *(Column(str(buffers), "Mbit/s") for buffers in theirs)),
        rows=tuple(
            (format_size(size), *(_mbit_s_text(published[size, buffers]) for buffers in theirs))
            for size in sizes
        ),
        notes=(_ORDER,),
    )


def reason_table(result: BufferResult, arm: Arm) -> Table:
    """What bounds each cell of one arm, in the shape of the goodputs."""
    rows = [
        (
            format_size(size),
            *(_labels(result.cases.get((arm, size, buffers))) for buffers in result.buffers),
        )
        for size in result.sizes_bytes
    ]
    return Table(
        title=f"What bounds {arm} on {subject_of(result)}",
        columns=(
            _MESSAGE,
            *(Column(str(buffers), align=Align.LEFT) for buffers in result.buffers),
        ),
        rows=tuple(rows),
        notes=("Several may hold at once; the first hides those after it.",),
    )


def evidence_table(result: BufferResult, arm: Arm) -> Table:
    """Every cell of one arm with its interval, what bounds it, and the numbers that say so."""
    rows = [
        (
            format_size(size),
            str(buffers),
            with_bounds(each.goodput_bit_s, gbit_s),
            str(len(each.rates.by_round)),
            _segments(each),
            reason_text(each) or MISSING,
        )
        for size in result.sizes_bytes
        for buffers in result.buffers
        if (each := result.cases.get((arm, size, buffers))) is not None
    ]
    columns = (
        _MESSAGE,
        Column("buffers", align=Align.LEFT),
        Column("goodput", "Gbit/s"),
        Column("rounds"),
        Column("segments", "per message"),
        Column("what bounds it, and since", align=Align.LEFT),
    )
    notes = (
        INTERVALS,
        "Segments: below 1, TCP merged messages that waited in the send buffer into one segment, "
        "which costs less for each; it may do so with TCP_NODELAY, too.",
        "In brackets after a number: the limit that it was held against. Round trips under load "
        "are harmonic means of what was seen every 10 ms while the blocks ran, so that window ÷ "
        "round trip is a rate.",
    )
    title = f"Why {arm} is as fast as it is on {subject_of(result)}"
    return Table(title=title, columns=columns, rows=tuple(rows), notes=notes)


def slowdown_table(result: BufferResult) -> Table:
    """Where larger buffers were slower than smaller ones, and what changed with them."""
    rows = [
        (
            str(slowdown.larger.case.arm),
            format_size(slowdown.larger.case.payload_bytes),
            str(slowdown.larger.buffers),
            str(slowdown.smaller.buffers),
            with_bounds(slowdown.ratio, per_cent),
            changes_text(slowdown),
        )
        for slowdown in result.slowdowns
    ]
    columns = (
        Column("arm", align=Align.LEFT),
        _MESSAGE,
        Column("larger", align=Align.LEFT),
        Column("smaller", align=Align.LEFT),
        Column("larger ÷ smaller", "%"),
        Column("what changed", align=Align.LEFT),
    )
    notes = [
        f"Of {counted(result.comparisons, 'comparison')}, each with the fastest of those whose "
        f"buffers in force are smaller. Only what is slower by more than {per_cent(MARGIN)} % and "
        "by all of the 95 % interval, in brackets, stands here; at most one in forty comes to that "
        f"by chance alone. A number is told as changed if it is worse by {per_cent(CHANGED)} %.",
    ]
    if not all(slowdown.paired for slowdown in result.slowdowns):
        notes.append(
            "Not all settings were run in the same rounds: a drift of the machine from one to the "
            "other would look like a difference."
        )
    title = f"Where larger buffers were slower on {subject_of(result)}"
    return Table(title=title, columns=columns, rows=tuple(rows), notes=tuple(notes))


def published_mbit_s() -> dict[tuple[int, Buffers], float]:
    """Message size in bytes and buffers → the bandwidth that the post gives, in Mbit/s."""
    return {
        (
            each.message_bytes,
            Buffers(each.buffers.send_buffer_bytes, each.buffers.receive_buffer_bytes),
        ): each.mbit_s
        for each in sdp_results()
    }


def _goodput(measured: Measured | None) -> str:
    if measured is None or measured.goodput_bit_s is None:
        return MISSING
    return _mbit_s_text(measured.goodput_bit_s.value / 1e6)


def _segments(measured: Measured) -> str:
    segments = measured.flow.segments_per_message
    return MISSING if segments is None else significant(segments)


def _mbit_s_text(rate_mbit_s: float | None) -> str:
    if rate_mbit_s is None:
        return MISSING
    return f"{rate_mbit_s:,.0f}" if rate_mbit_s >= 1000 else significant(rate_mbit_s)


def _labels(measured: Measured | None) -> str:
    if measured is None or not measured.bottlenecks:
        return MISSING
    return ", ".join("?" if label is Label.UNKNOWN else str(label) for label in measured.labels)
