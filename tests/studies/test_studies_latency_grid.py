"""The sizes and settings of the study of message time."""

from __future__ import annotations

import pytest

from orbtax.model import Arm, Options
from orbtax.studies.latency_grid import (
    BRIEF_SIZES_BYTES,
    BUFFERS_BYTES,
    FEW_SIZES_BYTES,
    LARGEST_BYTES,
    MERGING_BYTES,
    Pass,
    brief_passes,
    cell_of,
    corba_options,
    full_passes,
    full_sizes_bytes,
    merging_cells,
)

NODELAY_OFF = Options(nodelay=False)


def test_all_sizes_are_decades_and_powers_of_two_each_with_its_neighbours() -> None:
    sizes = full_sizes_bytes()
    assert sizes == tuple(sorted(set(sizes)))
    assert sizes[0] == 0
    assert sizes[-1] == LARGEST_BYTES + 3
    for size in (500, 1024, 20_000, 65_536, 8_388_608, LARGEST_BYTES):
        assert {size - 3, size, size + 3} <= set(sizes)
    assert 8_388_608 * 2 not in sizes


def test_the_brief_sizes_are_between_nothing_and_10_mb() -> None:
    for sizes in (BRIEF_SIZES_BYTES, FEW_SIZES_BYTES):
        assert list(sizes) == sorted(set(sizes))
        assert sizes[0] == 0
    assert BRIEF_SIZES_BYTES[-1] == LARGEST_BYTES
    assert set(FEW_SIZES_BYTES) <= set(BRIEF_SIZES_BYTES)


def test_the_full_study_has_every_setting_in_both_directions() -> None:
    options = [each.options for each in full_passes()]
    assert len(options) == len(set(options)) == 2 * 3 * 2
    assert {each.reverse for each in options} == {False, True}
    assert {each.send_buffer_bytes for each in options} == {None, *BUFFERS_BYTES}
    assert {each.nodelay for each in options} == {False, True}
    assert all(each.sizes_bytes == full_sizes_bytes() for each in full_passes())


def test_the_brief_study_changes_one_setting_at_a_time() -> None:
    first, *others = brief_passes()
    assert first.options == Options()
    for each in others:
        changed = [
            each.options.reverse,
            not each.options.nodelay,
            each.options.send_buffer_bytes is not None,
        ]
        assert changed.count(True) == 1
        assert each.options.send_buffer_bytes == each.options.receive_buffer_bytes


def test_a_cell_is_one_pass_with_the_arms_of_a_size_side_by_side() -> None:
    each = Pass(Options(), (1000, 1), (Arm.CALL, Arm.CORBA, Arm.ECHO))
    cell = cell_of("ib", each, rounds=4)
    assert [(case.arm, case.payload_bytes) for case in cell.cases] == [
        (Arm.EMPTY, 0),
        (Arm.CORBA, 0),
        (Arm.ECHO, 0),
        *((arm, size) for size in (1, 1000) for arm in each.arms),
    ]
    assert cell.rounds == 4
    assert {(case.link, case.threads) for case in cell.cases} == {("ib", 1)}


def test_raw_arms_begin_at_one_byte() -> None:
    cell = cell_of("lo", Pass(NODELAY_OFF, (0, 1), (Arm.CALL, Arm.PINGPONG)), rounds=2)
    assert {case.payload_bytes for case in cell.cases} == {1}


@pytest.mark.parametrize("reverse", [False, True])
def test_the_orb_is_given_what_it_has_options_for_and_no_more(reverse: bool) -> None:
    asked = Options(send_buffer_bytes=32_768, receive_buffer_bytes=32_768, reverse=reverse)
    assert corba_options(asked) == Options(send_buffer_bytes=32_768, reverse=reverse)
    assert corba_options(Options(nodelay=False, reverse=reverse)) is None
    cases = cell_of("lo", Pass(asked, (1,), (Arm.CALL, Arm.CORBA)), rounds=1).cases
    assert {case.options.receive_buffer_bytes for case in cases if case.arm.is_corba} == {None}
    assert {case.options for case in cases if not case.arm.is_corba} == {asked}


def test_streams_have_a_given_number_of_messages_with_and_without_delay() -> None:
    for cell in merging_cells("lo", rounds=3):
        on, off = cell.cases
        assert (on.arm, on.options, off.options) == (Arm.STREAM, Options(), NODELAY_OFF)
        assert cell.total_bytes is not None
        assert cell.total_bytes % (3 * on.payload_bytes) == 0
        assert cell.total_bytes <= 3 * MERGING_BYTES
