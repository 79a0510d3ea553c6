from __future__ import annotations

import os
from dataclasses import replace

import pytest
from kernel_trees import MakeKernel

from orbtax.host import processor
from orbtax.host.kernel import UnreadableError
from orbtax.host.ticks import TICKS_PER_S

STATUS = "Name:\tpython\nVmPeak:\t  300 kB\nVmHWM:\t   15200 kB\nVmRSS:\t   100 kB\n"
BEFORE = "cpu 100 0 50 1000 0 0 5 1\ncpu0 90 0 40 400 0 0 5 1\ncpu1 10 0 10 600 0 0 0 0\nintr 9\n"
AFTER = "cpu 160 0 70 1100 0 4 15 7\ncpu0 150 0 60 400 0 4 15 7\ncpu1 10 0 10 700 0 0 0 0\n"


def make_reading(stat: str | None, **changes: object) -> processor.ProcessorReading:
    reading = processor.ProcessorReading(
        clock_s=100.0,
        process_user_s=1.0,
        process_system_s=2.0,
        voluntary_switches=10,
        involuntary_switches=3,
        peak_memory_bytes=5_000,
        allowed_cores=(0, 1),
        stat=stat,
    )
    return replace(reading, **changes)


def test_times_are_differences_and_memory_is_the_peak() -> None:
    after = make_reading(
        AFTER, clock_s=101.5, process_user_s=1.25, process_system_s=2.5, voluntary_switches=14,
        involuntary_switches=3, peak_memory_bytes=9_000,
    )  # fmt: skip
    cost = processor.difference(make_reading(BEFORE), after)
    assert cost.window_s == 1.5
    assert (cost.process_user_s, cost.process_system_s) == (0.25, 0.5)
    assert (cost.voluntary_switches, cost.involuntary_switches) == (4, 0)
    assert cost.peak_memory_bytes == 9_000
    assert cost.host_user_s == 60 / TICKS_PER_S
    assert cost.host_system_s == 24 / TICKS_PER_S
    assert cost.host_softirq_s == 10 / TICKS_PER_S
    assert cost.host_steal_s == 6 / TICKS_PER_S
    assert cost.host_busy_s == 94 / TICKS_PER_S
    assert (cost.cores, cost.busiest_core, cost.busiest_core_share) == (2, 0, 1.0)
    assert cost.allowed_cores == (0, 1)
    assert cost.missing == {}


def test_a_block_shorter_than_a_tick_names_no_busiest_core() -> None:
    cost = processor.difference(make_reading(BEFORE), make_reading(BEFORE))
    assert cost.busiest_core is None
    assert cost.busiest_core_share is None
    assert "no clock tick" in cost.missing["busiest_core_share"]


def test_columns_that_a_kernel_lacks_are_missing_one_by_one() -> None:
    cost = processor.difference(make_reading("cpu 1 0 1 1\n"), make_reading("cpu 5 0 2 9\n"))
    assert cost.host_softirq_s is None
    assert cost.host_busy_s == 5 / TICKS_PER_S
    assert {"host_softirq_s", "host_steal_s"} <= cost.missing.keys()


def test_a_stat_of_another_form_costs_the_host_figures_alone() -> None:
    cost = processor.difference(make_reading(BEFORE), make_reading("cpu one two\n"))
    assert cost.process_user_s == 0
    assert cost.host_busy_s is None
    assert cost.cores is None
    assert "/proc/stat" in cost.missing["host_busy_s"]


def test_without_proc_everything_of_the_process_is_still_there(make_kernel: MakeKernel) -> None:
    reading = processor.read(make_kernel({}))
    cost = processor.difference(reading, processor.read(make_kernel({})))
    assert cost.peak_memory_bytes > 1_000_000
    assert "VmHWM" not in cost.missing["peak_memory_bytes"]
    assert "/proc/self/status cannot be read" in cost.missing["peak_memory_bytes"]
    assert cost.host_steal_s is None
    assert "/proc/stat cannot be read" in cost.missing["host_steal_s"]
    assert cost.allowed_cores == tuple(sorted(os.sched_getaffinity(0)))


def test_the_peak_is_the_high_water_mark(make_kernel: MakeKernel) -> None:
    kernel = make_kernel({"proc/self/status": STATUS, "proc/stat": BEFORE})
    assert processor.read(kernel).peak_memory_bytes == 15_200 * 1024


@pytest.mark.parametrize("status", ["", "VmRSS: 5 kB\n", "VmHWM:\t5 MB\n", "VmHWM: many kB\n"])
def test_a_status_without_it_is_refused(status: str) -> None:
    with pytest.raises(UnreadableError, match="VmHWM"):
        processor.parse_peak_memory(status)


def test_work_of_this_process_is_seen() -> None:
    before = processor.read()
    while (after := processor.read()).process_user_s <= before.process_user_s:
        sum(range(10_000))
    cost = processor.difference(before, after)
    assert cost.process_user_s > 0
    assert cost.window_s > 0
