"""Synthetic blocks of a study of buffers, whose flow, sleeps and cost a test lays down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from builders import make_facts, make_latencies, make_sample
from builders_ends import LINKS, make_environment

from orbtax.analysis.bottleneck import bottlenecks
from orbtax.analysis.bounds import OTHER_SLEEPS_S, Measured, bounds, shortfalls, sleeps_per_message
from orbtax.analysis.cost import case_cost
from orbtax.analysis.flow import case_flow
from orbtax.analysis.rates import CaseRates
from orbtax.analysis.ratio import geometric_mean
from orbtax.model import Arm, Case, Link, Placement, Plan
from orbtax.record import LinkVisit, Run, RunRecord, Sample
from orbtax.socket_buffers import Buffers, buffers_of, with_buffers
from orbtax.studies import buffers as study

KIB = 1024
ROUNDS = 5
WINDOW_S = 0.2


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the ends saw of a case; the rest is as in any block that goes as it should."""

    gbit_s: float = 5.0
    rtt_us: float | None = 30.0
    window_bytes: float | None = 3_000_000
    stalled_by_window: float = 0.0
    stalled_by_buffer: float = 0.0
    busy_share: float = 1.0  # of the time: with data to send
    sleeps_per_message: float = 0.0  # beside those for a reply
    client_cores: float = 0.5
    servant_cores: float = 0.5
    send_buffer_bytes: int = 2_000_000  # in force, where the kernel has the choice
    receive_buffer_bytes: int = 6_000_000
    resent_of_1000: float = 0.0
    segments_per_message: float = 8.0
    latency_us: float | None = None  # None: what the rate of the calls gives


def case_with(
    buffers: Buffers, arm: Arm = Arm.STREAM, payload_bytes: int = 64 * KIB, link: Link = LINKS["ib"]
) -> tuple[Link, Case]:
    """An emulated link with the buffers, and a case on it."""
    made = with_buffers(link, buffers)
    return made, Case(link=made.name, arm=arm, payload_bytes=payload_bytes, threads=1)


def blocks(link: Link, case: Case, seen: Seen, rounds: int = ROUNDS) -> list[Sample]:
    """The blocks of a case, round after round, with a scatter of 1 %."""
    return [_block(link, case, seen, number) for number in range(rounds)]


def measured(
    buffers: Buffers,
    seen: Seen,
    *,
    arm: Arm = Arm.STREAM,
    payload_bytes: int = 64 * KIB,
    link: Link = LINKS["ib"],
    best_bit_s: float | None = 10e9,
) -> Measured:
    """A case judged by itself."""
    made, case = case_with(buffers, arm, payload_bytes, link)
    samples = blocks(made, case, seen)
    rates = CaseRates(case=case)
    for sample in samples:
        rates.add(sample)
    alone = Measured(
        case=case,
        buffers=buffers_of(made, case),
        shortfalls=tuple(shortfalls(buffers, samples)),
        rates=rates,
        goodput_bit_s=geometric_mean(rates.in_order()),
        flow=case_flow(samples),
        cost=case_cost(samples),
        sleeps_per_message=sleeps_per_message(samples),
        bottlenecks=bottlenecks(samples, made, make_facts(made)),
    )
    return replace(alone, bottlenecks=bounds(alone, best_bit_s))


