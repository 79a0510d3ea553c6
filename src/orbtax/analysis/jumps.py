"""Where a sweep is not continuous: jumps between neighbouring sizes, and sizes with two values.

Whatever its overhead and speed, a straight line neither falls nor rises faster than the size does:
from one size to the next, time grows by a factor between 1 and the factor of the sizes. Where the
speed changes between sizes that are far apart, it may also rise as steeply as it goes on to rise
beyond them. A jump is what exceeds both. So no model has to be right for one to be found; sizes
close to each other show a small one, sizes far apart only a large one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from scipy.special import chdtri, stdtrit

from orbtax.analysis.ratio import mean_and_error
from orbtax.analysis.sweeps import Sweep, SweepPoint

LEAST_CHANGE = 0.05
"""A smaller jump is not told, however certain."""
SWEEP_SIGNIFICANCE = 1e-4
"""Largest probability with which pure noise may give any jump in a sweep."""
STEP_SIGNIFICANCE = 0.01
"""Likewise for the two sizes alone, by how they themselves scatter."""
LEAST_SPLIT = 0.25
SPLIT_SCATTERS = 6.0
"""Repetitions are told to fall into two if they lie so many standard deviations apart."""
SPLIT_ROUNDS = 2
"""On either side: one repetition alone may have been disturbed."""
FAR_APART = 1.1
"""From this ratio of two sizes on, a change of speed between them may look like a jump."""
HEADER_BYTES = 128
"""What stands before a payload on the wire, so that a limit is met this much earlier."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A size at which something is known to change, such as a full buffer."""

    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Jump:
    """Two neighbouring sizes between which time jumps."""

    from_bytes: int
    to_bytes: int
    from_us: float
    to_us: float
    change: float  # beyond what a straight line allows: 0.4 is 40 % up, negative is down
    rounds: int
    agreeing_rounds: int  # that show at least half of it by themselves
    limits: tuple[Limit, ...]  # known to lie there


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A size whose repetitions fall into two."""

    payload_bytes: int
    low_us: float
    high_us: float
    low_rounds: int
    high_rounds: int


@dataclass(frozen=True, slots=True)
class _Step:
    """ln(time ÷ time of the size before) in each round that has both sizes."""

    before: SweepPoint
    after: SweepPoint
    logs: tuple[float, ...]
    most: float  # what a straight line, or a change from one to another, explains
    mean: float
    error: float

    def excess(self, log: float) -> float:
        """What of a logarithm that does not explain."""
        return log - min(max(log, 0.0), self.most)


def find_jumps(sweep: Sweep, limits: Iterable[Limit] = ()) -> tuple[Jump, ...]:
    """The jumps of a sweep beyond the noise of its repetitions, with the limits that lie there."""
    steps = _steps(sweep)
    if not steps:
        return ()
    freedom = sum(len(step.logs) - 1 for step in steps)
    usual_error = _usual_error(steps)
    reach = usual_error * float(stdtrit(freedom, 1 - SWEEP_SIGNIFICANCE / len(steps) / 2))
    known = tuple(limits)
    return tuple(_jump(step, known) for step in steps if _is_jump(step, reach))


def find_splits(sweep: Sweep) -> tuple[Split, ...]:
    """The sizes of a sweep that show one time in some rounds and quite another in the others."""
    away = [
        abs(math.log(time_us / point.usual_us))
        for point in sweep.points
        for time_us in point.medians_us.values()
        if len(point.medians_us) > 1
    ]
    if not away:
        return ()
    # 1.4826 times the median absolute deviation is the standard deviation of a normal scatter.
    least = max(math.log1p(LEAST_SPLIT), SPLIT_SCATTERS * 1.4826 * median(away))
    splits = (_split(point, least) for point in sweep.points)
    return tuple(split for split in splits if split is not None)


def _steps(sweep: Sweep) -> list[_Step]:
    steps = []
    for before, after, beyond in zip(
        sweep.points, sweep.points[1:], [*sweep.points[2:], None], strict=False
    ):
        both = before.medians_us.keys() & after.medians_us.keys()
        logs = tuple(math.log(after.medians_us[key] / before.medians_us[key]) for key in both)
        if len(logs) > 1:
            most = _most(before, after, beyond)
            steps.append(_Step(before, after, logs, most, *mean_and_error(logs)))
    return steps


def _most(before: SweepPoint, after: SweepPoint, beyond: SweepPoint | None) -> float:
    """The largest logarithm of a step that lines explain; `beyond` is the size after both."""
    if not before.payload_bytes:
        return math.inf
    line = math.log(after.payload_bytes / before.payload_bytes)
    if line < math.log(FAR_APART):
        return line
    if beyond is None:
        return math.inf
    byte_us = (beyond.usual_us - after.usual_us) / (beyond.payload_bytes - after.payload_bytes)
    rise_us = max(0.0, byte_us) * (after.payload_bytes - before.payload_bytes)
    return max(line, math.log1p(rise_us / before.usual_us))


def _usual_error(steps: Sequence[_Step]) -> float:
    """The standard error of a step as it usually is: the median, so that few noisy ones do not
    hide the others, corrected for how the median of a chi-squared lies below its mean."""
    corrected = [
        step.error**2 * (len(step.logs) - 1) / float(chdtri(len(step.logs) - 1, 0.5))
        for step in steps
    ]
    return math.sqrt(median(corrected))


def _is_jump(step: _Step, reach: float) -> bool:
    excess = abs(step.excess(step.mean))
    own = step.error * float(stdtrit(len(step.logs) - 1, 1 - STEP_SIGNIFICANCE / 2))
    return excess > max(reach, own, math.log1p(LEAST_CHANGE))


def _jump(step: _Step, limits: Sequence[Limit]) -> Jump:
    excess = step.excess(step.mean)
    before, after = step.before.payload_bytes, step.after.payload_bytes
    return Jump(
        from_bytes=before,
        to_bytes=after,
        from_us=step.before.usual_us,
        to_us=step.after.usual_us,
        change=math.expm1(excess),
        rounds=len(step.logs),
        agreeing_rounds=sum(step.excess(log) / excess >= 0.5 for log in step.logs),
        limits=tuple(
            limit for limit in limits if before <= limit.size_bytes <= after + HEADER_BYTES
        ),
    )


def _split(point: SweepPoint, least: float) -> Split | None:
    """Cut where the times lie furthest apart, with enough of them on either side."""
    times_us = sorted(point.medians_us.values())
    cuts = range(SPLIT_ROUNDS, len(times_us) - SPLIT_ROUNDS + 1)
    if not cuts:
        return None
    cut = max(cuts, key=lambda at: times_us[at] / times_us[at - 1])
    if math.log(times_us[cut] / times_us[cut - 1]) <= least:
        return None
    return Split(
        payload_bytes=point.payload_bytes,
        low_us=median(times_us[:cut]),
        high_us=median(times_us[cut:]),
        low_rounds=cut,
        high_rounds=len(times_us) - cut,
    )
