"""One link after the other, one cell after the other: measured, and kept as it goes.

In each cell the arms follow one another, and their order is turned round from one round to the
next (A B B A), so that a drift falls on all of them alike.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence

from orbtax import orb, preload
from orbtax.calibrate import calibrate
from orbtax.estimate import SCOUT_S, estimate_s, scouts
from orbtax.host import environment
from orbtax.links import facts as link_facts
from orbtax.links.loopback import sender_alone
from orbtax.links.opened import OpenLink, open_link
from orbtax.model import Case, Finding, Plan
from orbtax.pair import Pair
from orbtax.record import Environment, LinkFacts, LinkVisit, Run
from orbtax.rounds import Bench, CellRun, Observer
from orbtax.store import Store


def conduct(run: Run, keep: Callable[[], Store], observer: Observer) -> None:
    """Measures what `run` still lacks of its plan and keeps it in the store that `keep` opens.

    The store is opened as soon as the first link stands, before any work. Whatever ends this, an
    interruption included, finished samples are kept, programs are ended and links are gone.

    Raises UnavailableError for a link that cannot be had, or a library that an arm was to run
    under; RequestError from `keep`.
    """
    plan = run.record.plan
    todo = [index for index in range(len(plan.cells)) if index not in run.record.done_cells]
    with contextlib.ExitStack() as stack:
        session: Session | None = None
        for link in plan.links:
            here = [index for index in todo if plan.cells[index].cases[0].link == link.name]
            if not here:
                continue
            with open_link(link) as opened:
                if session is None:
                    store = stack.enter_context(contextlib.closing(keep()))
                    session = Session(run, store, observer, todo)
                session.visit(opened, here)


class Session:
    """One sitting at a run: what it has measured so far, and `run.json` kept up to date."""

    def __init__(self, run: Run, store: Store, observer: Observer, todo: Sequence[int]) -> None:
        self._record = run.record
        self._store = store
        self._observer = observer
        self._todo = todo
        self._samples = list(run.samples)
        self._number = 1 + max((visit.session for visit in run.record.visits), default=-1)
        self._announced = False

    def visit(self, opened: OpenLink, todo: Sequence[int]) -> None:
        """Runs the cells in `todo` between two looks at the link and at both hosts."""
        plan = self._record.plan
        first = _first_case(plan, todo)
        settings = orb.settings(first)
        with (
            Pair(opened.link, plan.placement, self._number, plan.verify, watch=plan.watch) as pair,
            Pair(
                sender_alone(opened.link), plan.placement, self._number, verify=False, check=False
            ) as alone,
        ):
            preloaded = preload.try_out(
                pair, opened.link, [case for index in todo for case in plan.cells[index].cases]
            )
            sender, receiver = pair.describe(first.arm, settings)
            before = LinkVisit(
                session=self._number,
                before=opened.facts(),
                sender_before=sender,
                receiver_before=receiver,
            )
            self._arrive(before, opened, (*preloaded, *_stray_findings(pair.strays)))
            bench = Bench(opened.link, before.before, pair, alone, self._store, self._observer)
            self._announce(bench, opened, todo)
            for index in todo:
                self._run_cell(index, bench)
            self._leave(before, opened.facts(), *pair.describe(first.arm, settings))

    def _arrive(self, visit: LinkVisit, opened: OpenLink, findings: Sequence[Finding]) -> None:
        mismatches = link_facts.mismatches(opened.link, visit.before)
        self._write(visits=(*self._record.visits, visit), findings=(*mismatches, *findings))

    def _announce(self, bench: Bench, opened: OpenLink, todo: Sequence[int]) -> None:
        """Tries a few cases of a plan without budgets, so that its duration can be told."""
        plan = self._record.plan
        known = any(sample.case.link == opened.link.name for sample in self._samples)
        for index, case in () if known else scouts(plan, todo, opened.link):
            self._samples.append(calibrate(case, SCOUT_S, bench.pilot(case, index)))
        if not self._announced:
            self._announced = True
            estimate = estimate_s(plan, self._todo, self._samples)
            self._observer.started(plan, self._todo, estimate)

    def _run_cell(self, index: int, bench: Bench) -> None:
        earlier = [sample for sample in self._samples if sample.cell == index]
        cell = CellRun(index, self._record.plan, bench, earlier)
        cell.run(self._samples)
        self._samples += cell.samples[len(earlier) :]
        done = (*self._record.done_cells, index)
        self._write(done_cells=done, findings=cell.given_up())
        self._observer.cell_done(index)

    def _leave(
        self, before: LinkVisit, facts: LinkFacts, sender: Environment, receiver: Environment
    ) -> None:
        visit = dataclasses.replace(
            before, after=facts, sender_after=sender, receiver_after=receiver
        )
        changes = (
            *link_facts.changes(before.before, facts),
            *environment.changes(before.sender_before, sender),
            *environment.changes(before.receiver_before, receiver),
        )
        self._write(visits=(*self._record.visits[:-1], visit), findings=changes)

    def _write(self, *, findings: Sequence[Finding], **changes: object) -> None:
        together = tuple(dict.fromkeys((*self._record.findings, *findings)))
        self._record = dataclasses.replace(
            self._record,
            findings=together,
            **changes,  # type: ignore[arg-type]
        )
        self._store.write_record(self._record)


def _first_case(plan: Plan, todo: Sequence[int]) -> Case:
    """A case to describe the programs by: an ORB's, if there is one."""
    cases = [case for index in todo for case in plan.cells[index].cases]
    return next((case for case in cases if case.arm.is_corba), cases[0])


def _stray_findings(strays: Sequence[str]) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            code="stray-orb-setting",
            text=f"an ORB setting was found and shut out: {stray}",
            cure="remove it from the environment or the file, so that no one is misled by it",
        )
        for stray in strays
    )
