"""The three efficiencies, the best cases, and the columns of `summary.csv`."""

from dataclasses import replace

import pandas as pd
import pytest
from builders import (
    ARMS,
    make_cell_samples,
    make_failed,
    make_plan,
    make_refused,
    make_run,
    make_sample,
)

from orbtax.analysis.efficiency import link_results, summary_frame
from orbtax.analysis.stability import Verdict
from orbtax.model import Arm, Cell, Kind, Options, Purpose
from orbtax.record import Status

SUMMARY_COLUMNS = [
    *("link", "kind", "payload_bytes", "threads"),
    *("stream_gbit_s", "stream_low_gbit_s", "stream_high_gbit_s", "stream_bytes"),
    *("call_gbit_s", "call_low_gbit_s", "call_high_gbit_s", "call_bytes"),
    *("corba_gbit_s", "corba_low_gbit_s", "corba_high_gbit_s", "corba_bytes"),
    *("efficiency_stream", "efficiency_stream_low", "efficiency_stream_high"),
    *("efficiency_call", "efficiency_call_low", "efficiency_call_high"),
    *("rounds", "verdict"),
]


def run_of(goodput_gbit_s, rounds=4, plan=None):
    """A run whose samples have the goodput that a function of case and round gives."""
    plan = plan or make_plan(sizes=(1024, 65536), threads=(1, 4))
    samples = [
        make_sample(
            case,
            goodput_bit_s=1e9 * goodput_gbit_s(case, number),
            cell=index,
            round=number,
            ends=False,
            latency_calls=0,
        )
        for index, cell in enumerate(plan.cells)
        for number in range(rounds)
        for case in cell.cases
    ]
    run = make_run(plan=plan, rounds=1, failed=0, refused=0, ends=False, latency_calls=0)
    return replace(run, samples=tuple(samples))


def only(run, arm=Arm.CORBA):
    (result,) = link_results(run, arm)
    return result


def by_arm(**gbit_s):
    return lambda case, number: gbit_s[case.arm]


def test_the_three_efficiencies_of_known_rates():
    result = only(run_of(by_arm(stream=8.0, call=4.0, corba=2.0)))
    for cell in result.cells:
        assert cell.efficiency_stream.value == pytest.approx(0.25)
        assert cell.efficiency_call.value == pytest.approx(0.5)
        assert cell.rounds == 4
    assert result.best_of(Arm.CORBA).efficiency_link.value == pytest.approx(0.25)
    assert result.best_of(Arm.STREAM).efficiency_link is None


def test_another_arm_may_be_asked_for():
    plan = make_plan(sizes=(1024,), threads=(1,), arms=(*ARMS, Arm.ONEWAY))
    run = run_of(by_arm(stream=8.0, call=4.0, corba=2.0, oneway=6.0), plan=plan)
    (cell,) = only(run, Arm.ONEWAY).cells
    assert cell.efficiency_stream.value == pytest.approx(0.75)
    assert cell.efficiency_call.value == pytest.approx(1.5)
    (cell,) = only(run, Arm.CALL).cells
    assert cell.efficiency_stream.value == pytest.approx(0.5)
    assert cell.efficiency_call is None


def test_ratios_are_paired_by_round_so_that_what_slows_all_arms_falls_out():
    def rate(case, number):
        return {"stream": 8.0, "call": 4.0, "corba": 2.0}[case.arm] / (1 + number)

    (cell, *_) = only(run_of(rate)).cells
    assert cell.efficiency_stream.half_width == pytest.approx(0, abs=1e-9)
    assert cell.arm(Arm.STREAM).goodput_bit_s.half_width > 1


def test_calibration_is_never_in_a_result():
    run = make_run(rounds=2, failed=0, refused=0, ends=False, latency_calls=0)
    assert any(sample.purpose is Purpose.CALIBRATION for sample in run.samples)
    measured = [sample for sample in run.samples if sample.purpose is Purpose.MEASURE]
    cells = only(run).cells
    assert all(cell.rounds == 2 for cell in cells)
    moved = sum(arm.moved_bytes for cell in cells for arm in cell.arms)
    assert moved == sum(sample.confirmed_bytes for sample in measured)


