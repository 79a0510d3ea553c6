"""Physical checks: whether the figure of a block can be true, and what may have spoilt it.

A serious finding means that the figure must not be used. The others are to be read beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from orbtax.analysis.crossing import interface_findings
from orbtax.analysis.line import largest_segment_bytes, line_limit
from orbtax.model import Arm, Finding, Kind, Link
from orbtax.record import EndRecord, LinkFacts, Sample, Status
from orbtax.units import display_duration, display_rate, format_size

RATE_TOLERANCE = 0.005
"""What clocks and counters may be off by."""

BURST_BYTES = 256 * 1024
BURST_S = 0.00085
MOST_BURST = 0.01
"""A token bucket may send so much, or what its rate gives in this time, before it holds back."""

FEWEST_TICKS = 100
MOST_SKEW = 0.05
LEAST_FAIRNESS = 0.9
MOST_RETRANSMITTED = 0.01

BENCH_MARGIN = 0.9


def examine(sample: Sample, link: Link, facts: LinkFacts) -> tuple[Finding, ...]:
    """All findings on one block; none for one that failed, which has no figure to doubt."""
    if sample.status is Status.FAILED:
        return ()
    return (
        *_counts(sample),
        *_rate(sample, link, facts),
        *_length(sample),
        *interface_findings(sample, link, facts),
        *_connections(sample, link),
        *_threads(sample),
        *_buffers(sample),
        *_retransmissions(sample),
        *_unchecked(sample),
    )


def jain_fairness(rates: Sequence[float]) -> float:
    """Jain's index (Σx)² ÷ (n · Σx²): 1 if all rates are equal, 1/n if one takes all.

    R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984. ValueError without a rate above 0.
    """
    squares = math.fsum(rate**2 for rate in rates)
    if not squares:
        raise ValueError("fairness needs at least one rate above 0")
    return math.fsum(rates) ** 2 / (len(rates) * squares)


def bench_limited(goodput_bit_s: float, lo_goodput_bit_s: float) -> bool:
    """Whether a goodput says more about this bench than about the link.

    So it does within 10 % of what the same arm reaches over loopback with an empty servant body,
    or beyond.
    """
    return goodput_bit_s >= BENCH_MARGIN * lo_goodput_bit_s


def _counts(sample: Sample) -> Iterator[Finding]:
    # iperf3's receiver stops counting when its sender has stopped, with bytes still on their way.
    if sample.confirmed_bytes != sample.asked_bytes and sample.case.arm is not Arm.IPERF3:
        yield Finding(
            code="bytes-differ",
            text=f"{sample.asked_bytes} bytes were asked for and the receiver confirmed "
            f"{sample.confirmed_bytes}",
            serious=True,
        )
    if sample.checksum is False:
        yield Finding(
            code="checksum-differs",
            text="what the receiver took is not what was sent: the checksums differ",
            serious=True,
        )


def _rate(sample: Sample, link: Link, facts: LinkFacts) -> Iterator[Finding]:
    limit = line_limit(link, facts, largest_segment_bytes(sample.client))
    if limit is None or sample.goodput_bit_s is None or sample.window_s is None:
        return
    most_bit_s = limit.payload_bit_s * (1 + RATE_TOLERANCE)
    if link.kind is Kind.EMULATED:
        burst_bits = max(8 * BURST_BYTES, BURST_S * limit.nominal_bit_s)
        most_bit_s += burst_bits / sample.window_s
        if burst_bits > MOST_BURST * limit.nominal_bit_s * sample.window_s:
            yield Finding(
                code="burst",
                text=f"in a block of {display_duration(sample.window_s)}, what the link's token "
                f"bucket lets pass at once may be more than {MOST_BURST:.0%} of all: its goodput "
                "can lie above what the line carries",
                cure="let blocks last longer (a larger --total, fewer --rounds)",
            )
    if sample.goodput_bit_s > most_bit_s:
        yield Finding(
            code="above-link-rate",
            text=f"{display_rate(sample.goodput_bit_s)} of payload cannot cross a link of "
            f"{display_rate(limit.nominal_bit_s)}, which carries at most "
            f"{display_rate(most_bit_s)} of it",
            cure="see whether the traffic took another way, or the link's rate is set wrong",
            serious=True,
        )


def _length(sample: Sample) -> Iterator[Finding]:
    if sample.window_s is None or sample.clock_tick_s is None:
        return
    if sample.window_s < FEWEST_TICKS * sample.clock_tick_s:
        yield Finding(
            code="short-block",
            text=f"the block lasted {display_duration(sample.window_s)}, which is less than "
            f"{FEWEST_TICKS} ticks of {display_duration(sample.clock_tick_s)} of its clock",
            cure="move more bytes in each block (--total)",
            serious=True,
        )


def _connections(sample: Sample, link: Link) -> Iterator[Finding]:
    if sample.connections == 0 and sample.case.arm in link.preload:
        yield Finding(
            code="unseen-connections",
            text=f"the kernel saw no TCP connection: {link.preload[sample.case.arm]}, under which "
            f"{sample.case.arm} ran, carries it beside the kernel's TCP",
            cure="take TCP state, buffers and the number of connections as unknown",
        )
    elif sample.connections not in (None, sample.case.connections):
        yield Finding(
            code="connections-differ",
            text=f"{sample.case.connections} connections were asked for and the servant counted "
            f"{sample.connections}: the arms are not alike",
            cure="see the ORB's maxGIOPConnectionPerServer, or ask for as many connections",
            serious=True,
        )


def _threads(sample: Sample) -> Iterator[Finding]:
    if sample.start_skew_s and sample.start_skew_s > MOST_SKEW * (sample.window_s or 0):
        yield Finding(
            code="start-skew",
            text=f"the last thread began {display_duration(sample.start_skew_s)} after the first, "
            f"in a block of {display_duration(sample.window_s or 0)}: they ran together for less "
            f"than {1 - MOST_SKEW:.0%} of it",
            cure="let blocks last longer, or use fewer threads per core",
        )
    rates = [
        moved / window_s
        for moved, window_s in zip(sample.thread_bytes, sample.thread_window_s, strict=False)
        if moved and window_s
    ]
    if rates and (fairness := jain_fairness(rates)) < LEAST_FAIRNESS:
        yield Finding(
            code="unfair",
            text=f"the {len(rates)} threads were served unequally: Jain's index is {fairness:.2f}",
            cure="look at the placement, and at congestion control if the link is shared",
        )


def _buffers(sample: Sample) -> Iterator[Finding]:
    for name, end in _ends(sample):
        for direction, buffer in (("send", end.send_buffer), ("receive", end.receive_buffer)):
            if buffer is None or buffer.requested_bytes is None or buffer.effective_bytes is None:
                continue
            if buffer.clipped or buffer.effective_bytes < 2 * buffer.requested_bytes:
                yield Finding(
                    code="buffer-clipped",
                    text=f"the {name} asked for a {direction} buffer of "
                    f"{format_size(buffer.requested_bytes)} and got "
                    f"{format_size(buffer.effective_bytes // 2)}",
                    cure=f"raise the limit, {buffer.limit or 'a sysctl of the kernel'}",
                )


def _retransmissions(sample: Sample) -> Iterator[Finding]:
    states = sample.client.connections if sample.client else ()
    again = sum(state.retransmissions or 0 for state in states)
    sent = sum(state.data_segments_out or 0 for state in states)
    if sent and again > MOST_RETRANSMITTED * sent:
        yield Finding(
            code="retransmissions",
            text=f"{again} of {sent} segments ({again / sent:.1%}) were sent more than once",
            cure="see where packets are lost: drops at the interface, a full queue, a bad cable",
        )


def _unchecked(sample: Sample) -> Iterator[Finding]:
    """What is missing for a check. iperf3 is no program of ours and never tells most of it."""
    if sample.case.arm is Arm.IPERF3:
        return
    missing = [
        name
        for name, value in (
            ("the clock's tick", sample.clock_tick_s),
            ("the start skew", sample.start_skew_s),
            ("the number of connections", sample.connections),
            ("the interface's counters at the client", sample.client and sample.client.interface),
            ("those at the servant", sample.servant and sample.servant.interface),
        )
        if value is None
    ]
    if missing:
        yield Finding(
            code="unchecked",
            text=f"not recorded, and so not checked: {', '.join(missing)}",
        )


def _ends(sample: Sample) -> Iterator[tuple[str, EndRecord]]:
    if sample.client is not None:
        yield "client", sample.client
    if sample.servant is not None:
        yield "servant", sample.servant
