"""The choice of the best setting: noise is no advantage, and the simpler setting wins a tie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from builders import make_case, make_sample
from hypothesis import given
from hypothesis import strategies as st

from orbtax.analysis.rates import CaseRates
from orbtax.analysis.search import (
    buffer_in_force,
    choose,
    rate_ratio,
    simplicity,
    windows_in_force,
)
from orbtax.model import Arm, Options
from orbtax.record import BufferRecord

KIB = 1024
KERNEL = Options()
SMALL = Options(send_buffer_bytes=64 * KIB, receive_buffer_bytes=64 * KIB)
LARGE = Options(send_buffer_bytes=1024 * KIB, receive_buffer_bytes=1024 * KIB)


def rates_of(threads=1, options=KERNEL, by_round=(), cell=0, payload_bytes=128 * KIB):
    case = make_case(Arm.STREAM, payload_bytes, threads, options=options)
    rates = {(cell, number): rate for number, rate in enumerate(by_round)}
    return CaseRates(case=case, by_round=rates)


def taken(*candidates, width=0.03, **limits):
    case = choose(candidates, width, **limits).taken.case
    return case.threads, case.options


def test_a_clear_advantage_is_taken() -> None:
    slow = rates_of(1, by_round=[5.0, 5.1, 4.9, 5.0])
    fast = rates_of(8, LARGE, by_round=[8.0, 8.1, 7.9, 8.0])
    assert taken(slow, fast) == (8, LARGE)


def test_an_advantage_within_the_noise_is_not_and_the_search_says_how_large_it_was() -> None:
    simple = rates_of(1, by_round=[5.0, 5.6, 4.6, 5.2, 5.0, 4.7])
    elaborate = rates_of(8, LARGE, by_round=[5.7, 4.9, 5.3, 4.8, 5.2, 5.4])
    choice = choose([simple, elaborate], 0.03)
    assert choice.taken.case == simple.case
    assert choice.fastest.case == elaborate.case
    assert choice.taken.behind.value > 1
    assert choice.taken.behind.low < 1
    assert choice.tied == 2


def test_noise_that_whole_rounds_share_hides_no_advantage() -> None:
    weather = [1.0, 3.0, 2.0, 1.5, 2.5]
    simple = rates_of(1, by_round=[5.0 * each for each in weather])
    better = rates_of(2, by_round=[5.1 * each for each in weather])
    assert taken(simple, better) == (2, KERNEL)


@pytest.mark.parametrize(("rate", "expected"), [(5.02, 1), (5.04, 2)])
def test_half_a_per_cent_is_no_difference_however_steady(rate, expected) -> None:
    simple = rates_of(1, by_round=[5.0] * 6)
    better = rates_of(2, by_round=[rate] * 6)
    assert taken(simple, better)[0] == expected


@pytest.mark.parametrize(
    ("simpler", "other"),
    [
        (rates_of(32), rates_of(1, SMALL)),
        (rates_of(32, replace(SMALL, receive_buffer_bytes=None)), rates_of(1, SMALL)),
        (rates_of(1, LARGE), rates_of(2, SMALL)),
        (rates_of(1, SMALL), rates_of(1, LARGE)),
        (rates_of(4, payload_bytes=KIB), rates_of(4, payload_bytes=64 * KIB)),
    ],
)
def test_simpler_is_less_by_hand_then_fewer_threads_then_smaller(simpler, other) -> None:
    assert simplicity(simpler.case) < simplicity(other.case)


def test_the_simplest_of_many_that_tie_wins_whatever_their_order() -> None:
    draws = np.random.default_rng(7).normal(8.0, 0.2, (4, 6))
    candidates = [
        rates_of(threads, options, rates)
        for (threads, options), rates in zip(
            [(4, LARGE), (2, SMALL), (2, KERNEL), (4, KERNEL)], draws, strict=True
        )
    ]
    for turn in range(len(candidates)):
        assert taken(*candidates[turn:], *candidates[:turn]) == (2, KERNEL)


@pytest.mark.parametrize(("rate", "expected"), [(8.1, 1), (8.5, 2)])
@pytest.mark.parametrize("rounds", [1, 3])
def test_too_few_rounds_to_know_the_noise_leave_it_to_the_width(rate, expected, rounds) -> None:
    spread = [1.0, 1.01, 0.99][:rounds]
    simple = rates_of(1, by_round=[8.0 * each for each in spread])
    faster = rates_of(2, by_round=[rate * each for each in reversed(spread)])
    assert taken(simple, faster)[0] == expected


def test_a_wild_setting_does_not_tie_with_steady_ones_that_are_faster() -> None:
    wild = rates_of(1, by_round=[2.0, 9.0, 3.0, 8.0, 4.0])
    steady = [rates_of(threads, by_round=[7.0, 7.1, 6.9, 7.0, threads]) for threads in (7, 8, 9)]
    assert taken(wild, *steady)[0] > 1
    # Where every setting is as wild, nothing can be told.
    all_wild = [rates_of(threads, by_round=[7.0, 3.0, 9.0, 2.0, 10.0]) for threads in (7, 8, 9)]
    assert taken(wild, *all_wild)[0] == 1


def test_a_limit_keeps_a_large_advantage_from_passing_for_chance() -> None:
    slow = rates_of(1, by_round=[2.0, 9.0, 3.0, 8.0])
    fast = rates_of(8, by_round=[4.0, 7.0, 5.0, 9.0])
    assert taken(slow, fast)[0] == 1
    assert taken(slow, fast, most=0.03)[0] == 8


def test_cases_of_different_cells_are_compared_without_pairs() -> None:
    one = rates_of(1, by_round=[5.0, 5.1, 4.9, 5.0], cell=0)
    other = rates_of(2, by_round=[5.1, 4.9, 5.0, 5.1], cell=1)
    assert rate_ratio(one, other)[1] is False
    assert rate_ratio(one, rates_of(4, by_round=[5.0, 5.0]))[1] is True
    assert taken(one, other)[0] == 1


def test_what_moved_nothing_is_no_setting() -> None:
    failed = rates_of(1, by_round=[None, None])
    assert choose([failed], 0.03) is None
    assert choose([], 0.03) is None
    choice = choose([failed, rates_of(2, by_round=[3.0, None])], 0.03)
    assert choice.taken.case.threads == 2
    assert len(choice.settings) == 1


@given(st.integers(0, 10_000), st.floats(0.001, 0.3), st.floats(0, 0.1), st.integers(4, 12))
def test_no_setting_is_preferred_for_an_advantage_within_the_noise_of_all(
    seed, scatter, advantage, rounds
) -> None:
    draws = np.random.default_rng(seed).normal(0, scatter, (6, rounds))
    draws += advantage * np.arange(6)[:, None] / 6
    candidates = [rates_of(n + 1, by_round=list(np.exp(row))) for n, row in enumerate(draws)]
    choice = choose(candidates, 0.03)
    usual = np.median([setting.rate.half_width for setting in choice.settings])
    for setting in choice.settings:
        if simplicity(setting.case) < simplicity(choice.taken.case):
            assert setting.behind.value > 1.005
            assert setting.behind.low > 1 or setting.behind.value > 1 + usual
    assert choice.taken.tied


@given(st.integers(0, 10_000), st.integers(5, 12))
def test_settings_that_scatter_alike_tie_unless_their_ratio_excludes_one(seed, rounds) -> None:
    """Of two settings with the same scatter, the plain 95 % interval of their ratio decides."""
    noise = np.random.default_rng(seed).normal(0, 0.03, rounds)
    simple = rates_of(1, by_round=list(np.exp(noise)))
    other = rates_of(2, by_round=list(1.02 * np.exp(noise[::-1])))
    choice = choose([simple, other], 0.03)
    behind = choice.settings[0].behind
    if behind is not None:
        half_width = choice.settings[0].rate.half_width
        independent = (1 + half_width) ** 2**0.5 - 1
        if behind.value - 1 <= independent and behind.low <= 1:
            assert choice.taken.case == simple.case
        if behind.low > 1 and behind.value > 1.005:
            assert choice.taken.case == other.case


def buffer(effective_bytes, **changes):
    record = BufferRecord(
        requested_bytes=1024 * KIB, effective_bytes=effective_bytes, clipped=False, autotuned=False
    )
    return replace(record, **changes)


def test_a_buffer_over_all_blocks_is_the_largest_and_clipped_if_it_ever_was() -> None:
    clipped = buffer(425_984, clipped=True, limit="net.core.rmem_max = 212992")
    merged = buffer_in_force([None, buffer(None), clipped, buffer(400_000)])
    assert merged == clipped
    assert buffer_in_force([None]) is None
    assert buffer_in_force([buffer(None)]).effective_bytes is None


def test_the_windows_are_the_clients_send_and_the_servants_receive_buffer() -> None:
    sample = make_sample(make_case(Arm.STREAM))
    send, receive = windows_in_force([sample, replace(sample, client=None, servant=None)])
    assert send == sample.client.send_buffer
    assert receive == sample.servant.receive_buffer
