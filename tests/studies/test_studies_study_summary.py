"""The study for programs."""

from __future__ import annotations

import csv
import io
import json

import pytest
from study_builders import KIB, run_of, small_plan, with_windows

from orbtax.model import Arm
from orbtax.report.content import assemble
from orbtax.studies.study_results import outcomes, variations
from orbtax.studies.study_summary import study_csv, study_json
from orbtax.studies.variations import Vary


def rate(case, number):
    if case.arm.is_corba:
        return 4.0 if (case.payload_bytes, case.threads) == (256 * KIB, 8) else 3.0
    return 8.0 + 0.1 * case.threads


@pytest.fixture
def report():
    return assemble([with_windows(run_of(small_plan("ib", vary=(Vary.ONEWAY,)), rate))])


def test_every_case_of_the_study_has_a_row(report) -> None:
    rows = list(csv.DictReader(io.StringIO(study_csv(outcomes(report)))))
    assert len(rows) == 4 + 8
    (call,) = (row for row in rows if row["arm"] == "corba" and row["taken"] == "True")
    assert (call["payload_bytes"], call["threads"]) == (str(256 * KIB), "8")
    assert float(call["goodput_bit_s"]) == pytest.approx(4e9)
    assert float(call["efficiency_link"]) == pytest.approx(4 / 8.4)
    by_hand = next(row for row in rows if row["send_window_bytes"] == str(1024.0 * KIB))
    assert float(by_hand["send_window_in_force_bytes"]) == 2048 * KIB
    assert by_hand["clipped"] == "False"


def test_the_answers_are_strict_json_with_ours_and_published(report) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    text = study_json(report, outcomes(report), variations(report))
    content = json.loads(text, parse_constant=refuse)
    (link,) = content["links"]
    assert link["ours"]["corba_threads"] == 8
    assert link["ours"]["efficiency_link"] == pytest.approx(4 / 8.4)
    assert link["published"]["efficiency_link"] == pytest.approx(8.66 / 43.6)
    assert link["published"]["efficiency_link_low"] is None
    assert [row["varied"] for row in content["variations"]] == [None, "oneway"]
    assert content["study"] == "study"


def test_a_run_without_samples_has_nulls() -> None:
    run = run_of(small_plan("ib"), rate)
    empty = assemble([type(run)(folder=run.folder, record=run.record, samples=())])
    (link,) = json.loads(study_json(empty, outcomes(empty), ()))["links"]
    assert link["ours"]["corba_bit_s"] is None
    rows = list(csv.DictReader(io.StringIO(study_csv(outcomes(empty)))))
    assert {row["goodput_bit_s"] for row in rows if row["arm"] == Arm.CORBA} == {""}
