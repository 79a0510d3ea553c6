"""Make one side of an emulated link in the network namespace of this process, over netlink."""

from __future__ import annotations

import errno
import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager

from pyroute2 import IPRoute, NetlinkError

from orbtax.links.side import (
    INTERFACE,
    PREFIX_LENGTH,
    TOKEN_BUCKET,
    VETH_PAIR,
    Refusal,
    RefusedError,
    Side,
    bucket_rate_bit_s,
    burst_bytes,
)
from orbtax.links.sysctl import CONGESTION_CONTROL, write_sysctl

LATENCY = "50ms"
"""The longest that a packet may wait in the token bucket; what comes on top is dropped."""

_FORBIDDEN = (errno.EPERM, errno.EACCES, errno.EROFS)
_RTPROT_KERNEL, _RT_SCOPE_LINK = 2, 253  # linux/rtnetlink.h


def wire(side: Side) -> None:
    """Make the pair if that is ours to do, and set up loopback and our end of it.

    Raises:
        RefusedError: names the step that the kernel refused, and its reason.
    """
    with IPRoute() as ip:
        if side.peer_pid is not None:
            with _step(VETH_PAIR):
                peer = {"ifname": INTERFACE, "net_ns_pid": side.peer_pid}
                ip.link("add", ifname=INTERFACE, kind="veth", peer=peer)
        with _step("interface"):
            index = ip.link_lookup(ifname=INTERFACE)[0]
            ip.link("set", index=ip.link_lookup(ifname="lo")[0], state="up")
            if side.mtu_bytes is not None:
                ip.link("set", index=index, mtu=side.mtu_bytes)
            ip.addr("add", index=index, address=side.address, prefixlen=PREFIX_LENGTH)
            ip.link("set", index=index, state="up")
        if side.rate_bit_s is not None:
            with _step(TOKEN_BUCKET):
                mtu_bytes = side.mtu_bytes or ip.get_links(index)[0].get("mtu")
                _add_token_bucket(ip, index, bucket_rate_bit_s(side.rate_bit_s, mtu_bytes))
        for name, value in side.sysctls.items():
            with _step(f"sysctl {name} = {value}"):
                if name == CONGESTION_CONTROL:
                    _set_congestion_control(ip, index, side.address, value)
                else:
                    write_sysctl(name, value)


def _add_token_bucket(ip: IPRoute, index: int, rate_bit_s: int) -> None:
    ip.tc(
        "add",
        "tbf",
        index,
        handle="1:",
        rate=rate_bit_s // 8,  # bytes/s
        burst=burst_bytes(rate_bit_s),
        latency=LATENCY,
    )


def _set_congestion_control(ip: IPRoute, index: int, address: str, name: str) -> None:
    """Set it for the namespace or, where the host keeps it from namespaces, for the route.

    A namespace may only choose what the host has in `tcp_allowed_congestion_control`. A route has
    no such limit, and every connection over it takes what it asks for.
    """
    try:
        write_sysctl(CONGESTION_CONTROL, name)
    except OSError as error:
        if error.errno not in _FORBIDDEN:
            raise
        ip.route(
            "replace",
            dst=str(ipaddress.ip_interface(f"{address}/{PREFIX_LENGTH}").network),
            oif=index,
            prefsrc=address,
            proto=_RTPROT_KERNEL,
            scope=_RT_SCOPE_LINK,
            metrics={"cc_algo": name},
        )


@contextmanager
def _step(name: str) -> Iterator[None]:
    try:
        yield
    except NetlinkError as error:
        reason = str(error.args[1])
        raise RefusedError(Refusal(step=name, reason=reason, errno=error.code)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise RefusedError(Refusal(step=name, reason=reason, errno=error.errno)) from error
