"""The results of a study of socket buffers: every arm and message size under every setting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from orbtax.analysis.beside import Slowdown, beside_smaller, causes_beside, slowdown
from orbtax.analysis.bottleneck import Bottleneck, Label, bottlenecks
from orbtax.analysis.bounds import Measured, bounds, shortfalls, sleeps_per_message
from orbtax.analysis.caches import cache_sizes_bytes
from orbtax.analysis.cost import case_cost
from orbtax.analysis.flow import case_flow
from orbtax.analysis.line import largest_segment_bytes, line_limit
from orbtax.analysis.rates import CaseRates, by_case, good_blocks
from orbtax.analysis.ratio import geometric_mean
from orbtax.model import Arm, Case, Link
from orbtax.record import LinkVisit, Run, Sample
from orbtax.socket_buffers import Buffers, base_name, buffers_of, why_not

Place = tuple[Arm, int, Buffers]
"""An arm, a message size in bytes, and the buffers as asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferResult:
    """One link, with all the links that differ from it in their buffers alone."""

    link: Link
    arms: tuple[Arm, ...]
    sizes_bytes: tuple[int, ...]
    buffers: tuple[Buffers, ...]  # in the order of the plan
    cases: Mapping[Place, Measured]
    lacking: Mapping[tuple[Arm, Buffers], str]  # what cannot be had on this link, and why
    best_bit_s: float | None  # the most that the link carries: by its rate, else as measured
    least_rtt_us: float | None
    caches_bytes: Mapping[str, int]
    comparisons: int  # of larger with smaller buffers
    slowdowns: tuple[Slowdown, ...]  # in which the larger ones are clearly slower

    @property
    def delay_product_bytes(self) -> float | None:
        """The bandwidth-delay product of the path: its best rate × its least round-trip time."""
        if self.best_bit_s is None or self.least_rtt_us is None:
            return None
        return self.best_bit_s / 8 * self.least_rtt_us / 1e6


def buffer_results(run: Run) -> tuple[BufferResult, ...]:
    """The results of a run, one for each link that its plan began with."""
    plan = run.record.plan
    planned = [case for cell in plan.cells for case in cell.cases]
    rates = by_case(run.samples, planned)
    names = dict.fromkeys(base_name(link.name) for link in plan.links)
    return tuple(
        _result(run, [each for each in rates.values() if base_name(each.case.link) == name])
        for name in names
    )


def _result(run: Run, rates: Sequence[CaseRates]) -> BufferResult:
    plan = run.record.plan
    good = good_blocks(run.samples)
    visits = {visit.before.link: visit for visit in reversed(run.record.visits)}
    first = plan.link(rates[0].case.link)
    best_bit_s = _best_bit_s(first, visits, rates, good)
    caches_bytes = cache_sizes_bytes(visits.values())
    alone = [
        _measured(each, plan.link(each.case.link), visits, good.get(each.case, ()), best_bit_s)
        for each in rates
    ]
    judged = [_beside(each, _family(each, alone), caches_bytes) for each in alone]
    arms = tuple(dict.fromkeys(each.case.arm for each in alone))
    buffers = tuple(dict.fromkeys(each.buffers for each in alone))
    pairs = tuple(_pairs(judged))
    round_trips_us = [each.flow.least_rtt_us for each in alone if each.flow.least_rtt_us]
    return BufferResult(
        link=first,
        arms=arms,
        sizes_bytes=tuple(sorted({each.case.payload_bytes for each in alone})),
        buffers=buffers,
        cases={(each.case.arm, each.case.payload_bytes, each.buffers): each for each in judged},
        lacking={
            (arm, setting): reason
            for arm in arms
            for setting in buffers
            if (reason := why_not(first, arm, setting)) is not None
        },
        best_bit_s=best_bit_s,
        least_rtt_us=min(round_trips_us, default=None),
        caches_bytes=caches_bytes,
        comparisons=len(pairs),
        slowdowns=tuple(
            found
            for larger, smaller in pairs
            if (found := slowdown(larger, smaller, caches_bytes)) is not None
        ),
    )


def _measured(
    rates: CaseRates,
    link: Link,
    visits: Mapping[str, LinkVisit],
    samples: Sequence[Sample],
    best_bit_s: float | None,
) -> Measured:
    case = rates.case
    visit = visits.get(link.name)
    found: tuple[Bottleneck, ...] = bottlenecks(samples, link, visit.before) if visit else ()
    buffers = buffers_of(link, case)
    measured = Measured(
        case=case,
        buffers=buffers,
        shortfalls=tuple(shortfalls(buffers, samples)),
        rates=rates,
        goodput_bit_s=geometric_mean(rates.in_order()),
        flow=case_flow(samples),
        cost=case_cost(samples),
        sleeps_per_message=sleeps_per_message(samples),
        bottlenecks=found,
    )
    return replace(measured, bottlenecks=bounds(measured, best_bit_s))


def _beside(
    measured: Measured, family: Sequence[Measured], caches_bytes: Mapping[str, int]
) -> Measured:
    """The case with what only its family shows, which makes an unknown cause a known one."""
    found = causes_beside(measured, family, caches_bytes)
    alone = measured.bottlenecks
    if found:
        alone = tuple(each for each in alone if each.label is not Label.UNKNOWN)
    return replace(measured, bottlenecks=alone + found)


def _family(measured: Measured, among: Iterable[Measured]) -> list[Measured]:
    """The other cases of the same arm and message size."""
    return [
        each for each in among if each is not measured and _kin(each.case) == _kin(measured.case)
    ]


def _pairs(judged: Sequence[Measured]) -> Iterator[tuple[Measured, Measured]]:
    """Each case with one of smaller buffers, of the same arm and message size."""
    for kin in dict.fromkeys(_kin(each.case) for each in judged):
        yield from beside_smaller(each for each in judged if _kin(each.case) == kin)


def _kin(case: Case) -> tuple[Arm, int]:
    """What cases have in common that differ in their buffers alone."""
    return case.arm, case.payload_bytes


def _best_bit_s(
    link: Link,
    visits: Mapping[str, LinkVisit],
    rates: Sequence[CaseRates],
    good: Mapping[Case, Sequence[Sample]],
) -> float | None:
    visit = visits.get(link.name)
    clients = [sample.client for each in rates for sample in good.get(each.case, ())]
    mss_bytes = max(filter(None, map(largest_segment_bytes, clients)), default=None)
    limit = line_limit(link, visit.before, mss_bytes) if visit else None
    if limit is not None:
        return limit.payload_bit_s
    means = (geometric_mean(each.in_order()) for each in rates)
    return max((mean.value for mean in means if mean is not None), default=None)
