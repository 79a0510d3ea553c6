"""The study of buffers in sentences: what was fastest, where larger was slower, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orbtax.analysis.beside import MARGIN, Change, Slowdown
from orbtax.analysis.bottleneck import Label
from orbtax.analysis.bounds import Measured
from orbtax.analysis.buffer_results import BufferResult
from orbtax.model import Arm
from orbtax.report.causes import evidence_text
from orbtax.report.front import listed
from orbtax.report.numbers import counted, gbit_s, per_cent, significant, with_bounds
from orbtax.report.wording import subject
from orbtax.socket_buffers import Buffers, base_name
from orbtax.units import display_rate, display_size, format_size


def subject_of(result: BufferResult) -> str:
    """The link with what it is: `ib (emulated)`."""
    return subject(base_name(result.link.name), result.link.kind)


def answers(result: BufferResult) -> Iterator[str]:
    """What was found on one link: a sentence for each arm, and one on larger buffers."""
    for arm in result.arms:
        yield _fastest(result, arm)
    yield _larger(result)


def path_text(result: BufferResult) -> str:
    """What the path holds, beside which the windows are to be seen."""
    if result.delay_product_bytes is None or result.best_bit_s is None:
        return "The bandwidth-delay product of the path is not known."
    return (
        f"Bandwidth-delay product of the path: {display_rate(result.best_bit_s)} × "
        f"{significant(result.least_rtt_us or 0)} µs, the least round trip seen, = "
        f"{display_size(result.delay_product_bytes)}. Under load a round trip takes longer, and "
        "so much more must be in flight: programs have to wake up, and queues fill."
    )


def reason_text(measured: Measured) -> str:
    """What bounds a case, each label with its numbers."""
    return "; ".join(
        f"{bottleneck.label}: {', '.join(map(evidence_text, bottleneck.evidence))}"
        for bottleneck in measured.bottlenecks
    )


def changes_text(slowdown: Slowdown) -> str:
    """What changed with the larger buffers; says so if nothing that was looked at did."""
    said = [
        *(f"{label} came with them" for label in slowdown.new_labels if label is not Label.UNKNOWN),
        *(f"what is in them no longer fits the {cache}" for cache in slowdown.outgrown),
        *map(_change_text, slowdown.changes),
        *_autotuning(slowdown),
    ]
    return "; ".join(said) or "nothing that was looked at"


def lacking(result: BufferResult, arms: Sequence[Arm]) -> Iterator[str]:
    """What cannot be had on the link, a sentence each."""
    for (arm, buffers), reason in result.lacking.items():
        if arm in arms:
            yield f"{arm} cannot have {buffers} here: {reason}."


def _fastest(result: BufferResult, arm: Arm) -> str:
    known = [
        (each.goodput_bit_s, each)
        for each in result.cases.values()
        if each.case.arm is arm and each.goodput_bit_s is not None
    ]
    if not known:
        return f"On {subject_of(result)} {arm} gave no figure."
    most, best = max(known, key=lambda pair: pair[0].value)
    size = best.case.payload_bytes
    same_size = [pair for pair in known if pair[1].case.payload_bytes == size]
    least, worst = min(same_size, key=lambda pair: pair[0].value)
    said = (
        f"On {subject_of(result)} {arm} was fastest with messages of {format_size(size)} and "
        f"{_named(best.buffers)}: {gbit_s(most.value)} Gbit/s{_held_back(best.labels)}"
    )
    if worst is best:
        return f"{said}."
    return (
        f"{said}; at that size it was slowest with {_named(worst.buffers)}: "
        f"{gbit_s(least.value)} Gbit/s{_held_back(worst.labels)}."
    )


def _named(buffers: Buffers) -> str:
    return f"buffers of {buffers}" if buffers.are_fixed else "buffers left to the kernel"


def _held_back(labels: Sequence[Label]) -> str:
    known = [str(label) for label in labels if label is not Label.UNKNOWN]
    return f" ({', '.join(known)})" if known else ""


def _larger(result: BufferResult) -> str:
    found = result.slowdowns
    if not found:
        return (
            f"In none of {counted(result.comparisons, 'comparison')} were larger buffers clearly "
            f"slower, by more than {per_cent(MARGIN)} % and by all of the 95 % interval."
        )
    worst = min(found, key=lambda slowdown: slowdown.ratio.value)
    return (
        f"Larger buffers were slower in {len(found)} of "
        f"{counted(result.comparisons, 'comparison')} ({_places(found)}), most so "
        f"{worst.larger.case.arm} with {format_size(worst.larger.case.payload_bytes)}: "
        f"{worst.larger.buffers} reached {with_bounds(worst.ratio, per_cent)} % of "
        f"{worst.smaller.buffers}. What changed: {changes_text(worst)}."
    )


def _places(found: Sequence[Slowdown]) -> str:
    counts = {
        arm: sum(slowdown.larger.case.arm is arm for slowdown in found)
        for arm in dict.fromkeys(slowdown.larger.case.arm for slowdown in found)
    }
    return listed(f"{count} of {arm}" for arm, count in counts.items())


def _change_text(change: Change) -> str:
    return (
        f"{change.name} {significant(change.smaller)} → {significant(change.larger)} {change.unit}"
    )


def _autotuning(slowdown: Slowdown) -> Iterator[str]:
    if slowdown.larger.buffers.are_fixed and not slowdown.smaller.buffers.are_fixed:
        yield "their size is fixed, where the kernel's own was not"
