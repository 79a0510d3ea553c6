"""What the study found on each link: the best call, the best socket, and what sets them apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from orbtax.analysis.bottleneck import Bottleneck
from orbtax.analysis.rates import CaseRates, by_case
from orbtax.analysis.ratio import Interval, geometric_mean
from orbtax.analysis.search import Choice, choose, rate_ratio, windows_in_force
from orbtax.model import Arm, Case, Options
from orbtax.published.mailing_list import PublishedLink, published_links
from orbtax.record import BufferRecord
from orbtax.report.content import LinkReport, Report
from orbtax.studies.study_grid import STREAM_PAYLOAD_BYTES
from orbtax.studies.variations import WINDOW_SCALING, base_name, variation_of


@dataclass(frozen=True, slots=True)
class Pair:
    """A call beside a socket, measured or published; None where one is not there."""

    corba: CaseRates | None
    socket: CaseRates | None

    @property
    def corba_bit_s(self) -> Interval | None:
        """Goodput of the call."""
        return geometric_mean(self.corba.in_order()) if self.corba else None

    @property
    def socket_bit_s(self) -> Interval | None:
        """Goodput of the socket."""
        return geometric_mean(self.socket.in_order()) if self.socket else None

    @property
    def efficiency(self) -> Interval | None:
        """The call over the socket: the efficiency against the link, if both are the best."""
        if self.corba is None or self.socket is None:
            return None
        return rate_ratio(self.corba, self.socket)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The study on one link, beside what was published for it."""

    report: LinkReport
    rates: Mapping[Case, CaseRates]  # of every case of the study itself
    corba: Choice | None
    socket: Choice | None
    published: PublishedLink | None

    @property
    def ours(self) -> Pair:
        """The best call and the best socket."""
        return Pair(_taken(self.corba), _taken(self.socket))

    @property
    def windows(self) -> tuple[BufferRecord | None, BufferRecord | None]:
        """Send and receive window of the best socket, as asked for and as in force."""
        return self.windows_of(self.socket.taken.case) if self.socket else (None, None)

    @property
    def mtu_bytes(self) -> int | None:
        """The MTU as read back, or as the link is said to have it."""
        if not self.report.visits:
            return self.report.link.mtu_bytes
        facts = self.report.visits[0].before
        return min(facts.sender.mtu_bytes, facts.receiver.mtu_bytes)

    @property
    def window_scaling(self) -> bool | None:
        """Whether both ends offer to scale their windows (RFC 7323); None if that is not known."""
        offers = [
            end.sysctls.get(WINDOW_SCALING)
            for visit in self.report.visits
            for end in (visit.before.sender, visit.before.receiver)
        ]
        return None if not offers or None in offers else "0" not in offers

    @property
    def corba_causes(self) -> tuple[Bottleneck, ...]:
        """What holds the best call back."""
        return self._causes(self.corba)

    @property
    def socket_causes(self) -> tuple[Bottleneck, ...]:
        """What holds the best socket back."""
        return self._causes(self.socket)

    def windows_of(self, case: Case) -> tuple[BufferRecord | None, BufferRecord | None]:
        """Send and receive window of one case."""
        return windows_in_force(self.report.samples.get(case, ()))

    def against_link(self, case: Case) -> Interval | None:
        """The efficiency of any case against the best socket."""
        return Pair(self.rates[case], _taken(self.socket)).efficiency

    def _causes(self, choice: Choice | None) -> tuple[Bottleneck, ...]:
        return self.report.bottlenecks.get(choice.taken.case, ()) if choice else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """One thing varied on one link, beside the same cases without it."""

    link: str
    name: str
    corba: Choice | None
    socket: Choice | None  # of the link as it is, where only the call is varied
    corba_change: Interval | None  # over the same cases as they are; None: nothing is varied
    socket_change: Interval | None

    @property
    def pair(self) -> Pair:
        """The best of what was measured under the variation."""
        return Pair(_taken(self.corba), _taken(self.socket))


