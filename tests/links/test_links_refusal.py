import errno
import os
from collections.abc import Callable

import pytest

from orbtax.errors import ExitCode
from orbtax.links.refusal import explain
from orbtax.links.side import NAMESPACE, TOKEN_BUCKET, VETH_PAIR, Refusal
from orbtax.model import Kind, Link

LINK = Link(name="ib", kind=Kind.EMULATED)
FORBIDDEN = Refusal(step=NAMESPACE, reason="unshare: unshare failed: Operation not permitted")


def machine(**sysctls: str) -> Callable[[str], str]:
    def read(name: str) -> str:
        try:
            return sysctls[name.replace(".", "__")]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, "No such file", name) from None

    return read


def told(refusal: Refusal, **sysctls: str) -> str:
    error = explain(LINK, [refusal], machine(**sysctls))
    assert error.exit_code is ExitCode.UNAVAILABLE
    return str(error)


def test_it_says_which_link_the_reason_and_what_works() -> None:
    text = told(FORBIDDEN)
    assert text.startswith("link ib cannot be emulated on this machine (network namespace: unshare")
    assert "Operation not permitted" in text
    assert text.endswith("The link lo works here without it.")


@pytest.mark.parametrize(
    ("name", "value", "cure"),
    [
        ("kernel.unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
        (
            "kernel.apparmor_restrict_unprivileged_userns",
            "1",
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("user.max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=1000"),
    ],
)
def test_a_switch_that_forbids_namespaces_is_named(name: str, value: str, cure: str) -> None:
    text = told(FORBIDDEN, **{name.replace(".", "__"): value})
    assert cure in text
    assert "--privileged" not in text
    assert cure not in told(FORBIDDEN, **{name.replace(".", "__"): str(1 - int(value))})


def test_without_a_switch_it_is_a_container() -> None:
    assert "--privileged, or with --cap-add SYS_ADMIN" in told(FORBIDDEN)


def test_root_is_told_only_to_those_who_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "run orbtax as root" in told(FORBIDDEN)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "run orbtax as root" not in told(FORBIDDEN)


@pytest.mark.parametrize(
    ("step", "number", "cure"),
    [
        (NAMESPACE, errno.ENOENT, "install util-linux"),
        (VETH_PAIR, errno.EOPNOTSUPP, "modprobe veth"),
        (VETH_PAIR, errno.EPERM, "--privileged"),
        (TOKEN_BUCKET, errno.ENOENT, "modprobe sch_tbf"),
        (TOKEN_BUCKET, errno.ENOENT, "without a rate, such as ib"),
        ("sysctl net.ipv4.tcp_rmem = 1", errno.EROFS, "--privileged"),
        ("sysctl net.ipv4.tcp_rmem = 1", errno.EINVAL, "in the links file"),
        ("sysctl net.ipv4.tcp_congestion_control = bbr", errno.ENOENT, "modprobe tcp_NAME"),
        ("interface", errno.EINVAL, "in the links file"),
    ],
)
def test_each_missing_part_has_its_cure(step: str, number: int, cure: str) -> None:
    text = told(Refusal(step=step, reason=os.strerror(number), errno=number))
    assert cure in text
    assert f"{step}: {os.strerror(number)}" in text


def test_what_two_ways_have_in_common_is_told_once() -> None:
    text = str(explain(LINK, [FORBIDDEN, FORBIDDEN], machine()))
    assert text.count("Operation not permitted") == 1
    assert text.count("--privileged") == 1
