"""What the study measures: the published grid in full, and a quick one that keeps its corners."""

from __future__ import annotations

from collections import Counter

from orbtax.model import Arm, Options
from orbtax.published.mailing_list import published_links
from orbtax.studies.study_grid import FULL, QUICK, WINDOWS_BYTES, interleaved

KIB = 1024


def test_the_full_grid_is_the_published_one() -> None:
    calls = FULL.calls("ib")
    assert {case.payload_bytes for case in calls} == {KIB << step for step in range(11)}
    assert {case.threads for case in calls} == set(range(1, 33))
    assert len(calls) == len(set(calls)) == 11 * 32
    assert all(case.arm is Arm.CORBA and case.options == Options() for case in calls)


def test_the_full_search_has_all_streams_and_all_windows() -> None:
    sockets = FULL.sockets("ib")
    assert len(sockets) == len(set(sockets))
    kernel = {case.threads for case in sockets if case.options == Options()}
    assert kernel == set(range(1, 33))
    windows = {
        (case.options.send_buffer_bytes, case.options.receive_buffer_bytes) for case in sockets
    }
    assert windows == {(send, receive) for send in WINDOWS_BYTES for receive in WINDOWS_BYTES}
    assert {case.payload_bytes for case in sockets} == {128 * KIB}


def test_the_quick_grid_is_a_part_of_the_full_one() -> None:
    assert set(QUICK.calls("ib")) <= set(FULL.calls("ib"))
    assert set(QUICK.sockets("ib")) <= set(FULL.sockets("ib"))


def test_both_grids_hold_the_published_optima_of_the_calls() -> None:
    for published in published_links():
        for grid in (FULL, QUICK):
            assert published.corba_threads in grid.threads
            assert published.corba_payload_bytes in grid.payloads_bytes


def test_groups_are_spread_evenly_and_keep_their_own_order() -> None:
    calls, sockets = FULL.calls("ib"), FULL.sockets("ib")
    order = interleaved(calls, sockets, ())
    assert Counter(order) == Counter((*calls, *sockets))
    assert tuple(case for case in order if case.arm is Arm.CORBA) == calls
    for quarter in range(4):
        part = order[quarter * len(order) // 4 : (quarter + 1) * len(order) // 4]
        share = sum(case.arm is Arm.CORBA for case in part) / len(part)
        assert abs(share - len(calls) / len(order)) < 0.02
