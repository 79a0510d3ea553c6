"""Means and ratios: symmetry, what failures do, and whether 95 % intervals are 95 % intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from orbtax.analysis.ratio import geometric_mean, independent_ratio, paired_ratio

rates = st.floats(1e3, 1e12)
pairs = st.lists(st.tuples(rates, rates), min_size=2, max_size=30)
factors = st.floats(1e-3, 1e3)


def bounds(interval):
    return interval.value, interval.low, interval.high


def near(values):
    return pytest.approx(values, rel=1e-6)


@given(pairs, factors)
def test_a_ratio_does_not_depend_on_the_unit(rounds, factor):
    above, below = zip(*rounds, strict=True)
    scaled = paired_ratio([rate * factor for rate in above], [rate * factor for rate in below])
    assert bounds(scaled) == near(bounds(paired_ratio(above, below)))


@given(pairs, factors)
def test_a_faster_numerator_scales_the_ratio_alike(rounds, factor):
    above, below = zip(*rounds, strict=True)
    scaled = paired_ratio([rate * factor for rate in above], below)
    assert bounds(scaled) == near(
        tuple(factor * value for value in bounds(paired_ratio(above, below)))
    )


@given(pairs)
def test_a_ratio_turned_over_is_the_inverse_interval(rounds):
    above, below = zip(*rounds, strict=True)
    for ratio in (paired_ratio, independent_ratio):
        value, low, high = bounds(ratio(above, below))
        assert bounds(ratio(below, above)) == near((1 / value, 1 / high, 1 / low))


@given(pairs)
def test_the_value_lies_in_its_interval(rounds):
    interval = paired_ratio(*zip(*rounds, strict=True))
    assert interval.low <= interval.value <= interval.high
    assert interval.covers(interval.value)
    assert interval.half_width >= 0


def test_intervals_agree_with_scipy():
    draw = np.random.default_rng(2)
    above, below = draw.lognormal(1, 0.1, 9), draw.lognormal(1.2, 0.3, 6)
    one = stats.ttest_1samp(np.log(above), 0).confidence_interval(0.95)
    assert bounds(geometric_mean(above))[1:] == near((math.exp(one.low), math.exp(one.high)))
    both = stats.ttest_ind(np.log(above), np.log(below), equal_var=False).confidence_interval()
    assert bounds(independent_ratio(above, below))[1:] == near(
        (math.exp(both.low), math.exp(both.high))
    )


def test_geometric_mean_of_a_half_and_a_double_is_one():
    assert geometric_mean([0.5, 2.0]).value == pytest.approx(1.0)


def test_one_round_has_a_value_but_no_interval():
    for interval in (
        geometric_mean([5.0]),
        paired_ratio([10.0], [2.0]),
        independent_ratio([10.0, 10.0], [2.0]),
    ):
        assert interval.value == pytest.approx(5.0)
        assert interval.low is interval.high is interval.half_width is None
        assert not interval.covers(5.0)
        assert interval.rounds == 1


def test_rounds_without_scatter_have_an_interval_without_width():
    assert bounds(independent_ratio([4.0, 4.0], [2.0, 2.0])) == near((2.0, 2.0, 2.0))
    assert geometric_mean([3.0] * 5).half_width == pytest.approx(0.0)


def test_failed_blocks_are_left_out_and_counted():
    interval = paired_ratio([2.0, None, 2.0, 0.0, 8.0], [1.0, 1.0, None, 1.0, 4.0])
    assert (interval.value, interval.rounds, interval.failed) == (pytest.approx(2.0), 2, 3)
    alone = geometric_mean([7.0, None, 0.0, 7.0])
    assert (alone.rounds, alone.failed) == (2, 2)
    apart = independent_ratio([4.0, None, 4.0], [2.0, 2.0, 2.0])
    assert (apart.rounds, apart.failed) == (2, 1)


def test_nothing_measured_gives_nothing():
    assert geometric_mean([]) is None
    assert geometric_mean([None, 0.0]) is None
    assert paired_ratio([1.0, None], [None, 1.0]) is None
    assert independent_ratio([None], [1.0]) is None


def test_what_is_no_pair_of_rates_is_refused():
    with pytest.raises(ValueError, match="negative"):
        geometric_mean([1.0, -1.0])
    with pytest.raises(ValueError, match="shorter"):
        paired_ratio([1.0, 2.0], [1.0])


def coverage(campaigns, rounds, ratio, seed):
    """The share of A-against-A campaigns whose interval covers 1."""
    draw = np.random.default_rng(seed)
    logs = draw.normal(0, 0.05, (campaigns, 2, rounds))
    # What a round does to both its blocks must not matter.
    logs += draw.normal(0, 0.3, (campaigns, 1, rounds)) if ratio is paired_ratio else 0
    covered = sum(ratio(above, below).covers(1.0) for above, below in np.exp(logs).tolist())
    return covered / campaigns


@pytest.mark.parametrize("ratio", [paired_ratio, independent_ratio])
@pytest.mark.parametrize("rounds", [4, 7, 20])
def test_a_against_a_covers_one_in_95_of_100_campaigns(ratio, rounds):
    assert 0.93 <= coverage(3000, rounds, ratio, seed=rounds) <= 0.97


def drifting(order, drift=0.2):
    """Rates of arms A and B with the same speed, slowing by `drift` from first block to last."""
    speed = np.linspace(1.0, 1.0 - drift, len(order))
    speed = speed * np.exp(np.random.default_rng(3).normal(0, 0.002, len(order)))
    return [
        [float(rate) for rate, arm in zip(speed, order, strict=True) if arm == name]
        for name in "AB"
    ]


def test_drift_falls_out_of_paired_rounds_but_not_of_arms_run_one_after_the_other():
    paired = paired_ratio(*drifting("ABBA" * 10))
    assert paired.value == pytest.approx(1.0, rel=0.01)
    assert paired.covers(1.0)
    unpaired = independent_ratio(*drifting("A" * 20 + "B" * 20))
    assert abs(unpaired.value - 1.0) > 0.05
    assert not unpaired.covers(1.0)
