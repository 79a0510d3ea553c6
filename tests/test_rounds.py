"""The rounds of a cell, on a bench that answers at once: order, totals, resuming, giving up."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence

import pytest
from builders import make_sample

from orbtax import plan as planning
from orbtax.model import Amount, Arm, Block, Case, Cell, Kind, Link, Plan, Purpose
from orbtax.record import Sample, Status
from orbtax.rounds import GIVE_UP_AFTER, CellRun

LO = Link(name="lo", kind=Kind.LOOPBACK)
IB = Link(name="ib", kind=Kind.EMULATED)
ARMS = (Arm.STREAM, Arm.CALL, Arm.CORBA)
GBIT_S = {Arm.STREAM: 20.0, Arm.CALL: 8.0, Arm.CORBA: 6.0, Arm.IPERF3: 21.0}


class FakeBench:
    """Answers each block at the arm's rate, scattered by `noise`, but for those that `fails`."""

    def __init__(
        self,
        noise: Callable[[Block], float] = lambda _: 1.0,
        fails: Callable[[Block], bool] = lambda _: False,
    ) -> None:
        self.blocks: list[Block] = []
        self._noise = noise
        self._fails = fails

    def run(self, block: Block) -> Sample:
        self.blocks.append(block)
        moved = block.amount.total_bytes
        rate_bit_s = GBIT_S[block.case.arm] * 1e9 * self._noise(block)
        sample = dataclasses.replace(
            make_sample(),
            case=block.case,
            cell=block.cell,
            round=block.round,
            position=block.position,
            purpose=block.purpose,
            asked_bytes=moved,
            confirmed_bytes=moved,
            messages=moved // block.case.payload_bytes,
            window_s=8 * moved / rate_bit_s,
            goodput_bit_s=rate_bit_s,
            findings=(),
        )
        if self._fails(block):
            return dataclasses.replace(
                sample, status=Status.FAILED, reason="it ended", goodput_bit_s=None
            )
        return sample

    def pilot(
        self, case: Case, cell: int, purpose: Purpose = Purpose.CALIBRATION
    ) -> Callable[[Amount], Sample]:
        def run(amount: Amount) -> Sample:
            return self.run(
                Block(
                    case=case,
                    cell=cell,
                    round=0,
                    position=0,
                    amount=amount,
                    purpose=purpose,
                )
            )

        return run


def plan_of(cell: Cell, **settings: object) -> Plan:
    links = (LO, IB)
    return Plan(study="compare", links=links, cells=(cell,), **settings)  # type: ignore[arg-type]


def cell(**how: object) -> Cell:
    return planning.grid(LO, [65_536], [1], ARMS, **how)[0]  # type: ignore[arg-type]


def run(
    bench: FakeBench, asked: Cell, earlier: Sequence[Sample] = (), **settings: object
) -> CellRun:
    running = CellRun(0, plan_of(asked, **settings), bench, earlier)  # type: ignore[arg-type]
    running.run(())
    return running


def measured(bench: FakeBench) -> list[Block]:
    return [block for block in bench.blocks if block.purpose is Purpose.MEASURE]


def test_the_order_of_the_arms_is_turned_round_from_round_to_round() -> None:
    bench = FakeBench()
    run(bench, cell(rounds=3, total_bytes=3_000_000))
    order = [(block.round, block.position, block.case.arm) for block in measured(bench)]
    assert order == [
        *((0, place, arm) for place, arm in enumerate(ARMS)),
        *((1, place, arm) for place, arm in enumerate(ARMS[::-1])),
        *((2, place, arm) for place, arm in enumerate(ARMS)),
    ]


def test_a_total_is_spread_over_the_rounds_to_the_byte_and_needs_no_pilots() -> None:
    bench = FakeBench()
    run(bench, cell(rounds=3, total_bytes=10_000_000))
    assert len(bench.blocks) == 9
    for arm in ARMS:
        moved = [b.amount.total_bytes for b in bench.blocks if b.case.arm is arm]
        assert sum(moved) == 10_000_000
        assert max(moved) - min(moved) <= 1


def test_without_a_total_every_block_lasts_as_long_as_the_plan_says() -> None:
    bench = FakeBench()
    running = run(bench, cell(rounds=2), block_s=0.2)
    windows = [s.window_s for s in running.samples if s.purpose is Purpose.MEASURE]
    assert windows == pytest.approx([0.2] * 6, rel=0.01)


def test_rounds_end_once_the_ratios_have_been_narrow() -> None:
    bench = FakeBench()
    run(bench, cell(budget_s=3600.0))
    assert 4 <= len(measured(bench)) / len(ARMS) <= 10


def test_a_ratio_that_scatters_goes_on_longer() -> None:
    wobble = itertools.cycle([1.0, 1.1, 0.92, 1.04, 0.97])
    bench = FakeBench(noise=lambda _: next(wobble))
    run(bench, cell(budget_s=3600.0), max_rounds=40)
    assert len(measured(bench)) / len(ARMS) > 10


