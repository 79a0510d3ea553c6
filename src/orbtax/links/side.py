"""What the ends of an emulated link are told, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

INTERFACE = "orbtax0"
PREFIX_LENGTH = 30

COUNTED_BYTES = 14
LINE_BYTES = 38
"""Around each packet: preamble 8, header 14, checksum 4, gap 12 (IEEE 802.3)."""

NAMESPACE, VETH_PAIR, TOKEN_BUCKET = "network namespace", "veth pair", "token bucket"
"""The steps of building that a machine may not offer at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one end of an emulated link is to be."""

    address: str  # of a network with PREFIX_LENGTH bits
    mtu_bytes: int | None  # None: left to the kernel
    rate_bit_s: int | None  # None: as fast as the machine can
    sysctls: Mapping[str, str]
    peer_pid: int | None  # who holds the other end; None: that one has made the pair already


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A step of building that the machine refused, and its reason as the system gave it."""

    step: str
    reason: str
    errno: int | None = None


class RefusedError(Exception):
    """Carries a `Refusal` to where another way can be tried."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"{refusal.step}: {refusal.reason}")
        self.refusal = refusal


def bucket_rate_bit_s(rate_bit_s: int, mtu_bytes: int) -> int:
    """What a token bucket has to let through to stand for a line of `rate_bit_s`.

    It counts a packet with its Ethernet header, and a line also carries preamble, checksum and gap.
    """
    return rate_bit_s * (mtu_bytes + COUNTED_BYTES) // (mtu_bytes + LINE_BYTES)


def burst_bytes(rate_bit_s: int) -> int:
    """How much a token bucket may send at once: never less than two packets of any MTU.

    A bucket is only refilled when the kernel looks at it, so a fast one must hold more: 256 KiB at
    1 Gbit/s and 1 MiB at 10 Gbit/s were needed to reach the rate.
    """
    return max(
        128 * 1024,
        min(256 * 1024, rate_bit_s * 256 * 1024 // 10**9),
        rate_bit_s * 1024 * 1024 // 10**10,
    )
