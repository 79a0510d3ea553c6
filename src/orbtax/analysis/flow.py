"""How data flows on the connections of a case: what is in flight, and what the window allows.

Over any stretch of time, bytes in flight = rate × round-trip time (J. D. C. Little, Operations
Research 9, 1961). While a window is always full, rate = window ÷ round-trip time; the round trip
wanders, so that the mean rate goes with the mean of 1 ÷ round-trip time over the time. That is the
harmonic mean of what was seen in regular steps while the block ran, not the smoothed value that is
left when the block has ended and its queues are empty.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from orbtax.record import BufferRecord, Sample, TcpState

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """One connection of a case at its sending end, over all blocks; None for what is not known."""

    busy_share: float | None  # of the block's time: with data to send or unacknowledged
    busy_bit_s: float | None  # rate in that time
    rtt_us: float | None  # while the blocks ran
    least_rtt_us: float | None
    window_bytes: float | None  # the peer's advertised window, mean while the blocks ran
    congestion_window_bytes: float | None
    segments_per_message: float | None  # below 1: TCP merged messages that were waiting
    resent_per_1000: float | None  # segments that were sent more than once
    send_buffer_bytes: int | None  # in force, as the kernel counts: twice what was asked for
    receive_buffer_bytes: int | None  # likewise, at the receiver

    @property
    def in_flight_bytes(self) -> float | None:
        """Bytes on their way, on average over the busy time."""
        return _flight_bytes(self.busy_bit_s, self.rtt_us)

    @property
    def window_bit_s(self) -> float | None:
        """Window ÷ round-trip time: the rate at which a window that is always full is sent."""
        if not self.window_bytes or not self.rtt_us:
            return None
        return 8 * self.window_bytes / self.rtt_us * 1e6

    @property
    def buffers_bytes(self) -> int | None:
        """Memory that both socket buffers may take, both ends together."""
        if self.send_buffer_bytes is None or self.receive_buffer_bytes is None:
            return None
        return self.send_buffer_bytes + self.receive_buffer_bytes

    def delay_product_bytes(self, rate_bit_s: float | None) -> float | None:
        """Bytes that fill a path of this rate for one round trip, as it was under load."""
        return _flight_bytes(rate_bit_s, self.rtt_us)


def case_flow(samples: Sequence[Sample]) -> Flow:
    """The flow of the good blocks of one case."""
    seen = [
        (sample.window_s, state)
        for sample in samples
        if sample.client and sample.window_s
        for state in sample.client.connections
    ]
    states = [state for _, state in seen]
    timed = [
        (window_s, state.busy_s, state.acknowledged_bytes)
        for window_s, state in seen
        if state.busy_s is not None and state.acknowledged_bytes is not None
    ]
    busy_s = math.fsum(busy for _, busy, _ in timed)
    moved_bytes = sum(moved for _, _, moved in timed)
    return Flow(
        busy_share=busy_s / math.fsum(window_s for window_s, _, _ in timed) if timed else None,
        busy_bit_s=8 * moved_bytes / busy_s if busy_s else None,
        rtt_us=_harmonic_mean(state.loaded_rtt_us for state in states),
        least_rtt_us=min(_known(state.min_rtt_us for state in states), default=None),
        window_bytes=_mean(state.loaded_window_bytes for state in states),
        congestion_window_bytes=_median(map(_congestion_window_bytes, states)),
        segments_per_message=_segments_per_message(samples),
        resent_per_1000=_resent_per_1000(states),
        send_buffer_bytes=_largest_bytes(
            sample.client.send_buffer for sample in samples if sample.client
        ),
        receive_buffer_bytes=_largest_bytes(
            sample.servant.receive_buffer for sample in samples if sample.servant
        ),
    )


def _flight_bytes(rate_bit_s: float | None, rtt_us: float | None) -> float | None:
    if rate_bit_s is None or rtt_us is None:
        return None
    return rate_bit_s / 8 * rtt_us / 1e6


def _congestion_window_bytes(state: TcpState) -> int | None:
    if state.congestion_window_segments is None or state.mss_bytes is None:
        return None
    return state.congestion_window_segments * state.mss_bytes


def _segments_per_message(samples: Iterable[Sample]) -> float | None:
    known = [
        (sample.messages, [state.data_segments_out for state in sample.client.connections])
        for sample in samples
        if sample.messages and sample.client
    ]
    sent = [_known(segments) for _, segments in known]
    if not any(sent):
        return None
    return sum(map(sum, sent)) / sum(messages for messages, _ in known)


def _resent_per_1000(states: Iterable[TcpState]) -> float | None:
    known = [
        (state.retransmissions, state.data_segments_out)
        for state in states
        if state.retransmissions is not None and state.data_segments_out
    ]
    sent = sum(segments for _, segments in known)
    return 1000 * sum(again for again, _ in known) / sent if sent else None


def _largest_bytes(buffers: Iterable[BufferRecord | None]) -> int | None:
    sizes = (buffer.effective_bytes for buffer in buffers if buffer is not None)
    return max(_known(sizes), default=None)


def _harmonic_mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value]
    return len(known) / math.fsum(1 / value for value in known) if known else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return math.fsum(known) / len(known) if known else None


def _median(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return median(known) if known else None


def _known(values: Iterable[T | None]) -> list[T]:
    return [value for value in values if value is not None]
