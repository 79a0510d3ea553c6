"""What bounds a case, with its socket buffers in mind.

The labels of `orbtax.analysis.bottleneck` say which end was busy and which window closed. Here a
window is held against what the path needs to stay full, so that it is named only if it was too
small; and a send buffer that is too small, which the kernel does not see while a program sleeps in
its write, is told by how often the sender slept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orbtax.analysis.bottleneck import Bottleneck, Evidence, Label
from orbtax.analysis.cost import CaseCost
from orbtax.analysis.flow import Flow
from orbtax.analysis.rates import CaseRates
from orbtax.analysis.ratio import Interval
from orbtax.analysis.search import windows_in_force
from orbtax.model import Case
from orbtax.record import Sample
from orbtax.socket_buffers import Buffers

WINDOW_FULL = 0.8  # in flight ÷ window from which a window counts as always full
SLEEPS_PER_BUFFER = 0.25
"""Sleeps for each send buffer's worth of bytes from which a stream's sender waits for room."""
SLEEPS_PER_CALL = 0.5  # likewise of a caller, for each message, beside the sleep for its reply
OTHER_SLEEPS_S = 200.0
"""Sleeps per second of a client that never waits: of the thread that watches, and at both ends of
a block. Those of senders whose core was full were 140 to 180."""

_BEHIND_A_FULL_LINK = (Label.WINDOW, Label.BUFFER, Label.WAITING)  # they mean nothing there


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A socket buffer that is smaller than what was asked for."""

    side: str  # `send` or `receive`
    asked_bytes: int
    in_force_bytes: int  # as the kernel counts: twice what was asked for, had it been given
    limit: str | None  # what cut it, if the end told


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One case with everything that says why it is as fast as it is."""

    case: Case
    buffers: Buffers  # as asked for
    shortfalls: tuple[Shortfall, ...]
    rates: CaseRates
    goodput_bit_s: Interval | None  # None: no block went well
    flow: Flow
    cost: CaseCost
    sleeps_per_message: float | None  # of the sender, other than for a reply
    bottlenecks: tuple[Bottleneck, ...]

    @property
    def labels(self) -> tuple[Label, ...]:
        """What bounds it, first what hides the rest."""
        return tuple(bottleneck.label for bottleneck in self.bottlenecks)

    @property
    def process_us_per_mib(self) -> float | None:
        """Processor time of both ends' processes together."""
        client, servant = self.cost.client, self.cost.servant
        if client is None or servant is None:
            return None
        if client.process_us_per_mib is None or servant.process_us_per_mib is None:
            return None
        return client.process_us_per_mib + servant.process_us_per_mib

    @property
    def sleeps_for_room(self) -> bool | None:
        """Whether the sender slept for room in its send buffer, again and again."""
        sleeps, buffer_bytes = self.sleeps_per_message, self.flow.send_buffer_bytes
        if sleeps is None or buffer_bytes is None:
            return None
        if self.case.arm.waits:
            return sleeps >= SLEEPS_PER_CALL
        return sleeps * buffer_bytes / self.case.payload_bytes >= SLEEPS_PER_BUFFER

    @property
    def queued_bytes(self) -> float | None:
        """About as much of both socket buffers as is really filled.

        An arm that waits has one message in each at most; a stream fills them once its sender has
        to sleep for room, and otherwise has there what is in flight.
        """
        buffers_bytes = self.flow.buffers_bytes
        if self.case.arm.waits:
            return buffers_bytes and min(buffers_bytes, 2 * self.case.payload_bytes)
        return buffers_bytes if self.sleeps_for_room else self.flow.in_flight_bytes


def sleeps_per_message(samples: Sequence[Sample]) -> float | None:
    """How often the sending process went to sleep for each message, other than for its reply."""
    known = [
        (sample.messages, sample.client.processor)
        for sample in samples
        if sample.messages and sample.client
    ]
    if not known:
        return None
    messages = sum(messages for messages, _ in known)
    sleeps = sum(cost.voluntary_switches - OTHER_SLEEPS_S * cost.window_s for _, cost in known)
    for_reply = 1 if samples[0].case.arm.waits else 0
    return max(0.0, sleeps / messages - for_reply)


