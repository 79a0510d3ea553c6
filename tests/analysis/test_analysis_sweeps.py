"""Calls sorted into sweeps, and medians that are those of the calls themselves."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from builders import make_case, make_failed, make_sample
from hypothesis import given
from hypothesis import strategies as st

from orbtax.analysis.sweeps import call_times_ns, median_ns, sweeps
from orbtax.histogram import EMPTY, from_durations
from orbtax.model import Arm, Options, Purpose

DURATIONS = st.lists(st.integers(0, 10**10), min_size=1, max_size=60)


@given(DURATIONS)
def test_the_median_is_that_of_the_calls_within_the_width_of_a_bin(durations: list[int]) -> None:
    median = float(np.median(durations))
    assert median_ns(from_durations(durations)) == pytest.approx(median, rel=0.004, abs=0.5)


@given(DURATIONS)
def test_call_times_rise_and_none_is_lost(durations: list[int]) -> None:
    times, counts = call_times_ns(from_durations(durations))
    assert counts.sum() == len(durations)
    assert (np.diff(times) > 0).all()
    assert min(durations) <= times[0]
    assert times[-1] <= max(durations)


def test_no_call_has_no_median() -> None:
    assert math.isnan(median_ns(EMPTY))


def sample(arm: Arm, size: int, number: int, **changes):
    case = make_case(arm, size, 1, **changes)
    total = size * 40
    return make_sample(case, total_bytes=total, round=number, cell=7, ends=False)


def test_samples_are_sorted_by_arm_setting_and_size() -> None:
    off = Options(nodelay=False)
    samples = [
        sample(arm, size, number, options=options)
        for number in range(3)
        for size in (4096, 16, 1024)
        for arm, options in ((Arm.CALL, Options()), (Arm.CALL, off), (Arm.PINGPONG, Options()))
    ]
    found = sweeps(samples)
    assert [(each.arm, each.options) for each in found] == [
        (Arm.CALL, Options()),
        (Arm.CALL, off),
        (Arm.PINGPONG, Options()),
    ]
    assert [each.ways for each in found] == [1, 1, 2]
    for each in found:
        assert [point.payload_bytes for point in each.points] == [16, 1024, 4096]
        assert each.rounds == 3
        point = each.point(1024)
        assert point is not None
        assert list(point.medians_us) == [(7, 0), (7, 1), (7, 2)]
        assert point.calls.calls == 120
        assert sorted(point.medians_us.values())[1] == point.usual_us
        assert each.point(1023) is None


def test_only_blocks_that_went_well_and_timed_their_calls_count() -> None:
    good = sample(Arm.CALL, 1024, 0)
    others = [
        make_failed(sample(Arm.CALL, 1024, 1)),
        replace(sample(Arm.CALL, 1024, 2), purpose=Purpose.CALIBRATION),
        replace(sample(Arm.CALL, 1024, 3), latencies=None),
        sample(Arm.STREAM, 1024, 4),
    ]
    ((point,),) = [each.points for each in sweeps([good, *others])]
    assert list(point.by_round) == [(7, 0)]
    assert sweeps(others) == ()
