"""Calls that met a timer are always found and named, and no other is ever taken for one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweep_builders import SIZES, make_point, make_sweep, stalls_of, usual_us

from orbtax.analysis.stalls import (
    Remedy,
    Stall,
    find_stalls,
    kernel_timers,
    least_times_ns,
    remedies,
)
from orbtax.analysis.sweeps import Sweep
from orbtax.model import Arm, Options

pytestmark = pytest.mark.slow

TIMERS = kernel_timers({})
DELAYED_ACK, LEAST_RTO = TIMERS
DRAWS = 100
SMALL_BUFFERS = Options(send_buffer_bytes=32_768, receive_buffer_bytes=32_768)


def found(sweep: Sweep, *others: Sweep) -> tuple[Stall, ...]:
    return find_stalls(sweep, [sweep, *others], TIMERS)


@pytest.mark.parametrize("tick_ms", [0.1, 4.0, 10.0])
def test_a_stall_of_40_ms_at_5_per_cent_of_messages_is_always_found(tick_ms: float) -> None:
    for seed in range(DRAWS):
        draws = np.random.default_rng(seed)
        sweep = make_sweep(draws, delayed={65_536: stalls_of(0.05, tick_ms=tick_ms)})
        (stall,) = found(sweep)
        assert (stall.timer, stall.payload_bytes) == (DELAYED_ACK, 65_536)
        assert stall.share == pytest.approx(0.05)
        assert stall.stalled_rounds == stall.rounds == 5
        assert 0.035 <= stall.delay_s <= 0.052
        assert not stall.several


def test_clean_data_are_never_labelled() -> None:
    for seed in range(5 * DRAWS):
        assert found(make_sweep(np.random.default_rng(seed))) == ()


def heavy_tail(draws: np.random.Generator, calls: int) -> np.ndarray:
    """Pareto delays, one in twenty of which is longer than 40 ms."""
    return (draws.random(calls) < 0.3) * 1000.0 * draws.random(calls) ** -2


def exponential_tail(draws: np.random.Generator, calls: int) -> np.ndarray:
    return (draws.random(calls) < 0.2) * draws.exponential(15_000, calls)


@pytest.mark.parametrize("tail", [heavy_tail, exponential_tail])
def test_delays_of_every_length_are_no_stall(tail) -> None:
    for seed in range(DRAWS):
        draws = np.random.default_rng(seed)
        assert found(make_sweep(draws, delayed=dict.fromkeys(SIZES, tail))) == ()


def test_messages_that_take_as_long_as_a_timer_anyway_are_no_stall() -> None:
    # 1 Gbit/s: 5 MB take 40 ms and 25 MB take 200 ms.
    sizes = (1, 1000, 65_536, 500_000, 2_500_000, 5_000_000, 25_000_000)
    for seed in range(DRAWS):
        draws = np.random.default_rng(seed)
        rounds = {
            size: [(60 + size / 125) * np.exp(draws.normal(0, 0.05, 10)) for _ in range(5)]
            for size in sizes
        }
        points = tuple(make_point(size, rounds_us) for size, rounds_us in rounds.items())
        assert found(Sweep("1ge", Arm.CALL, Options(), points)) == ()


def test_messages_that_a_token_bucket_lets_pass_at_once_make_no_stall_of_larger_ones() -> None:
    # 10 Gbit/s for the first four messages of a round, 1 Gbit/s for the others.
    points = []
    for size in (1, 1000, 8192, 65_536, 262_144, 1_048_576, 5_000_000, 10_000_000):
        draws = np.random.default_rng(size)
        slow = (60 + size / 125) * np.exp(draws.normal(0, 0.02, 16))
        quick = (60 + size / 1250) * np.ones(4)
        kept = size <= 262_144
        rounds = [np.concatenate([quick if kept else slow[:4], slow])] * 5
        points.append(make_point(size, rounds))
    assert found(Sweep("1ge", Arm.CALL, Options(), tuple(points))) == ()


def test_a_window_that_slows_large_messages_down_is_no_stall() -> None:
    # With small buffers 5 MB take 40 ms longer than with large ones, smaller messages less.
    fast = make_sweep(np.random.default_rng(1), sizes=(*SIZES, 5_000_000))
    points = tuple(
        make_point(
            point.payload_bytes,
            [(50 + point.payload_bytes / 119) * np.exp(noise.normal(0, 0.03, 50))],
        )
        for noise, point in ((np.random.default_rng(2), point) for point in fast.points)
    )
    assert found(replace(fast, options=SMALL_BUFFERS, points=points), fast) == ()


def test_a_size_at_which_every_call_stalls_is_known_by_the_smaller_ones() -> None:
    delayed = {size: stalls_of(1.0) for size in SIZES[5:]}
    stalls = found(make_sweep(np.random.default_rng(3), delayed=delayed))
    assert [stall.payload_bytes for stall in stalls] == list(SIZES[5:])
    assert all(stall.share == 1 for stall in stalls)


def test_a_sweep_that_stalls_at_every_size_is_known_by_one_that_does_not() -> None:
    draws = np.random.default_rng(4)
    sizes = SIZES[:4]
    quick = make_sweep(draws, sizes=sizes)
    slow = make_sweep(
        draws,
        sizes=sizes,
        delayed=dict.fromkeys(sizes, stalls_of(1.0)),
        options=Options(nodelay=False),
    )
    assert found(slow) == ()  # alone, it may as well be a path of 40 ms
    stalls = found(slow, quick)
    assert [(stall.payload_bytes, stall.share) for stall in stalls] == [(s, 1.0) for s in sizes]
    assert all(
        remedies(stall, slow, [(slow, stalls), (quick, ())]) == (Remedy(Options(), removes=True),)
        for stall in stalls
    )


def test_messages_that_met_a_timer_several_times_are_told_apart() -> None:
    def thrice(draws: np.random.Generator, calls: int) -> np.ndarray:
        return sum(stalls_of(1.0)(draws, calls) for _ in range(3))

    delayed = {262_144: thrice}
    sweep = make_sweep(np.random.default_rng(5), delayed=delayed, calls=10)
    last = sweep.points[-1]
    few = make_point(
        last.payload_bytes, [np.array([usual_us(last.payload_bytes) + 16 * 42_000])] * 4
    )
    stalls = found(replace(sweep, points=(*sweep.points[:-1], few)))
    assert [(stall.payload_bytes, stall.timer) for stall in stalls] == [
        (262_144, DELAYED_ACK),
        (1_048_576, DELAYED_ACK),
    ]
    assert all(stall.several for stall in stalls)
    assert stalls[1].delay_s == pytest.approx(16 * 0.042, rel=0.05)


def test_a_retransmission_is_named_as_such_even_beside_shorter_stalls() -> None:
    def both(draws: np.random.Generator, calls: int) -> np.ndarray:
        return stalls_of(0.04, 200.0)(draws, calls) + stalls_of(0.1)(draws, calls)

    draws = np.random.default_rng(6)
    (alone,) = found(make_sweep(draws, delayed={1000: stalls_of(0.05, 200.0)}))
    assert alone.timer == LEAST_RTO
    together = found(make_sweep(draws, delayed={1000: both}))
    assert [stall.timer for stall in together] == [DELAYED_ACK, LEAST_RTO]


def test_timers_are_those_of_the_kernel_that_was_measured() -> None:
    _, least_rto = kernel_timers({"sysctl.net.ipv4.tcp_rto_min_us": "5000"})
    assert least_rto.wait_s == 0.005
    sweep = make_sweep(np.random.default_rng(7), delayed={100: stalls_of(0.1, 5.0, 0.2)})
    timers = [DELAYED_ACK, least_rto]
    assert [stall.timer for stall in find_stalls(sweep, [sweep], timers)] == [least_rto]
    assert found(sweep) == ()


def test_larger_buffers_and_nodelay_are_remedies_and_other_settings_are_not() -> None:
    draws = np.random.default_rng(8)
    planted = {65_536: stalls_of(0.2)}
    small = make_sweep(draws, delayed=planted, options=SMALL_BUFFERS)
    larger = replace(SMALL_BUFFERS, send_buffer_bytes=65_536, receive_buffer_bytes=65_536)
    others = [
        make_sweep(draws, options=Options()),
        make_sweep(draws, delayed=planted, options=larger),
        make_sweep(draws, options=Options(nodelay=False)),
        make_sweep(draws, options=Options(reverse=True)),
        make_sweep(draws, arm=Arm.PINGPONG),
        make_sweep(draws, sizes=(1, 100)),
    ]
    every = [small, *others]
    known = [(sweep, find_stalls(sweep, every, TIMERS)) for sweep in every]
    ((_, (stall,)), *_) = known
    tried = remedies(stall, small, known)
    assert tried == (Remedy(Options(), removes=True), Remedy(larger, removes=False))


def test_without_points_or_with_one_there_is_nothing_to_find() -> None:
    assert found(Sweep("lo", Arm.CALL, Options(), ())) == ()
    assert found(make_sweep(np.random.default_rng(9), sizes=(1,))) == ()


@settings(max_examples=50, deadline=None)
@given(
    shortest_us=st.dictionaries(
        st.integers(0, 10**7), st.integers(1, 10**6), min_size=1, max_size=12
    )
)
def test_the_least_times_keep_to_their_own_rules(shortest_us: dict[int, int]) -> None:
    points = tuple(
        make_point(size, [np.array([time_us])]) for size, time_us in sorted(shortest_us.items())
    )
    sweep = Sweep("lo", Arm.CALL, Options(), points)
    least = least_times_ns(sweep, [sweep])
    sizes = sorted(least)
    for place, size in enumerate(sizes):
        assert least[size] <= 1000 * shortest_us[size]
        for smaller in sizes[:place]:
            assert least[smaller] <= 1000 * shortest_us[size]
            if smaller:
                assert least[size] <= -(-size // smaller) * 1000 * shortest_us[smaller]
