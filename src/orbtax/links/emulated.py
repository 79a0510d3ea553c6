"""A link between two network namespaces on this machine, joined by a veth pair.

Each namespace lives as long as its holder (`orbtax.links.holder`), and the holder as long as this
process keeps its standard input open, so nothing is left behind however this process ends. A user
namespace lets anyone build it; where those are refused, root can do without.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace

import msgspec

from orbtax.errors import ProgramError, UnavailableError
from orbtax.links.facts import mismatches, read_link
from orbtax.links.refusal import explain
from orbtax.links.side import INTERFACE, NAMESPACE, Refusal, RefusedError, Side
from orbtax.model import End, Link

SENDER_ADDRESS, RECEIVER_ADDRESS = "198.18.0.1", "198.18.0.2"
"""Of the range for benchmarks (RFC 2544); each link is alone in its namespaces."""


@dataclass(frozen=True, slots=True)
class _Way:
    """How a network namespace is made, and how a program gets into it."""

    make: tuple[str, ...]
    enter: tuple[str, ...]

    def prefix(self, pid: int) -> tuple[str, ...]:
        """What runs a command in the namespaces of `pid`."""
        return (*self.enter, "-t", str(pid))


_AS_ANYONE = _Way(("unshare", "-Urn"), ("nsenter", "--preserve-credentials", "-U", "-n"))
_AS_ROOT = _Way(("unshare", "-n"), ("nsenter", "-n"))


@contextmanager
def open_emulated(link: Link) -> Iterator[Link]:
    """Build the link, read it back, and yield it with both ends filled in.

    Raises:
        UnavailableError: this machine refuses a part of it, or what came out is not what was asked.
    """
    refusals = []
    for way in (_AS_ANYONE, _AS_ROOT) if os.geteuid() == 0 else (_AS_ANYONE,):
        with ExitStack() as holders:
            try:
                built = _build(link, way, holders)
            except RefusedError as refused:
                refusals.append(refused.refusal)
                continue
            wrong = mismatches(built, read_link(built))
            if wrong:
                raise UnavailableError("; ".join(finding.text for finding in wrong))
            yield built
            return
    raise explain(link, refusals)


def _build(link: Link, way: _Way, holders: ExitStack) -> Link:
    sender, sender_pid = _hold(way.make, holders)
    # The second namespace belongs to the same user namespace, so that the pair can span both.
    receiver, receiver_pid = _hold((*way.prefix(sender_pid), "unshare", "-n"), holders)
    _wire(sender, _side(link, SENDER_ADDRESS, peer_pid=receiver_pid))
    _wire(receiver, _side(link, RECEIVER_ADDRESS))
    return replace(
        link,
        sender=_end(SENDER_ADDRESS, way.prefix(sender_pid)),
        receiver=_end(RECEIVER_ADDRESS, way.prefix(receiver_pid)),
    )


def _hold(prefix: Sequence[str], holders: ExitStack) -> tuple[subprocess.Popen[bytes], int]:
    """Start a holder; leaving `holders` closes its input and waits for its end."""
    try:
        holder = holders.enter_context(
            subprocess.Popen(
                [*prefix, sys.executable, "-P", "-m", "orbtax.links.holder"],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        )
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}"
        raise RefusedError(Refusal(step=NAMESPACE, reason=reason, errno=error.errno)) from error
    line = _hear(holder)
    if not line:
        raise RefusedError(Refusal(step=NAMESPACE, reason=_last_words(holder)))
    return holder, msgspec.json.decode(line, type=dict[str, int])["ready"]


def _wire(holder: subprocess.Popen[bytes], side: Side) -> None:
    assert holder.stdin is not None
    with suppress(BrokenPipeError):  # it has ended, as the missing answer will show
        holder.stdin.write(msgspec.json.encode(side) + b"\n")
    line = _hear(holder)
    if not line:
        raise ProgramError(f"the holder of an emulated link ended: {_last_words(holder)}")
    refusal = msgspec.json.decode(line, type=Refusal | None)
    if refusal is not None:
        raise RefusedError(refusal)


def _hear(holder: subprocess.Popen[bytes]) -> bytes:
    """The next line from a holder; empty if it has ended."""
    assert holder.stdout is not None
    return holder.stdout.readline()


def _last_words(holder: subprocess.Popen[bytes]) -> str:
    assert holder.stderr is not None
    lines = holder.stderr.read().decode(errors="replace").splitlines()
    return next((line for line in reversed(lines) if line.strip()), "it said nothing")


def _side(link: Link, address: str, peer_pid: int | None = None) -> Side:
    return Side(
        address=address,
        mtu_bytes=link.mtu_bytes,
        rate_bit_s=link.rate_bit_s,
        sysctls=link.sysctls,
        peer_pid=peer_pid,
    )


def _end(address: str, prefix: tuple[str, ...]) -> End:
    return End(address=address, prefix=prefix, python=sys.executable, interface=INTERFACE)
