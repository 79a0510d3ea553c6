"""Jumps between neighbouring sizes and sizes with two values: planted ones, and none in noise."""

from __future__ import annotations

import numpy as np
import pytest
from sweep_builders import make_point, usual_us

from orbtax.analysis.jumps import Limit, find_jumps, find_splits
from orbtax.analysis.sweeps import Sweep
from orbtax.model import Arm, Options

pytestmark = pytest.mark.slow

SIZES = (0, 1, 10, 100, 1000, 4096, 8189, 8192, 8195, 16_384, 65_536, 262_144, 1_048_576)
ROUNDS = 5


def sweep_of(
    seed: int, times_us: dict[int, float] | None = None, scatter: float = 0.02, rounds: int = ROUNDS
) -> Sweep:
    """A sweep whose rounds' medians follow the law of `usual_us`, or the times given."""
    draws = np.random.default_rng(seed)
    times_us = times_us or {size: usual_us(size) for size in SIZES}
    points = tuple(
        make_point(
            size,
            [np.full(20, time_us * np.exp(draws.normal(0, scatter))) for _ in range(rounds)],
        )
        for size, time_us in times_us.items()
    )
    return Sweep("lo", Arm.CORBA, Options(), points)


def stepped(factor: float, from_bytes: int = 8192) -> dict[int, float]:
    return {size: usual_us(size) * (factor if size >= from_bytes else 1) for size in SIZES}


def test_noise_is_never_a_jump_nor_a_split() -> None:
    for seed in range(500):
        for scatter in (0.005, 0.03):
            sweep = sweep_of(seed, scatter=scatter)
            assert find_jumps(sweep) == ()
            assert find_splits(sweep) == ()


@pytest.mark.parametrize("factor", [1.2, 3.0, 1 / 1.2])
def test_a_jump_between_neighbours_is_found_where_it_is(factor: float) -> None:
    for seed in range(50):
        (jump,) = find_jumps(sweep_of(seed, stepped(factor)))
        assert (jump.from_bytes, jump.to_bytes) == (8189, 8192)
        assert jump.change == pytest.approx(factor - 1, abs=0.1 * factor)
        assert jump.rounds == ROUNDS
        assert jump.agreeing_rounds >= ROUNDS - 1


def test_a_speed_that_changes_is_no_jump() -> None:
    for seed in range(100):
        bent = {size: 50 + size / 4000 + max(0, size - 70_000) / 500 for size in SIZES}
        assert find_jumps(sweep_of(seed, bent)) == ()


def test_between_sizes_far_apart_only_what_no_line_allows_is_a_jump() -> None:
    # 4 times the size may take up to 4 times as long.
    sizes = (1000, 4000, 16_000, 64_000, 256_000)
    allowed = dict(zip(sizes, (10.0, 30.0, 100.0, 390.0, 1500.0), strict=True))
    beyond = dict(zip(sizes, (10.0, 30.0, 100.0, 900.0, 1200.0), strict=True))
    assert find_jumps(sweep_of(2, allowed)) == ()
    (jump,) = find_jumps(sweep_of(2, beyond))
    assert (jump.from_bytes, jump.to_bytes) == (16_000, 64_000)
    assert jump.change == pytest.approx(900 / 400 - 1, rel=0.1)


def test_time_that_falls_with_the_size_is_a_jump_down() -> None:
    falls = dict.fromkeys((128, 512, 1024), 50.0) | {2048: 12.0, 4096: 12.5}
    (jump,) = find_jumps(sweep_of(3, falls))
    assert (jump.from_bytes, jump.to_bytes) == (1024, 2048)
    assert jump.change == pytest.approx(12 / 50 - 1, abs=0.05)


def test_a_jump_names_the_limits_that_lie_there() -> None:
    full = Limit("the ORB's buffer", 8192)
    before_its_headers = Limit("a full segment", 8260)
    elsewhere = Limit("the second-level cache", 2_097_152)
    (jump,) = find_jumps(sweep_of(4, stepped(2.0)), [full, before_its_headers, elsewhere])
    assert jump.limits == (full, before_its_headers)
    beyond = sweep_of(4, stepped(2.0, 8195))
    (jump,) = find_jumps(beyond, [full, elsewhere])
    assert jump.limits == (full,)


def test_a_jump_in_some_repetitions_alone_is_a_split_and_no_jump() -> None:
    points = list(sweep_of(5).points)
    place = SIZES.index(8192)
    slow = [np.full(20, usual_us(8192) * factor) for factor in (1.0, 2.0, 1.01, 2.02, 0.99)]
    points[place] = make_point(8192, slow)
    sweep = Sweep("lo", Arm.CALL, Options(), tuple(points))
    (split,) = find_splits(sweep)
    assert split.payload_bytes == 8192
    assert (split.low_rounds, split.high_rounds) == (3, 2)
    assert split.high_us == pytest.approx(2.01 * usual_us(8192), rel=0.02)
    assert find_jumps(sweep) == ()


def test_one_repetition_that_was_disturbed_is_neither() -> None:
    points = list(sweep_of(5).points)
    odd = [np.full(20, usual_us(8192) * factor) for factor in (1.0, 5.0, 1.01, 0.98, 0.99)]
    points[SIZES.index(8192)] = make_point(8192, odd)
    sweep = Sweep("lo", Arm.CALL, Options(), tuple(points))
    assert find_splits(sweep) == ()
    assert find_jumps(sweep) == ()


def test_one_repetition_alone_shows_neither() -> None:
    assert find_jumps(sweep_of(6, stepped(2.0), rounds=1)) == ()
    assert find_splits(sweep_of(6, stepped(2.0), rounds=1)) == ()
