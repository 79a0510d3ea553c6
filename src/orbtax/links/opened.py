"""Open a link of any kind: have it, use it, leave nothing of it behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from orbtax.links.emulated import open_emulated
from orbtax.links.facts import read_link
from orbtax.links.hosts import open_hosts
from orbtax.links.loopback import open_loopback
from orbtax.model import Kind, Link
from orbtax.record import LinkFacts

_OPENERS: Mapping[Kind, Callable[[Link], AbstractContextManager[Link]]] = {
    Kind.LOOPBACK: open_loopback,
    Kind.EMULATED: open_emulated,
    Kind.HOSTS: open_hosts,
}


@dataclass(frozen=True, slots=True)
class OpenLink:
    """A link that stands. Both ends of `link` have address, prefix, python and interface."""

    link: Link

    def facts(self) -> LinkFacts:
        """What the link is now, read back at both ends; UnavailableError if one is gone."""
        return read_link(self.link)


@contextmanager
def open_link(link: Link) -> Iterator[OpenLink]:
    """Have a link for as long as the context lasts; it is gone afterwards, however that ends.

    An emulated link also goes when the thread that opened it dies, so open it in one that stays.

    Raises:
        UnavailableError: it cannot be had here; the text says why and what to do.
    """
    with _OPENERS[link.kind](link) as resolved:
        yield OpenLink(resolved)
