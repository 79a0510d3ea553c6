"""What the post leaves open, varied one at a time: windows, MTU, connections, ways to call.

A setting of the system makes a link of its own, `ib~mtu-9000`, so that the record of a link stays
true. One of the bench makes a case of its own on the link itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from orbtax.errors import RequestError
from orbtax.links.sysctl import CONGESTION_CONTROL, read_sysctl
from orbtax.model import Arm, Case, Finding, Kind, Link, Options
from orbtax.studies.study_grid import STREAM_PAYLOAD_BYTES, Grid, interleaved
from orbtax.units import parse_list

SEPARATOR = "~"
WINDOW_SCALING = "net.ipv4.tcp_window_scaling"
AVAILABLE_CONTROLS = "net.ipv4.tcp_available_congestion_control"
MTUS_BYTES = (1500, 2044, 9000, 65520)
CONGESTION_CONTROLS = ("cubic", "bbr", "reno")
ORB_CONNECTIONS = 5
"""omniORB's own limit of connections to one server, `maxGIOPConnectionPerServer`."""

KIB = 1024
PAYLOADS_BYTES = (256 * KIB, 1024 * KIB)
THREADS = (8, 26)
STREAMS = (1, 4)


class Vary(StrEnum):
    """What can be varied."""

    SCALING = "scaling"  # window scaling off
    MTU = "mtu"
    CONGESTION = "congestion"  # congestion control
    CONNECTIONS = "connections"  # the ORB's limit instead of one per thread
    ONEWAY = "oneway"
    AMI = "ami"


OF_THE_HOST = (Vary.SCALING, Vary.MTU)
"""What cannot be varied without changing the host, and so is offered on emulated links alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The cases at which a variation is measured: a part of the grid, to be compared with."""

    payloads_bytes: tuple[int, ...]
    threads: tuple[int, ...]
    streams: tuple[int, ...]

    def calls(self, link: str, arm: Arm, options: Options) -> tuple[Case, ...]:
        """The calls of one arm."""
        return tuple(
            Case(link=link, arm=arm, payload_bytes=size, threads=count, options=options)
            for size in self.payloads_bytes
            for count in self.threads
        )

    def sockets(self, link: str, options: Options) -> tuple[Case, ...]:
        """The streams."""
        return tuple(
            Case(
                link=link,
                arm=Arm.STREAM,
                payload_bytes=STREAM_PAYLOAD_BYTES,
                threads=count,
                options=options,
            )
            for count in self.streams
        )

    def base(self, link: str) -> tuple[Case, ...]:
        """Calls and streams without any option: what a varied link runs and is compared with."""
        calls = self.calls(link, Arm.CORBA, Options())
        return interleaved(calls, self.sockets(link, Options()))


def probe_of(grid: Grid) -> Probe:
    """The cases of a grid at which variations are measured."""

    def part(wanted: Iterable[int], measured: Sequence[int]) -> tuple[int, ...]:
        return tuple(value for value in wanted if value in measured) or (max(measured),)

    return Probe(
        payloads_bytes=part(PAYLOADS_BYTES, grid.payloads_bytes),
        threads=part(THREADS, grid.threads),
        streams=part(STREAMS, grid.streams),
    )


def parse_vary(text: str | bool | None) -> tuple[Vary, ...]:
    """The variations of the flag: none without it, all for the bare flag, or those listed."""
    if text is None or text is False:
        return ()
    return tuple(Vary) if text is True else parse_list(text, _parse_one)


def varied_links(link: Link, wanted: Iterable[Vary], controls: Sequence[str]) -> tuple[Link, ...]:
    """The links that differ from an emulated one in one setting of the system; none of others.

    `controls` are the congestion controls that the kernel offers; others are left out.
    """
    if link.kind is not Kind.EMULATED:
        return ()
    return tuple(each for vary in wanted for each in _links_of(link, vary, controls))


def varied_cases(link: Link, wanted: Iterable[Vary], probe: Probe) -> tuple[Case, ...]:
    """The cases on the link itself that differ from those of the study in one option."""
    return tuple(case for vary in wanted for case in _cases_of(link, vary, probe))


