"""Figures as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbtax.analysis.ratio import Interval
from orbtax.report.numbers import (
    counted,
    gbit_s,
    per_cent,
    significant,
    with_bounds,
    with_half_width,
)


def interval(value, low=None, high=None):
    return Interval(value=value, low=low, high=high, rounds=6)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (8.7612, "8.76"),
        (38.04, "38.0"),
        (1234.0, "1230"),
        (0.00012345, "0.000123"),
        (9.999, "10.0"),
        (0.0, "0"),
        (math.nan, "–"),
        (math.inf, "–"),
    ],
)
def test_three_digits_and_no_exponent(value, shown):
    assert significant(value) == shown


@given(st.floats(1e-9, 1e12))
def test_what_is_shown_is_within_half_a_digit(value):
    shown = significant(value)
    assert "e" not in shown.lower()
    assert float(shown) == pytest.approx(value, rel=0.0051)


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [(0.0385, "3.85"), (0.1986, "19.9"), (0.909, "90.9"), (0.9996, "100.0"), (1.0131, "101.3")],
)
def test_per_cent_has_one_decimal_from_a_hundred_on(ratio, shown):
    assert per_cent(ratio) == shown


def test_rates_are_in_units_of_a_thousand():
    assert gbit_s(8_660_000_000) == "8.66"


def test_bounds_stand_in_brackets():
    assert with_bounds(interval(0.909, 0.901, 0.918), per_cent) == "90.9 [90.1, 91.8]"


def test_one_round_has_no_bounds_and_says_so():
    assert with_bounds(interval(0.909), per_cent) == "90.9 [–]"
    assert with_half_width(interval(0.909)) == "90.9"


def test_no_value_is_a_dash():
    assert with_bounds(None, gbit_s) == with_half_width(None) == "–"


def test_a_half_width_never_looks_like_none():
    assert with_half_width(interval(0.909, 0.901, 0.9178)) == "90.9 ±0.9"
    assert with_half_width(interval(0.909, 0.9088, 0.9092)) == "90.9 ±0.02"


def test_an_uneven_interval_shows_both_bounds():
    assert with_half_width(interval(0.177, 0.0829, 0.378)) == "17.7 [8.29, 37.8]"
    assert with_half_width(interval(0.0589, 0.0002, 14.794)) == "5.89 [0.0200, 1479.4]"


@given(st.floats(0.001, 2.0), st.floats(0.0001, 0.05))
def test_a_narrow_interval_of_a_ratio_is_even_enough(value, half_width):
    around = interval(value, value * (1 - half_width), value * (1 + half_width))
    assert "±" in with_half_width(around)


def test_counts_agree_with_their_noun():
    assert [counted(number, "thread") for number in (0, 1, 1600)] == [
        "0 threads",
        "1 thread",
        "1,600 threads",
    ]