def published_pair(published: PublishedLink) -> Pair:
    """The published figures as rates of one round each."""
    call = Case(
        link=published.link,
        arm=Arm.CORBA,
        payload_bytes=published.corba_payload_bytes,
        threads=published.corba_threads,
    )
    stream = Case(
        link=published.link,
        arm=Arm.STREAM,
        payload_bytes=STREAM_PAYLOAD_BYTES,
        threads=published.socket_streams,
    )
    return Pair(
        CaseRates(case=call, by_round={(0, 0): 1e9 * published.corba_gbit_s}),
        CaseRates(case=stream, by_round={(0, 0): 1e9 * published.socket_gbit_s}),
    )


def outcomes(report: Report) -> tuple[Outcome, ...]:
    """The study on each of its links, in the plan's order; varied links are none of them."""
    width = report.run.record.plan.width
    rates = _planned_rates(report)
    published = {each.link: each for each in published_links()}
    found = []
    for link in report.links:
        of_link = {
            case: each
            for case, each in rates.items()
            if case.link == link.link.name and not variation_of(case)
        }
        if not of_link:
            continue
        found.append(
            Outcome(
                report=link,
                rates=of_link,
                corba=choose(_of_arm(of_link.values(), Arm.CORBA), width),
                socket=choose(_of_arm(of_link.values(), Arm.STREAM), width),
                published=published.get(link.link.name),
            )
        )
    return tuple(found)


def variations(report: Report) -> tuple[Variation, ...]:
    """What was varied on each link, below the same cases as they are; none without `--vary`."""
    width = report.run.record.plan.width
    by_link: dict[str, dict[str, list[CaseRates]]] = {}
    for case, rates in _planned_rates(report).items():
        named = by_link.setdefault(base_name(case.link), {})
        named.setdefault(variation_of(case), []).append(rates)
    return tuple(
        row
        for link, named in by_link.items()
        if len(named) > 1
        for row in _varied_rows(link, named, width)
    )


def _varied_rows(
    link: str, named: Mapping[str, Sequence[CaseRates]], width: float
) -> Iterable[Variation]:
    base = named.get("", ())
    varied = {name: rates for name, rates in named.items() if name}
    plain = _like(base, [each for rates in varied.values() for each in rates])
    sockets = choose(_of_arm(plain, Arm.STREAM), width)
    yield Variation(
        link=link,
        name="",
        corba=choose(_of_arm(plain, Arm.CORBA), width),
        socket=sockets,
        corba_change=None,
        socket_change=None,
    )
    for name, rates in varied.items():
        calls = choose([each for each in rates if each.case.arm.is_corba], width)
        streams = choose(_of_arm(rates, Arm.STREAM), width)
        same = _like(base, rates)
        yield Variation(
            link=link,
            name=name,
            corba=calls,
            socket=streams or sockets,
            corba_change=_change(calls, choose(_of_arm(same, Arm.CORBA), width)),
            socket_change=_change(streams, choose(_of_arm(same, Arm.STREAM), width)),
        )


def _like(base: Iterable[CaseRates], varied: Iterable[CaseRates]) -> list[CaseRates]:
    """The cases without options that have the sizes and threads of the varied ones."""
    wanted = {_place(each.case) for each in varied}
    return [each for each in base if each.case.options == Options() and _place(each.case) in wanted]


def _place(case: Case) -> tuple[bool, int, int]:
    return case.arm.is_corba, case.payload_bytes, case.threads


def _change(varied: Choice | None, plain: Choice | None) -> Interval | None:
    if varied is None or plain is None:
        return None
    return rate_ratio(varied.taken.rates, plain.taken.rates)[0]


def _planned_rates(report: Report) -> dict[Case, CaseRates]:
    planned = (case for cell in report.run.record.plan.cells for case in cell.cases)
    return by_case(report.run.samples, planned)


def _of_arm(rates: Iterable[CaseRates], arm: Arm) -> list[CaseRates]:
    return [each for each in rates if each.case.arm is arm]


def _taken(choice: Choice | None) -> CaseRates | None:
    return choice.taken.rates if choice else None
