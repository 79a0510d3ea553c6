"""Labels that do not cover each other."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbtax.report.spacing import spread

heights = st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=12)


def test_nothing_to_place_is_nothing():
    assert spread([], 0.1, 0.0, 1.0) == []


def test_labels_that_are_apart_stay_where_they_are():
    assert spread([0.2, 0.9, 0.5], 0.1, 0.0, 1.0) == pytest.approx([0.2, 0.9, 0.5])


def test_two_that_meet_move_apart_evenly():
    assert spread([0.5, 0.5], 0.1, 0.0, 1.0) == pytest.approx([0.45, 0.55])


def test_more_than_fit_share_the_room():
    assert spread([0.9] * 5, 0.5, 0.0, 1.0) == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])


@given(heights, st.floats(0.0, 0.3))
def test_placed_labels_are_within_bounds_apart_and_in_order(wanted, gap):
    placed = spread(wanted, gap, 0.0, 1.0)
    kept = min(gap, 1 / max(1, len(wanted) - 1))
    ordered = sorted(placed)
    assert all(-1e-9 <= height <= 1 + 1e-9 for height in placed)
    assert all(b - a >= kept - 1e-9 for a, b in pairwise(ordered))
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    assert [placed[place] for place in order] == pytest.approx(ordered)


@given(heights, st.floats(0.01, 0.08))
def test_no_small_move_of_a_single_label_brings_it_nearer(wanted, gap):
    placed = spread(wanted, gap, 0.0, 1.0)
    for place, height in enumerate(placed):
        for step in (-1e-4, 1e-4):
            others = [other for k, other in enumerate(placed) if k != place]
            free = all(abs(height + step - other) >= gap for other in others)
            nearer = abs(height + step - wanted[place]) < abs(height - wanted[place]) - 1e-9
            assert not (free and nearer and 0 <= height + step <= 1)
