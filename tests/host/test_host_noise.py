from __future__ import annotations

import pytest
from kernel_trees import MakeKernel

from orbtax.host import noise
from orbtax.host.kernel import UnreadableError
from orbtax.host.noise import ProcessTime
from orbtax.host.ticks import Ticks
from orbtax.record import InterfaceCount


def test_the_load_is_that_of_one_minute(make_kernel: MakeKernel) -> None:
    assert noise.load_average(make_kernel({"proc/loadavg": "1.25 9 9 1/2 3\n"})) == 1.25


@pytest.mark.parametrize("text", ["\n", "high 1 2\n"])
def test_a_load_of_another_form_is_refused(make_kernel: MakeKernel, text: str) -> None:
    with pytest.raises(UnreadableError, match="/proc/loadavg"):
        noise.load_average(make_kernel({"proc/loadavg": text}))


def test_load_is_judged_by_core() -> None:
    assert noise.judge_load(0.8, 8) is None
    some, much = noise.judge_load(0.9, 8), noise.judge_load(4.1, 8)
    assert some is not None
    assert much is not None
    assert (some.serious, much.serious) == (False, True)
    assert "0.90 on 8 cores" in some.text


def test_the_busiest_programs_are_named_with_their_share() -> None:
    before = {pid: ProcessTime(name, 10.0) for pid, name in enumerate("abcde")}
    used = (0.5, 0.01, 0.1, 0.2, 0.3)
    after = {pid: ProcessTime(name, 10.0 + used[pid]) for pid, name in enumerate("abcde")}
    finding = noise.judge_processes(before, after, 0.5)
    assert finding is not None
    assert "a 100% of a core, e 60% of a core, d 40% of a core and 1 more" in finding.text


def test_a_process_that_came_since_or_whose_number_was_reused_is_not_judged() -> None:
    before = {1: ProcessTime("old", 500.0)}
    after = {1: ProcessTime("new", 0.1), 2: ProcessTime("late", 80.0)}
    assert noise.judge_processes(before, after, 0.5) is None


def test_stolen_time_is_a_share_of_all_time() -> None:
    assert noise.judge_steal(Ticks(10, 0, 89, 0, 1)) is None
    some, much = (noise.judge_steal(Ticks(10, 0, 90 - stolen, 0, stolen)) for stolen in (3, 10))
    assert some is not None
    assert much is not None
    assert "3.0%" in some.text
    assert (some.serious, much.serious) == (False, True)


def test_stolen_time_that_is_not_counted_is_not_zero() -> None:
    with pytest.raises(UnreadableError, match="no column"):
        noise.judge_steal(Ticks(10, 0, 90))
    with pytest.raises(UnreadableError, match="no clock tick"):
        noise.judge_steal(Ticks(0, 0, 0, 0, 0))


def make_count(sent: int, received: int) -> InterfaceCount:
    return InterfaceCount(
        interface="eth9",
        received_bytes=received,
        sent_bytes=sent,
        received_packets=1,
        sent_packets=1,
        dropped_packets=0,
    )


def test_traffic_either_way_is_judged_by_the_links_rate() -> None:
    assert noise.judge_traffic(make_count(600_000, 0), 0.5, 10e9) is None
    for count in (make_count(1_000_000, 0), make_count(0, 1_000_000)):
        finding = noise.judge_traffic(count, 0.5, 10e9)
        assert finding is not None
        assert "eth9" in finding.text
        assert "16.0 Mbit/s" in finding.text
    assert noise.judge_traffic(make_count(1_000_000, 0), 0.5, 100e9) is None


def test_swap_in_use() -> None:
    assert noise.judge_swap(0, 0) is None
    assert noise.judge_swap(1_000_000, 1_000_000) is None
    finding = noise.judge_swap(3_000_000, 1_000_000)
    assert finding is not None
    assert "2.00 MB" in finding.text


def test_throttling_that_goes_on_is_serious() -> None:
    assert noise.judge_throttling(0, 0) is None
    past, now = noise.judge_throttling(5, 5), noise.judge_throttling(5, 8)
    assert past is not None
    assert now is not None
    assert (past.serious, now.serious) == (False, True)
    assert "3 of them just now" in now.text


def test_throttling_is_summed_over_cores(make_kernel: MakeKernel) -> None:
    cpu = "sys/devices/system/cpu"
    kernel = make_kernel(
        {f"{cpu}/cpu{core}/thermal_throttle/core_throttle_count": f"{core}\n" for core in (2, 5)}
    )
    assert noise.throttle_count(kernel) == 7
