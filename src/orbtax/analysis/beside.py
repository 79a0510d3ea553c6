"""Cases that differ in their socket buffers alone, set beside each other.

Some causes show in no single case: that a fixed size is smaller than what the kernel would have
grown to, that copies of large buffers cost more, that one setting is slower than another at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from orbtax.analysis.bottleneck import Bottleneck, Evidence, Label
from orbtax.analysis.bounds import Measured
from orbtax.analysis.cost import EndCost
from orbtax.analysis.flow import Flow
from orbtax.analysis.ratio import Interval
from orbtax.analysis.search import rate_ratio

MARGIN = 0.1  # least difference in goodput or cost that is told
CHANGED = 0.2  # how much worse a number must be to be told as a change


@dataclass(frozen=True, slots=True)
class Change:
    """A number that is worse with the larger buffers."""

    name: str
    unit: str
    smaller: float  # with the smaller buffers
    larger: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowdown:
    """A case that is slower than one with smaller buffers, and what changed with them."""

    larger: Measured
    smaller: Measured
    ratio: Interval  # goodput of the larger ÷ that of the smaller
    paired: bool  # whether both were run in the same rounds
    new_labels: tuple[Label, ...]
    outgrown: tuple[str, ...]  # caches that hold what was in the smaller buffers alone
    changes: tuple[Change, ...]


def slower(measured: Measured, other: Measured) -> Interval | None:
    """The goodput of a case over that of another; None unless it is clearly slower.

    That is by more than `MARGIN`, and with all of the 95 % interval.
    """
    ratio, _ = rate_ratio(measured.rates, other.rates)
    if ratio is None or ratio.high is None or ratio.high >= 1 or ratio.value > 1 - MARGIN:
        return None
    return ratio


def causes_beside(
    measured: Measured, others: Sequence[Measured], caches_bytes: Mapping[str, int]
) -> tuple[Bottleneck, ...]:
    """What bounds a case as only others show, which differ in their buffers alone.

    `caches_bytes` are the processors' caches by name, smallest first.
    """
    if Label.LINK in measured.labels:
        return ()
    found = (
        next(_cache(measured, others, caches_bytes), None),
        next(_autotuning(measured, others), None),
    )
    return tuple(bottleneck for bottleneck in found if bottleneck is not None)


def beside_smaller(family: Iterable[Measured]) -> tuple[tuple[Measured, Measured], ...]:
    """Each case of a family with the fastest of those whose buffers in force are smaller.

    Smaller is: one of the two, and the other not larger.
    """
    known = [each for each in family if each.goodput_bit_s is not None]
    return tuple(
        (each, max(smaller, key=_goodput_bit_s))
        for each in known
        if (smaller := [other for other in known if _is_smaller(other.flow, each.flow)])
    )


def slowdown(
    larger: Measured, smaller: Measured, caches_bytes: Mapping[str, int]
) -> Slowdown | None:
    """What changed with the larger buffers, if they are clearly slower."""
    ratio = slower(larger, smaller)
    if ratio is None:
        return None
    return Slowdown(
        larger=larger,
        smaller=smaller,
        ratio=ratio,
        paired=rate_ratio(larger.rates, smaller.rates)[1],
        new_labels=tuple(label for label in larger.labels if label not in smaller.labels),
        outgrown=_outgrown(smaller, larger, caches_bytes),
        changes=tuple(_changes(smaller, larger)),
    )


def _cache(
    measured: Measured, others: Sequence[Measured], caches_bytes: Mapping[str, int]
) -> Iterator[Bottleneck]:
    """The largest cache that the buffers outgrew, if those that fit it cost less to copy."""
    cost = measured.process_us_per_mib
    if cost is None:
        return
    for name, size_bytes in reversed([*caches_bytes.items()]):
        for other in others:
            other_cost = other.process_us_per_mib
            is_cheaper = other_cost is not None and cost >= (1 + MARGIN) * other_cost
            outgrown = _outgrown(other, measured, {name: size_bytes})
            if is_cheaper and outgrown and slower(measured, other):
                yield Bottleneck(
                    Label.CACHE,
                    (
                        Evidence("in both socket buffers", measured.queued_bytes or 0, "B"),
                        Evidence(name, size_bytes, "B"),
                        Evidence("processor time", cost, "µs/MiB"),
                        Evidence(f"processor time with {other.buffers}", other_cost or 0, "µs/MiB"),
                    ),
                )


def _autotuning(measured: Measured, others: Sequence[Measured]) -> Iterator[Bottleneck]:
    """A fixed size, if the kernel's own choice is larger and faster."""
    for other in others:
        if not measured.buffers.are_fixed or other.buffers.are_fixed:
            continue
        grown = tuple(_grown(measured, other))
        if grown and other.goodput_bit_s is not None and slower(measured, other):
            theirs = Evidence("goodput with the kernel's", other.goodput_bit_s.value, "bit/s")
            yield Bottleneck(Label.AUTOTUNING, (*grown, theirs))


