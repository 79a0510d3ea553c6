"""The study of message time: its plan, and what a made-up run says in results, words and files."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from latency_builders import CALLS, MERGED, SIZES, links, run_of, small_plan

from orbtax.errors import RequestError
from orbtax.estimate import estimate_s
from orbtax.model import Arm, Case, Options, Placement
from orbtax.record import Run
from orbtax.studies import latency, reporting
from orbtax.studies.latency_page import figures, page
from orbtax.studies.latency_results import LatencyResult, latency_results
from orbtax.studies.latency_words import answers, setting_text

pytestmark = pytest.mark.slow

SMALL_SEND = Options(send_buffer_bytes=32_768)


def stalling(case: Case, draws: np.random.Generator) -> np.ndarray:
    """Calls of the ORB with the small send buffer meet the delayed acknowledgement from 100 kB."""
    met = case.options == SMALL_SEND and case.payload_bytes >= 100_000
    return met * draws.uniform(40_000, 44_000, CALLS)


def jumping(case: Case, draws: np.random.Generator) -> np.ndarray:
    """A raw call takes 100 µs more from 64 KiB on, beyond the ORB's reach."""
    return np.full(CALLS, 100.0 * (case.arm is Arm.CALL and case.payload_bytes >= 65_536))


def result_of(run: Run) -> LatencyResult:
    (result,) = latency_results(run)
    return result


def request(**changes) -> latency.Request:
    return replace(latency.Request(links=links(), placement=Placement()), **changes)


def test_the_brief_study_of_a_link_takes_about_two_minutes() -> None:
    plan = latency.make_plan(request())
    # The estimate counts 60 ms for each block beside the time that its calls take.
    assert 60 < estimate_s(plan, range(len(plan.cells)), ()) < 180
    assert plan.least_messages == latency.LEAST_CALLS
    assert not plan.ceilings


def test_a_slow_link_leaves_out_what_would_take_long_but_for_the_largest() -> None:
    plan = latency.make_plan(request(links=links("1ge", "10ge")))
    sizes = {
        name: {
            case.payload_bytes
            for cell in plan.cells
            for case in cell.cases
            if case.link == name and case.arm is Arm.CALL
        }
        for name in ("1ge", "10ge")
    }
    assert sizes["10ge"] - sizes["1ge"] == {2_000_000, 5_000_000}
    assert max(sizes["1ge"]) == max(sizes["10ge"]) == 10_000_000


def test_every_link_has_the_same_settings() -> None:
    plan = latency.make_plan(request(links=links("lo", "1ge"), sizes_bytes=SIZES, rounds=2))
    of_link = {
        name: [
            [replace(case, link="") for case in cell.cases]
            for cell in plan.cells
            if cell.cases[0].link == name
        ]
        for name in ("lo", "1ge")
    }
    assert of_link["lo"] == of_link["1ge"]
    assert {cell.rounds for cell in plan.cells} == {2}


def test_sizes_are_those_that_were_asked_for_and_none_for_calls() -> None:
    plan = latency.make_plan(request(sizes_bytes=(4096,), full=True))
    cases = [case for cell in plan.cells for case in cell.cases if case.arm is not Arm.STREAM]
    assert {case.payload_bytes for case in cases if not case.arm.is_corba} == {4096}
    assert {case.payload_bytes for case in cases if case.arm is Arm.CORBA} == {0, 4096}


def test_the_law_of_every_arm_is_found() -> None:
    result = result_of(run_of(small_plan()))
    assert len(result.sweeps) == 4 + 2 + 2 + 2 + 2
    for each in result.sweeps:
        assert each.model is not None
        assert each.model.overhead_us.value == pytest.approx(50, rel=0.03)
        assert each.model.asymptotic_bytes_s.value == pytest.approx(4e9, rel=0.05)
        assert each.model.half_speed_bytes.value == pytest.approx(
            200_000 / each.sweep.ways, rel=0.1
        )
        assert (each.stalls, each.jumps, each.splits) == ((), (), ())
        speed, size = each.peak
        assert size == SIZES[-1]
        assert 3.5e9 < speed < 4e9


def test_the_empty_call_stands_beside_the_overhead_of_its_own_setting() -> None:
    result = result_of(run_of(small_plan()))
    assert [setting_text(each.options) for each in result.empty_calls] == [
        "default",
        "ends exchanged",
        "send buffer 32 KiB",
        "send buffer 64 KiB",
    ]
    for each in result.empty_calls:
        assert each.time_us == pytest.approx(50, rel=0.02)
        assert each.overhead_ratio == pytest.approx(1, abs=0.05)


def test_the_speed_of_a_large_message_stands_beside_the_one_of_the_model() -> None:
    result = result_of(run_of(small_plan()))
    call = result.sweep(Arm.CALL)
    assert call is not None
    expected_bytes_s = 1_048_576 / (50e-6 + 1_048_576 / 4e9)
    assert call.speed_bytes_s(1_048_576) == pytest.approx(expected_bytes_s, rel=0.02)
    assert call.speed_bytes_s(12_345) is None
    (said,) = [sentence for sentence in answers(result) if sentence.startswith("call: ")]
    share = expected_bytes_s / 4e9
    assert "(1 MiB: " in said
    shown = float(said.split("measured, ")[1].split(" %")[0])
    assert shown == pytest.approx(100 * share, rel=0.06)


