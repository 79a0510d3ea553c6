"""The mailing-list post: best CORBA and best socket goodput on three links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orbtax.published.rows import read_records

CORBA_PAYLOAD_UNIT_BYTES = 1024
"""The post steps its sizes in powers of two from 1 kB to 1 MB, so that its kB is taken as 1024."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedLink:
    """One link of the post. What has no unit in its name stands as it was printed."""

    link: str
    nominal_gbit_s: float
    corba_gbit_s: float
    corba_mtu_bytes: int
    corba_threads: int
    corba_kb_per_call: int
    corba_window_scaling: Literal["on", "off"]
    socket_gbit_s: float
    socket_receive_window: str
    socket_send_window: str
    socket_streams: int

    @property
    def corba_payload_bytes(self) -> int:
        """Payload of one call."""
        return self.corba_kb_per_call * CORBA_PAYLOAD_UNIT_BYTES


def published_links() -> tuple[PublishedLink, ...]:
    """The three links in the order of the post."""
    return read_records("mailing_list_links.csv", PublishedLink)
