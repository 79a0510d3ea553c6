"""What holds a case back, as labels with the numbers that they rest on.

Several labels may be true at once. They come in the order in which causes hide each other: behind
a full link a closed window means nothing, and behind a busy receiver it is the consequence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from orbtax.analysis.line import LineLimit, largest_segment_bytes, line_limit
from orbtax.analysis.trust import BENCH_MARGIN, bench_limited
from orbtax.analysis.utilisation import CaseUtilisation, EndUtilisation, case_utilisation
from orbtax.model import Link
from orbtax.record import LinkFacts, Sample

LINK_FULL = 0.95  # of the largest goodput that its rate allows
PROCESSOR_FULL = 0.95
MOSTLY_BUSY = 0.7  # an end that is less busy has time to wait
REPLY_MATCH = 0.1  # how near calls in flight ÷ latency must come to the rate of calls
LIMITED_SHARE = 0.3  # of the time in which a connection had data to send

_WINDOW_STALL = "time stalled by the peer's window"
_BUFFER_STALL = "time stalled by the send buffer"


class Label(StrEnum):
    """What may hold a case back."""

    LINK = "link-limited"
    SENDER_PROCESSOR = "sender-processor"
    RECEIVER_PROCESSOR = "receiver-processor"
    WAITING = "waiting-for-reply"
    WINDOW = "window-limited"  # by the peer's receive window
    BUFFER = "buffer-limited"  # by the send buffer
    CACHE = "cache"  # the socket buffers do not fit it; told by `orbtax.analysis.beside`
    AUTOTUNING = "autotuning-lost"  # a fixed size is too small; likewise
    BENCH = "bench-limited"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One number and, where it decided something, the limit that it was held against."""

    name: str
    value: float
    unit: str
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """A label and what it rests on."""

    label: Label
    evidence: tuple[Evidence, ...]


def bottlenecks(
    samples: Sequence[Sample],
    link: Link,
    facts: LinkFacts,
    lo_goodput_bit_s: float | None = None,
) -> tuple[Bottleneck, ...]:
    """What holds back the case whose good blocks are `samples`; `unknown` if nothing shows.

    `lo_goodput_bit_s` is what the same arm reaches on `lo` with an empty servant body. Empty if
    there are no samples.
    """
    use = case_utilisation(samples, link)
    if use is None:
        return ()
    limit = line_limit(link, facts, largest_segment_bytes(samples[0].client))
    full_link = tuple(_link(use, limit))
    found = (
        *full_link,
        *_processor(Label.SENDER_PROCESSOR, use.client),
        *_processor(Label.RECEIVER_PROCESSOR, use.servant),
        *(() if full_link else _waiting(use)),  # behind a full link every caller waits
        *_stalled(Label.WINDOW, _WINDOW_STALL, use.window_limited_share),
        *_stalled(Label.BUFFER, _BUFFER_STALL, use.buffer_limited_share),
        *_bench(use, lo_goodput_bit_s),
    )
    return found or (Bottleneck(Label.UNKNOWN, tuple(_everything(use))),)


def _link(use: CaseUtilisation, limit: LineLimit | None) -> Iterator[Bottleneck]:
    if limit is None or use.goodput_bit_s is None:
        return
    full_bit_s = LINK_FULL * limit.payload_bit_s
    if use.goodput_bit_s >= full_bit_s:
        yield Bottleneck(
            Label.LINK,
            (
                Evidence("goodput", use.goodput_bit_s, "bit/s", full_bit_s),
                Evidence("nominal rate", limit.nominal_bit_s, "bit/s"),
                Evidence("share for payload", limit.payload_share, "share"),
            ),
        )


def _processor(label: Label, end: EndUtilisation | None) -> Iterator[Bottleneck]:
    if end is None:
        return
    core = end.busiest_core_share
    full_cores = PROCESSOR_FULL * end.allowed_cores if end.allowed_cores else None
    core_is_full = core is not None and core >= PROCESSOR_FULL
    process_is_full = full_cores is not None and end.busy_cores >= full_cores
    if core_is_full or process_is_full:
        # Beside a full core, the process' own time tells whose work filled it.
        own = Evidence("processor time of the process", end.busy_cores, "cores", full_cores)
        busiest = (Evidence("busiest core", core, "share", PROCESSOR_FULL),) if core else ()
        yield Bottleneck(label, (*busiest, own))


def _waiting(use: CaseUtilisation) -> Iterator[Bottleneck]:
    """Calls in flight ÷ time of a call gives the rate (Little's law), and both ends have time."""
    if not use.latency_s or not use.messages_per_s:
        return
    by_latency = use.in_flight / use.latency_s
    if abs(use.messages_per_s / by_latency - 1) > REPLY_MATCH:
        return
    busy = [_busy_share(end) for end in (use.client, use.servant)]
    if all(share is not None and share <= MOSTLY_BUSY for share in busy):
        yield Bottleneck(
            Label.WAITING,
            (
                Evidence("time of a call", 1e6 * use.latency_s, "µs"),
                Evidence("calls in flight", use.in_flight, "calls"),
                Evidence("calls in flight ÷ time of a call", by_latency, "calls/s"),
                Evidence("calls", use.messages_per_s, "calls/s"),
                *_busy_evidence(use, MOSTLY_BUSY),
            ),
        )


def _stalled(label: Label, name: str, share: float | None) -> Iterator[Bottleneck]:
    if share is not None and share >= LIMITED_SHARE:
        yield Bottleneck(label, (Evidence(name, share, "share", LIMITED_SHARE),))


def _bench(use: CaseUtilisation, lo_goodput_bit_s: float | None) -> Iterator[Bottleneck]:
    if lo_goodput_bit_s is None or use.goodput_bit_s is None:
        return
    if bench_limited(use.goodput_bit_s, lo_goodput_bit_s):
        near_bit_s = BENCH_MARGIN * lo_goodput_bit_s
        yield Bottleneck(
            Label.BENCH, (Evidence("goodput", use.goodput_bit_s, "bit/s", near_bit_s),)
        )


def _everything(use: CaseUtilisation) -> Iterator[Evidence]:
    """The numbers among which no cause was found."""
    if use.goodput_bit_s is not None:
        yield Evidence("goodput", use.goodput_bit_s, "bit/s")
    if use.latency_s is not None:
        yield Evidence("time of a call", 1e6 * use.latency_s, "µs")
    yield from _busy_evidence(use)
    for name, share in (
        (_WINDOW_STALL, use.window_limited_share),
        (_BUFFER_STALL, use.buffer_limited_share),
    ):
        if share is not None:
            yield Evidence(name, share, "share", LIMITED_SHARE)


def _busy_evidence(use: CaseUtilisation, limit: float | None = None) -> Iterator[Evidence]:
    for name, end in (("client busy", use.client), ("servant busy", use.servant)):
        if (share := _busy_share(end)) is not None:
            yield Evidence(name, share, "share", limit)


def _busy_share(end: EndUtilisation | None) -> float | None:
    """Processor time of the process as a share of the cores that its threads can fill."""
    return end.busy_cores / end.usable_cores if end and end.usable_cores else None
