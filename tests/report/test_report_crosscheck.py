"""The stream beside iperf3."""

from dataclasses import replace

from builders import make_failed, make_run

from orbtax.analysis.rates import good_blocks
from orbtax.model import Arm, Purpose
from orbtax.report.content import assemble
from orbtax.report.crosscheck import cross_check_table
from orbtax.report.front import front_of
from orbtax.report.page import render_page

ARMS = (Arm.STREAM, Arm.CORBA, Arm.IPERF3)
RUN = make_run(sizes=(65536,), threads=(1, 4), arms=ARMS, failed=0, refused=0)
FASTER = 1.25


def faster_than_iperf3():
    """One cell in which the stream is faster by a fixed factor, though the rounds scatter."""
    cell = [
        sample for sample in RUN.samples if sample.cell == 1 and sample.purpose is Purpose.MEASURE
    ]
    iperf3 = {each.round: each.goodput_bit_s for each in cell if each.case.arm is Arm.IPERF3}
    return [
        replace(each, goodput_bit_s=FASTER * iperf3[each.round])
        if each.case.arm is Arm.STREAM
        else each
        for each in cell
    ]


def test_the_ratio_is_paired_by_round():
    table = cross_check_table("ib (emulated)", good_blocks(faster_than_iperf3()))
    ((payload, threads, *_, ratio),) = table.rows
    assert (payload, threads) == ("64 KiB", "4")
    assert ratio == "125.0 [125.0, 125.0]"


def test_a_round_without_iperf3_is_no_pair():
    samples = faster_than_iperf3()
    fewer = [
        make_failed(sample) if sample.case.arm is Arm.IPERF3 and sample.round else sample
        for sample in samples
    ]
    ((*_, ratio),) = cross_check_table("ib", good_blocks(fewer)).rows
    assert ratio == "125.0 [–]"


def test_without_iperf3_there_is_nothing_to_show():
    alone = make_run(sizes=(65536,), threads=(1,), failed=0, refused=0)
    assert cross_check_table("ib", good_blocks(alone.samples)).rows == ()


def test_the_page_has_the_section_only_where_iperf3_ran():
    with_it, without = (
        render_page(report, front_of(report))
        for report in (assemble([RUN]), assemble([make_run(sizes=(65536,), threads=(1,))]))
    )
    assert "The stream beside iperf3 on ib (emulated)" in with_it
    assert "Beside iperf3" not in without