def base_name(link: str) -> str:
    """The link that a varied one was made from; its own name for any other."""
    return link.partition(SEPARATOR)[0]


def variation_of(case: Case) -> str:
    """What is varied in a case: `mtu-9000`, `oneway`; empty for a case of the study itself."""
    if SEPARATOR in case.link:
        return case.link.partition(SEPARATOR)[2]
    if case.arm in (Arm.ONEWAY, Arm.AMI):
        return str(case.arm)
    if case.options.connections is not None:
        return f"connections-{case.options.connections}"
    return case.options.congestion_control or ""


def left_out(
    links: Iterable[Link], wanted: Sequence[Vary], controls: Sequence[str]
) -> tuple[Finding, ...]:
    """What was asked for and cannot be had here, to be told beside the results."""
    return tuple(finding for link in links for finding in _left_out(link, wanted, controls))


def offered_controls() -> tuple[str, ...]:
    """The congestion controls that this kernel offers; none if it does not tell."""
    try:
        return tuple(read_sysctl(AVAILABLE_CONTROLS).split())
    except OSError:
        return ()


def _parse_one(text: str) -> Vary:
    try:
        return Vary(text)
    except ValueError:
        raise RequestError(
            f"{text!r} cannot be varied; what can is {', '.join(Vary)}. "
            "Without a list, --vary takes all of them."
        ) from None


def _links_of(link: Link, vary: Vary, controls: Sequence[str]) -> Iterator[Link]:
    if vary is Vary.SCALING:
        yield _with_sysctl(link, "scaling-off", WINDOW_SCALING, "0")
    elif vary is Vary.MTU:
        for mtu_bytes in MTUS_BYTES:
            if mtu_bytes != link.mtu_bytes:
                name = f"{link.name}{SEPARATOR}mtu-{mtu_bytes}"
                yield replace(link, name=name, mtu_bytes=mtu_bytes)
    elif vary is Vary.CONGESTION:
        for control in _other_controls(link):
            if control in controls:
                yield _with_sysctl(link, control, CONGESTION_CONTROL, control)


def _cases_of(link: Link, vary: Vary, probe: Probe) -> Iterator[Case]:
    if vary is Vary.CONNECTIONS:
        limited = Options(connections=ORB_CONNECTIONS)
        # With fewer threads than the limit, nothing would differ.
        for case in probe.calls(link.name, Arm.CORBA, limited):
            if case.threads > ORB_CONNECTIONS:
                yield case
    elif vary in (Vary.ONEWAY, Vary.AMI):
        yield from probe.calls(link.name, Arm(vary.value), Options())
    elif vary is Vary.CONGESTION and link.kind is not Kind.EMULATED:
        for control in CONGESTION_CONTROLS:
            yield from probe.sockets(link.name, Options(congestion_control=control))


def _with_sysctl(link: Link, name: str, sysctl: str, value: str) -> Link:
    return replace(
        link, name=f"{link.name}{SEPARATOR}{name}", sysctls={**link.sysctls, sysctl: value}
    )


def _other_controls(link: Link) -> tuple[str, ...]:
    own = link.sysctls.get(CONGESTION_CONTROL)
    return tuple(control for control in CONGESTION_CONTROLS if control != own)


def _left_out(link: Link, wanted: Sequence[Vary], controls: Sequence[str]) -> Iterator[Finding]:
    if link.kind is not Kind.EMULATED:
        for vary in wanted:
            if vary in OF_THE_HOST:
                yield Finding(
                    code="not-varied",
                    text=f"{vary} is not varied on {link.name}, since that would change a host",
                    cure="vary it on an emulated link",
                )
    elif Vary.CONGESTION in wanted:
        for control in _other_controls(link):
            if control not in controls:
                yield Finding(
                    code="not-varied",
                    text=f"congestion control {control} is not varied on {link.name}: this kernel "
                    f"offers {', '.join(controls) or 'none that it tells of'}",
                    cure=f"modprobe tcp_{control}",
                )
