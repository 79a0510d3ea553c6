"""Synthetic but plausible records: links, samples and whole runs, with every field filled.

The speeds follow a simple law (a cost per message, a cost per byte, a wait for the reply) with
log-normal scatter, so that analysis and report see figures of the right shape. All is seeded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from builders_ends import KIB, LINKS, make_end, make_environment, make_facts

from orbtax.histogram import from_durations
from orbtax.model import Arm, Case, Cell, Finding, Link, Options, Placement, Plan, Purpose
from orbtax.record import (
    Latencies,
    LinkVisit,
    Run,
    RunRecord,
    Sample,
    Status,
)

SIZES = tuple(KIB * 4**power for power in range(6))  # 1 KiB to 1 MiB
THREADS = (1, 4, 16)
ARMS = (Arm.STREAM, Arm.CALL, Arm.CORBA)


@dataclass(frozen=True)
class Law:
    """What one message of an arm costs: its bytes aside, and waiting."""

    message_us: float
    wait_us: float
    bytes_per_us: float = 4400.0


LAWS = {
    Arm.STREAM: Law(2.5, 0.0),
    Arm.CALL: Law(4.0, 60.0),
    Arm.CORBA: Law(9.0, 62.0),
    Arm.ONEWAY: Law(5.0, 0.0),
    Arm.AMI: Law(14.0, 16.0),
    Arm.PINGPONG: Law(4.0, 60.0, 2200.0),
    Arm.EMPTY: Law(9.0, 62.0),
    Arm.ECHO: Law(12.0, 66.0, 2100.0),
    Arm.IPERF3: Law(2.6, 0.0),
}


def typical_goodput(arm: Arm, payload_bytes: int, threads: int, link: Link = LINKS["ib"]) -> float:
    """Goodput in bit/s that the arm's law gives, capped by the link's payload rate."""
    law = LAWS[arm]
    busy_us = law.message_us + payload_bytes / law.bytes_per_us
    alone = payload_bytes / (busy_us + law.wait_us)
    at_most = 1.3 * payload_bytes / busy_us / (1 + 0.01 * threads)
    goodput = 8e6 * min(alone * threads**0.9, at_most)
    if link.rate_bit_s is None:
        return goodput
    return min(goodput, 0.94 * link.rate_bit_s)


def make_case(
    arm: Arm = Arm.CORBA, payload_bytes: int = 64 * KIB, threads: int = 4, **changes: Any
):
    """A case on `ib`; `changes` are further fields of `Case`."""
    case = Case(link="ib", arm=arm, payload_bytes=payload_bytes, threads=threads)
    return replace(case, **changes)


def make_latencies(messages: int, mean_us: float, seed: int = 0) -> Latencies:
    """Times of `messages` calls around `mean_us`, with a tail."""
    draws = np.random.default_rng(seed).lognormal(np.log(mean_us * 1000), 0.12, messages)
    return from_durations(draws.astype(np.int64))


def make_sample(
    case: Case | None = None,
    *,
    link: Link | None = None,
    goodput_bit_s: float | None = None,
    total_bytes: int = 256 * 1024 * KIB,
    latency_calls: int = 400,
    ends: bool = True,
    **changes: Any,
) -> Sample:
    """A sample that passes every check; `changes` are fields of `Sample` set afterwards.

    At most `latency_calls` latencies are drawn, and without `ends` neither end's record is made:
    both keep runs of many samples cheap.
    """
    case = case or make_case()
    link = link or LINKS[case.link]
    rate = goodput_bit_s or typical_goodput(case.arm, case.payload_bytes, case.threads, link)
    window_s = 8 * total_bytes / rate
    messages = -(-total_bytes // case.payload_bytes)
    share, rest = divmod(total_bytes, case.threads)
    timed = case.arm.waits and latency_calls > 0
    sample = Sample(
        case=case,
        cell=0,
        round=0,
        position=0,
        purpose=Purpose.MEASURE,
        session=0,
        started_utc="2024-05-06T07:08:09Z",
        status=Status.OK,
        asked_bytes=total_bytes,
        confirmed_bytes=total_bytes,
        messages=messages,
        window_s=window_s,
        goodput_bit_s=8 * total_bytes / window_s,
        clock_tick_s=1e-7,
        start_skew_s=0.002 * window_s,
        thread_bytes=tuple(share + (number < rest) for number in range(case.threads)),
        thread_window_s=tuple(
            window_s * (0.99 + 0.01 * (number + 1) / case.threads) for number in range(case.threads)
        ),
        connections=case.connections,
        latencies=make_latencies(
            min(messages, latency_calls), 1e6 * window_s * case.threads / messages
        )
        if timed
        else None,
        client=make_end("sender", case, total_bytes, window_s, link, messages) if ends else None,
        servant=make_end("receiver", case, total_bytes, window_s, link, messages) if ends else None,
    )
    return replace(sample, **changes)


def make_failed(
    sample: Sample, reason: str = "the servant ended: Connection reset by peer"
) -> Sample:
    """`sample` as it is recorded when its block did not run to its end."""
    return replace(
        sample,
        status=Status.FAILED,
        reason=reason,
        confirmed_bytes=None,
        messages=None,
        window_s=None,
        goodput_bit_s=None,
        start_skew_s=None,
        thread_bytes=(),
        thread_window_s=(),
        connections=None,
        latencies=None,
        client=None,
        servant=None,
    )


def make_refused(sample: Sample, code: str = "above-link-rate") -> Sample:
    """`sample` as it is recorded when a check says that its figure cannot be true."""
    finding = Finding(code=code, text=f"refused for {code}", serious=True)
    return replace(sample, status=Status.REFUSED, reason=code, findings=(finding,))


def make_plan(
    links: Sequence[str] = ("ib",),
    sizes: Sequence[int] = SIZES,
    threads: Sequence[int] = THREADS,
    arms: Sequence[Arm] = ARMS,
    options: Options | None = None,
    **changes: Any,
) -> Plan:
    """A `compare` plan: one cell of all arms per link, size and number of threads."""
    options = options or Options()
    cells = tuple(
        Cell(
            cases=tuple(
                Case(link=link, arm=arm, payload_bytes=size, threads=count, options=options)
                for arm in arms
            ),
            budget_s=7.0,
        )
        for link in links
        for size in sizes
        for count in threads
    )
    placement = Placement(name="split", sender_cores=(0,), receiver_cores=(1,))
    plan = Plan(
        study="compare",
        links=tuple(LINKS[name] for name in links),
        cells=cells,
        placement=placement,
    )
    return replace(plan, **changes)


def make_cell_samples(
    plan: Plan,
    cell: int,
    rounds: int = 6,
    seed: int = 20,
    scatter: float = 0.01,
    drift: float = 0.0,
    **sample_options: Any,
) -> list[Sample]:
    """The measured samples of one cell, in A B B A order.

    `scatter` is the standard deviation of the logarithm of each goodput, `drift` the share by
    which all arms have slowed down from the first block to the last.
    """
    noise = np.random.default_rng((seed, cell))
    cases = plan.cells[cell].cases
    last = max(1, rounds * len(cases) - 1)
    samples = []
    for number in range(rounds):
        order = cases if number % 2 == 0 else cases[::-1]
        for position, case in enumerate(order):
            link = plan.link(case.link)
            usual = typical_goodput(case.arm, case.payload_bytes, case.threads, link)
            wander = 1 - drift * (number * len(cases) + position) / last
            if link.rate_bit_s is not None:
                usual *= 0.985
            samples.append(
                make_sample(
                    case,
                    link=link,
                    goodput_bit_s=usual * wander * float(np.exp(noise.normal(0, scatter))),
                    cell=cell,
                    round=number,
                    position=position,
                    **sample_options,
                )
            )
    return samples


def make_run(
    links: Sequence[str] = ("ib",),
    sizes: Sequence[int] = SIZES,
    threads: Sequence[int] = THREADS,
    arms: Sequence[Arm] = ARMS,
    *,
    rounds: int = 6,
    failed: int = 2,
    refused: int = 1,
    seed: int = 20,
    plan: Plan | None = None,
    folder: str = "results/20240506T070809Z-compare-ib-0a1b",
    **sample_options: Any,
) -> Run:
    """A finished `compare` run: calibration, `rounds` rounds of each cell, some failures.

    `failed` samples did not run to their end and `refused` ones did not pass a check; they are
    spread over the run. `sample_options` go to `make_sample`.
    """
    plan = plan or make_plan(links, sizes, threads, arms)
    samples: list[Sample] = []
    for index, cell in enumerate(plan.cells):
        for case in cell.cases:
            calibration = make_sample(
                case,
                link=plan.link(case.link),
                total_bytes=16 * case.payload_bytes * case.threads,
                cell=index,
                purpose=Purpose.CALIBRATION,
                **sample_options,
            )
            samples.append(calibration)
        samples += make_cell_samples(plan, index, rounds, seed, **sample_options)
    measured = [place for place, made in enumerate(samples) if made.purpose is Purpose.MEASURE]
    bad = np.random.default_rng(seed).choice(measured, failed + refused, replace=False)
    for place in bad[:failed]:
        samples[place] = make_failed(samples[place])
    for place in bad[failed:]:
        samples[place] = make_refused(samples[place])
    visits = tuple(
        LinkVisit(
            session=0,
            before=make_facts(link),
            sender_before=make_environment(),
            receiver_before=make_environment(),
            after=make_facts(link),
            sender_after=make_environment(),
            receiver_after=make_environment(),
        )
        for link in plan.links
    )
    record = RunRecord(
        plan=plan,
        created_utc="2024-05-06T07:08:09Z",
        orbtax_version="0.1.0",
        command="invoke compare --link " + ",".join(link.name for link in plan.links),
        visits=visits,
    )
    return Run(folder=folder, record=record, samples=tuple(samples))
