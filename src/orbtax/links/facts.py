"""A link read back at both ends: what changed about it, and what is not as it is said to be."""

from __future__ import annotations

import math
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from orbtax.errors import UnavailableError
from orbtax.links.side import bucket_rate_bit_s
from orbtax.links.sysctl import CONGESTION_CONTROL
from orbtax.model import End, EndName, Finding, Kind, Link
from orbtax.record import InterfaceFacts, LinkFacts
from orbtax.units import format_rate

PATIENCE_S = 30.0
"""How long an end may take to answer; a host that cannot be reached would hang for minutes."""


def read_link(link: Link) -> LinkFacts:
    """Run the probe at both ends of a link.

    Raises:
        UnavailableError: an end cannot be reached, orbtax is missing there, or it has no such
            interface or address; the text has what the end said and the command to try by hand.
    """
    sender = _probe(link, EndName.SENDER, link.sender)
    if link.sender == link.receiver:
        return LinkFacts(link=link.name, sender=sender, receiver=sender)
    return LinkFacts(
        link=link.name, sender=sender, receiver=_probe(link, EndName.RECEIVER, link.receiver)
    )


def changes(before: LinkFacts, after: LinkFacts) -> tuple[Finding, ...]:
    """One finding for each fact that is not after a run what it was before."""
    return tuple(
        Finding(
            code="link-changed",
            text=f"link {before.link}: {fact} at the {end} was {old} before the run "
            f"and is {new} after it",
            cure="run it again while nobody changes the settings of the link",
            serious=True,
        )
        for end in EndName
        for fact, old, new in _differences(_at(before, end), _at(after, end))
    )


def mismatches(link: Link, facts: LinkFacts) -> tuple[Finding, ...]:
    """One finding for each fact that contradicts what the link is said to be.

    A rate is wrong on an emulated link when the token bucket has another, and on a real one when
    the interface is slower than it; a path may well be slower than the interface that leads to it.
    """
    findings = [
        Finding(
            code="link-mismatch",
            text=f"link {link.name}: {fact} at the {end} is {found}, and {asked} was asked for",
            cure="set it so at that end, or define the link as it is",
            serious=True,
        )
        for end in EndName
        for fact, asked, found in _contradictions(link, _at(facts, end))
    ]
    if facts.sender.mtu_bytes != facts.receiver.mtu_bytes:
        findings.append(
            Finding(
                code="mtu-unequal",
                text=f"link {link.name}: the MTU is {facts.sender.mtu_bytes} B at the sender "
                f"and {facts.receiver.mtu_bytes} B at the receiver",
                cure="set the same MTU at both ends; the smaller one limits every packet",
            )
        )
    return tuple(findings)


def _probe(link: Link, name: EndName, end: End) -> InterfaceFacts:
    command = [
        *(*end.prefix, end.python or sys.executable, "-P", "-m", "orbtax.links.probe"),
        str(end.interface or end.address),
        *(f"--sysctl={sysctl}" for sysctl in link.sysctls),
    ]
    try:
        return _ask(command)
    except UnavailableError as error:
        raise UnavailableError(
            f"link {link.name}: the {name} cannot be read: {error}. "
            f"To try it by hand: {shlex.join(command)}"
        ) from error


def _ask(command: Sequence[str]) -> InterfaceFacts:
    """Run a probe and read its last line of output, which may stand below a greeting of the host.

    Raises:
        UnavailableError: it cannot be run, does not answer, or says what it did not find.
    """
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            start_new_session=True,  # without a terminal, ssh fails where it would ask
        )
        answer = msgspec.json.decode(done.stdout.splitlines()[-1], type=dict[str, Any])
        if "error" not in answer:
            return msgspec.convert(answer, InterfaceFacts)
    except OSError as error:
        raise UnavailableError(f"{command[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"no answer within {PATIENCE_S:g} s") from error
    except (IndexError, msgspec.DecodeError) as error:
        raise UnavailableError(_last_words(done)) from error
    raise UnavailableError(answer["error"])


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    words = lines[-1] if lines else f"it ended with status {done.returncode} and said nothing"
    if "No module named" in words:
        return f"{words}; install orbtax there, or set `python` to an interpreter that has it"
    return words


def _at(facts: LinkFacts, end: EndName) -> InterfaceFacts:
    return facts.sender if end is EndName.SENDER else facts.receiver


def _differences(before: InterfaceFacts, after: InterfaceFacts) -> Iterator[tuple[str, str, str]]:
    """Fact, old value, new value."""
    old, new = _named(before), _named(after)
    for fact in dict.fromkeys((*old, *new)):
        values = old.get(fact, "not readable"), new.get(fact, "not readable")
        if values[0] != values[1]:
            yield fact, *values


def _named(facts: InterfaceFacts) -> Mapping[str, str]:
    """Every fact that must not move during a run, as it is called and shown."""
    return {
        "the interface": facts.interface,
        "the MTU": f"{facts.mtu_bytes} B",
        "the speed": _rate(facts.speed_bit_s),
        "the driver": facts.driver or "unknown",
        "the queueing discipline": facts.qdisc or "unknown",
        "the rate of the token bucket": _rate(facts.shaped_bit_s),
        "the congestion control": facts.congestion_control or "unknown",
        **{name: "on" if on else "off" for name, on in facts.offloads.items()},
        **facts.sysctls,
    }


def _contradictions(link: Link, facts: InterfaceFacts) -> Iterator[tuple[str, str, str]]:
    """Fact, what was asked for, what was found."""
    if link.mtu_bytes not in (None, facts.mtu_bytes):
        yield "the MTU", f"{link.mtu_bytes} B", f"{facts.mtu_bytes} B"
    if link.kind is Kind.EMULATED:
        mtu_bytes = link.mtu_bytes or facts.mtu_bytes
        asked_bit_s = link.rate_bit_s and bucket_rate_bit_s(link.rate_bit_s, mtu_bytes)
        if not _same_rate(asked_bit_s, facts.shaped_bit_s):
            yield "the token bucket's rate", _rate(asked_bit_s), _rate(facts.shaped_bit_s)
    if link.kind is Kind.HOSTS and (facts.speed_bit_s or math.inf) < (link.rate_bit_s or 0):
        yield "the speed", _rate(link.rate_bit_s), _rate(facts.speed_bit_s)
    found = {**facts.sysctls, CONGESTION_CONTROL: facts.congestion_control}
    for name, asked in link.sysctls.items():
        if found.get(name) != asked:
            yield name, asked, found.get(name) or "not readable"


def _same_rate(asked_bit_s: int | None, found_bit_s: int | None) -> bool:
    """Whether the rates are equal to the byte per second in which the kernel keeps them."""
    if asked_bit_s is None or found_bit_s is None:
        return asked_bit_s is found_bit_s
    return asked_bit_s // 8 == found_bit_s // 8


def _rate(rate_bit_s: int | None) -> str:
    return "none" if rate_bit_s is None else format_rate(rate_bit_s)
