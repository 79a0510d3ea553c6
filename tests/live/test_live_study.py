"""The study on emulated links: measured, interrupted and gone on with, varied, refused."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from orbtax import conduct, sitting, store
from orbtax.errors import ExitCode
from orbtax.links import catalogue
from orbtax.model import Arm, Placement, Plan, Purpose
from orbtax.record import Run, RunRecord, Sample, Status
from orbtax.report.content import assemble
from orbtax.store import Store
from orbtax.studies import study
from orbtax.studies.study_results import outcomes, variations
from orbtax.studies.variations import WINDOW_SCALING, Vary, offered_controls

pytestmark = [pytest.mark.live, pytest.mark.slow]

KIB = 1024
ORBTAX = str(Path(sys.executable).parent / "orbtax")


def request_of(*names: str, vary: tuple[Vary, ...] = ()) -> study.Request:
    return study.Request(
        links=catalogue.pick(catalogue.load_catalogue(), names),
        quick=True,
        sizes_bytes=(64 * KIB,),
        threads=(1, 8),
        streams=(1, 4),
        vary=vary,
        controls=offered_controls(),
        placement=Placement(),
    )


def plan_of(request: study.Request, **changes) -> Plan:
    """A plan of a few cases, in blocks that show that it works and nothing about speed."""
    plan = study.make_plan(request)
    cells = tuple(replace(cell, **({"rounds": 2} | changes)) for cell in plan.cells)
    return replace(plan, cells=cells, block_s=0.03)


def measured(run: Run) -> list[Sample]:
    return [sample for sample in run.samples if sample.purpose is Purpose.MEASURE]


def assert_whole(run: Run) -> None:
    """Every case of the plan once in each round, and all of it good."""
    seen = Counter((sample.case, sample.round) for sample in measured(run))
    assert seen == Counter(
        (case, number)
        for cell in run.record.plan.cells
        for case in cell.cases
        for number in range(cell.rounds or 0)
    )
    assert {sample.status for sample in measured(run)} == {Status.OK}


def test_each_link_ends_with_three_rows(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    code = sitting.measure(plan_of(request_of("10ge", "1ge")), "invoke study", folder, quiet=True)
    assert code is ExitCode.DONE
    run = store.read(folder)
    assert_whole(run)
    rows = (folder / "report" / "study.csv").read_text().splitlines()
    assert [row.split(",")[:2] for row in rows[1:]] == [
        [link, figures]
        for link in ("10ge", "1ge")
        for figures in ("ours", "published", "difference")
    ]
    for outcome in outcomes(assemble([run])):
        assert outcome.ours.efficiency is not None
        assert outcome.window_scaling is True
        send, receive = outcome.windows
        assert send is not None
        assert receive is not None


class InterruptedAfter:
    """An observer that interrupts, as Ctrl-C does, after so many samples."""

    def __init__(self, samples: int) -> None:
        self._left = samples

    def started(self, *_: object) -> None:
        pass

    def block_started(self, *_: object) -> None:
        pass

    def cell_done(self, *_: object) -> None:
        pass

    def sample(self, _: Sample) -> None:
        self._left -= 1
        if not self._left:
            raise KeyboardInterrupt


@pytest.mark.parametrize("total_bytes", [None, 4_000_000])
def test_interrupted_and_gone_on_with_it_has_each_case_once(tmp_path: Path, total_bytes) -> None:
    """With blocks sized by pilots, as in a quick study, and with fixed bytes, as in a full one."""
    folder = tmp_path / "run"
    plan = plan_of(request_of("1ge"), total_bytes=total_bytes)
    record = RunRecord(
        plan=plan, created_utc="2026-01-01T00:00:00+00:00", orbtax_version="0", command="invoke"
    )
    whole = sum(len(cell.cases) * (cell.rounds or 0) for cell in plan.cells)
    pilots = 0 if total_bytes else 2 * len(plan.cells[0].cases)
    with pytest.raises(KeyboardInterrupt):
        conduct.conduct(
            Run(folder=str(folder), record=record, samples=()),
            lambda: Store.create(folder, record),
            InterruptedAfter(pilots + whole // 3),
        )
    assert len(measured(store.read(folder))) < whole
    assert sitting.resume(folder, quiet=True) is ExitCode.DONE
    run = store.read(folder)
    assert_whole(run)
    assert {sample.session for sample in run.samples} == {0, 1}


def test_what_is_varied_is_what_was_measured(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    vary = (Vary.SCALING, Vary.MTU, Vary.CONGESTION, Vary.CONNECTIONS, Vary.ONEWAY)
    plan = plan_of(request_of("ib", vary=vary))
    kept = ("ib", "ib~scaling-off", "ib~mtu-65520", "ib~reno")
    plan = replace(
        plan,
        links=tuple(link for link in plan.links if link.name in kept),
        cells=tuple(cell for cell in plan.cells if cell.cases[0].link in kept),
    )
    assert [link.name for link in plan.links] == list(kept)
    sitting.measure(plan, "invoke study --vary", folder, quiet=True)
    run = store.read(folder)
    assert_whole(run)
    facts = {visit.before.link: visit.before for visit in run.record.visits}
    assert facts["ib~scaling-off"].receiver.sysctls[WINDOW_SCALING] == "0"
    assert facts["ib~mtu-65520"].sender.mtu_bytes == 65520
    for sample in measured(run):
        assert sample.client is not None
        states = sample.client.connections
        scaled = {state.window_scale_send is not None for state in states}
        assert scaled == {sample.case.link != "ib~scaling-off"}
        control = "reno" if sample.case.link == "ib~reno" else "cubic"
        assert {state.congestion_control for state in states} == {control}
        if sample.case.arm is Arm.CORBA:
            assert sample.connections == min(8, sample.case.connections)
    rows = [row.name for row in variations(assemble([run]))]
    assert rows == ["", "connections-5", "oneway", "scaling-off", "mtu-65520", "reno"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--vary=colour"], "'colour' cannot be varied"),
        (["--link", "nowhere"], "nowhere"),
        (["--sizes", "64"], "64"),
        (["--streams", "0"], "0"),
    ],
)
def test_a_wrong_request_is_refused_before_any_work(tmp_path: Path, words, said: str) -> None:
    done = subprocess.run(
        [ORBTAX, "study", "--quick", *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == ExitCode.REQUEST
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_varied_is_told_with_the_results(tmp_path: Path, capfd) -> None:
    folder = tmp_path / "run"
    asked = request_of("lo", vary=(Vary.MTU,))
    plan = plan_of(asked, rounds=1)
    code = sitting.measure(plan, "invoke study", folder, quiet=False, findings=asked.left_out)
    assert code is ExitCode.DONE
    assert "mtu is not varied on lo" in " ".join(capfd.readouterr().err.split())
    assert "mtu is not varied on lo" in (folder / "report" / "index.html").read_text()