def test_failed_and_refused_blocks_are_left_out_and_counted():
    run = run_of(by_arm(stream=8.0, call=4.0, corba=2.0), rounds=5)
    wrong = {
        (0, 1, Arm.CORBA): make_failed,
        (0, 2, Arm.CORBA): lambda sample: make_refused(replace(sample, goodput_bit_s=9e11)),
        (0, 3, Arm.STREAM): make_failed,
    }
    samples = [
        wrong.get((each.cell, each.round, each.case.arm), lambda same: same)(each)
        for each in run.samples
    ]
    cell = only(replace(run, samples=tuple(samples))).cells[0]
    corba, stream = cell.arm(Arm.CORBA), cell.arm(Arm.STREAM)
    assert (corba.failed, corba.refused, stream.failed) == (1, 1, 1)
    assert corba.goodput_bit_s.value == pytest.approx(2e9)
    assert (corba.goodput_bit_s.rounds, corba.goodput_bit_s.failed) == (3, 2)
    assert corba.moved_bytes == 3 * samples[0].asked_bytes
    assert (cell.efficiency_stream.rounds, cell.efficiency_stream.failed) == (2, 3)
    assert cell.rounds == 5


def test_a_block_that_went_well_when_repeated_counts_once():
    run = run_of(by_arm(stream=8.0, call=4.0, corba=2.0), rounds=3)
    first = run.samples[2]
    again = replace(run, samples=(make_failed(first), *run.samples))
    arm = only(again).cells[0].arm(first.case.arm)
    assert (arm.goodput_bit_s.rounds, arm.goodput_bit_s.failed, arm.failed) == (3, 0, 1)


def test_an_arm_that_never_went_well_has_no_figure():
    run = run_of(by_arm(stream=8.0, call=4.0, corba=2.0))
    samples = [make_failed(each) if each.case.arm is Arm.CORBA else each for each in run.samples]
    result = only(replace(run, samples=tuple(samples)))
    assert result.best_of(Arm.CORBA) is None
    for cell in result.cells:
        assert cell.arm(Arm.CORBA).goodput_bit_s is None
        assert cell.efficiency_stream is cell.efficiency_call is None
        assert cell.verdict is Verdict.BUDGET


def test_what_was_planned_but_not_run_is_there_without_figures():
    run = run_of(by_arm(stream=8.0, call=4.0, corba=2.0))
    begun = replace(run, samples=tuple(each for each in run.samples if each.cell == 1))
    result = only(begun)
    assert [cell.rounds for cell in result.cells] == [0, 4, 0, 0]
    assert result.cells[0].arm(Arm.STREAM).goodput_bit_s is None


def test_one_round_has_values_without_bounds():
    (cell, *_) = only(run_of(by_arm(stream=8.0, call=4.0, corba=2.0), rounds=1)).cells
    assert cell.efficiency_stream.value == pytest.approx(0.25)
    assert cell.efficiency_stream.low is None


def test_the_best_case_is_the_fastest_one():
    speeds = {(1024, 1): 1.0, (1024, 4): 2.0, (65536, 1): 3.0, (65536, 4): 5.0}
    result = only(run_of(lambda case, number: speeds[case.payload_bytes, case.threads]))
    best = result.best_of(Arm.CORBA)
    assert (best.payload_bytes, best.threads) == (65536, 4)
    assert best.goodput_bit_s.value == pytest.approx(5e9)


def noisy(number):
    return 1 + 0.02 * (number % 2)


