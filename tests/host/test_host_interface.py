from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_trees import MakeKernel

from orbtax.host import interface
from orbtax.host.kernel import UnreadableError

HEAD = """\
Inter-|   Receive                            |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo
"""
# the last line has no blank after its colon, as old kernels write large counters
TABLE = f"""{HEAD}\
    lo: 526249089   41084    0    0    0     0          0     0 526249089   41084 0 0 0 0 0 0
  eth0: 93419642    2362    1    2    0     0          0      0   155675    1496 0 3 0 0 0 0
eth0.7:12345678901 99 0 0 0 0 0 0 98765432109 88 0 0 0 0 0 0
"""


def test_the_line_of_the_interface_is_read_by_its_columns() -> None:
    reading = interface.parse(TABLE, "eth0")
    assert reading == interface.InterfaceReading(
        interface="eth0",
        received_bytes=93_419_642,
        received_packets=2_362,
        received_dropped_packets=2,
        sent_bytes=155_675,
        sent_packets=1_496,
        sent_dropped_packets=3,
    )


def test_a_counter_that_touches_the_colon_is_read() -> None:
    assert interface.parse(TABLE, "eth0.7").received_bytes == 12_345_678_901


def test_an_unknown_interface_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnreadableError, match=r"'eth'.*lo, eth0, eth0\.7"):
        interface.parse(TABLE, "eth")


def test_a_namespace_without_any_interface_is_refused() -> None:
    with pytest.raises(UnreadableError, match="no interface"):
        interface.parse(HEAD, "lo")


@pytest.mark.parametrize("line", ["lo: 1 2 3", "lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 x", "lo:"])
def test_a_line_of_another_form_is_refused(line: str) -> None:
    with pytest.raises(UnreadableError, match="16 counters"):
        interface.parse(f"{HEAD}{line}\n", "lo")


def test_it_is_read_from_the_process_own_namespace(make_kernel: MakeKernel) -> None:
    kernel = make_kernel({"proc/self/net/dev": TABLE})
    assert interface.read("lo", kernel).sent_packets == 41_084


def test_a_difference_adds_drops_of_both_ways() -> None:
    before = interface.parse(TABLE, "eth0")
    after = replace(
        before,
        received_bytes=before.received_bytes + 1_000,
        sent_bytes=before.sent_bytes + 10,
        received_packets=before.received_packets + 3,
        sent_packets=before.sent_packets + 2,
        received_dropped_packets=3,
        sent_dropped_packets=7,
    )
    count = interface.difference(before, after)
    assert (count.received_bytes, count.sent_bytes) == (1_000, 10)
    assert (count.received_packets, count.sent_packets) == (3, 2)
    assert count.dropped_packets == 5


@pytest.mark.parametrize("field", ["received_bytes", "sent_packets", "sent_dropped_packets"])
def test_an_interface_made_anew_is_refused(field: str) -> None:
    before = interface.parse(TABLE, "eth0")
    with pytest.raises(UnreadableError, match="ran backwards"):
        interface.difference(before, replace(before, **{field: 0}))


@given(st.lists(st.integers(0, 2**64 - 1), min_size=16, max_size=16))
def test_any_counters_are_read_back(counters: list[int]) -> None:
    text = f"{HEAD} veth1: {' '.join(map(str, counters))}\n"
    reading = interface.parse(text, "veth1")
    assert (reading.received_bytes, reading.sent_bytes) == (counters[0], counters[8])
    assert (reading.received_dropped_packets, reading.sent_dropped_packets) == (
        counters[3],
        counters[11],
    )
