"""The page of the study, made from a run alone."""

from __future__ import annotations

from dataclasses import replace

from study_builders import KIB, run_of, small_plan

from orbtax.model import STUDY_TOTAL_BYTES, Arm
from orbtax.studies.study_page import figures, page
from orbtax.studies.variations import Vary


def rate(case, number):
    if case.arm.is_corba:
        return 7.6 if case.payload_bytes == 256 * KIB and case.threads == 8 else 3.0
    return 8.0


def test_the_page_has_every_part_and_ends_in_one_newline() -> None:
    text = page(run_of(small_plan(vary=(Vary.ONEWAY,)), rate))
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "# The mailing-list study",
        "## As published",
        "## Ours beside it",
        "## What agrees, what does not, and why",
        "### ib (emulated)",
        "### 10ge (emulated)",
        "### 1ge (emulated)",
        "## The method side by side",
        "## The calls",
        "## The search for the best socket",
        "## What the post leaves open, varied",
        "## What the post leaves unclear",
        "## How to make it again",
    ]
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_the_same_run_gives_the_same_text() -> None:
    run = run_of(small_plan("ib"), rate)
    assert page(run) == page(run)


def test_efficiencies_that_lie_close_are_said_to_agree_and_others_how_far_apart() -> None:
    text = " ".join(page(run_of(small_plan("ib", "1ge"), rate)).split())
    assert "Ours lies 75.1 percentage points above the published one." in text
    assert "The efficiencies agree within five percentage points." in text


def test_the_published_optimum_is_looked_up_in_ours() -> None:
    text = page(run_of(small_plan("ib", "1ge"), rate))
    assert "At the published optimum, 26 threads and 256 kB, CORBA moved 3.00" in text
    assert "The published optimum, 32 threads and 64 kB, was not measured here." in text


def test_a_share_of_the_8_gb_or_all_of_it_is_named_in_the_method() -> None:
    run = run_of(small_plan("ib"), rate)
    assert "5 rounds" not in page(run)
    assert "| 6 rounds of about 0.7 s; the share of 8 GB stands below the table |" in page(run)
    (cell,) = run.record.plan.cells
    full = replace(cell, total_bytes=STUDY_TOTAL_BYTES, rounds=4)
    plan = replace(run.record.plan, cells=(full,))
    whole = replace(run, record=replace(run.record, plan=plan))
    assert "| 8 GB in 4 rounds |" in page(whole)


def test_the_page_names_the_command_of_the_run() -> None:
    run = run_of(small_plan("ib"), rate)
    record = replace(run.record, command="invoke study --quick --link ib")
    assert "invoke study --quick --link ib\ninvoke docs\n" in page(replace(run, record=record))


def test_a_run_without_samples_has_a_page_too() -> None:
    run = replace(run_of(small_plan("ib"), rate), samples=())
    assert "no call gave a figure" in " ".join(page(run).split())
    assert Arm.CORBA in {case.arm for case in run.record.plan.cells[0].cases}


def test_every_figure_of_the_page_is_drawn() -> None:
    run = run_of(small_plan("ib"), rate)
    drawn = figures(run)
    assert set(drawn) == {"study-surface-ib.svg", "study-efficiency-ib.svg"}
    text = page(run)
    for name, content in drawn.items():
        assert f"(figures/{name})" in text
        assert content.startswith(b"<?xml")
    assert text.count("](figures/") == len(drawn)