@pytest.mark.parametrize(
    ("speeds", "expected"),
    [
        ({(1024, 1): 5.00, (1024, 4): 4.99, (65536, 1): 5.01, (65536, 4): 5.02}, (1024, 1)),
        ({(1024, 1): 1.00, (1024, 4): 5.00, (65536, 1): 4.99, (65536, 4): 5.02}, (65536, 1)),
        ({(1024, 1): 4.00, (1024, 4): 5.00, (65536, 1): 4.80, (65536, 4): 5.01}, (1024, 4)),
    ],
)
def test_a_tie_within_the_noise_goes_to_fewer_threads_and_then_smaller_payloads(speeds, expected):
    run = run_of(lambda case, number: noisy(number) * speeds[case.payload_bytes, case.threads])
    best = only(run).best_of(Arm.STREAM)
    assert (best.payload_bytes, best.threads) == expected


def test_much_noise_does_not_make_a_slow_case_tie():
    def rate(case, number):
        slow = case.threads == 1
        return (3.0 if slow else 5.0) * (1 + 0.9 * (number % 2) * slow)

    assert only(run_of(rate, rounds=2)).best_of(Arm.STREAM).threads == 4


def test_against_the_link_is_paired_in_one_cell_and_welch_between_two():
    def rate(case, number):
        fast = case.payload_bytes == (65536 if case.arm is Arm.STREAM else 1024)
        shared = 1 + number
        return {"stream": 8.0, "call": 7.0, "corba": 6.0}[case.arm] * shared * (1 if fast else 0.5)

    run = run_of(rate)
    apart = only(run).best_of(Arm.CORBA)
    assert not apart.paired
    assert apart.efficiency_link.value == pytest.approx(0.75)
    assert apart.efficiency_link.half_width > 0.5

    same = run_of(lambda case, number: rate(case, number) if case.arm is Arm.STREAM else noisy(0))
    plan = make_plan(sizes=(65536,), threads=(4,))
    together = only(run_of(rate, plan=plan)).best_of(Arm.CORBA)
    assert together.paired
    assert together.efficiency_link.half_width == pytest.approx(0, abs=1e-9)
    assert only(same).best_of(Arm.CORBA).efficiency_link.rounds == 4


@pytest.mark.parametrize(("scattered", "words"), [(0.0, "the weaker"), (0.9, "within the noise")])
def test_a_value_above_one_is_kept_and_labelled(scattered, words):
    def rate(case, number):
        return 4.0 + (case.arm is Arm.CORBA) * (1 + scattered * (-1) ** number)

    result = only(run_of(rate))
    cell = result.cells[0]
    assert cell.efficiency_stream.value > 1
    labels = [finding for finding in cell.findings if finding.code == "above-one"]
    assert len(labels) == 2
    assert words in labels[0].text
    assert not labels[0].serious
    assert [finding.code for finding in result.findings] == ["above-one"]


def test_a_value_below_one_is_not_labelled():
    result = only(run_of(by_arm(stream=8.0, call=4.0, corba=2.0)))
    assert result.findings == ()
    assert all(cell.findings == () for cell in result.cells)


def test_links_and_directions_are_kept_apart():
    plan = make_plan(links=("ib", "1ge"), sizes=(1024,), threads=(1,))
    turned = make_plan(sizes=(1024,), threads=(1,), options=Options(reverse=True))
    plan = replace(plan, cells=plan.cells + turned.cells)
    results = link_results(run_of(by_arm(stream=8.0, call=4.0, corba=2.0), plan=plan))
    assert [(each.link, each.reverse) for each in results] == [
        ("ib", False),
        ("1ge", False),
        ("ib", True),
    ]
    assert all(len(each.cells) == 1 for each in results)
    assert results[0].kind is Kind.EMULATED


def test_options_make_cells_of_their_own():
    plan = make_plan(sizes=(1024,), threads=(1,))
    nagle = make_plan(sizes=(1024,), threads=(1,), options=Options(nodelay=False))
    plan = replace(plan, cells=plan.cells + nagle.cells)
    result = only(run_of(by_arm(stream=8.0, call=4.0, corba=2.0), plan=plan))
    assert [cell.options.nodelay for cell in result.cells] == [True, False]


