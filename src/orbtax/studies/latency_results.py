"""What a run says of the time of a message on each link: the sweeps, fitted and searched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from orbtax import orb
from orbtax.analysis.caches import cache_sizes_bytes
from orbtax.analysis.costmodel import CostModel, fit_cost_model
from orbtax.analysis.jumps import Jump, Limit, Split, find_jumps, find_splits
from orbtax.analysis.merging import MergedMessages, merged_messages
from orbtax.analysis.rates import good_blocks
from orbtax.analysis.stalls import Remedy, Stall, Timer, find_stalls, kernel_timers, remedies
from orbtax.analysis.sweeps import Sweep, SweepPoint, sweeps
from orbtax.model import Arm, Case, Link, Options
from orbtax.record import LinkVisit, Run, Sample
from orbtax.report.wording import subject

USUAL_SHARE = 0.5
"""From this share of stalled calls on, the usual time of a size is that of the stall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """One sweep: its cost model, and where it is not what the model says."""

    sweep: Sweep
    model: CostModel | None  # None: too few sizes
    left_out_bytes: tuple[int, ...]  # sizes that are not in the model: their usual call stalled
    stalls: tuple[Stall, ...]
    jumps: tuple[Jump, ...]
    splits: tuple[Split, ...]

    @property
    def peak(self) -> tuple[float, int]:
        """The highest speed measured, in payload bytes per second, and the size that reached it."""
        speeds = (
            (self.sweep.ways * 1e6 * point.payload_bytes / point.usual_us, point.payload_bytes)
            for point in self.sweep.points
        )
        return max(speeds)

    def speed_bytes_s(self, payload_bytes: int) -> float | None:
        """The speed measured with one size, in payload bytes per second; None: not measured."""
        usual_us = [
            point.usual_us for point in self.sweep.points if point.payload_bytes == payload_bytes
        ]
        return self.sweep.ways * 1e6 * payload_bytes / usual_us[0] if usual_us else None

    def stalls_at(self, payload_bytes: int) -> tuple[Stall, ...]:
        """The stalls of one size."""
        return tuple(stall for stall in self.stalls if stall.payload_bytes == payload_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyCall:
    """The call without a payload, measured alone, beside the overhead that the sweep gives."""

    options: Options
    point: SweepPoint
    overhead_us: float | None  # of `corba` under the same setting; None: no model

    @property
    def time_us(self) -> float:
        """The median of the rounds' medians, as of every size."""
        return self.point.usual_us

    @property
    def overhead_ratio(self) -> float | None:
        """The fitted overhead over the measured call."""
        return None if self.overhead_us is None else self.overhead_us / self.time_us


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyResult:
    """One link, both directions."""

    link: Link
    sweeps: tuple[SweepResult, ...]
    empty_calls: tuple[EmptyCall, ...]
    merged: tuple[MergedMessages, ...]
    timers: tuple[Timer, ...]

    @property
    def name(self) -> str:
        """The link with what it is: `ib (emulated)`."""
        return subject(self.link.name, self.link.kind)

    def sweep(self, arm: Arm, options: Options | None = None) -> SweepResult | None:
        """The sweep of an arm under a setting, by default with nothing set."""
        wanted = options or Options()
        return next(
            (
                each
                for each in self.sweeps
                if each.sweep.arm is arm and each.sweep.options == wanted
            ),
            None,
        )

    def remedies(self, stall: Stall, sweep: Sweep) -> tuple[Remedy, ...]:
        """What other settings did about a stall of a sweep."""
        return remedies(stall, sweep, [(each.sweep, each.stalls) for each in self.sweeps])


def latency_results(run: Run) -> tuple[LatencyResult, ...]:
    """The results of every link of a run that gave any, in the plan's order."""
    of_case = good_blocks(run.samples)
    found = sweeps(run.samples)
    merged = merged_messages(run.samples)
    return tuple(
        _link_result(
            link,
            [sweep for sweep in found if sweep.link == link.name],
            {case: blocks for case, blocks in of_case.items() if case.link == link.name},
            [visit for visit in run.record.visits if visit.before.link == link.name],
            tuple(each for each in merged if each.link == link.name),
        )
        for link in run.record.plan.links
        if any(case.link == link.name for case in of_case)
    )


def _link_result(
    link: Link,
    found: Sequence[Sweep],
    of_case: Mapping[Case, Sequence[Sample]],
    visits: Sequence[LinkVisit],
    merged: tuple[MergedMessages, ...],
) -> LatencyResult:
    timers = kernel_timers(visits[0].sender_before.facts if visits else {})
    swept = tuple(
        _sweep_result(sweep, found, timers, _limits(sweep, of_case, visits))
        for sweep in found
        if sweep.arm is not Arm.EMPTY
    )
    return LatencyResult(
        link=link,
        sweeps=swept,
        empty_calls=tuple(
            _empty_call(sweep.points[0], sweep.options, swept)
            for sweep in found
            if sweep.arm is Arm.EMPTY
        ),
        merged=merged,
        timers=timers,
    )


def _sweep_result(
    sweep: Sweep, others: Sequence[Sweep], timers: Sequence[Timer], limits: Iterable[Limit]
) -> SweepResult:
    stalls = find_stalls(sweep, others, timers)
    left_out = {stall.payload_bytes for stall in stalls if stall.share >= USUAL_SHARE}
    kept = [point for point in sweep.points if point.payload_bytes not in left_out]
    return SweepResult(
        sweep=sweep,
        model=fit_cost_model(
            [point.payload_bytes for point in kept],
            [point.usual_us for point in kept],
            ways=sweep.ways,
        ),
        left_out_bytes=tuple(sorted(left_out)),
        stalls=stalls,
        jumps=find_jumps(sweep, limits),
        splits=find_splits(sweep),
    )


def _empty_call(point: SweepPoint, options: Options, swept: Iterable[SweepResult]) -> EmptyCall:
    models = (
        each.model
        for each in swept
        if each.sweep.arm is Arm.CORBA and each.sweep.options == options
    )
    model = next(models, None)
    overhead = model.overhead_us if model else None
    return EmptyCall(options=options, point=point, overhead_us=overhead.value if overhead else None)


def _limits(
    sweep: Sweep, of_case: Mapping[Case, Sequence[Sample]], visits: Sequence[LinkVisit]
) -> Iterator[Limit]:
    """The sizes at which something is known to change on the way of this sweep's messages."""
    cases = [case for case in of_case if (case.arm, case.options) == (sweep.arm, sweep.options)]
    blocks = [block for case in cases for block in of_case[case]]
    segments = [
        state.mss_bytes
        for block in blocks
        if block.client
        for state in block.client.connections
        if state.mss_bytes
    ]
    if segments:
        yield Limit("a full TCP segment", round(median(segments)))
    yield from _buffer_limits(blocks)
    for name, size_bytes in cache_sizes_bytes(visits).items():
        yield Limit(f"half the {name}, which then holds a message and its copy", size_bytes // 2)
        yield Limit(f"the {name}", size_bytes)
    if sweep.arm.is_corba:
        settings = orb.settings(cases[0])
        for option in ("giopBufferSize", "giopDirectSendCutOff"):
            yield Limit(f"omniORB's {option}", int(settings[option]))


def _buffer_limits(blocks: Iterable[Sample]) -> Iterator[Limit]:
    """The buffers in force, where their sizes were asked for."""
    found = {
        Limit(f"the {name} buffer in force", record.effective_bytes)
        for block in blocks
        for name, record in (
            ("send", block.client.send_buffer if block.client else None),
            ("receive", block.servant.receive_buffer if block.servant else None),
        )
        if record and record.requested_bytes is not None and record.effective_bytes is not None
    }
    yield from sorted(found, key=lambda limit: limit.name)
