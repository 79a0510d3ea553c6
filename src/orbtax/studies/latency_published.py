"""The report of 1994: its figures beside ours, and what it warns of, merged messages."""

from __future__ import annotations

from collections.abc import Iterator

from orbtax.analysis.merging import MergedMessages
from orbtax.model import Arm, Options
from orbtax.published.fibre_channel import fibre_channel_results
from orbtax.report.numbers import significant
from orbtax.report.tables import MISSING, Align, Column, Table
from orbtax.studies.latency_results import LatencyResult
from orbtax.units import format_size

REPORT_1994 = "Fibre Channel, 1994"
PUBLISHED_BUFFERS_BYTES = 65_536


def published_table(result: LatencyResult | None = None) -> Table:
    """The figures of 1994, and those of a link beside them."""
    rows: list[tuple[str, ...]] = [
        (
            f"{each.sender} → {each.receiver}",
            f"{each.overhead_us:g}",
            MISSING,
            f"{each.peak_mbyte_s:.1f}",
            format_size(each.peak_message_bytes),
            format_size(each.socket_buffer_bytes),
        )
        for each in fibre_channel_results()
    ]
    if result is not None:
        rows += _beside_published(result)
    return Table(
        title=f"{REPORT_1994}" + ("" if result is None else f", and {result.name}"),
        columns=(
            Column("where", align=Align.LEFT),
            Column("overhead", "µs"),
            Column("half", "µs"),
            Column("at most", "MB/s"),
            Column("with"),
            Column("buffers"),
        ),
        rows=tuple(rows),
        notes=(
            "At most: the highest speed measured, with messages of the size beside it.",
            "The report defines the overhead as ours is, as the limit of the time for small "
            "messages, and does not say whether its time is of one way; ours is there and back.",
        ),
    )


def merging_table(result: LatencyResult) -> Table:
    """Messages handed to the socket beside the segments that carried them."""
    by_size: dict[int, dict[bool, MergedMessages]] = {}
    for each in result.merged:
        by_size.setdefault(each.payload_bytes, {})[each.options.nodelay] = each
    rows = [
        (format_size(size), *_merged_cells(of_size.get(True)), *_merged_cells(of_size.get(False)))
        for size, of_size in by_size.items()
    ]
    columns = [
        Column(f"{heading}, {state}", unit)
        for state in ("on", "off")
        for heading, unit in (
            ("messages", ""),
            ("segments", ""),
            ("per segment", ""),
            ("per message", "µs"),
        )
    ]
    return Table(
        title=f"Messages merged by a stream on {result.name}, with TCP_NODELAY on and off",
        columns=(Column("message"), *columns),
        rows=tuple(rows),
        notes=(
            "Segments: data segments by the counter of the sender's own socket. With TCP_NODELAY "
            "on the kernel still joins what it cannot send at once. A stream waits for no reply: "
            "its time per message is not the overhead, and the smaller the more is merged.",
        ),
    )


def _beside_published(result: LatencyResult) -> Iterator[tuple[str, ...]]:
    """Our arms with the kernel's buffers and with those of the report."""
    for each in result.sweeps:
        options = each.sweep.options
        buffers = options.send_buffer_bytes
        if each.model is None or buffers not in (None, PUBLISHED_BUFFERS_BYTES):
            continue
        if not options.nodelay:
            continue
        speed, size = each.peak
        overhead = each.model.overhead_us
        alike = each.sweep.ways == 2
        yield (
            f"{each.sweep.arm} here" + (", ends exchanged" if options.reverse else ""),
            MISSING if overhead is None else significant(overhead.value),
            significant(overhead.value / 2) if overhead and alike else MISSING,
            significant(speed / 1e6),
            format_size(size),
            _buffers_text(each.sweep.arm, options),
        )


def _buffers_text(arm: Arm, options: Options) -> str:
    if options.send_buffer_bytes is None:
        return "kernel"
    return format_size(options.send_buffer_bytes) + (" to send" if arm.is_corba else "")


def _merged_cells(each: MergedMessages | None) -> tuple[str, ...]:
    if each is None:
        return (MISSING,) * 4
    ratio = each.messages_per_segment
    return (
        f"{each.messages:,}",
        MISSING if each.segments is None else f"{each.segments:,}",
        MISSING if ratio is None else significant(ratio),
        significant(each.message_us),
    )
