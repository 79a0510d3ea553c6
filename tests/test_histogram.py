"""The histogram of call durations: what it keeps, what it may forget, what it refuses to tell."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbtax.histogram import EMPTY, PERCENTILES, bin_bounds, from_durations, merge, percentile

durations = st.lists(st.integers(0, 10**13), max_size=60)
many_durations = st.lists(st.integers(0, 10**11), min_size=20, max_size=400)


@given(durations, durations, durations)
def test_merge_is_associative_and_equals_the_histogram_of_all(first, second, third):
    parts = [from_durations(np.array(part, dtype=np.int64)) for part in (first, second, third)]
    whole = from_durations(np.array(first + second + third, dtype=np.int64))
    assert merge(parts) == whole
    assert merge([merge(parts[:2]), parts[2]]) == merge([parts[0], merge(parts[1:])]) == whole


@given(many_durations, st.sampled_from((0.25, 0.5)))
def test_percentile_is_within_one_percent_of_the_exact_one(values, share):
    told = percentile(from_durations(values), share)
    exact = np.quantile(values, share, method="inverted_cdf")
    assert told == pytest.approx(exact, rel=0.01)


def test_high_percentiles_of_many_calls_are_within_one_percent():
    values = np.random.default_rng(5).lognormal(11, 1.2, 50_000).astype(np.int64)
    latencies = from_durations(values)
    for share in PERCENTILES:
        exact = np.quantile(values, share, method="inverted_cdf")
        assert percentile(latencies, share) == pytest.approx(exact, rel=0.01)


@given(st.integers(0, 2**62))
def test_a_duration_lies_in_its_bin_and_the_bin_is_narrow(value):
    (index,) = from_durations([value]).bins
    low, high = bin_bounds(index)
    assert low <= value < high
    assert high - low == 1 or (high - low) / low <= 1 / 128


@given(st.integers(0, 7000))
def test_bins_follow_each_other_without_gap(index):
    assert bin_bounds(index)[1] == bin_bounds(index + 1)[0]


@given(many_durations)
def test_ends_sum_and_count_are_exact(values):
    latencies = from_durations(values)
    assert (latencies.min_ns, latencies.max_ns) == (min(values), max(values))
    assert latencies.sum_ns == sum(values)
    assert latencies.calls == sum(latencies.counts) == len(values)


@pytest.mark.parametrize(("share", "needed"), [(0.5, 20), (0.9, 100), (0.99, 1000), (0.999, 10000)])
def test_a_percentile_is_told_only_with_ten_calls_beyond_it(share, needed):
    assert percentile(from_durations(np.full(needed - 1, 77)), share) is None
    assert percentile(from_durations(np.full(needed, 77)), share) == 77


def test_percentile_never_leaves_the_range_seen():
    latencies = from_durations([1_000_001] * 30)
    assert percentile(latencies, 0.5) == 1_000_001


def test_no_calls_is_the_identity_of_merge():
    some = from_durations([3, 5, 8])
    assert from_durations([]) == merge([]) == EMPTY
    assert merge([EMPTY, some, EMPTY]) == some
    assert percentile(EMPTY, 0.5) is None


@pytest.mark.parametrize("share", [0, 1, -0.5, 50, math.nan])
def test_a_share_outside_its_range_is_refused(share):
    with pytest.raises(ValueError, match="between 0 and 1"):
        percentile(EMPTY, share)


def test_what_is_no_duration_is_refused():
    with pytest.raises(ValueError, match="-4 ns is negative"):
        from_durations([3, -4])
    with pytest.raises(TypeError, match="whole nanoseconds"):
        from_durations([0.5])
    with pytest.raises(ValueError, match="bin -1"):
        bin_bounds(-1)
