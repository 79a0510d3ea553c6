"""One link after the other, one cell after the other: measured, and kept as it goes.

In each cell the arms follow one another, and their order is turned round from one round to the
next (A B B A), so that a drift falls on all of them alike. Links that a cell has cases on are open
together, so that this holds for links, too.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from orbtax import orb, preload
from orbtax.calibrate import calibrate
from orbtax.estimate import SCOUT_S, estimate_s, scouts
from orbtax.host import environment
from orbtax.links import facts as link_facts
from orbtax.links.loopback import sender_alone
from orbtax.links.opened import OpenLink, open_link
from orbtax.model import Case, Finding, Link, Plan
from orbtax.pair import Pair
from orbtax.record import Environment, LinkFacts, LinkVisit, Run
from orbtax.rounds import Bench, CellRun, Observer, Site
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
        for group in _groups(plan, todo):
            with contextlib.ExitStack() as links:
                opened = [links.enter_context(open_link(link)) for link in group.links]
                if session is None:
                    store = stack.enter_context(contextlib.closing(keep()))
                    session = Session(run, store, observer, todo)
                session.visit(opened, group.cells)


@dataclass(frozen=True, slots=True)
class _Group:
    """Links that have to be open together, and the cells that have cases on them."""

    links: tuple[Link, ...]
    cells: tuple[int, ...]


def _groups(plan: Plan, todo: Sequence[int]) -> tuple[_Group, ...]:
    """The links of the cells in `todo`, in the plan's order; those of one cell are together."""
    groups: list[_Group] = []
    for index in todo:
        names = {case.link for case in plan.cells[index].cases}
        touched = [group for group in groups if names & {link.name for link in group.links}]
        together = names.union(*({link.name for link in group.links} for group in touched))
        cells = [cell for group in touched for cell in group.cells]
        joined = _Group(
            links=tuple(link for link in plan.links if link.name in together),
            cells=tuple(sorted([*cells, index])),
        )
        groups = [*(group for group in groups if group not in touched), joined]
    return tuple(sorted(groups, key=lambda group: plan.links.index(group.links[0])))


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

    def visit(self, opened: Sequence[OpenLink], todo: Sequence[int]) -> None:
        """Runs the cells in `todo` between two looks at their links and at the hosts."""
        with contextlib.ExitStack() as stack:
            sites = []
            for each in opened:
                pair, alone = (stack.enter_context(pair) for pair in self._pairs(each.link))
                facts = self._arrive(each, pair, todo)
                sites.append(Site(link=each.link, facts=facts, pair=pair, alone=alone))
            bench = Bench(sites, self._store, self._observer)
            self._announce(bench, opened, todo)
            for index in todo:
                self._run_cell(index, bench)
            for each, site in zip(opened, sites, strict=True):
                self._leave(each, site.pair, todo)

    def _pairs(self, link: Link) -> tuple[Pair, Pair]:
        """The programs at the ends of a link, and those at its sender alone."""
        plan = self._record.plan
        return (
            Pair(link, plan.placement, self._number, plan.verify, watch=plan.watch),
            Pair(sender_alone(link), plan.placement, self._number, verify=False),
        )

    def _arrive(self, opened: OpenLink, pair: Pair, todo: Sequence[int]) -> LinkFacts:
        """Starts the programs, and keeps what the link and both hosts are before any work."""
        cases = self._cases_on(opened.link, todo)
        preloaded = preload.try_out(pair, opened.link, cases)
        sender, receiver = _describe(pair, cases)
        visit = LinkVisit(
            session=self._number,
            before=opened.facts(),
            sender_before=sender,
            receiver_before=receiver,
        )
        mismatches = link_facts.mismatches(opened.link, visit.before)
        self._write(
            visits=(*self._record.visits, visit),
            findings=(*mismatches, *preloaded, *_stray_findings(pair.strays)),
        )
        return visit.before

    def _announce(self, bench: Bench, opened: Sequence[OpenLink], todo: Sequence[int]) -> None:
        """Tries a few cases of a plan without budgets, so that its duration can be told."""
        plan = self._record.plan
        known = {sample.case.link for sample in self._samples}
        for link in (each.link for each in opened if each.link.name not in known):
            for index, case in scouts(plan, todo, link):
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

    def _leave(self, opened: OpenLink, pair: Pair, todo: Sequence[int]) -> None:
        """Keeps what the link and both hosts are afterwards, and what changed meanwhile."""
        facts = opened.facts()
        sender, receiver = _describe(pair, self._cases_on(opened.link, todo))
        (before,) = (visit for visit in self._record.visits if self._is_of(visit, opened.link))
        visit = dataclasses.replace(
            before, after=facts, sender_after=sender, receiver_after=receiver
        )
        changes = (
            *link_facts.changes(before.before, facts),
            *environment.changes(before.sender_before, sender),
            *environment.changes(before.receiver_before, receiver),
        )
        visits = (visit if each is before else each for each in self._record.visits)
        self._write(visits=tuple(visits), findings=changes)

    def _is_of(self, visit: LinkVisit, link: Link) -> bool:
        return (visit.session, visit.before.link) == (self._number, link.name)

    def _cases_on(self, link: Link, todo: Sequence[int]) -> list[Case]:
        """The cases of the cells in `todo` that are on a link."""
        cells = (self._record.plan.cells[index] for index in todo)
        return [case for cell in cells for case in cell.cases if case.link == link.name]

    def _write(self, *, findings: Sequence[Finding], **changes: object) -> None:
        together = tuple(dict.fromkeys((*self._record.findings, *findings)))
        self._record = dataclasses.replace(
            self._record,
            findings=together,
            **changes,  # type: ignore[arg-type]
        )
        self._store.write_record(self._record)


def _describe(pair: Pair, cases: Sequence[Case]) -> tuple[Environment, Environment]:
    """Sender and receiver, by the programs of an arm of the ORB if there is one."""
    first = next((case for case in cases if case.arm.is_corba), cases[0])
    return pair.describe(first.arm, orb.settings(first))


def _stray_findings(strays: Sequence[str]) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            code="stray-orb-setting",
            text=f"an ORB setting was found and shut out: {stray}",
            cure="remove it from the environment or the file, so that no one is misled by it",
        )
        for stray in strays
    )