def run_of(
    seen: Mapping[tuple[Arm, int, Buffers], Seen],
    links: Sequence[Link] = (LINKS["ib"],),
    *,
    settings: tuple[Buffers, ...] | None = None,
    rounds: int = ROUNDS,
) -> Run:
    """A finished run of the study with what was seen of each case; `Seen()` of all others."""
    sizes = tuple(sorted({size for _, size, _ in seen})) or (KIB, 64 * KIB)
    arms = tuple(dict.fromkeys(arm for arm, _, _ in seen)) or study.ARMS
    request = study.Request(
        links=tuple(links),
        sizes_bytes=sizes,
        settings=settings,
        arms=arms,
        placement=Placement(name="split", sender_cores=(0,), receiver_cores=(1,)),
    )
    plan = study.make_plan(request)
    samples = [
        replace(sample, cell=index)
        for index, cell in enumerate(plan.cells)
        for case in cell.cases
        for sample in blocks(plan.link(case.link), case, _seen_of(plan, case, seen), rounds)
    ]
    record = RunRecord(
        plan=plan,
        created_utc="2024-05-06T07:08:09Z",
        orbtax_version="0.1.0",
        command="invoke buffers --link ib",
        visits=tuple(map(_visit, plan.links)),
        done_cells=tuple(range(len(plan.cells))),
    )
    return Run(
        folder="results/20240506T070809Z-buffers-ib-0a1b", record=record, samples=tuple(samples)
    )


def _seen_of(plan: Plan, case: Case, seen: Mapping[tuple[Arm, int, Buffers], Seen]) -> Seen:
    asked = buffers_of(plan.link(case.link), case)
    return seen.get((case.arm, case.payload_bytes, asked), Seen())


def _visit(link: Link) -> LinkVisit:
    host = make_environment(cache_l2="2048K", cache_l3="32768K")
    return LinkVisit(
        session=0,
        before=make_facts(link),
        sender_before=host,
        receiver_before=host,
        after=make_facts(link),
        sender_after=host,
        receiver_after=host,
    )


def _block(link: Link, case: Case, seen: Seen, number: int) -> Sample:
    rate_bit_s = seen.gbit_s * 1e9 * (1 + 0.01 * (number % 3 - 1))
    messages = max(1, round(rate_bit_s / 8 * WINDOW_S / case.payload_bytes))
    sample = make_sample(
        case,
        link=link,
        goodput_bit_s=rate_bit_s,
        total_bytes=messages * case.payload_bytes,
        latency_calls=0,
        round=number,
    )
    assert sample.client is not None
    assert sample.servant is not None
    assert sample.window_s is not None
    sleeps = seen.sleeps_per_message + (1 if case.arm.waits else 0)
    window_s = sample.window_s
    latency_us = seen.latency_us or 1e6 * window_s / messages
    asked = buffers_of(link, case)
    send_bytes = 2 * asked.send_bytes if asked.send_bytes else seen.send_buffer_bytes
    receive_bytes = 2 * asked.receive_bytes if asked.receive_bytes else seen.receive_buffer_bytes
    (state,) = sample.client.connections
    busy_s = seen.busy_share * window_s
    sender = replace(
        state,
        loaded_rtt_us=seen.rtt_us,
        loaded_window_bytes=seen.window_bytes,
        busy_s=busy_s,
        receiver_limited_s=seen.stalled_by_window * busy_s,
        buffer_limited_s=seen.stalled_by_buffer * busy_s,
        data_segments_out=round(seen.segments_per_message * messages),
        retransmissions=round(seen.resent_of_1000 * seen.segments_per_message * messages / 1000),
    )
    client = replace(
        sample.client,
        connections=(sender,),
        processor=replace(
            sample.client.processor,
            process_user_s=seen.client_cores * window_s,
            process_system_s=0.0,
            voluntary_switches=round(sleeps * messages + OTHER_SLEEPS_S * window_s),
            busiest_core_share=seen.client_cores,
        ),
        send_buffer=replace(
            sample.client.send_buffer,
            requested_bytes=case.options.send_buffer_bytes,
            effective_bytes=send_bytes,
        ),
    )
    servant = replace(
        sample.servant,
        processor=replace(
            sample.servant.processor,
            process_user_s=seen.servant_cores * window_s,
            process_system_s=0.0,
            busiest_core_share=seen.servant_cores,
        ),
        receive_buffer=replace(
            sample.servant.receive_buffer,
            requested_bytes=case.options.receive_buffer_bytes,
            effective_bytes=receive_bytes,
        ),
    )
    latencies = make_latencies(50, latency_us) if case.arm.waits else None
    return replace(sample, client=client, servant=servant, latencies=latencies)
