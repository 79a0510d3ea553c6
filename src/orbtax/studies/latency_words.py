"""The study of a message's time in words: settings, sizes, and the answer on a link."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from orbtax.analysis.costmodel import Estimate
from orbtax.analysis.jumps import Jump
from orbtax.analysis.stalls import Remedy, Stall, Timer
from orbtax.analysis.sweeps import SweepPoint
from orbtax.model import Arm, Options
from orbtax.report.front import listed
from orbtax.report.numbers import Show, counted, per_cent, significant
from orbtax.report.tables import MISSING
from orbtax.studies.latency_results import LatencyResult, SweepResult
from orbtax.units import display_duration, display_size, format_size

DEFAULT = "default"
"""The setting in which nothing is set: buffers left to the kernel, TCP_NODELAY on."""

LARGE_BYTES = 1024**2
"""A large message, whose measured speed stands beside the speed that the model tends to."""


def setting_text(options: Options) -> str:
    """A setting in words: `default`, `buffers 32 KiB, TCP_NODELAY off`."""
    send, receive = options.send_buffer_bytes, options.receive_buffer_bytes
    if send is not None and send == receive:
        said = [f"buffers {format_size(send)}"]
    else:
        sides = (("send", send), ("receive", receive))
        said = [f"{side} buffer {format_size(size)}" for side, size in sides if size is not None]
    if not options.nodelay:
        said.append("TCP_NODELAY off")
    if options.reverse:
        said.append("ends exchanged")
    return ", ".join(said) or DEFAULT


def under_text(options: Options) -> str:
    """A setting at the end of a sentence: `with buffers 32 KiB`, `by default`."""
    said = setting_text(options)
    return "by default" if said == DEFAULT else f"with {said}"


def estimate_text(estimate: Estimate | None, show: Show = significant) -> str:
    """A value with its 95 % interval: `54.5 [51.8, 57.4]`; a dash if it is not determined."""
    if estimate is None:
        return MISSING
    return f"{show(estimate.value)} [{show(estimate.low)}, {show(estimate.high)}]"


def short_estimate_text(estimate: Estimate | None, show: Show = significant) -> str:
    """A value with how far its interval reaches up: `54.5 ±5.3 %`."""
    if estimate is None:
        return MISSING
    reach = estimate.high / estimate.value - 1
    return f"{show(estimate.value)} ±{Decimal(f'{100 * reach:.1e}'):f} %"


def timer_text(timer: Timer) -> str:
    """A timer with its time: `delayed acknowledgement, 40.0 ms`."""
    return f"{timer.name}, {display_duration(timer.wait_s)}"


def usual_text(point: SweepPoint) -> str:
    """The usual time of a size in µs with the lowest and the highest round: `54.5 [53.1, 56.0]`."""
    rounds = point.medians_us.values()
    lowest, highest = significant(min(rounds)), significant(max(rounds))
    return f"{significant(point.usual_us)} [{lowest}, {highest}]"


def stall_text(stall: Stall) -> str:
    """How often a timer was met, and whether in every repetition."""
    share = f"{stall.stalled:,} of {counted(stall.calls, 'call')} ({per_cent(stall.share)} %)"
    times = [share, "several times each"] if stall.several else [share]
    return ", ".join((*times, f"in {repetitions_text(stall.stalled_rounds, stall.rounds)}"))


def repetitions_text(seen: int, rounds: int) -> str:
    """`all 5 repetitions` or `3 of 5 repetitions`: whether it happens every time."""
    if seen == rounds:
        return f"all {counted(rounds, 'repetition')}" if rounds > 1 else "the only repetition"
    return f"{seen} of {counted(rounds, 'repetition')}"


def remedies_text(remedies: tuple[Remedy, ...]) -> str:
    """What other settings did about a stall; a dash if none was tried that could help."""
    return (
        "; ".join(
            f"{'gone' if remedy.removes else 'still there'} {under_text(remedy.options)}"
            for remedy in remedies
        )
        or MISSING
    )


def jump_text(jump: Jump) -> str:
    """How far time jumps, and whether in every repetition."""
    sign = "+" if jump.change > 0 else "−"
    return (
        f"{sign}{significant(100 * abs(jump.change))} %, "
        f"in {repetitions_text(jump.agreeing_rounds, jump.rounds)}"
    )


def breaks(result: LatencyResult) -> Iterator[str]:
    """Each stall and jump in a line, for where there is no room for a table."""
    for each in result.sweeps:
        where = f"{each.sweep.arm}, {setting_text(each.sweep.options)}"
        for stall in each.stalls:
            remedies = remedies_text(result.remedies(stall, each.sweep))
            yield (
                f"stall: {where}, {format_size(stall.payload_bytes)}: "
                f"{display_duration(stall.delay_s)} late ({timer_text(stall.timer)}), "
                f"{stall_text(stall)}" + ("" if remedies == MISSING else f"; {remedies}")
            )
        for jump in each.jumps:
            limits = "; ".join(limit.name for limit in jump.limits)
            yield (
                f"jump: {where}, {format_size(jump.from_bytes)} → {format_size(jump.to_bytes)}: "
                f"{significant(jump.from_us)} → {significant(jump.to_us)} µs, {jump_text(jump)}"
                + (f"; there: {limits}" if limits else "")
            )


def answers(result: LatencyResult) -> Iterator[str]:
    """What was found on one link: overhead and speed, stalls, jumps."""
    yield _overhead(result)
    for arm in (Arm.CALL, Arm.CORBA):
        each = result.sweep(arm)
        if each is not None and each.model is not None:
            yield _model(each)
    yield from _stalls(result)
    yield _continuity(result)


def _overhead(result: LatencyResult) -> str:
    plain = next((each for each in result.empty_calls if each.options == Options()), None)
    if plain is None:
        return f"On {result.name} no empty call was measured."
    said = (
        f"On {result.name} an empty CORBA call takes {significant(plain.time_us)} µs there and back"
    )
    if plain.overhead_ratio is None or plain.overhead_us is None:
        return f"{said}."
    return (
        f"{said}; the overhead that the sweep of sizes gives is "
        f"{significant(plain.overhead_us)} µs, {per_cent(plain.overhead_ratio)} % of it."
    )


def _model(each: SweepResult) -> str:
    model = each.model
    if model is None or model.overhead_us is None or model.asymptotic_bytes_s is None:
        return f"The sizes do not determine the speed of {each.sweep.arm}."
    said = (
        f"{each.sweep.arm}: overhead {significant(model.overhead_us.value)} µs, towards large "
        f"messages {significant(model.asymptotic_bytes_s.value / 1e6)} MB/s"
    )
    measured_bytes_s = each.speed_bytes_s(LARGE_BYTES)
    if measured_bytes_s is not None:
        share = per_cent(measured_bytes_s / model.asymptotic_bytes_s.value)
        said += (
            f" ({format_size(LARGE_BYTES)}: {significant(measured_bytes_s / 1e6)} MB/s measured, "
            f"{share} % of it)"
        )
    if model.half_speed_bytes is not None:
        said += f", half of that with messages of {display_size(model.half_speed_bytes.value)}"
    if model.breakpoint_bytes is not None:
        said += f"; the law changes at {display_size(model.breakpoint_bytes.value)}"
    return f"{said}."


def _stalls(result: LatencyResult) -> Iterator[str]:
    stalled = [each for each in result.sweeps if each.stalls]
    if not stalled:
        yield "No call waited for a timer of the kernel."
    for each in stalled:
        timers = listed(dict.fromkeys(timer_text(stall.timer) for stall in each.stalls))
        sizes = listed(dict.fromkeys(format_size(stall.payload_bytes) for stall in each.stalls))
        gone = remedies_text(result.remedies(each.stalls[0], each.sweep))
        yield (
            f"{each.sweep.arm} {under_text(each.sweep.options)} waited for a timer of the "
            f"kernel ({timers}) at {sizes}" + ("." if gone == MISSING else f": {gone}.")
        )


def _continuity(result: LatencyResult) -> str:
    jumps = sum(len(each.jumps) for each in result.sweeps)
    splits = sum(len(each.splits) for each in result.sweeps)
    return (
        f"{counted(jumps, 'jump')} between neighbouring sizes and {counted(splits, 'size')} whose "
        f"repetitions show two values, in {counted(len(result.sweeps), 'sweep')}."
    )
