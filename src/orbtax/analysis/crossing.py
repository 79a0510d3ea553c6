"""Whether a block's payload crossed the interfaces of its link, and little else did."""

from __future__ import annotations

from collections.abc import Iterator

from orbtax.analysis.line import IP_TCP_BYTES, largest_segment_bytes
from orbtax.model import Arm, Finding, Kind, Link
from orbtax.record import EndRecord, LinkFacts, Sample
from orbtax.units import display_size

MESSAGE_BYTES = 512
"""More than a message adds: its header, up to three short segments of its own, their answers."""

SEGMENT_BYTES = 2 * 86
"""More than a full segment adds: Ethernet, IPv6 and TCP headers with options, and an answer."""

SLACK_BYTES = 1024 * 1024
SLACK_SHARE = 0.02
"""Other traffic that is let pass: connections being opened, and what else a host sends."""

COUNTER_LAG_S = 1.0
"""Network cards may refresh their byte counters only so often; kernel interfaces count at once."""


def interface_findings(sample: Sample, link: Link, facts: LinkFacts) -> Iterator[Finding]:
    """A serious finding for each counter that does not fit the payload.

    But for too many bytes on loopback, which every program of a host shares: that is said alone.

    A packet that the card cuts up or puts together counts one header, so that the payload alone
    is the lower limit; the upper one has the headers of every packet of the MTU.
    """
    payload_bytes = sample.confirmed_bytes or 0
    most_bytes = most_wire_bytes(sample, link, facts)
    lag_bytes = COUNTER_LAG_S * (sample.goodput_bit_s or 0) / 8 if link.kind is Kind.HOSTS else 0
    for where, counted_bytes in _counters(sample):
        text = (
            f"{where} counted {display_size(counted_bytes)} while the block moved "
            f"{display_size(payload_bytes)}, for which at most {display_size(most_bytes)} fit"
        )
        off_bytes = max(payload_bytes - counted_bytes, counted_bytes - most_bytes)
        if link.kind is Kind.LOOPBACK and counted_bytes > most_bytes:
            yield Finding(
                code="other-traffic",
                text=f"{text}; the rest is other traffic of this host",
                cure="measure when nothing else uses loopback",
            )
        elif counted_bytes < payload_bytes and sample.case.arm in link.preload:
            yield Finding(
                code="beside-the-interface",
                text=f"{text}: {link.preload[sample.case.arm]} has carried it past the interface's "
                "counters",
                cure="make sure by other means which link the library uses",
            )
        elif off_bytes > lag_bytes:
            yield Finding(
                code="wrong_link",
                text=text,
                cure="the payload took another way: give the link's interface and addresses"
                if counted_bytes < payload_bytes
                else "something else uses this link: measure when it is quiet",
                serious=True,
            )
        elif off_bytes > 0:
            yield Finding(
                code="link-unproven",
                text=f"{text}; a card whose counters lag by a second would explain it",
                cure="let each block last longer than that, so that its link can be proven",
            )


def most_wire_bytes(sample: Sample, link: Link, facts: LinkFacts) -> int:
    """More bytes than a block can put on one counter of its link's interfaces."""
    # iperf3 confirms less than it sent.
    payload_bytes = max(sample.asked_bytes, sample.confirmed_bytes or 0)
    sent_bytes = payload_bytes + sum(map(_retransmitted_bytes, (sample.client, sample.servant)))
    mtu_bytes = min(facts.sender.mtu_bytes, facts.receiver.mtu_bytes)
    segments = sent_bytes // (largest_segment_bytes(sample.client) or mtu_bytes - IP_TCP_BYTES) + 1
    overhead_bytes = (sample.messages or 0) * MESSAGE_BYTES + segments * SEGMENT_BYTES
    most_bytes = sent_bytes + overhead_bytes + SLACK_BYTES + int(SLACK_SHARE * payload_bytes)
    # Loopback counts both directions on the one interface.
    return 2 * most_bytes if link.kind is Kind.LOOPBACK else most_bytes


def _counters(sample: Sample) -> Iterator[tuple[str, int]]:
    """Where bytes were counted, and how many, in every direction that has payload."""
    both = sample.case.arm in (Arm.ECHO, Arm.PINGPONG)
    if sample.client and (client := sample.client.interface):
        yield f"{client.interface}, sending at the client,", client.sent_bytes
        if both:
            yield f"{client.interface}, receiving at the client,", client.received_bytes
    if sample.servant and (servant := sample.servant.interface):
        yield f"{servant.interface}, receiving at the servant,", servant.received_bytes
        if both:
            yield f"{servant.interface}, sending at the servant,", servant.sent_bytes


def _retransmitted_bytes(end: EndRecord | None) -> int:
    """Bytes that an end's connections sent again, as far as they tell."""
    if end is None:
        return 0
    return sum(
        state.retransmitted_bytes
        if state.retransmitted_bytes is not None
        else (state.retransmissions or 0) * (state.mss_bytes or 0)
        for state in end.connections
    )
