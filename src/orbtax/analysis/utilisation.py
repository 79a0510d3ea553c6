"""How busy a case keeps processors and connections, over all its blocks: sums ÷ sums."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orbtax.analysis.ratio import geometric_mean
from orbtax.model import Arm, Case, Kind, Link
from orbtax.record import EndRecord, ProcessorCost, Sample

SHORTEST_CORE_S = 0.1
"""Blocks shorter than ten clock ticks of /proc/stat tell nothing about single cores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndUtilisation:
    """The processors of one end."""

    busy_cores: float  # the process' user and system time ÷ time
    allowed_cores: int | None
    usable_cores: int | None  # of the allowed ones, those that its threads can fill
    busiest_core_share: float | None  # 0 to 1; None: unknown, or perhaps the other end's


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseUtilisation:
    """What a case did per second, and how busy it was with it."""

    goodput_bit_s: float | None
    messages_per_s: float | None
    in_flight: int  # messages that may be under way at once
    latency_s: float | None  # mean time of a call
    client: EndUtilisation | None
    servant: EndUtilisation | None
    window_limited_share: float | None  # of the time with data to send, over all connections
    buffer_limited_share: float | None


def case_utilisation(samples: Sequence[Sample], link: Link) -> CaseUtilisation | None:
    """How busy the blocks of one case were; None if there are none."""
    if not samples:
        return None
    case = samples[0].case
    goodput = geometric_mean(sample.goodput_bit_s for sample in samples)
    window_s = math.fsum(sample.window_s or 0.0 for sample in samples)
    messages = sum(sample.messages or 0 for sample in samples)
    timed = [sample.latencies for sample in samples if sample.latencies]
    calls = sum(latencies.calls for latencies in timed)
    clients = [sample.client for sample in samples if sample.client]
    servants = [sample.servant for sample in samples if sample.servant]
    apart = link.kind is Kind.HOSTS or _are_apart(clients, servants)
    states = [state for client in clients for state in client.connections]
    return CaseUtilisation(
        goodput_bit_s=goodput.value if goodput else None,
        messages_per_s=messages / window_s if messages and window_s else None,
        in_flight=_in_flight(case),
        latency_s=sum(each.sum_ns for each in timed) / calls / 1e9 if calls else None,
        client=_end_utilisation(clients, case.threads, apart),
        servant=_end_utilisation(servants, case.connections, apart),
        window_limited_share=_stalled((state.busy_s, state.receiver_limited_s) for state in states),
        buffer_limited_share=_stalled((state.busy_s, state.buffer_limited_s) for state in states),
    )


def _in_flight(case: Case) -> int:
    return case.threads * (case.options.depth if case.arm is Arm.AMI else 1)


def _are_apart(clients: Sequence[EndRecord], servants: Sequence[EndRecord]) -> bool:
    """Whether the ends, on one machine, have no core in common."""
    sides = [
        {core for end in ends for core in end.processor.allowed_cores or ()}
        for ends in (clients, servants)
    ]
    return all(sides) and not sides[0] & sides[1]


def _end_utilisation(ends: Sequence[EndRecord], threads: int, apart: bool) -> EndUtilisation | None:
    costs = [end.processor for end in ends]
    time_s = math.fsum(cost.window_s for cost in costs)
    if not time_s:
        return None
    busy_s = math.fsum(cost.process_user_s + cost.process_system_s for cost in costs)
    allowed = costs[0].allowed_cores
    count = len(allowed) if allowed else costs[0].cores
    return EndUtilisation(
        busy_cores=busy_s / time_s,
        allowed_cores=count,
        usable_cores=min(count, threads) if count else None,
        busiest_core_share=_busiest_core_share(costs) if apart else None,
    )


def _busiest_core_share(costs: Sequence[ProcessorCost]) -> float | None:
    """Mean share of the busiest core, over the blocks in which it is one of the process' own."""
    shares = [
        cost.busiest_core_share
        for cost in costs
        if cost.busiest_core_share is not None
        and cost.window_s >= SHORTEST_CORE_S
        and (cost.allowed_cores is None or cost.busiest_core in cost.allowed_cores)
    ]
    return math.fsum(shares) / len(shares) if shares else None


def _stalled(times_s: Iterable[tuple[float | None, float | None]]) -> float | None:
    """Stalled time as a share of busy time, over the connections that know both."""
    busy_s = stalled_s = 0.0
    for busy, stalled in times_s:
        if busy is not None and stalled is not None:
            busy_s += busy
            stalled_s += stalled
    return stalled_s / busy_s if busy_s else None
