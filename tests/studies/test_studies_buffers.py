import json
from dataclasses import replace
from pathlib import Path

import pytest
from buffer_builders import KIB, Seen, run_of
from builders_ends import LINKS

from orbtax.errors import RequestError
from orbtax.estimate import estimate_s
from orbtax.model import Arm, Kind, Link, Options, Placement
from orbtax.report.forms import Form
from orbtax.socket_buffers import Buffers, buffers_of, parse_buffers
from orbtax.studies import buffers as study
from orbtax.studies import reporting

pytestmark = pytest.mark.slow

IB, LO = LINKS["ib"], LINKS["lo"]
HOSTS = Link(name="cluster", kind=Kind.HOSTS)
POST = {parse_buffers(text) for text in ("16KiB/87380B", "256KiB", "16MiB/8MiB")}


def plan_of(*links: Link, **changes):
    return study.make_plan(study.Request(links=links, placement=Placement(), **changes))


def asked(plan) -> set[tuple[Arm, int, Buffers]]:
    return {
        (case.arm, case.payload_bytes, buffers_of(plan.link(case.link), case))
        for cell in plan.cells
        for case in cell.cases
    }


def test_without_flags_it_is_the_post_beside_the_kernels_choice() -> None:
    plan = plan_of(IB)
    assert asked(plan) == {
        (arm, size, buffers)
        for arm in (Arm.STREAM, Arm.CALL, Arm.CORBA)
        for size in (128, 256, 512, *(KIB << step for step in range(8)))
        for buffers in {Buffers(), *POST}
    }
    assert plan.watch


def test_on_an_emulated_link_each_setting_is_a_link_of_its_own() -> None:
    plan = plan_of(IB)
    assert [link.name for link in plan.links] == [
        "ib",
        "ib~16KiB-87380B",
        "ib~256KiB-256KiB",
        "ib~16MiB-8MiB",
    ]
    assert {case.options for cell in plan.cells for case in cell.cases} == {Options()}
    assert len(plan.cells) == len(study.SIZES_BYTES)
    for cell in plan.cells:  # all settings side by side
        assert {case.link for case in cell.cases} == {link.name for link in plan.links}


@pytest.mark.parametrize("link", [LO, HOSTS])
def test_elsewhere_cases_ask_themselves_and_are_run_side_by_side(link: Link) -> None:
    plan = plan_of(link, sizes_bytes=(KIB,))
    assert plan.links == (link,)
    (cell,) = plan.cells
    sockets = {(case.arm, buffers_of(link, case)) for case in cell.cases if not case.arm.is_corba}
    assert sockets == {(arm, each) for arm in (Arm.STREAM, Arm.CALL) for each in study.SETTINGS}
    assert [case.options for case in cell.cases if case.arm.is_corba] == [Options()]


def test_the_orb_has_a_send_buffer_of_its_own_everywhere() -> None:
    plan = plan_of(LO, sizes_bytes=(KIB,), settings=(Buffers(64 * KIB, None),), arms=(Arm.CORBA,))
    (case,) = plan.cells[0].cases
    assert case.options.send_buffer_bytes == 64 * KIB


def test_nothing_that_can_be_had_is_a_wrong_request() -> None:
    with pytest.raises(RequestError, match="omniORB has no option for the receive buffer"):
        plan_of(LO, settings=(Buffers(None, 64 * KIB),), arms=(Arm.CORBA,))


def test_several_links_may_be_of_different_kinds() -> None:
    plan = plan_of(IB, LO, sizes_bytes=(KIB,), settings=(Buffers(), Buffers(4 * KIB, 4 * KIB)))
    assert [link.name for link in plan.links] == ["ib", "ib~4KiB-4KiB", "lo"]


def test_a_default_link_takes_a_couple_of_minutes() -> None:
    plan = plan_of(IB)
    assert 60 < estimate_s(plan, range(len(plan.cells)), []) < 180


def test_rounds_are_fixed_unless_all_is_asked_for() -> None:
    assert {cell.rounds for cell in plan_of(IB).cells} == {study.ROUNDS}
    full = plan_of(IB, full=True)
    assert {(cell.rounds, cell.budget_s) for cell in full.cells} == {(None, 60.0)}
    assert full.block_s > plan_of(IB).block_s
    assert {cell.rounds for cell in plan_of(IB, full=True, rounds=7).cells} == {7}


def test_a_payload_of_nothing_is_refused() -> None:
    with pytest.raises(RequestError):
        plan_of(IB, sizes_bytes=(0,))


def test_the_report_has_page_summaries_figure_and_tables_in_every_form(tmp_path: Path) -> None:
    run = run_of({}, (IB, LO))
    reporting.write([run], tmp_path, join=False, quiet=True)
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert {"index.html", "summary.csv", "summary.json", "figures/speed-ib.svg"} <= names
    assert {f"tables/goodput-ib-stream.{form.suffix}" for form in Form} <= names
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert len(summary["cases"]) == 24 + 2 * 9
    page = (tmp_path / "index.html").read_text()
    for text in ("What bounds stream on ib", "SDP 2008", "corba cannot have 16 KiB/87380 B here"):
        assert text in page


def test_what_is_said_is_the_result_and_quietly_only_the_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of({(Arm.STREAM, KIB, Buffers()): Seen(gbit_s=9.0)})
    reporting.write([run], tmp_path / "loud", join=False, quiet=False)
    loud = capsys.readouterr().out
    assert "On ib (emulated) stream was fastest with messages of 1 KiB" in loud
    assert loud.rstrip().endswith("index.html")
    reporting.write([run], tmp_path / "quiet", join=False, quiet=True)
    quiet = capsys.readouterr().out
    assert "Goodput of stream on ib" in quiet
    assert "was fastest" not in quiet


def test_two_runs_of_different_links_stand_in_one_report(tmp_path: Path) -> None:
    runs = [replace(run_of({}, (link,)), folder=link.name) for link in (IB, LINKS["10ge"])]
    reporting.write(runs, tmp_path, join=True, quiet=True)
    rows = (tmp_path / "summary.csv").read_text().splitlines()
    assert {row.split(",")[0] for row in rows[1:]} == {"ib", "10ge"}
