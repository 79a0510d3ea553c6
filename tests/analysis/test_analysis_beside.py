from dataclasses import replace

import pytest
from buffer_builders import KIB, Seen, measured
from builders_ends import LINKS

from orbtax.analysis.beside import beside_smaller, causes_beside, slowdown, slower
from orbtax.analysis.bottleneck import Label
from orbtax.analysis.rates import CaseRates
from orbtax.model import Arm
from orbtax.socket_buffers import Buffers

KERNEL, SMALL = Buffers(), Buffers(16 * KIB, 87_380)
MIDDLE, LARGE = Buffers(256 * KIB, 256 * KIB), Buffers(16 * KIB**2, 8 * KIB**2)
CACHES = {"second-level cache": 2 * 1024**2, "third-level cache": 32 * 1024**2}
FULL = 2.0  # sleeps for each message: the buffers are full


def test_clearly_slower_is_by_more_than_a_tenth_and_beyond_the_noise() -> None:
    fast = measured(SMALL, Seen(gbit_s=10.0))
    much, little = (measured(LARGE, Seen(gbit_s=rate)) for rate in (8.0, 9.5))
    assert slower(much, fast).value == pytest.approx(0.8, rel=0.01)
    assert slower(little, fast) is None
    assert slower(fast, much) is None


def test_one_round_proves_nothing() -> None:
    fast, slow = measured(SMALL, Seen(gbit_s=10.0)), measured(LARGE, Seen(gbit_s=5.0))
    once = CaseRates(case=slow.case, by_round={(0, 0): 5e9})
    assert slower(replace(slow, rates=once), fast) is None


def test_a_fixed_size_that_is_smaller_and_slower_than_the_kernels_has_lost_its_autotuning() -> None:
    kernel = measured(KERNEL, Seen(gbit_s=8.0))
    fixed = measured(SMALL, Seen(gbit_s=5.0))
    (found,) = causes_beside(fixed, [kernel], CACHES)
    assert found.label is Label.AUTOTUNING
    said = {each.name: each.value for each in found.evidence}
    assert said["fixed send buffer"] == 2 * 16 * KIB
    assert said["the kernel's receive buffer"] == 6_000_000
    assert said["goodput with the kernel's"] == pytest.approx(8e9, rel=0.01)


@pytest.mark.parametrize(
    ("buffers", "gbit_s", "beside", "their_gbit_s"),
    [
        (KERNEL, 5.0, SMALL, 8.0),  # nothing is fixed
        (SMALL, 5.0, MIDDLE, 8.0),  # the other is fixed as well
        (SMALL, 8.0, KERNEL, 8.0),  # not slower
        (LARGE, 5.0, KERNEL, 8.0),  # larger than the kernel's
    ],
)
def test_autotuning_is_not_lost_otherwise(buffers, gbit_s, beside, their_gbit_s) -> None:
    case = measured(buffers, Seen(gbit_s=gbit_s))
    other = measured(beside, Seen(gbit_s=their_gbit_s))
    assert causes_beside(case, [other], {}) == ()


def test_only_the_side_that_is_fixed_is_told() -> None:
    case = measured(Buffers(None, 4 * KIB), Seen(gbit_s=4.0))
    (found,) = causes_beside(case, [measured(KERNEL, Seen(gbit_s=9.0))], CACHES)
    assert not any("send buffer" in each.name for each in found.evidence)


def test_buffers_that_outgrow_a_cache_and_cost_more_to_copy() -> None:
    small = measured(MIDDLE, Seen(gbit_s=10.0, client_cores=0.5, sleeps_per_message=FULL))
    large = measured(LARGE, Seen(gbit_s=7.0, client_cores=0.6, sleeps_per_message=FULL))
    (found,) = causes_beside(large, [small], CACHES)
    assert found.label is Label.CACHE
    said = {each.name: each.value for each in found.evidence}
    assert said["third-level cache"] == 32 * 1024**2  # the largest that is outgrown
    assert said["in both socket buffers"] == 2 * 24 * 1024**2
    assert said["processor time"] > 1.1 * said["processor time with 256 KiB/256 KiB"]


