"""What a network interface really is, read back at one end of a link.

Run there as `python -m orbtax.links.probe INTERFACE_OR_ADDRESS [--sysctl NAME ...]`, it prints one
line of JSON: the `InterfaceFacts`, or `{"error": TEXT}`. It asks netlink and ioctl and not /sys,
which shows the network of whoever mounted it.
"""

from __future__ import annotations

import argparse
import array
import fcntl
import socket
import struct
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

import msgspec
from pyroute2 import IPRoute, NetlinkError
from pyroute2.ethtool.ioctl import IoctlEthtool, NotSupportedError

from orbtax.errors import UnavailableError
from orbtax.links.sysctl import CONGESTION_CONTROL, read_sysctl
from orbtax.record import InterfaceFacts

T = TypeVar("T")

SYSCTLS = (
    CONGESTION_CONTROL,
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
)
"""The settings that are always read, in force in the network namespace of the reader."""

OFFLOADS = (
    "generic-receive-offload",
    "generic-segmentation-offload",
    "large-receive-offload",
    "rx-checksumming",
    "tcp-segmentation-offload",
    "tx-checksumming",
)
"""The offloads that decide how large the pieces are that TCP handles; names as in `ethtool -k`."""

_SIOCETHTOOL, _ETHTOOL_GDRVINFO, _DRVINFO_BYTES = 0x8946, 0x3, 196  # linux/ethtool.h
_IFF_LOOPBACK = 0x8  # linux/if.h
_MAIN_TABLE = 254  # linux/rtnetlink.h
_ROOT = 0xFFFFFFFF  # TC_H_ROOT, linux/pkt_sched.h
_KINDS_WITHOUT_SPEED = ("loopback", "veth", "tun", "dummy")  # some report one all the same


def read_interface(interface_or_address: str, sysctls: Iterable[str] = ()) -> InterfaceFacts:
    """Read the interface of that name, or the one that carries that IP address, on this host.

    Args:
        interface_or_address: such as `eth0` or `10.0.0.1`.
        sysctls: names to read beyond `SYSCTLS`.

    Raises:
        UnavailableError: there is no such interface or address here.
    """
    missing: dict[str, str] = {}
    in_force = {
        name: value
        for name in dict.fromkeys((*SYSCTLS, *sysctls))
        if (value := _noted(missing, name, partial(read_sysctl, name))) is not None
    }
    with IPRoute() as ip:
        link = _find(ip, interface_or_address)
        name, index = link.get_attr("IFLA_IFNAME"), link["index"]
        return InterfaceFacts(
            interface=name,
            mtu_bytes=link.get_attr("IFLA_MTU"),
            speed_bit_s=_noted(missing, "speed_bit_s", partial(_speed_bit_s, link)),
            driver=_noted(missing, "driver", partial(_driver, link)),
            qdisc=link.get_attr("IFLA_QDISC"),
            shaped_bit_s=_noted(missing, "shaped_bit_s", partial(_shaped_bit_s, ip, index)),
            congestion_control=_route_congestion_control(ip, index)
            or in_force.get(CONGESTION_CONTROL),
            offloads=_noted(missing, "offloads", partial(_offloads, name)) or {},
            sysctls=in_force,
            missing=missing,
        )


def _noted(missing: dict[str, str], field: str, read: Callable[[], T]) -> T | None:
    """What `read` returns; None, with the reason under `field`, if it cannot be had."""
    try:
        return read()
    except NotSupportedError:
        missing[field] = "the driver does not tell"
    except NetlinkError as error:
        missing[field] = str(error.args[1])
    except OSError as error:
        missing[field] = error.strerror or str(error)
    return None


def _find(ip: IPRoute, interface_or_address: str) -> Any:
    """The netlink message of the interface."""
    for link in ip.get_links():
        if link.get_attr("IFLA_IFNAME") == interface_or_address:
            return link
    for address in ip.get_addr():
        if interface_or_address in (address.get_attr("IFA_LOCAL"), address.get_attr("IFA_ADDRESS")):
            return ip.get_links(address["index"])[0]
    raise UnavailableError(
        f"no network interface of this host is or carries {interface_or_address}"
    )


def _kind(link: Any) -> str | None:
    """The kind of a virtual interface; None for a real one."""
    if link["flags"] & _IFF_LOOPBACK:
        return "loopback"
    info = link.get_attr("IFLA_LINKINFO")
    kind: str | None = info.get_attr("IFLA_INFO_KIND") if info else None
    return kind


def _speed_bit_s(link: Any) -> int:
    kind = _kind(link)
    if kind in _KINDS_WITHOUT_SPEED:
        raise OSError(f"a {kind} interface keeps to no speed")
    with closing(IoctlEthtool(link.get_attr("IFLA_IFNAME"))) as ethtool:
        speed_mbit_s: int = ethtool.get_link_settings().speed
    if speed_mbit_s in (0, 2**16 - 1, 2**32 - 1):
        raise OSError("the driver reports an unknown speed")
    return speed_mbit_s * 1_000_000


def _driver(link: Any) -> str:
    """The driver's name, from `struct ethtool_drvinfo`: a command, then 32 bytes of name."""
    if _kind(link) == "loopback":
        return "loopback"  # it answers no ethtool request
    information = array.array(
        "B", struct.pack("=I", _ETHTOOL_GDRVINFO).ljust(_DRVINFO_BYTES, b"\0")
    )
    name = link.get_attr("IFLA_IFNAME").encode()
    request = struct.pack("16sP16x", name, information.buffer_info()[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        fcntl.ioctl(channel, _SIOCETHTOOL, request)
    return information.tobytes()[4:36].rstrip(b"\0").decode()


def _offloads(name: str) -> Mapping[str, bool]:
    with closing(IoctlEthtool(name)) as ethtool:
        flags = ethtool.get_offload_flags()
    return {offload: flags[offload] for offload in OFFLOADS}


def _shaped_bit_s(ip: IPRoute, index: int) -> int | None:
    """The rate of a token bucket at the root of the interface; None if there is none."""
    for qdisc in ip.get_qdiscs(index=index):
        if qdisc.get_attr("TCA_KIND") == "tbf" and qdisc["parent"] == _ROOT:
            rate_byte_s: int = qdisc.get_attr("TCA_OPTIONS").get_attr("TCA_TBF_PARMS")["rate"]
            if rate_byte_s == 2**32 - 1:
                raise OSError("the rate of the token bucket is over 34 Gbit/s")
            return rate_byte_s * 8
    return None


def _route_congestion_control(ip: IPRoute, index: int) -> str | None:
    """What the IPv4 routes over the interface ask for; None unless all ask for the same."""
    metrics = [
        route.get_attr("RTA_METRICS")
        for route in ip.get_routes(family=socket.AF_INET, table=_MAIN_TABLE, oif=index)
    ]
    asked = {metric and metric.get_attr("RTAX_CC_ALGO") for metric in metrics}
    return asked.pop() if len(asked) == 1 else None


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m orbtax.links.probe", description=__doc__)
    parser.add_argument("interface_or_address")
    parser.add_argument("--sysctl", action="append", default=[], metavar="NAME", dest="sysctls")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> None:
    """Print the facts, or why they cannot be had."""
    arguments = _arguments(argv)
    answer: InterfaceFacts | dict[str, str]
    try:
        answer = read_interface(arguments.interface_or_address, arguments.sysctls)
    except UnavailableError as error:
        answer = {"error": str(error)}
    sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
