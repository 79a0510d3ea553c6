"""Synthetic runs of the mailing-list study, whose rates a test lays down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from builders import make_run

from orbtax.links import catalogue
from orbtax.model import Case, Link, Placement, Plan
from orbtax.record import BufferRecord, Run
from orbtax.studies import study
from orbtax.studies.variations import Vary

KIB = 1024
CONTROLS = ("reno", "cubic")
Rate = Callable[[Case, int], float]
"""Gbit/s of a case in a round."""


def emulated(*names: str) -> tuple[Link, ...]:
    return catalogue.pick({link.name: link for link in catalogue.BUILT_IN}, names)


def request(*names: str, **changes) -> study.Request:
    usual = study.Request(
        links=emulated(*(names or ("ib", "10ge", "1ge"))),
        quick=True,
        controls=CONTROLS,
        placement=Placement(),
    )
    return replace(usual, **changes)


def small_plan(*names: str, vary: tuple[Vary, ...] = (), **changes) -> Plan:
    """A plan of a few cases, the published optimum of InfiniBand among them."""
    grid = {"sizes_bytes": (KIB, 256 * KIB), "threads": (8, 26), "streams": (1, 4)}
    return study.make_plan(request(*names, vary=vary, **(grid | changes)))


def run_of(plan: Plan, rate: Rate | None = None, rounds: int = 5, **options) -> Run:
    """A finished run of the study; without `rate`, at the typical speeds of the builders."""
    usual = {"failed": 0, "refused": 0, "folder": "results/20240506T070809Z-study-ib-0a1b"}
    run = make_run(plan=plan, rounds=rounds, **(usual | options))
    if rate is None:
        return run
    samples = tuple(
        replace(sample, goodput_bit_s=1e9 * rate(sample.case, sample.round))
        for sample in run.samples
    )
    return replace(run, samples=samples)


def with_windows(run: Run, clipped_above: int | None = None) -> Run:
    """The run with the buffers that its cases asked for in force, as Linux gives them."""

    def buffer(asked: int | None, usual: BufferRecord) -> BufferRecord:
        if asked is None:
            return usual
        clipped = clipped_above is not None and asked > clipped_above
        got = clipped_above if clipped else asked
        return BufferRecord(
            requested_bytes=asked,
            effective_bytes=2 * got,
            clipped=clipped,
            autotuned=False,
            limit=f"net.core.wmem_max = {clipped_above}" if clipped else None,
        )

    def sized(sample):
        options = sample.case.options
        send = buffer(options.send_buffer_bytes, sample.client.send_buffer)
        receive = buffer(options.receive_buffer_bytes, sample.servant.receive_buffer)
        return replace(
            sample,
            client=replace(sample.client, send_buffer=send),
            servant=replace(sample.servant, receive_buffer=receive),
        )

    return replace(run, samples=tuple(map(sized, run.samples)))