@pytest.mark.parametrize(
    ("seen", "caches"),
    [
        (Seen(gbit_s=7.0, client_cores=0.2, servant_cores=0.2, sleeps_per_message=FULL), CACHES),
        (Seen(gbit_s=7.0, client_cores=0.6, sleeps_per_message=FULL), {}),
        (Seen(gbit_s=9.8, client_cores=0.9, sleeps_per_message=FULL), CACHES),  # not slower
        (Seen(gbit_s=7.0, client_cores=0.6), CACHES),  # almost nothing is in them
    ],
)
def test_a_cache_is_not_named_without_reason(seen: Seen, caches) -> None:
    small = measured(MIDDLE, Seen(gbit_s=10.0, client_cores=0.5, sleeps_per_message=FULL))
    found = causes_beside(measured(LARGE, seen), [small], caches)
    assert Label.CACHE not in [each.label for each in found]


def test_behind_a_full_link_nothing_is_sought() -> None:
    full = measured(SMALL, Seen(gbit_s=9.8), link=LINKS["10ge"])
    assert causes_beside(full, [measured(KERNEL, Seen(gbit_s=20.0))], CACHES) == ()


def test_each_is_set_beside_the_fastest_of_the_smaller_ones() -> None:
    rates = {KERNEL: 9.0, SMALL: 6.0, MIDDLE: 7.0, LARGE: 5.0}  # the kernel's: between the last two
    family = [measured(buffers, Seen(gbit_s=rate)) for buffers, rate in rates.items()]
    pairs = {larger.buffers: smaller.buffers for larger, smaller in beside_smaller(family)}
    assert pairs == {KERNEL: MIDDLE, MIDDLE: SMALL, LARGE: KERNEL}


def test_buffers_of_which_one_is_larger_and_one_smaller_are_not_compared() -> None:
    family = [
        measured(Buffers(16 * KIB, 64 * KIB), Seen(gbit_s=9.0)),
        measured(Buffers(64 * KIB, 4 * KIB), Seen(gbit_s=4.0)),
        measured(Buffers(64 * KIB, 64 * KIB), Seen(gbit_s=8.0)),
    ]
    small_window, both = family[1:]
    assert beside_smaller(family) == ((both, family[0]),)
    assert beside_smaller([small_window, both]) == ((both, small_window),)


def test_a_slowdown_tells_what_changed() -> None:
    before = Seen(gbit_s=10.0, rtt_us=30.0, client_cores=0.5, servant_cores=0.5)
    after = Seen(
        gbit_s=6.0,
        rtt_us=90.0,
        client_cores=0.5,
        servant_cores=0.97,
        sleeps_per_message=FULL,
        resent_of_1000=50,
        segments_per_message=16.0,
    )
    found = slowdown(measured(LARGE, after), measured(SMALL, before), CACHES)
    assert found.ratio.value == pytest.approx(0.6, rel=0.01)
    assert found.new_labels == (Label.RECEIVER_PROCESSOR,)
    assert found.outgrown == ("second-level cache", "third-level cache")
    assert [change.name for change in found.changes] == [
        "processor time of the client",
        "processor time of the servant",
        "segments",
        "sleeps for room",
        "round trip under load",
        "segments sent again",
    ]
    round_trip = next(each for each in found.changes if each.unit == "µs")
    assert (round_trip.smaller, round_trip.larger) == (pytest.approx(30.0), pytest.approx(90.0))


def test_a_number_that_is_hardly_worse_has_not_changed() -> None:
    before, after = (
        Seen(gbit_s=10.0, client_cores=0.5, servant_cores=0.5),
        Seen(
            gbit_s=8.0, client_cores=0.42, servant_cores=0.42, rtt_us=33.0, sleeps_per_message=0.05
        ),
    )
    found = slowdown(measured(LARGE, after), measured(SMALL, before), CACHES)
    assert found.changes == ()


def test_not_slower_is_no_slowdown() -> None:
    fast = measured(LARGE, Seen(gbit_s=10.0), arm=Arm.CALL)
    assert slowdown(fast, measured(SMALL, Seen(gbit_s=9.0), arm=Arm.CALL), CACHES) is None
