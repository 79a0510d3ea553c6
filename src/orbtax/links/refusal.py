"""Why an emulated link cannot be had on this machine, and what can be done about it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence

from orbtax.errors import UnavailableError
from orbtax.links.side import NAMESPACE, TOKEN_BUCKET, VETH_PAIR, Refusal
from orbtax.links.sysctl import CONGESTION_CONTROL, read_sysctl
from orbtax.model import Link

_SWITCHES = {
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "user.max_net_namespaces": ("0", "1000"),
    "user.max_user_namespaces": ("0", "1000"),
}
"""Sysctls that keep namespaces from users: name → the value that refuses, one that allows."""

_CONTAINER_CURE = (
    "in a container, start it with --privileged, or with --cap-add SYS_ADMIN --cap-add NET_ADMIN "
    "--security-opt seccomp=unconfined --security-opt apparmor=unconfined"
)
_FORBIDDEN = (None, errno.EPERM, errno.EACCES)


def explain(
    link: Link, refusals: Sequence[Refusal], read: Callable[[str], str] = read_sysctl
) -> UnavailableError:
    """The error to raise: each reason as the system gave it, what to do, what works all the same.

    Args:
        link: the emulated link that was asked for.
        refusals: one for each way that was tried.
        read: reads a sysctl of this machine; OSError if it is not there.
    """
    reasons = dict.fromkeys(f"{refusal.step}: {refusal.reason}" for refusal in refusals)
    cures = dict.fromkeys(cure for refusal in refusals for cure in _cures(refusal, read))
    return UnavailableError(
        f"link {link.name} cannot be emulated on this machine ({'; '.join(reasons)}). "
        f"What to do: {'; or '.join(cures)}. The link lo works here without it."
    )


def _cures(refusal: Refusal, read: Callable[[str], str]) -> Iterator[str]:
    if refusal.step == NAMESPACE and refusal.errno == errno.ENOENT:
        yield "install util-linux, which has the programs unshare and nsenter"
    elif refusal.errno in _FORBIDDEN or refusal.step == NAMESPACE:
        yield from _namespace_cures(read)
    elif refusal.errno == errno.EROFS:
        yield _CONTAINER_CURE
    elif refusal.step == VETH_PAIR:
        yield "load the kernel module veth (as root: modprobe veth)"
    elif refusal.step == TOKEN_BUCKET:
        yield "load the kernel module sch_tbf (as root: modprobe sch_tbf)"
        yield "take a link without a rate, such as ib"
    elif CONGESTION_CONTROL in refusal.step:
        yield "load its kernel module (as root: modprobe tcp_NAME), or name another"
    else:
        yield "change this value of the link in the links file"


def _namespace_cures(read: Callable[[str], str]) -> Iterator[str]:
    switched_off = [
        name for name, (refuses, _) in _SWITCHES.items() if _value(name, read) == refuses
    ]
    for name in switched_off:
        yield f"as root: sysctl -w {name}={_SWITCHES[name][1]}"
    if os.geteuid() != 0:
        yield "run orbtax as root"
    if not switched_off:
        yield _CONTAINER_CURE


def _value(name: str, read: Callable[[str], str]) -> str | None:
    try:
        return read(name)
    except OSError:
        return None
