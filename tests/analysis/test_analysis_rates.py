"""Samples sorted by case and round."""

from dataclasses import replace

from builders import make_case, make_failed, make_refused, make_sample

from orbtax.analysis.rates import CaseRates, aligned, by_case, good_blocks
from orbtax.model import Arm, Purpose

STREAM, CORBA = make_case(Arm.STREAM), make_case(Arm.CORBA)


def block(case, cell, number, goodput_bit_s):
    return make_sample(
        case, cell=cell, round=number, goodput_bit_s=goodput_bit_s, ends=False, latency_calls=0
    )


def test_rates_stand_in_the_order_of_cells_and_rounds_however_the_samples_came():
    samples = [block(CORBA, *place) for place in ((1, 0, 4e9), (0, 1, 2e9), (0, 0, 1e9))]
    assert [round(rate) for rate in by_case(samples)[CORBA].in_order()] == [1e9, 2e9, 4e9]


def test_two_cases_are_aligned_by_round_with_gaps_for_what_is_missing():
    samples = [
        block(STREAM, 0, 0, 8e9),
        block(CORBA, 0, 0, 4e9),
        make_failed(block(STREAM, 0, 1, 8e9)),
        block(CORBA, 0, 1, 4e9),
        block(STREAM, 0, 2, 8e9),
    ]
    rates = by_case(samples)
    above, below = aligned(rates[CORBA], rates[STREAM])
    assert [rate and round(rate) for rate in above] == [4e9, 4e9, None]
    assert [rate and round(rate) for rate in below] == [8e9, None, 8e9]


def test_planned_cases_come_first_and_may_be_empty():
    found = by_case([block(STREAM, 0, 0, 8e9)], planned=[CORBA, STREAM])
    assert list(found) == [CORBA, STREAM]
    assert found[CORBA] == CaseRates(case=CORBA)


def test_good_blocks_are_measured_ones_that_went_well():
    good = block(CORBA, 0, 0, 4e9)
    others = [
        make_failed(good),
        make_refused(good),
        replace(good, purpose=Purpose.CALIBRATION),
    ]
    assert good_blocks([*others, good]) == {CORBA: [good]}
