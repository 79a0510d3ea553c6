"""Where the time of a message is not continuous, as a table: what, how often, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orbtax.analysis.stalls import Stall
from orbtax.report.numbers import significant
from orbtax.report.tables import MISSING, Align, Column, Table
from orbtax.studies.latency_results import LatencyResult, SweepResult
from orbtax.studies.latency_words import (
    jump_text,
    remedies_text,
    setting_text,
    stall_text,
    timer_text,
)
from orbtax.units import display_duration, format_size


def discontinuity_table(result: LatencyResult) -> Table:
    """Stalls, jumps and sizes with two values: where, how often, and why."""
    rows = [
        row
        for each in result.sweeps
        for row in (*_stall_rows(result, each), *_jump_rows(each), *_split_rows(each))
    ]
    return Table(
        title=f"Where the time of a message is not continuous on {result.name}",
        columns=(
            Column("what", align=Align.LEFT),
            Column("arm", align=Align.LEFT),
            Column("setting", align=Align.LEFT),
            Column("message"),
            Column("time"),
            Column("how often", align=Align.LEFT),
            Column("known there", align=Align.LEFT),
            Column("other settings", align=Align.LEFT),
        ),
        rows=tuple(rows),
        notes=(
            "Stall: calls that pile up at a timer of the kernel; time: how late they were. Jump: "
            "more than a straight line allows between two sizes, beyond the noise of the "
            "repetitions. Two values: repetitions that fall into two.",
        ),
    )


def _stall_rows(result: LatencyResult, each: SweepResult) -> Iterator[tuple[str, ...]]:
    for stall in each.stalls:
        yield (
            "stall",
            *_place(each),
            format_size(stall.payload_bytes),
            f"{display_duration(stall.delay_s)} late",
            stall_text(stall),
            timer_text(stall.timer),
            remedies_text(result.remedies(stall, each.sweep)),
        )


def _jump_rows(each: SweepResult) -> Iterator[tuple[str, ...]]:
    for jump in each.jumps:
        stalls = each.stalls_at(jump.to_bytes) or each.stalls_at(jump.from_bytes)
        yield (
            "jump",
            *_place(each),
            f"{format_size(jump.from_bytes)} → {format_size(jump.to_bytes)}",
            f"{significant(jump.from_us)} → {significant(jump.to_us)} µs",
            jump_text(jump),
            _known(stalls, [limit.name for limit in jump.limits]),
            MISSING,
        )


def _split_rows(each: SweepResult) -> Iterator[tuple[str, ...]]:
    for split in each.splits:
        yield (
            "two values",
            *_place(each),
            format_size(split.payload_bytes),
            f"{significant(split.low_us)} or {significant(split.high_us)} µs",
            f"in {split.low_rounds} and {split.high_rounds} repetitions",
            _known(each.stalls_at(split.payload_bytes), []),
            MISSING,
        )


def _place(each: SweepResult) -> tuple[str, str]:
    return str(each.sweep.arm), setting_text(each.sweep.options)


def _known(stalls: Sequence[Stall], limits: Sequence[str]) -> str:
    return "; ".join([*(timer_text(stall.timer) for stall in stalls), *limits]) or MISSING
