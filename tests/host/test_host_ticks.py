from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbtax.host.kernel import UnreadableError
from orbtax.host.ticks import HostTicks, Ticks, parse_stat

STAT = """\
cpu  3545 20 1442 102749 429 3 37 9 5 0
cpu0 462 10 392 53243 11 1 13 2 5 0
cpu1 3083 10 1050 49506 418 2 24 7 0 0
intr 157466 0 0 25
ctxt 300
procs_running 2
softirq 5 0 0
"""


def test_columns_are_those_of_proc_5() -> None:
    host = parse_stat(STAT)
    assert host.total == Ticks(3565, 1445, 103178, 37, 9)
    assert host.cores[1] == Ticks(3093, 1052, 49924, 24, 7)
    assert host.total.busy == 3565 + 1445 + 37
    assert host.total.total == host.total.busy + 103178 + 9


def test_guests_are_in_user_already() -> None:
    without = parse_stat("cpu 100 0 0 100 0 0 0 0 0 0\n")
    guests = parse_stat("cpu 100 0 0 100 0 0 0 0 60 0\n")
    assert guests == without


def test_an_old_kernel_with_fewer_columns_does_not_count_what_it_lacks() -> None:
    assert parse_stat("cpu 10 0 5 100\n").total == Ticks(10, 5, 100, None, None)
    assert parse_stat("cpu 10 0 5 100 7 1 2\n").total == Ticks(10, 6, 107, 2, None)


@pytest.mark.parametrize(
    "text",
    ["", "intr 5\n", "cpu 1 2 3\n", "cpu 1 2 three 4 5\n", "cpu 1 2 3 4\ncpu0 -1 2 3 4\n"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError, match="/proc/stat"):
        parse_stat(text)


def test_idle_that_runs_back_is_no_negative_time() -> None:
    passed = Ticks(12, 5, 99, 1, 0).since(Ticks(10, 5, 100, 1, 0))
    assert passed == Ticks(2, 0, 0, 0, 0)
    assert passed.occupied_share == 1


def test_a_core_that_went_or_came_is_left_out() -> None:
    before = HostTicks(Ticks(0, 0, 0), {0: Ticks(0, 0, 0), 1: Ticks(0, 0, 0)})
    after = HostTicks(Ticks(9, 0, 0), {1: Ticks(3, 0, 1), 2: Ticks(900, 0, 0)})
    assert after.since(before).cores == {1: Ticks(3, 0, 1)}


def test_the_busiest_core_is_the_least_idle_one() -> None:
    cores = {0: Ticks(50, 0, 50), 1: Ticks(0, 60, 40), 2: Ticks(0, 0, 0), 3: Ticks(60, 0, 40)}
    assert HostTicks(Ticks(0, 0, 0), cores).busiest_core == (1, pytest.approx(0.6))


def test_stolen_time_occupies_a_core_and_is_no_work() -> None:
    ticks = Ticks(30, 10, 40, 0, 20)
    assert ticks.busy == 40
    assert ticks.occupied_share == pytest.approx(0.6)


def test_without_a_tick_no_core_is_busiest() -> None:
    assert HostTicks(Ticks(0, 0, 0), {0: Ticks(0, 0, 0)}).busiest_core is None


columns = st.lists(st.integers(0, 2**50), min_size=8, max_size=10)


@given(columns, st.dictionaries(st.integers(0, 4095), columns, max_size=8))
def test_every_tick_is_counted_once(total: list[int], cores: dict[int, list[int]]) -> None:
    lines = {"cpu ": total} | {f"cpu{core}": counts for core, counts in cores.items()}
    text = "".join(f"{name} {' '.join(map(str, row))}\n" for name, row in lines.items())
    host = parse_stat(text + "intr 1 2 3\n")
    assert host.total.total == sum(total[:8])
    assert {core: ticks.total for core, ticks in host.cores.items()} == {
        core: sum(counts[:8]) for core, counts in cores.items()
    }
    assert host.since(host).total.total == 0
