"""Sizes of the socket buffers: how they are written, and how a link or a case comes by them.

On an emulated link the namespaces give every socket the sizes, the ORB's own included, so that
nothing is cut at `net.core.wmem_max`. Elsewhere raw sockets ask for them, and the ORB for its send
buffer alone, since omniORB has no option for the receive buffer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from orbtax import units
from orbtax.errors import RequestError
from orbtax.model import Arm, Case, Kind, Link, Options

KERNEL = "kernel"
SEND_SYSCTL = "net.ipv4.tcp_wmem"
RECEIVE_SYSCTL = "net.ipv4.tcp_rmem"
SMALLEST_BYTES = 4096
"""Below this the kernel's own least sizes decide (socket(7))."""
LARGEST_BYTES = 512 * 1024**2
_LEAST_BYTES = 4096  # the kernel's own first value of both sysctls
_APART = "~"  # no link of a links file has it in its name


@dataclass(frozen=True, slots=True)
class Buffers:
    """Socket buffers as asked for: the sender's to send, the receiver's to receive."""

    send_bytes: int | None = None  # None: left to the kernel
    receive_bytes: int | None = None

    @property
    def are_fixed(self) -> bool:
        """Whether either size is taken out of the kernel's hands."""
        return self != Buffers()

    @property
    def options(self) -> Options:
        """The options with which a case asks for them on its own sockets."""
        return Options(send_buffer_bytes=self.send_bytes, receive_buffer_bytes=self.receive_bytes)

    def __str__(self) -> str:
        """`16 KiB/87380 B`, sender first; `kernel` where both are left to it."""
        if not self.are_fixed:
            return KERNEL
        return "/".join(
            KERNEL if size_bytes is None else units.format_size(size_bytes)
            for size_bytes in (self.send_bytes, self.receive_bytes)
        )


def parse_buffers(text: str) -> Buffers:
    """Buffers from `16KiB/87380B`, `256KiB` for both ends, `kernel` or `kernel/4KiB`.

    Raises RequestError for a size that is none, or that the kernel would not keep to.
    """
    send, slash, receive = text.partition("/")
    return Buffers(_parse_side(send), _parse_side(receive if slash else send))


def with_buffers(link: Link, buffers: Buffers) -> Link:
    """An emulated link whose namespaces have the sizes; the link itself for the kernel's choice.

    Default and largest size are one, and twice what is asked for: so much would a socket be given,
    of which the kernel takes half for its bookkeeping (socket(7), SO_RCVBUF).
    """
    if not buffers.are_fixed:
        return link
    asked = {SEND_SYSCTL: buffers.send_bytes, RECEIVE_SYSCTL: buffers.receive_bytes}
    fixed = {
        name: f"{_LEAST_BYTES} {2 * size_bytes} {2 * size_bytes}"
        for name, size_bytes in asked.items()
        if size_bytes is not None
    }
    name = f"{link.name}{_APART}{buffers}".replace(" ", "").replace("/", "-")
    return replace(link, name=name, sysctls={**link.sysctls, **fixed})


def base_name(link_name: str) -> str:
    """The name of the link that one `with_buffers` was made from."""
    return link_name.partition(_APART)[0]


def buffers_of(link: Link, case: Case) -> Buffers:
    """What a case asks for, by itself or through the namespaces of its link."""
    options = case.options
    return Buffers(
        options.send_buffer_bytes or _fixed_bytes(link, SEND_SYSCTL),
        options.receive_buffer_bytes or _fixed_bytes(link, RECEIVE_SYSCTL),
    )


def why_not(link: Link, arm: Arm, buffers: Buffers) -> str | None:
    """Why an arm cannot have these buffers on a link; None if it can."""
    if link.kind is Kind.EMULATED or not arm.is_corba or buffers.receive_bytes is None:
        return None
    return (
        f"omniORB has no option for the receive buffer, and {link.name} is not emulated, so that "
        f"there is no {RECEIVE_SYSCTL} of its own to set instead"
    )


def _fixed_bytes(link: Link, sysctl: str) -> int | None:
    """What a namespace fixes, as a socket would have asked for it; None if it leaves room."""
    columns = link.sysctls.get(sysctl, "").split()
    if len(columns) != 3 or columns[1] != columns[2]:
        return None
    return int(columns[1]) // 2


def _parse_side(text: str) -> int | None:
    if text.strip() == KERNEL:
        return None
    size_bytes = units.parse_size(text)
    if not SMALLEST_BYTES <= size_bytes <= LARGEST_BYTES:
        raise RequestError(
            f"a socket buffer of {units.format_size(size_bytes)} cannot be had: ask for "
            f"{units.format_size(SMALLEST_BYTES)} to {units.format_size(LARGEST_BYTES)}, "
            f"or write `{KERNEL}` to leave it to the kernel"
        )
    return size_bytes