def _grown(measured: Measured, kernels: Measured) -> Iterator[Evidence]:
    """The fixed sizes that the kernel's own choice outgrew."""
    here, there = measured.flow, kernels.flow
    sides = (
        (
            "send buffer",
            measured.buffers.send_bytes,
            here.send_buffer_bytes,
            there.send_buffer_bytes,
        ),
        (
            "receive buffer",
            measured.buffers.receive_bytes,
            here.receive_buffer_bytes,
            there.receive_buffer_bytes,
        ),
    )
    for name, asked, ours, theirs in sides:
        if asked is not None and ours is not None and theirs is not None and ours < theirs:
            yield Evidence(f"fixed {name}", ours, "B")
            yield Evidence(f"the kernel's {name}", theirs, "B")


def _outgrown(
    smaller: Measured, larger: Measured, caches_bytes: Mapping[str, int]
) -> tuple[str, ...]:
    """The caches that hold what one case has in its buffers, but not what the other has."""
    before, after = smaller.queued_bytes, larger.queued_bytes
    if before is None or after is None:
        return ()
    return tuple(name for name, size_bytes in caches_bytes.items() if before <= size_bytes < after)


def _process_us_per_mib(end: EndCost | None) -> float | None:
    return None if end is None else end.process_us_per_mib


@dataclass(frozen=True, slots=True)
class _Number:
    """What is compared: more of it is worse, if it is more by at least `least`."""

    name: str
    unit: str
    least: float
    of: Callable[[Measured], float | None]


_NUMBERS = (
    _Number(
        "processor time of the client",
        "µs/MiB",
        1.0,
        lambda each: _process_us_per_mib(each.cost.client),
    ),
    _Number(
        "processor time of the servant",
        "µs/MiB",
        1.0,
        lambda each: _process_us_per_mib(each.cost.servant),
    ),
    _Number("segments", "per message", 0.1, lambda each: each.flow.segments_per_message),
    _Number("sleeps for room", "per message", 0.1, lambda each: each.sleeps_per_message),
    _Number("round trip under load", "µs", 1.0, lambda each: each.flow.rtt_us),
    _Number("segments sent again", "of 1000", 1.0, lambda each: each.flow.resent_per_1000),
)


def _changes(smaller: Measured, larger: Measured) -> Iterator[Change]:
    for number in _NUMBERS:
        before, after = number.of(smaller), number.of(larger)
        if before is None or after is None:
            continue
        if after >= (1 + CHANGED) * before and after - before >= number.least:
            yield Change(number.name, number.unit, before, after)


def _is_smaller(flow: Flow, than: Flow) -> bool:
    send, receive = flow.send_buffer_bytes, flow.receive_buffer_bytes
    most_send, most_receive = than.send_buffer_bytes, than.receive_buffer_bytes
    if send is None or receive is None or most_send is None or most_receive is None:
        return False
    are_equal = (send, receive) == (most_send, most_receive)
    return send <= most_send and receive <= most_receive and not are_equal


def _goodput_bit_s(measured: Measured) -> float:
    return measured.goodput_bit_s.value if measured.goodput_bit_s else 0.0
