"""What was measured on: the link as read back and the hosts at both ends, before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from orbtax.model import EndName
from orbtax.record import Environment, InterfaceFacts, LinkFacts, LinkVisit
from orbtax.report.tables import MISSING, Align, Column, Table
from orbtax.units import display_rate

Facts = Mapping[str, str]

_COMPARED = (
    Column("fact", align=Align.LEFT),
    Column("end", align=Align.LEFT),
    Column("session"),
    Column("before", align=Align.LEFT),
    Column("after", align=Align.LEFT),
)


def link_table(on: str, visits: Iterable[LinkVisit]) -> Table:
    """One link's interface at both ends, before and after each time that it was open."""
    looks = [
        _Look(
            end,
            visit.session,
            _interface(visit.before, end),
            _interface(visit.after, end) if visit.after else None,
        )
        for visit in visits
        for end in EndName
    ]
    return Table(title=f"{on} as read back", columns=_COMPARED, rows=_rows(looks))


def state_table(on: str, visits: Iterable[LinkVisit]) -> Table:
    """What moves by itself on the hosts (load, free memory, frequency), before and after."""
    looks = [
        _Look(end, visit.session, before.state, after.state if after else None)
        for visit in visits
        for end in EndName
        for before, after in [_environments(visit, end)]
    ]
    return Table(title=f"Load of the hosts of {on}", columns=_COMPARED, rows=_rows(looks))


def host_table(on: str, visits: Sequence[LinkVisit]) -> Table:
    """What identifies the hosts at both ends, as it was when the link was first opened."""
    rows: list[tuple[str, str, str]] = []
    notes: dict[str, None] = {}
    if visits:
        sender, receiver = (_environments(visits[0], end)[0] for end in EndName)
        names = sorted(sender.facts.keys() | receiver.facts.keys(), key=_by_family)
        rows = [
            (name, sender.facts.get(name, MISSING), receiver.facts.get(name, MISSING))
            for name in names
        ]
        notes = {
            f"Not known at the {end}: {name}, {reason}.": None
            for end, host in zip(EndName, (sender, receiver), strict=True)
            for name, reason in host.missing.items()
        }
    columns = tuple(Column(name, align=Align.LEFT) for name in ("fact", "sender", "receiver"))
    return Table(title=f"Hosts of {on}", columns=columns, rows=tuple(rows), notes=tuple(notes))


@dataclass(frozen=True, slots=True)
class _Look:
    """Facts of one end before and after a link was open; None where they were not read again."""

    end: EndName
    session: int
    before: Facts
    after: Facts | None


def _rows(looks: Sequence[_Look]) -> tuple[tuple[str, ...], ...]:
    """A row for each fact, session and end; one for both ends where they say the same."""
    names = dict.fromkeys(name for look in looks for name in (*look.before, *(look.after or ())))
    rows = []
    for name in names:
        said: dict[tuple[int, str, str], list[EndName]] = {}
        for look in looks:
            if name in look.before or name in (look.after or ()):
                before = look.before.get(name, MISSING)
                said.setdefault((look.session, before, _again(look, name)), []).append(look.end)
        rows += [
            (name, "both" if len(ends) > 1 else str(ends[0]), str(session), before, after)
            for (session, before, after), ends in said.items()
        ]
    return tuple(rows)


def _again(look: _Look, name: str) -> str:
    if look.after is None:
        return "not read, since the run was cut short"
    after = look.after.get(name, MISSING)
    return "the same" if after == look.before.get(name) else after


def _environments(visit: LinkVisit, end: EndName) -> tuple[Environment, Environment | None]:
    if end is EndName.SENDER:
        return visit.sender_before, visit.sender_after
    return visit.receiver_before, visit.receiver_after


def _interface(link: LinkFacts, end: EndName) -> Facts:
    facts: InterfaceFacts = link.sender if end is EndName.SENDER else link.receiver
    said = {
        "interface": facts.interface,
        "MTU": f"{facts.mtu_bytes} B",
        "speed": _rate(facts.speed_bit_s),
        "driver": facts.driver,
        "qdisc": facts.qdisc,
        "token bucket": _rate(facts.shaped_bit_s),
        "congestion control": facts.congestion_control,
        "offloads on": ", ".join(name for name, on in facts.offloads.items() if on),
        "offloads off": ", ".join(name for name, on in facts.offloads.items() if not on),
        **facts.sysctls,
        **{f"not read: {name}": reason for name, reason in facts.missing.items()},
    }
    return {name: text for name, text in said.items() if text}


def _rate(rate_bit_s: int | None) -> str | None:
    return None if rate_bit_s is None else display_rate(rate_bit_s)


def _by_family(name: str) -> tuple[bool, str]:
    """Plain facts first, then those of a family: `orb.…`, `sysctl.…`, `version.…`."""
    return "." in name, name
