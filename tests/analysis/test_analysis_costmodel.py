"""The cost model finds what was planted: overhead, speed, half-speed size and breakpoint."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbtax.analysis.costmodel import CostModel, Estimate, fit_cost_model
from orbtax.analysis.shapes import SEGMENT_SIZES, Shape

pytestmark = pytest.mark.slow

SIZES = (
    *(0, 10, 100, 500, 1000, 2000, 4096, 8192, 10_000, 16_381, 16_384, 32_768, 65_536),
    *(100_000, 262_144, 500_000, 1_048_576, 2_000_000, 5_000_000, 10_000_000),
)
DRAWS = 500


@dataclass(frozen=True)
class Law:
    """A planted model: overhead and speed of each side, joined at `at_bytes` or not."""

    shape: Shape
    overhead_us: float
    bytes_us: float
    half_speed_bytes: float
    early_bytes_us: float | None = None
    at_bytes: float | None = None
    step_us: float = 0.0

    def times_us(self, sizes: tuple[int, ...] = SIZES) -> np.ndarray:
        size = np.array(sizes, float)
        if self.at_bytes is None or self.early_bytes_us is None:
            return self.overhead_us + size / self.bytes_us
        late = np.maximum(size - self.at_bytes, 0) / self.bytes_us
        early = np.minimum(size, self.at_bytes) / self.early_bytes_us
        return self.overhead_us + early + late + self.step_us * (size >= self.at_bytes)


LINE = Law(Shape.LINE, 30.0, 4000.0, 120_000.0)
# Half of 2000 bytes/µs: n ÷ (30 + n ÷ 8000) = 1000.
BEND = Law(Shape.BEND, 30.0, 2000.0, 30_000 / (1 - 1 / 8), 8000.0, 100_000.0)
# Beyond the jump: 30 + 16384 ÷ 5000 + 25 − 16384 ÷ 2500 + n ÷ 2500.
JUMP = Law(
    Shape.JUMP, 30.0, 2500.0, 2500 * (55 + 16_384 / 5000 - 16_384 / 2500), 5000.0, 16_384.0, 25.0
)
LAWS = pytest.mark.parametrize("law", [LINE, BEND, JUMP], ids=lambda law: str(law.shape))


def planted(law: Law) -> dict[str, float]:
    return {
        "overhead_us": law.overhead_us,
        "byte_ns": 1000 / law.bytes_us,
        "asymptotic_bytes_s": 1e6 * law.bytes_us,
        "half_speed_bytes": law.half_speed_bytes,
    }


def fitted(law: Law, noise: np.ndarray | float = 0.0) -> CostModel:
    model = fit_cost_model(SIZES, (law.times_us() * np.exp(noise)).tolist())
    assert model is not None
    return model


@LAWS
def test_what_was_planted_is_recovered_within_one_per_cent(law: Law) -> None:
    noise = np.random.default_rng(5).normal(0, 0.002, len(SIZES))
    model = fitted(law, noise)
    assert model.shape is law.shape
    for name, truth in planted(law).items():
        assert getattr(model, name).value == pytest.approx(truth, rel=0.01), name
    if law.at_bytes is not None:
        assert model.breakpoint_bytes is not None
        assert model.breakpoint_bytes.value == pytest.approx(law.at_bytes, rel=0.01)
    for size, time_us in zip(SIZES, law.times_us(), strict=True):
        assert model.time_us(size) == pytest.approx(time_us, rel=0.02)


@LAWS
def test_intervals_cover_what_was_planted_in_about_95_of_100_draws(law: Law) -> None:
    draws = np.random.default_rng(2024)
    covered: Counter[str] = Counter()
    bends = 0
    for _ in range(DRAWS):
        model = fitted(law, draws.normal(0, 0.02, len(SIZES)))
        for name, truth in planted(law).items():
            estimate = getattr(model, name)
            covered[name] += estimate.low <= truth <= estimate.high
        if law is BEND and model.shape is Shape.BEND:
            bends += 1
            covered["breakpoint"] += holds(model.breakpoint_bytes, law.at_bytes)
    for name in planted(law):
        assert 0.93 <= covered[name] / DRAWS <= 0.97, name
    if law is BEND:
        assert 0.93 <= covered["breakpoint"] / bends <= 0.97


def holds(estimate: Estimate | None, value: float | None) -> bool:
    return estimate is not None and value is not None and estimate.low <= value <= estimate.high


def test_a_straight_line_is_seldom_taken_for_a_broken_one() -> None:
    draws = np.random.default_rng(8)
    shapes = Counter(fitted(LINE, draws.normal(0, 0.02, len(SIZES))).shape for _ in range(200))
    assert shapes[Shape.LINE] >= 190


def test_a_jump_is_known_to_lie_between_the_two_sizes_where_it_was_planted() -> None:
    model = fitted(JUMP, np.random.default_rng(3).normal(0, 0.01, len(SIZES)))
    assert model.breakpoint_bytes is not None
    assert (model.breakpoint_bytes.low, model.breakpoint_bytes.high) == (16_381, 16_384)


def test_residuals_show_the_size_that_departs() -> None:
    times = LINE.times_us()
    times[7] *= 1.3
    model = fit_cost_model(SIZES, times.tolist(), shapes=[Shape.LINE])
    assert model is not None
    assert np.argmax(model.residuals) == 7
    assert model.residuals[7] == pytest.approx(np.log(1.3), abs=0.05)
    assert model.sizes_bytes == SIZES


def test_a_payload_that_comes_back_crosses_the_link_twice() -> None:
    once, twice = (fit_cost_model(SIZES, LINE.times_us().tolist(), ways=ways) for ways in (1, 2))
    assert once is not None
    assert twice is not None
    assert twice.asymptotic_bytes_s.value == pytest.approx(2 * once.asymptotic_bytes_s.value)
    assert twice.byte_ns.value == pytest.approx(once.byte_ns.value / 2)
    assert twice.half_speed_bytes.value == pytest.approx(once.half_speed_bytes.value)


def test_small_messages_alone_do_not_determine_the_speed() -> None:
    sizes = tuple(range(0, 100, 5))
    noise = np.random.default_rng(1).normal(0, 0.02, len(sizes))
    times = LINE.times_us(sizes) * np.exp(noise)
    model = fit_cost_model(sizes, times.tolist(), shapes=[Shape.LINE])
    assert model is not None
    assert model.overhead_us.value == pytest.approx(30, rel=0.02)
    assert model.asymptotic_bytes_s is None or model.asymptotic_bytes_s.high > 1e10


@given(
    overhead_us=st.floats(1, 1e4),
    bytes_us=st.floats(10, 1e4),
    unit=st.floats(0.1, 10),
)
def test_exact_lines_are_recovered_whatever_their_scale(
    overhead_us: float, bytes_us: float, unit: float
) -> None:
    times = unit * (overhead_us + np.array(SIZES) / bytes_us)
    model = fit_cost_model(SIZES, times.tolist())
    assert model is not None
    assert model.shape is Shape.LINE
    assert model.overhead_us.value == pytest.approx(unit * overhead_us, rel=1e-4)
    assert model.asymptotic_bytes_s.value == pytest.approx(1e6 * bytes_us / unit, rel=1e-4)


@pytest.mark.parametrize("count", range(5, 14))
def test_with_few_sizes_only_the_shapes_that_leave_freedom_are_tried(count: int) -> None:
    sizes = SIZES[:count]
    noise = np.random.default_rng(count).normal(0, 0.01, count)
    model = fit_cost_model(sizes, (LINE.times_us(sizes) * np.exp(noise)).tolist())
    assert model is not None
    assert Shape.LINE in model.aicc
    assert all(np.isfinite(list(model.aicc.values())))
    assert (Shape.JUMP in model.aicc) is (count > 9)


def test_one_size_beyond_a_knee_is_too_little_to_place_a_bend() -> None:
    sizes = [0, 1, 100, 1000, 8192, 16_384, 32_768, 65_536, 100_000, 131_072, 262_144, 1_048_576]
    slower_us = np.maximum(np.array(sizes) - 400_000, 0) * 3e-4
    times_us = 50 + np.array(sizes) * 5e-5 + slower_us
    shaken_us = times_us * (1 + 1e-9 * np.cos(np.arange(len(sizes))))
    bent, again = (
        fit_cost_model(sizes, each, shapes=[Shape.BEND]) for each in (times_us, shaken_us)
    )
    assert bent is not None
    assert again is not None
    assert bent.segments[-1].from_bytes <= sizes[-SEGMENT_SIZES]
    assert again.segments[-1].byte_us == pytest.approx(bent.segments[-1].byte_us, rel=1e-5)


def test_four_sizes_are_too_few() -> None:
    assert fit_cost_model(SIZES[:4], [1.0, 2.0, 3.0, 4.0]) is None


@pytest.mark.parametrize(
    ("sizes", "times"),
    [((1, 2, 2, 3, 4), (1.0,) * 5), ((5, 4, 3, 2, 1), (1.0,) * 5), (range(5), (0.0,) * 5)],
)
def test_sizes_must_rise_and_times_be_above_zero(sizes, times) -> None:
    with pytest.raises(ValueError, match="must rise"):
        fit_cost_model(sizes, times)
