"""Answers and result tables say what the analysis found, no more and no less."""

from dataclasses import replace

import pytest
from builders import make_cell_samples, make_failed, make_plan, make_run
from rich.cells import cell_len

from orbtax.analysis.efficiency import link_results
from orbtax.model import Arm, Kind, Options
from orbtax.report.numbers import gbit_s, per_cent, with_bounds
from orbtax.report.results import answer, best_table, brief_tables, cells_table
from orbtax.report.tables import grid_lines
from orbtax.report.wording import options_text, subject

ALL = (Arm.STREAM, Arm.CALL, Arm.CORBA, Arm.ONEWAY, Arm.AMI)


def result_of(run):
    return link_results(run)[0]


def small(**changes):
    fields = {"sizes": (1024, 65536), "threads": (1, 4), "rounds": 4, "failed": 0, "refused": 0}
    return make_run(**fields | changes)


def without(run, *arms):
    """The run with all blocks of some arms failed."""
    samples = tuple(
        make_failed(sample) if sample.case.arm in arms else sample for sample in run.samples
    )
    return replace(run, samples=samples)


def rows_of(table):
    return {row[0]: row for row in table.rows}


def test_the_answer_gives_rate_share_and_place():
    result = result_of(small())
    best, stream = result.best_of(Arm.CORBA), result.best_of(Arm.STREAM)
    said = answer(result)
    assert said.startswith(
        f"On ib (emulated) corba moved {gbit_s(best.goodput_bit_s.value)} Gbit/s at its best "
        "(64 KiB, 4 threads): "
    )
    assert f"{per_cent(best.efficiency_link.value)} ±" in said
    assert f"{gbit_s(stream.goodput_bit_s.value)} Gbit/s of the best TCP stream" in said


@pytest.mark.parametrize(
    ("failed", "said"),
    [
        ((Arm.STREAM,), "there is no stream to set it against"),
        ((Arm.CORBA,), "corba gave no figure; the best TCP stream moved"),
        ((Arm.STREAM, Arm.CORBA), "neither corba nor stream gave a figure"),
    ],
)
def test_the_answer_says_what_is_missing(failed, said):
    assert said in answer(result_of(without(small(), *failed)))


def test_best_cases_are_those_of_the_analysis():
    result = result_of(small())
    rows = rows_of(best_table(result))
    assert list(rows) == ["stream", "call", "corba"]
    for best in result.best:
        row = rows[str(best.arm)]
        assert row[1] == with_bounds(best.goodput_bit_s, gbit_s)
        assert row[2] == str(best.threads)
    assert rows["stream"][4] == "baseline"
    expected = result.best_of(Arm.CORBA).efficiency_link
    assert rows["corba"][4] == with_bounds(expected, per_cent)


def test_best_cases_of_different_rounds_are_said_to_be():
    assert not any("independent" in note for note in best_table(result_of(small())).notes)
    unpaired = result_of(make_run(links=("1ge",), failed=0, refused=0))
    assert not unpaired.best_of(Arm.CORBA).paired
    assert any("independent means" in note for note in best_table(unpaired).notes)


def test_every_cell_has_its_row_with_every_figure():
    result = result_of(small())
    table = cells_table(result)
    assert len(table.rows) == len(result.cells) == 4
    for cell, row in zip(result.cells, table.rows, strict=True):
        assert with_bounds(cell.arm(Arm.CORBA).goodput_bit_s, gbit_s) in row
        assert with_bounds(cell.efficiency_stream, per_cent) in row
        assert with_bounds(cell.efficiency_call, per_cent) in row
        assert str(cell.verdict) in row
        assert row[-1] == per_cent(min(arm.moved_bytes for arm in cell.arms) / 8e9)


def test_above_one_is_shown_as_it_is_and_labelled():
    plan = make_plan(("1ge",), (1024 * 1024,), (16,))
    samples = [
        replace(sample, goodput_bit_s=sample.goodput_bit_s * 1.05)
        if sample.case.arm is Arm.CORBA
        else sample
        for sample in make_cell_samples(plan, 0)
    ]
    run = replace(make_run(plan=plan, failed=0, refused=0), samples=tuple(samples))
    table = cells_table(result_of(run))
    (shown,) = [row[5] for row in table.rows]
    assert float(shown.split()[0]) > 100
    assert any("Above 100 %" in note for note in table.notes)
    assert any("the baseline was the weaker" in note for note in best_table(result_of(run)).notes)


def test_cells_not_run_are_rows_without_figures():
    run = small()
    table = cells_table(result_of(replace(run, samples=())))
    assert len(table.rows) == 4
    assert all("no figure" in row for row in table.rows)


@pytest.mark.parametrize("arms", [(Arm.CORBA,), ALL[:3], ALL])
def test_brief_tables_fit_eighty_columns(arms):
    tables = brief_tables(result_of(make_run(arms=arms, failed=0, refused=0)))
    assert all(cell_len(line) <= 80 for table in tables for line in grid_lines(table))
    headings = [column.heading for table in tables for column in table.columns]
    assert {*map(str, arms), "÷ stream", "÷ call", "verdict"} <= set(headings)
    assert all(len(table.rows) == 18 for table in tables)


def test_cells_that_differ_in_options_say_which():
    plans = [make_plan(sizes=(1024,), threads=(1,), options=o) for o in (None, Options(depth=8))]
    plan = replace(plans[0], cells=plans[0].cells + plans[1].cells)
    result = result_of(make_run(plan=plan, failed=0, refused=0))
    assert [row[2] for row in cells_table(result).rows] == ["default", "depth 8"]
    assert rows_of(best_table(result))["corba"][-1] in {"default", "depth 8"}


def test_options_are_told_in_words():
    options = Options(
        nodelay=False,
        send_buffer_bytes=65536,
        receive_buffer_bytes=87380,
        connections=1,
        congestion_control="reno",
        orb=(("giopBufferSize", "65536"),),
    )
    assert options_text(options) == (
        "TCP_NODELAY off, send buffer 64 KiB, receive buffer 87380 B, 1 connection, reno, "
        "giopBufferSize 65536"
    )
    assert options_text(Options()) == "default"


@pytest.mark.parametrize(
    ("kind", "reverse", "name"),
    [
        (Kind.EMULATED, False, "ib (emulated)"),
        (Kind.EMULATED, True, "ib (emulated) with the ends exchanged"),
        (Kind.LOOPBACK, False, "ib (loopback)"),
        (Kind.HOSTS, False, "ib"),
    ],
)
def test_a_link_is_named_with_what_it_is(kind, reverse, name):
    assert subject("ib", kind, reverse) == name