def test_a_spent_budget_ends_the_cell() -> None:
    bench = FakeBench(noise=lambda block: 1 + 0.2 * (block.round % 2) * (block.position - 1))
    run(bench, cell(budget_s=0.0))
    assert len(measured(bench)) == len(ARMS)


def test_a_resumed_cell_runs_only_what_is_missing() -> None:
    first = FakeBench()
    whole = run(first, cell(rounds=3, total_bytes=3_000_000)).samples
    kept = [*whole[:4], *whole[5:6]]  # the call of the second round and all of the third are gone
    second = FakeBench()
    resumed = run(second, cell(rounds=3, total_bytes=3_000_000), kept)
    assert [(b.round, b.case.arm) for b in second.blocks] == [
        (1, Arm.CALL),
        *((2, arm) for arm in ARMS),
    ]
    keys = [(sample.round, sample.case.arm) for sample in resumed.samples]
    assert len(keys) == len(set(keys)) == 9


def test_a_resumed_cell_keeps_the_size_of_its_blocks() -> None:
    first = FakeBench()
    whole = run(first, cell(rounds=2)).samples
    second = FakeBench(noise=lambda _: 3.0)
    run(second, cell(rounds=4), whole)
    assert {block.purpose for block in second.blocks} == {Purpose.MEASURE}
    sizes = {(b.case.arm, b.amount.total_bytes) for b in [*measured(first), *second.blocks]}
    assert len(sizes) == len(ARMS)


def test_a_failed_block_costs_its_round_and_no_more() -> None:
    bench = FakeBench(fails=lambda b: b.round == 1 and b.case.arm is Arm.CORBA)
    running = run(bench, cell(rounds=5, total_bytes=5_000_000))
    assert len(measured(bench)) == 15
    assert running.given_up() == ()


def test_a_case_that_keeps_failing_is_given_up_and_the_others_go_on() -> None:
    bench = FakeBench(fails=lambda block: block.case.arm is Arm.CORBA)
    running = run(bench, cell(rounds=10, total_bytes=10_000_000))
    tries = [block.case.arm for block in bench.blocks]
    assert tries.count(Arm.CORBA) == GIVE_UP_AFTER
    assert tries.count(Arm.STREAM) == 10
    (finding,) = running.given_up()
    assert finding.serious
    assert "corba, 64 KiB" in finding.text


def test_a_case_whose_pilot_fails_is_not_measured() -> None:
    bench = FakeBench(fails=lambda block: block.case.arm is Arm.CALL)
    running = run(bench, cell(rounds=2))
    assert {block.case.arm for block in measured(bench)} == {Arm.STREAM, Arm.CORBA}
    assert len(running.given_up()) == 1


def test_a_pilot_that_fails_once_is_tried_again() -> None:
    first = itertools.count()
    bench = FakeBench(fails=lambda block: block.case.arm is Arm.CALL and next(first) == 0)
    running = run(bench, cell(rounds=2))
    assert {block.case.arm for block in measured(bench)} == set(ARMS)
    assert running.given_up() == ()


def test_a_cell_of_which_nothing_works_ends() -> None:
    bench = FakeBench(fails=lambda _: True)
    running = run(bench, cell(budget_s=3600.0))
    assert measured(bench) == []
    assert len(running.given_up()) == len(ARMS)


def ceilings(bench: FakeBench) -> list[Block]:
    return [block for block in bench.blocks if block.purpose is Purpose.CEILING]


def on_ib(*arms: Arm, **how: object) -> Cell:
    return planning.grid(IB, [65_536], [1], arms, **how)[0]  # type: ignore[arg-type]


def test_what_the_bench_reaches_without_the_link_is_found_once_for_each_case() -> None:
    asked = on_ib(*ARMS, Arm.IPERF3, rounds=2)
    bench = FakeBench()
    running = run(bench, asked)
    assert {block.case.arm for block in ceilings(bench)} == set(ARMS)
    assert len(measured(bench)) == 8
    resumed = FakeBench()
    run(resumed, asked, [s for s in running.samples if s.purpose is not Purpose.MEASURE])
    assert not ceilings(resumed)
    assert len(measured(resumed)) == 8


def test_loopback_has_no_link_to_leave_out() -> None:
    bench = FakeBench()
    run(bench, cell(rounds=1))
    assert not ceilings(bench)


@pytest.mark.parametrize("cross_check", [True, False])
def test_a_cross_check_that_fails_is_said_with_its_reason_and_spoils_nothing(
    cross_check: bool,
) -> None:
    bench = FakeBench(fails=lambda block: block.case.arm is Arm.IPERF3)
    asked = planning.grid(LO, [65_536], [1], (Arm.STREAM, Arm.IPERF3), rounds=4)[0]
    running = run(bench, asked, cross_check=cross_check)
    (finding,) = running.given_up()
    assert finding.serious is not cross_check
    assert finding.code == ("no-cross-check" if cross_check else "given-up")
    assert ("it ended" in finding.text) is cross_check
    assert len([b for b in measured(bench) if b.case.arm is Arm.STREAM]) == 4