def shortfalls(buffers: Buffers, samples: Sequence[Sample]) -> Iterator[Shortfall]:
    """The buffers of good blocks that are smaller than what was asked for."""
    send, receive = windows_in_force(samples)
    sides = ("send", buffers.send_bytes, send), ("receive", buffers.receive_bytes, receive)
    for side, asked_bytes, record in sides:
        if asked_bytes is None or record is None or record.effective_bytes is None:
            continue
        if record.clipped or record.effective_bytes < 2 * asked_bytes:
            yield Shortfall(
                side=side,
                asked_bytes=asked_bytes,
                in_force_bytes=record.effective_bytes,
                limit=record.limit,
            )


def bounds(measured: Measured, best_bit_s: float | None) -> tuple[Bottleneck, ...]:
    """What bounds a case by itself, first what hides the rest; `unknown` if nothing is left.

    `best_bit_s` is the most that the link carries: what a window has to keep up with.
    """
    found = {bottleneck.label: bottleneck for bottleneck in measured.bottlenecks}
    if Label.LINK in found:
        return tuple(each for each in found.values() if each.label not in _BEHIND_A_FULL_LINK)
    stalled = found.pop(Label.WINDOW, None)
    window = tuple(_window(measured.flow, stalled, best_bit_s))
    always_full = bool(window) and _fullness(measured.flow) >= WINDOW_FULL
    buffer = found.pop(Label.BUFFER, None)
    is_busy = Label.SENDER_PROCESSOR in found or Label.RECEIVER_PROCESSOR in found
    others = tuple(each for each in found.values() if each.label is not Label.UNKNOWN)
    named = (
        *(window if always_full else ()),
        *others,
        *(() if always_full else window),
        *(() if always_full or is_busy else _buffer(measured, buffer)),
    )
    if named or not measured.bottlenecks:
        return named
    return (found.get(Label.UNKNOWN) or _unknown(measured.flow, stalled),)


def _window(
    flow: Flow, stalled: Bottleneck | None, best_bit_s: float | None
) -> Iterator[Bottleneck]:
    """The peer's window, if the sender stalled at it and it is too small for the path."""
    if stalled is None:
        return
    needed_bytes = flow.delay_product_bytes(best_bit_s)
    if flow.window_bytes is None or flow.window_bit_s is None or needed_bytes is None:
        yield stalled  # there is only the kernel's word for it
    elif flow.window_bytes < needed_bytes:
        yield Bottleneck(
            Label.WINDOW,
            (
                Evidence("window", flow.window_bytes, "B"),
                Evidence("bandwidth-delay product under load", needed_bytes, "B"),
                Evidence("window ÷ round trip under load", flow.window_bit_s, "bit/s"),
                *_flow_evidence(flow),
                *stalled.evidence,
            ),
        )


def _unknown(flow: Flow, stalled: Bottleneck | None) -> Bottleneck:
    """Nothing found, with the numbers of a window that closed and is large enough all the same."""
    evidence = stalled.evidence if stalled else ()
    return Bottleneck(Label.UNKNOWN, (*evidence, *_flow_evidence(flow)))


def _fullness(flow: Flow) -> float:
    """In flight ÷ window; NaN if either is not known."""
    if flow.in_flight_bytes is None or not flow.window_bytes:
        return math.nan
    return flow.in_flight_bytes / flow.window_bytes


def _buffer(measured: Measured, stalled: Bottleneck | None) -> Iterator[Bottleneck]:
    """The send buffer, if its size is fixed and the sender slept for room again and again."""
    buffer_bytes, sleeps = measured.flow.send_buffer_bytes, measured.sleeps_per_message
    is_fixed = measured.buffers.send_bytes is not None
    if is_fixed and measured.sleeps_for_room and buffer_bytes is not None and sleeps is not None:
        yield Bottleneck(
            Label.BUFFER,
            (
                Evidence("send buffer", buffer_bytes, "B"),
                Evidence("sleeps for room", sleeps, "per message"),
                *_flow_evidence(measured.flow),
                *(stalled.evidence if stalled else ()),
            ),
        )
    elif stalled is not None:
        yield stalled


def _flow_evidence(flow: Flow) -> Iterator[Evidence]:
    if flow.rtt_us is not None:
        yield Evidence("round trip under load", flow.rtt_us, "µs")
    if flow.busy_bit_s is not None and flow.busy_share is not None:
        yield Evidence("rate while there was data to send", flow.busy_bit_s, "bit/s")
        yield Evidence("time with data to send", flow.busy_share, "share")
    if flow.in_flight_bytes is not None:
        yield Evidence("in flight on average", flow.in_flight_bytes, "B")