def test_stalls_are_named_with_their_remedies_and_kept_out_of_the_model() -> None:
    result = result_of(run_of(small_plan(), stalling))
    stalled = [each for each in result.sweeps if each.stalls]
    assert [(each.sweep.arm, each.sweep.options) for each in stalled] == [(Arm.CORBA, SMALL_SEND)]
    (each,) = stalled
    assert each.left_out_bytes == SIZES[5:]
    assert each.model is not None
    assert each.model.overhead_us.value == pytest.approx(50, rel=0.05)
    tried = result.remedies(each.stalls[0], each.sweep)
    assert {(setting_text(remedy.options), remedy.removes) for remedy in tried} == {
        ("default", True),
        ("send buffer 64 KiB", True),
    }
    (said,) = [sentence for sentence in answers(result) if "waited for a timer" in sentence]
    assert said == (
        "corba with send buffer 32 KiB waited for a timer of the kernel (delayed acknowledgement, "
        "40.0 ms) at 100 kB, 256 KiB, 1 MiB and 4 MB: gone by default; gone with send buffer "
        "64 KiB."
    )


def test_a_jump_is_found_in_every_setting_that_has_it() -> None:
    plan = latency.make_plan(
        request(sizes_bytes=(1, 1000, 65_533, 65_536, 65_539, 262_144), rounds=3)
    )
    result = result_of(run_of(plan, jumping))
    jumps = {
        (each.sweep.arm, jump.from_bytes, jump.to_bytes)
        for each in result.sweeps
        for jump in each.jumps
    }
    assert jumps == {(Arm.CALL, 65_533, 65_536)}


def test_merged_messages_are_those_of_the_streams() -> None:
    result = result_of(run_of(small_plan()))
    ratios = {each.options.nodelay: each.messages_per_segment for each in result.merged}
    assert ratios == {True: 1.0, False: pytest.approx(CALLS / 2)}
    assert CALLS / 2 <= MERGED


def test_links_without_a_block_that_went_well_have_no_result() -> None:
    plan = small_plan("lo", "1ge")
    run = run_of(plan)
    kept = tuple(sample for sample in run.samples if sample.case.link == "1ge")
    (result,) = latency_results(replace(run, samples=kept))
    assert result.name == "1ge (emulated)"
    assert latency_results(replace(run, samples=())) == ()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    reporting.write([run_of(small_plan(), stalling)], tmp_path, join=False, quiet=True)
    return tmp_path


def test_the_report_has_page_figures_and_summaries(folder: Path, capsys) -> None:
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    figures = {
        f"figures/{name}-lo.{suffix}"
        for name in ("time", "model", "residuals", "stalls", "merging")
        for suffix in ("svg", "png")
    }
    assert names == {"index.html", "summary.csv", "summary.json", *figures}
    html = (folder / "index.html").read_text()
    for heading in ("Overhead, speed, steps and stalls", "All sizes", "How far to trust it"):
        assert heading in html
    assert ">25</td>" in html  # the overhead of 1994


def test_the_summaries_have_every_size_and_every_sweep(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((folder / "summary.csv").read_text())))
    run = run_of(small_plan(), stalling)
    planned = {
        case
        for cell in run.record.plan.cells
        for case in cell.cases
        if case.arm not in (Arm.STREAM, Arm.EMPTY)
    }
    assert len(rows) == len(planned)
    stalled = [row for row in rows if row["stall"]]
    assert {row["arm"] for row in stalled} == {"corba"}
    assert {row["stall"] for row in stalled} == {"delayed acknowledgement"}
    assert all(int(row["stalled_calls"]) == int(row["calls"]) for row in stalled)

    summary = json.loads((folder / "summary.json").read_text())
    (link,) = summary["links"]
    assert len(link["sweeps"]) == 12
    (first, *_) = link["sweeps"]
    assert first["model"]["overhead_us"] == pytest.approx(50, rel=0.03)
    assert first["model"]["overhead_us_low"] < first["model"]["overhead_us"]
    assert [stall["payload_bytes"] for each in link["sweeps"] for stall in each["stalls"]] == list(
        SIZES[5:]
    )


def test_the_terminal_shows_models_stalls_and_what_was_published(tmp_path: Path, capsys) -> None:
    reporting.write([run_of(small_plan(), stalling)], tmp_path, join=False, quiet=False)
    said = capsys.readouterr().out
    assert "Overhead and speed on lo (loopback)" in said
    assert "stall: corba, send buffer 32 KiB, 100 kB" in said
    assert "HP 9000/700 → RS/6000 590" in said
    assert "omniORB always sets it" in said
    assert "Messages merged by a stream" in said
    assert max(map(len, said.splitlines())) <= 200


def test_the_page_is_the_same_each_time_and_names_what_it_found() -> None:
    run = run_of(small_plan(), stalling)
    text = page(run)
    assert text == page(run)
    assert text.startswith("# The time of a message by its size\n")
    for heading in (
        "## On lo (loopback)",
        "### Overhead and speed",
        "### Beside the report of 1994",
        "### Where it is not continuous",
        "### Merged messages",
        "## How to make it again",
    ):
        assert f"\n{heading}\n" in text
    assert "delayed acknowledgement, 40.0 ms" in text
    shown = re.findall(r"\]\(figures/(.+?)\)", text)
    assert sorted(shown) == sorted(figures(run))
    assert all(content.startswith(b"<?xml") for content in figures(run).values())
    clean = page(run_of(small_plan()))
    assert "Nowhere: no call piled up at a timer" in clean


def test_runs_of_other_studies_are_refused_beside_it(tmp_path: Path) -> None:
    run = run_of(small_plan())
    other = replace(run.record.plan, study="compare")
    with pytest.raises(RequestError, match="different studies"):
        reporting.write(
            [run, replace(run, record=replace(run.record, plan=other))],
            tmp_path,
            join=True,
            quiet=True,
        )
