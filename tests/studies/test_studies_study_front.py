"""Surfaces and curves of the study, and the page that they stand on."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from study_builders import KIB, request, run_of, small_plan

from orbtax.model import Arm, Options
from orbtax.report.content import assemble
from orbtax.report.page import render_page
from orbtax.studies import study
from orbtax.studies.study_front import calls_surface, efficiency_curves, study_front
from orbtax.studies.study_results import outcomes, variations
from orbtax.studies.variations import Vary


def rate(case, number):
    if case.arm.is_corba:
        return 4.0 if (case.payload_bytes, case.threads) == (256 * KIB, 8) else 3.0
    return 8.0 if case.options == Options() and case.threads == 4 else 5.0


@pytest.fixture
def report():
    return assemble([run_of(small_plan("ib", vary=(Vary.ONEWAY,)), rate)])


def test_the_surface_is_of_the_calls_alone_with_the_published_optimum_ringed(report) -> None:
    (outcome,) = outcomes(report)
    heat_map = calls_surface(outcome)
    assert heat_map.payload_bytes == [KIB, 256 * KIB]
    assert heat_map.threads == [8, 26]
    assert heat_map.values[0][1] == pytest.approx(4.0)
    assert heat_map.best == (0, 1)
    (mark,) = heat_map.marks
    assert (mark.payload_bytes, mark.threads) == (256 * KIB, 26)
    assert calls_surface(replace(outcome, published=None)).marks == ()


def test_the_best_is_the_one_of_the_table_where_several_tie() -> None:
    def flat(case, number):
        return 3.0 + 0.0005 * case.threads if case.arm is Arm.CORBA else 8.0

    (outcome,) = outcomes(assemble([run_of(small_plan("ib"), flat)]))
    heat_map = calls_surface(outcome)
    row, column = heat_map.best
    best = outcome.ours.corba.case
    assert (heat_map.threads[row], heat_map.payload_bytes[column]) == (
        best.threads,
        best.payload_bytes,
    )
    assert best.threads == 8


def test_the_curves_are_against_the_best_socket_at_the_published_level(report) -> None:
    (outcome,) = outcomes(report)
    chart = efficiency_curves(outcome)
    (panel,) = chart.panels
    assert [line.label for line in panel.lines] == ["8 threads", "26 threads"]
    assert panel.lines[0].y == pytest.approx([3 / 8, 4 / 8])
    assert round(chart.reference.value, 3) == 0.199
    assert efficiency_curves(replace(outcome, published=None)).reference is None


def test_many_threads_get_no_more_curves_than_can_be_told_apart() -> None:
    plan = study.make_plan(request("ib", quick=False, sizes_bytes=(KIB,), streams=(1,)))
    run = replace(run_of(small_plan("ib"), rate), samples=())
    run = replace(run, record=replace(run.record, plan=plan))
    (outcome,) = outcomes(assemble([run]))
    (panel,) = efficiency_curves(outcome).panels
    assert [line.label for line in panel.lines] == [
        f"{count} thread{'s' if count > 1 else ''}" for count in (1, 2, 8, 16, 26, 32)
    ]
    assert all(math.isnan(value) for line in panel.lines for value in line.y)


def test_the_page_shows_the_table_the_figures_the_search_and_the_evidence(report) -> None:
    front = study_front(report, outcomes(report), variations(report))
    assert [drawing.name for drawing in front.drawings] == ["surface-ib", "efficiency-ib"]
    page = render_page(report, front)
    for words in (
        "The mailing-list study on ib (emulated)",
        "beside the mailing-list post",
        "One thing varied at a time",
        "published optimum, 26 threads and 256 kB",
        "Search for the best socket on ib (emulated)",
        "How far to trust it",
        "Socket buffers on ib (emulated)",
    ):
        assert words in page
