"""How far a run has come, and how long it will take."""

from dataclasses import replace

import pytest
from builders import make_failed, make_plan, make_sample

from orbtax.model import Amount, Arm, Block, Cell, Purpose
from orbtax.report.progress import Tally

PLAN = make_plan(("ib",), (1024, 65536), (1, 4))


class Clock:
    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def tally(clock):
    tally = Tally(clock)
    tally.started(PLAN, [0, 1, 2, 3], 40.0)
    return tally


def block(cell=0, arm=0, purpose=Purpose.MEASURE, number=2):
    case = PLAN.cells[cell].cases[arm]
    return Block(
        case=case,
        cell=cell,
        round=number,
        position=0,
        amount=Amount(total_bytes=1 << 20),
        purpose=purpose,
    )


def test_the_start_tells_how_much_and_how_long():
    assert Tally().started(PLAN, [0, 1, 2, 3], 125.0) == (
        "4 cells on ib (emulated), about 2 min 05 s"
    )
    assert Tally().started(PLAN, [], 0.0) == "0 cells on no link, about 0 s"


def test_a_block_tells_what_runs_the_last_rate_and_the_time_left(tally, clock):
    tally.sample(make_sample(PLAN.cells[0].cases[0], goodput_bit_s=8.76e9))
    clock.now_s += 10
    line = tally.block_started(block(arm=2))
    for part in ("ib", "corba, 1 KiB, 1 thread", "round 3", "8.76 Gbit/s", "0/4", "30.0 s left"):
        assert part in line


def test_blocks_before_the_start_have_no_time_left():
    line = Tally().block_started(block(purpose=Purpose.CALIBRATION))
    assert "sizing the blocks" in line
    assert "left" not in line


def test_a_failure_is_told_with_what_it_said(tally):
    sample = make_sample(PLAN.cells[0].cases[0])
    assert tally.sample(sample) is None
    assert tally.sample(make_failed(sample, "Connection reset")) == (
        "failed: ib (emulated), stream, 1 KiB, 1 thread, round 1: Connection reset"
    )


def test_a_finished_cell_tells_its_arms_and_starts_afresh(tally):
    for case, rate in zip(PLAN.cells[0].cases, (8e9, 4e9, 2e9), strict=True):
        for _ in range(2):
            tally.sample(make_sample(case, goodput_bit_s=rate))
    line = tally.cell_done()
    assert line.startswith(
        "[1/4] ib (emulated) 1 KiB, 1 thread: "
        "stream 8.00, call 4.00, corba 2.00 Gbit/s in 2 rounds, "
    )
    assert tally.cell_done().startswith("[2/4] no block went well")


def test_sizing_blocks_are_no_result(tally):
    case = PLAN.cells[0].cases[0]
    tally.sample(make_sample(case, goodput_bit_s=1e9, purpose=Purpose.CALIBRATION))
    tally.sample(make_sample(case, goodput_bit_s=8e9))
    assert "stream 8.00 Gbit/s in 1 round" in tally.cell_done()


def test_the_time_left_follows_the_estimate_and_then_the_pace(tally, clock):
    assert tally.left_s() == 40.0
    clock.now_s += 15
    assert tally.left_s() == 25.0
    clock.now_s += 15  # one cell in 30 s instead of 10
    tally.cell_done()
    assert 40.0 < tally.left_s() < 90.0
    for _ in range(3):
        clock.now_s += 30
        tally.cell_done()
    assert tally.left_s() == 0.0


def test_the_time_left_is_never_below_zero(tally, clock):
    clock.now_s += 1000
    assert tally.left_s() == 0.0


def test_arms_without_a_rate_are_left_out(tally):
    case = PLAN.cells[0].cases[2]
    assert case.arm is Arm.CORBA
    tally.sample(make_sample(case, goodput_bit_s=2e9))
    tally.sample(make_failed(make_sample(PLAN.cells[0].cases[0])))
    assert "1 KiB, 1 thread: corba 2.00 Gbit/s" in tally.cell_done()


@pytest.fixture
def long_plan():
    """One cell of twelve cases and two rounds, as a study has them."""
    cases = tuple(case for cell in PLAN.cells for case in cell.cases)
    return replace(PLAN, cells=(Cell(cases=cases, rounds=2),))


def go_through(tally, plan, clock, number):
    """What is said in one round of ten seconds."""
    cases = plan.cells[0].cases
    said = []
    for position, case in enumerate(cases):
        clock.now_s += 10 / len(cases)
        said.append(tally.sample(make_sample(case, round=number, position=position)))
    return said


def test_a_long_cell_tells_of_each_round_but_the_last(long_plan, clock):
    tally = Tally(clock)
    tally.started(long_plan, [0], 20.0)
    *others, last = go_through(tally, long_plan, clock, 0)
    assert set(others) == {None}
    assert last == "ib (emulated): round 1 of 2, 10.0 s left"
    assert set(go_through(tally, long_plan, clock, 1)) == {None}
    assert tally.cell_done() == (
        "[1/1] ib (emulated) 1 KiB to 64 KiB, 1 to 4 threads: 12 cases in 2 rounds, 0 s left"
    )


def test_the_time_left_follows_the_pace_within_a_long_cell(long_plan, clock):
    tally = Tally(clock)
    tally.started(long_plan, [0], 2000.0)
    go_through(tally, long_plan, clock, 0)
    assert 10.0 < tally.left_s() < 1000.0