def test_a_case_without_payload_is_judged_by_calls_and_has_no_goodput():
    case = make_plan(sizes=(0,), threads=(1,), arms=(Arm.EMPTY,)).cells[0].cases[0]
    plan = replace(make_plan(), cells=(Cell(cases=(case,)),))
    model = make_sample(replace(case, payload_bytes=1), ends=False, latency_calls=0)
    samples = [
        replace(model, case=case, round=number, confirmed_bytes=0, goodput_bit_s=0.0)
        for number in range(6)
    ]
    run = make_run(rounds=1, failed=0, refused=0, ends=False, latency_calls=0)
    run = replace(run, record=replace(run.record, plan=plan), samples=tuple(samples))
    (cell,) = only(run).cells
    assert cell.verdict is Verdict.STABLE
    assert cell.rounds == 6
    assert cell.arm(Arm.EMPTY).goodput_bit_s is None
    assert only(run).best == ()


def test_the_verdict_and_its_reasons_come_with_the_cell():
    plan = make_plan(sizes=(1024,), threads=(1,))
    run = make_run(plan=plan, rounds=1, failed=0, refused=0, ends=False, latency_calls=0)
    made = make_cell_samples(plan, 0, 12, ends=False, latency_calls=0)
    falling = [
        replace(each, goodput_bit_s=each.goodput_bit_s * 0.97**each.round)
        if each.case.arm is Arm.CORBA
        else each
        for each in made
    ]
    (cell,) = only(replace(run, samples=tuple(falling))).cells
    assert cell.verdict is Verdict.UNSTABLE
    assert "trend" in {finding.code for finding in cell.findings}
    (cell,) = only(replace(run, samples=tuple(made))).cells
    assert cell.verdict is Verdict.STABLE


def test_the_summary_has_the_columns_of_the_contract_and_a_row_for_each_cell():
    run = make_run(ends=False, latency_calls=0)
    frame = summary_frame(link_results(run))
    assert list(frame.columns) == SUMMARY_COLUMNS
    assert len(frame) == 18
    assert set(frame["verdict"]) <= {"stable", "budget", "unstable"}


def test_the_summary_holds_the_values_of_the_cells():
    run = run_of(by_arm(stream=8.0, call=4.0, corba=2.0))
    row = summary_frame(link_results(run)).iloc[3]
    assert (row["link"], row["kind"], row["payload_bytes"], row["threads"]) == (
        "ib",
        "emulated",
        65536,
        4,
    )
    assert row["corba_gbit_s"] == pytest.approx(2.0)
    assert row["corba_low_gbit_s"] <= row["corba_gbit_s"] <= row["corba_high_gbit_s"]
    assert row["corba_bytes"] == sum(
        each.confirmed_bytes
        for each in run.samples
        if each.cell == 3 and each.case.arm is Arm.CORBA
    )
    assert row["efficiency_call"] == pytest.approx(0.5)
    assert (row["rounds"], row["verdict"]) == (4, "stable")


def test_what_a_cell_does_not_have_is_missing_in_the_summary():
    plan = make_plan(sizes=(1024,), threads=(1,), arms=(Arm.STREAM, Arm.CORBA))
    extra = make_plan(sizes=(4096,), threads=(1,), arms=(Arm.STREAM, Arm.AMI))
    plan = replace(plan, cells=plan.cells + extra.cells)
    run = run_of(by_arm(stream=8.0, corba=2.0, ami=3.0), rounds=1, plan=plan)
    assert all(each.status is Status.OK for each in run.samples)
    frame = summary_frame(link_results(run))
    assert "call_gbit_s" not in frame.columns
    assert pd.isna(frame.loc[0, "ami_bytes"])
    assert pd.isna(frame.loc[1, "efficiency_stream"])
    assert pd.isna(frame["efficiency_call"]).all()
    assert pd.isna(frame.loc[0, "stream_low_gbit_s"])
    assert frame["corba_bytes"].dtype == "Int64"


def test_no_results_make_an_empty_summary():
    assert summary_frame([]).empty
