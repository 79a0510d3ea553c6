"""A link between real hosts, each reached by a command prefix such as `ssh node1`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from orbtax.links.facts import read_link
from orbtax.model import End, Link
from orbtax.record import InterfaceFacts


@contextmanager
def open_hosts(link: Link) -> Iterator[Link]:
    """Check that both ends answer, and yield the link with both filled in.

    Raises:
        UnavailableError: an end cannot be reached, or orbtax or the address is missing there.
    """
    facts = read_link(link)
    yield replace(
        link,
        sender=_filled(link.sender, facts.sender),
        receiver=_filled(link.receiver, facts.receiver),
    )


def _filled(end: End, facts: InterfaceFacts) -> End:
    return replace(end, python=end.python or sys.executable, interface=facts.interface)
