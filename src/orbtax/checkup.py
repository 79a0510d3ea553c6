"""What spoils a measurement here, or on a link: `doctor` at each of its ends."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from orbtax import agent, programs
from orbtax.errors import ExitCode, ProgramError, UnavailableError
from orbtax.host import doctor, settings
from orbtax.links.facts import mismatches
from orbtax.links.opened import open_link
from orbtax.model import End, EndName, Finding, Kind, Link
from orbtax.programs import Program
from orbtax.report import terminal

ANSWER_S = 30.0


def tell(links: Sequence[Link]) -> ExitCode:
    """Says what spoils a measurement on each link, or on this host if there is none."""
    found = [finding for link in links for finding in of_link(link)]
    findings = found if links else of_this_host()
    terminal.say_findings(findings)
    if not findings:
        terminal.say("Nothing that was looked at spoils a measurement.")
    serious = any(finding.serious for finding in findings)
    return ExitCode.INCOMPLETE if serious else ExitCode.DONE


def of_this_host() -> tuple[Finding, ...]:
    """What spoils a measurement on this host, serious things first."""
    return doctor.examine()


def of_link(link: Link) -> tuple[Finding, ...]:
    """What spoils a measurement on a link, at either end, serious things first.

    Raises UnavailableError for a link that cannot be had, or an end without orbtax.
    """
    with open_link(link) as opened:
        found = list(mismatches(opened.link, opened.facts()))
        for name, end in _ends(opened.link).items():
            for finding in _of_end(opened.link, name, end):
                if link.kind is Kind.HOSTS:
                    finding = dataclasses.replace(finding, text=f"{name}: {finding.text}")
                found.append(finding)
    return tuple(sorted(found, key=doctor.importance))


def _ends(link: Link) -> Mapping[EndName, End]:
    """The ends to look at: one of those that are on the same machine and set alike."""
    if link.kind is not Kind.HOSTS:
        return {EndName.SENDER: link.sender}
    return {EndName.SENDER: link.sender, EndName.RECEIVER: link.receiver}


def _of_end(link: Link, name: EndName, end: End) -> tuple[Finding, ...]:
    request = agent.Examine(interface=end.interface, rate_bit_s=link.rate_bit_s)
    try:
        with Program(programs.command(end, programs.CLIENT, None, {})) as program:
            found = program.ask(request, agent.Examined, ANSWER_S).findings
            strays = settings.judge_stray_settings(program.ready.strays)
    except ProgramError as error:
        raise UnavailableError(
            f"link {link.name}: the {name} cannot be examined: {error}"
        ) from error
    return found if strays is None else (*found, strays)
