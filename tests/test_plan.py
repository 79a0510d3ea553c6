"""Cells from sizes and threads, placements, and requests that cannot be run."""

from __future__ import annotations

import os

import pytest

from orbtax import plan
from orbtax.errors import RequestError
from orbtax.model import Arm, Kind, Link

LO = Link(name="lo", kind=Kind.LOOPBACK)
HOSTS = Link(name="lab", kind=Kind.HOSTS)


def test_a_grid_has_a_cell_for_each_size_and_threads_and_a_case_for_each_arm() -> None:
    cells = plan.grid(LO, [1024, 4096], [1, 4, 16], [Arm.STREAM, Arm.CORBA], budget_s=5.0)
    assert len(cells) == 6
    assert {(cell.cases[0].payload_bytes, cell.cases[0].threads) for cell in cells} == {
        (size, threads) for size in (1024, 4096) for threads in (1, 4, 16)
    }
    assert all([case.arm for case in cell.cases] == ["stream", "corba"] for cell in cells)


@pytest.mark.parametrize(
    ("parse", "text", "named"),
    [
        (plan.parse_threads, "0", "0"),
        (plan.parse_threads, "1,,4", "1,,4"),
        (plan.parse_threads, "-1", "-1"),
        (plan.parse_threads, "4,4", "4 twice"),
        (plan.parse_threads, "2000", "1024"),
        (plan.parse_sizes, "0", "0"),
        (plan.parse_sizes, "64K", "64K"),
        (plan.parse_sizes, "", "empty"),
        (plan.parse_sizes, "2GiB", "1 GiB"),
        (plan.parse_sizes, "1KiB,1024B", "twice"),
        (plan.parse_arms, "stream,sctp", "sctp"),
        (plan.parse_arms, "stream,stream", "stream twice"),
    ],
)
def test_a_wrong_list_is_refused_by_its_value(parse, text: str, named: str) -> None:
    with pytest.raises(RequestError, match=named):
        parse(text)


def test_a_total_smaller_than_a_message_is_refused() -> None:
    cells = plan.grid(LO, [65_536], [1], [Arm.CORBA], rounds=4, total_bytes=100_000)
    with pytest.raises(RequestError, match=r"100 kB over 4 rounds.*64 KiB"):
        plan.check(cells, verify=False)


def test_a_total_too_large_to_verify_is_refused() -> None:
    cells = plan.grid(LO, [65_536], [1], [Arm.CORBA], rounds=2, total_bytes=8 * 10**9)
    plan.check(cells, verify=False)
    with pytest.raises(RequestError, match="more rounds or a smaller total"):
        plan.check(cells, verify=True)


def test_an_empty_message_is_refused_for_a_raw_socket() -> None:
    with pytest.raises(RequestError, match="empty message"):
        plan.check(plan.grid(LO, [0], [1], [Arm.CALL]), verify=False)


@pytest.fixture
def cores(monkeypatch):
    def have(*numbers: int) -> None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(numbers))

    return have


def test_a_small_machine_is_split_by_default(cores) -> None:
    cores(0, 1)
    placement = plan.parse_placement(None, [LO])
    assert (placement.name, placement.sender_cores, placement.receiver_cores) == (
        "split",
        (0,),
        (1,),
    )


@pytest.mark.parametrize("numbers", [(0,), tuple(range(16))])
def test_one_core_or_many_are_left_to_the_scheduler(cores, numbers) -> None:
    cores(*numbers)
    assert plan.parse_placement(None, [LO]).name == "free"


def test_hosts_are_never_split_by_default(cores) -> None:
    cores(0, 1)
    assert plan.parse_placement(None, [HOSTS]).name == "free"


def test_explicit_cores(cores) -> None:
    cores(0, 1, 2, 3)
    placement = plan.parse_placement("0,2/1,3", [LO])
    assert placement.name == "explicit"
    assert placement.sender_cores == (0, 2)
    assert placement.receiver_cores == (1, 3)


@pytest.mark.parametrize(
    ("text", "named"),
    [("0", "0"), ("0/", "no list of cores"), ("a/b", "'a'"), ("0/7", "core 7"), ("½/1", "½")],
)
def test_a_wrong_placement_is_refused(cores, text: str, named: str) -> None:
    cores(0, 1)
    with pytest.raises(RequestError, match=named):
        plan.parse_placement(text, [LO])


def test_split_needs_two_cores_of_one_machine(cores) -> None:
    cores(0)
    with pytest.raises(RequestError, match="two cores"):
        plan.parse_placement("split", [LO])
    cores(0, 1)
    with pytest.raises(RequestError, match="one machine"):
        plan.parse_placement("split", [HOSTS])
