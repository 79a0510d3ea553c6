"""The plan of the study: one cell a link, the time or the bytes that it may take, its files."""

from __future__ import annotations

from dataclasses import replace

import pytest
from study_builders import KIB, request, run_of, small_plan

from orbtax.errors import RequestError
from orbtax.estimate import estimate_s
from orbtax.model import STUDY_TOTAL_BYTES, Arm
from orbtax.studies import study
from orbtax.studies.variations import Vary


def test_each_link_is_one_cell_so_that_any_two_cases_are_paired() -> None:
    plan = study.make_plan(request())
    assert [link.name for link in plan.links] == ["ib", "10ge", "1ge"]
    assert [{case.link for case in cell.cases} for cell in plan.cells] == [
        {"ib"},
        {"10ge"},
        {"1ge"},
    ]
    assert all({case.arm for case in cell.cases} == {Arm.CORBA, Arm.STREAM} for cell in plan.cells)


def test_the_quick_study_of_three_links_is_planned_for_less_than_ten_minutes() -> None:
    plan = study.make_plan(request())
    todo = range(len(plan.cells))
    assert estimate_s(plan, todo, []) < 600
    blocks = sum(len(cell.cases) * (cell.rounds + study.PILOT_BLOCKS) for cell in plan.cells)
    assert blocks * (plan.block_s + study.BLOCK_OVERHEAD_S) < 600


def test_fewer_cases_never_get_blocks_beyond_the_limit() -> None:
    shortest, longest = study.BLOCK_S
    assert small_plan("ib").block_s == longest
    many = study.make_plan(request("ib", threads=tuple(range(1, 200))))
    assert many.block_s == shortest


def test_the_full_study_moves_8_gb_in_each_of_all_combinations() -> None:
    plan = study.make_plan(request("ib", quick=False))
    (cell,) = plan.cells
    assert cell.total_bytes == STUDY_TOTAL_BYTES
    assert cell.rounds == study.FULL_ROUNDS
    assert sum(case.arm is Arm.CORBA for case in cell.cases) == 11 * 32


def test_sizes_threads_and_streams_narrow_the_grid() -> None:
    plan = study.make_plan(
        request("ib", quick=False, sizes_bytes=(KIB,), threads=(2,), streams=(3, 6))
    )
    cases = plan.cells[0].cases
    assert {(c.payload_bytes, c.threads) for c in cases if c.arm is Arm.CORBA} == {(KIB, 2)}
    assert {case.threads for case in cases if case.arm is Arm.STREAM} == {3, 6}
    assert any(case.options.send_buffer_bytes for case in cases)


def test_windows_are_searched_even_where_no_usual_number_of_streams_is_asked_for() -> None:
    plan = study.make_plan(request("ib", streams=(5, 7)))
    by_hand = {c.threads for c in plan.cells[0].cases if c.options.send_buffer_bytes}
    assert by_hand == {5}


def test_a_payload_above_a_rounds_bytes_is_refused() -> None:
    with pytest.raises(RequestError, match="8 GB over 4 rounds"):
        study.make_plan(request("ib", quick=False, sizes_bytes=(3 * 10**9,)))


def test_varied_links_follow_their_own_and_run_the_probes_alone() -> None:
    plan = small_plan("ib", "1ge", vary=(Vary.SCALING, Vary.ONEWAY))
    assert [link.name for link in plan.links] == ["ib", "ib~scaling-off", "1ge", "1ge~scaling-off"]
    own, varied = plan.cells[0], plan.cells[1]
    assert {case.arm for case in own.cases} == {Arm.CORBA, Arm.STREAM, Arm.ONEWAY}
    plain = {replace(case, link="ib") for case in varied.cases}
    assert plain < set(own.cases)


def test_what_is_left_out_is_known_beforehand() -> None:
    (finding,) = request("ib", vary=(Vary.CONGESTION,)).left_out
    assert finding.code == "not-varied"
    assert request("ib").left_out == ()


def test_the_report_holds_every_table_in_every_form(tmp_path, capsys) -> None:
    run = run_of(small_plan("ib", vary=(Vary.ONEWAY,)), rounds=4)
    study.report([run], tmp_path, join=False, quiet=False)
    names = {file.name for file in tmp_path.iterdir()}
    for stem in ("study", "search-ib", "variations"):
        assert {f"{stem}.{suffix}" for suffix in ("txt", "md", "csv", "html", "tex")} <= names
    assert {"index.html", "summary.csv", "summary.json", "figures"} <= names
    assert {file.name for file in (tmp_path / "figures").iterdir()} == {
        f"{stem}-ib.{suffix}" for stem in ("surface", "efficiency") for suffix in ("svg", "png")
    }
    said = capsys.readouterr().out
    assert "The post has 8.66 of 43.6 Gbit/s" in said
    assert "One thing varied at a time" in said
    assert str(tmp_path / "index.html") in said.replace("\n", "")


def test_a_quiet_report_says_the_table_alone(tmp_path, capsys) -> None:
    run = run_of(small_plan("ib"), rounds=4)
    study.report([run], tmp_path, join=False, quiet=True)
    said = capsys.readouterr().out
    assert said.startswith("The best of CORBA and of a socket")
    assert "index.html" not in said
    assert not (tmp_path / "variations.csv").exists()


def test_the_same_run_gives_the_same_bytes(tmp_path) -> None:
    run = run_of(small_plan("ib"), rounds=4)
    for folder in ("one", "two"):
        study.report([run], tmp_path / folder, join=False, quiet=True)
    for file in (tmp_path / "one").rglob("*.*"):
        again = tmp_path / "two" / file.relative_to(tmp_path / "one")
        assert file.read_bytes() == again.read_bytes(), file.name
