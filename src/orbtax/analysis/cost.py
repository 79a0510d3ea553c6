"""What a case costs in processor time: per MiB moved and per message, at each end."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from orbtax.record import EndRecord, ProcessorCost, Sample

MIB_BYTES = 1024 * 1024

SHORTEST_HOST_S = 0.5
"""Less time than this, in all, is too little for host figures: they come in ticks of 10 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndCost:
    """Processor time of one end over some blocks of one case: all time ÷ all work.

    Service demand, as netperf has it, is time ÷ work, so that a link with twice the rate at twice
    the load has the same. `host` figures are of everything that ran there: where both ends are on
    one machine (loopback, emulated links) they are those of both ends together.
    """

    process_us_per_mib: float | None  # user and system; None: no payload
    host_us_per_mib: float | None  # None: no payload, not readable, or too little time
    process_us_per_message: float
    switches_per_message: float  # voluntary and involuntary, of the process
    softirq_share: float | None  # of the host's busy time; None: not readable, or never busy


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCost:
    """The cost of a case at both ends; None where no block recorded it."""

    blocks: int
    client: EndCost | None
    servant: EndCost | None


def case_cost(samples: Iterable[Sample]) -> CaseCost:
    """The cost of the blocks of one case; blocks without messages or records are left out."""
    blocks = [sample for sample in samples if sample.messages]
    return CaseCost(
        blocks=len(blocks),
        client=_end_cost(blocks, lambda sample: sample.client),
        servant=_end_cost(blocks, lambda sample: sample.servant),
    )


def _end_cost(
    blocks: Iterable[Sample], end: Callable[[Sample], EndRecord | None]
) -> EndCost | None:
    seen = [(sample, record.processor) for sample in blocks if (record := end(sample))]
    if not seen:
        return None
    costs = [cost for _, cost in seen]
    messages = sum(sample.messages or 0 for sample, _ in seen)
    mib = sum(sample.confirmed_bytes or 0 for sample, _ in seen) / MIB_BYTES
    process_s = math.fsum(cost.process_user_s + cost.process_system_s for cost in costs)
    busy_s = _host_total(costs, lambda cost: cost.host_busy_s)
    softirq_s = _host_total(costs, lambda cost: cost.host_softirq_s)
    switches = sum(cost.voluntary_switches + cost.involuntary_switches for cost in costs)
    return EndCost(
        process_us_per_mib=1e6 * process_s / mib if mib else None,
        host_us_per_mib=1e6 * busy_s / mib if mib and busy_s is not None else None,
        process_us_per_message=1e6 * process_s / messages,
        switches_per_message=switches / messages,
        softirq_share=softirq_s / busy_s if busy_s and softirq_s is not None else None,
    )


def _host_total(
    costs: Sequence[ProcessorCost], part: Callable[[ProcessorCost], float | None]
) -> float | None:
    """The sum over all blocks; None if one could not read it, or if they were too short."""
    known = [value for cost in costs if (value := part(cost)) is not None]
    long_enough = math.fsum(cost.window_s for cost in costs) >= SHORTEST_HOST_S
    return math.fsum(known) if long_enough and len(known) == len(costs) else None
