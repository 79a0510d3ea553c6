"""A link from this host to itself over its loopback interface."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from orbtax.model import End, Kind, Link


def sender_alone(link: Link) -> Link:
    """The sending host of an open link, linked to itself: the same programs without the link."""
    end = replace(link.sender, address="127.0.0.1", interface="lo")
    return replace(link, kind=Kind.LOOPBACK, sender=end, receiver=end)


@contextmanager
def open_loopback(link: Link) -> Iterator[Link]:
    """Yield the link with both ends filled in: one and the same."""
    end = End(address="127.0.0.1", python=sys.executable, interface="lo")
    yield replace(link, sender=end, receiver=end)
