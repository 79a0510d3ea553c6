"""Synthetic runs of the study of message time, whose calls follow a law that a test lays down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from builders import make_run, make_sample
from sweep_builders import make_calls_us

from orbtax.histogram import from_durations
from orbtax.links import catalogue
from orbtax.model import Arm, Case, Link, Placement, Plan
from orbtax.record import Run, Sample
from orbtax.studies import latency

CALLS = 40
MERGED = 25  # messages in a segment, with TCP_NODELAY off
SIZES = (1, 100, 1000, 8192, 65_536, 100_000, 262_144, 1_048_576, 4_000_000)
Delays = Callable[[Case, np.random.Generator], np.ndarray]
"""What the calls of a block take beyond the law, in µs."""


def links(*names: str) -> tuple[Link, ...]:
    return catalogue.pick({link.name: link for link in catalogue.BUILT_IN}, names or ("lo",))


def small_plan(*names: str, rounds: int = 3) -> Plan:
    """A plan of a few sizes under the settings of the brief study."""
    request = latency.Request(
        links=links(*names), sizes_bytes=SIZES, rounds=rounds, placement=Placement()
    )
    return latency.make_plan(request)


def run_of(plan: Plan, delays: Delays | None = None) -> Run:
    """A finished run: 50 µs and 4 GB/s, both ways for those whose payload comes back."""
    run = make_run(plan=replace(plan, cells=()), failed=0, refused=0)
    samples = [
        _sample(plan, case, cell, number, delays)
        for cell, planned in enumerate(plan.cells)
        for number in range(planned.rounds or 1)
        for case in planned.cases
    ]
    return replace(run, record=replace(run.record, plan=plan), samples=tuple(samples))


def _sample(plan: Plan, case: Case, cell: int, number: int, delays: Delays | None) -> Sample:
    draws = np.random.default_rng((case.payload_bytes, list(Arm).index(case.arm), cell, number))
    ways = 2 if case.arm in (Arm.PINGPONG, Arm.ECHO) else 1
    times_us = make_calls_us(ways * case.payload_bytes, draws, CALLS, scatter=0.03)
    if delays is not None:
        times_us = times_us + delays(case, draws)
    calls = from_durations((1000 * times_us).astype(np.int64))
    size = max(1, case.payload_bytes)
    made = make_sample(
        replace(case, payload_bytes=size),
        link=plan.link(case.link),
        total_bytes=size * CALLS,
        goodput_bit_s=8 * size * CALLS / (calls.sum_ns / 1e9),
        latency_calls=0,
        cell=cell,
        round=number,
    )
    if case.arm is Arm.STREAM:
        return _merged(made)
    moved = case.payload_bytes * CALLS
    return replace(
        made,
        case=case,
        latencies=calls,
        asked_bytes=moved,
        confirmed_bytes=moved,
        thread_bytes=(moved,),
        goodput_bit_s=made.goodput_bit_s if moved else 0.0,
    )


def _merged(made: Sample) -> Sample:
    (state,) = made.client.connections
    segments = CALLS if made.case.options.nodelay else -(-CALLS // MERGED)
    state = replace(state, data_segments_out=segments)
    return replace(made, client=replace(made.client, connections=(state,)))
