"""What a link can carry at most, and which share of it payload can take."""

from __future__ import annotations

from dataclasses import dataclass

from orbtax.model import Kind, Link
from orbtax.record import EndRecord, LinkFacts

IP_TCP_BYTES = 40 + 12
"""IPv4 and TCP headers and the timestamp option (RFC 791, RFC 9293, RFC 7323)."""

ETHERNET_BYTES = 38
"""Preamble 8, header 14, checksum 4 and gap 12 around each packet (IEEE 802.3).

IP over InfiniBand comes to the same: 28 of headers, 4 of encapsulation, 6 of checksums (RFC 4391).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineLimit:
    """The nominal rate of a link and the share of it that payload can take."""

    nominal_bit_s: int
    payload_share: float

    @property
    def payload_bit_s(self) -> float:
        """The largest goodput in bit/s that can be kept up."""
        return self.nominal_bit_s * self.payload_share


def line_limit(link: Link, facts: LinkFacts, mss_bytes: int | None = None) -> LineLimit | None:
    """The limit of a link as read back, or None if it has no rate.

    The rate is what an emulated link is made to have, and on a real one the slowest of what both
    interfaces report and what the link is said to have. `mss_bytes` is that of the connections,
    which a small window makes smaller than the MTU allows; without it, full segments with a
    timestamp are taken.
    """
    rate_bit_s = _nominal_bit_s(link, facts)
    if rate_bit_s is None:
        return None
    mtu_bytes = min(facts.sender.mtu_bytes, facts.receiver.mtu_bytes)
    segment_bytes = mss_bytes or mtu_bytes - IP_TCP_BYTES
    packet_bytes = min(mtu_bytes, segment_bytes + IP_TCP_BYTES)  # the MTU, if without timestamps
    return LineLimit(
        nominal_bit_s=rate_bit_s,
        payload_share=segment_bytes / (packet_bytes + ETHERNET_BYTES),
    )


def largest_segment_bytes(end: EndRecord | None) -> int | None:
    """The largest MSS of an end's connections; None if none is known."""
    known = [state.mss_bytes for state in end.connections if state.mss_bytes] if end else []
    return max(known, default=None)


def _nominal_bit_s(link: Link, facts: LinkFacts) -> int | None:
    ends = facts.sender, facts.receiver
    if link.kind is Kind.EMULATED:
        # A veth reports 10 Gbit/s whatever it does: only its bucket holds it to the link's rate.
        rates = [link.rate_bit_s for end in ends if end.shaped_bit_s is not None]
    elif link.kind is Kind.HOSTS:
        rates = [link.rate_bit_s, *(end.speed_bit_s for end in ends)]
    else:
        rates = []
    return min((rate for rate in rates if rate is not None), default=None)
