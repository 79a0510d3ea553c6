import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from links_support import namespace, needs_namespaces

from orbtax.errors import ExitCode, UnavailableError
from orbtax.links.catalogue import load_catalogue
from orbtax.links.facts import mismatches
from orbtax.links.opened import open_link
from orbtax.model import Link

pytestmark = pytest.mark.live

IB = load_catalogue()["ib"]


def refused(link: Link) -> str:
    with pytest.raises(UnavailableError) as error, open_link(link):
        pass
    assert error.value.exit_code is ExitCode.UNAVAILABLE
    assert psutil.Process().children() == []
    return str(error.value)


def put_unshare(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "unshare"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize(
    "reason",
    [
        "unshare: unshare failed: Operation not permitted",
        "unshare: write failed /proc/self/uid_map: Operation not permitted",
        "unshare: unshare failed: No space left on device",
    ],
)
def test_a_refusal_is_told_as_the_system_gave_it(
    reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_unshare(tmp_path, f"echo '{reason}' >&2; exit 1", monkeypatch)
    text = refused(IB)
    assert f"link ib cannot be emulated on this machine (network namespace: {reason})" in text
    assert "What to do: " in text
    assert "The link lo works here" in text
    with open_link(load_catalogue()["lo"]) as opened:
        assert opened.facts().sender.driver == "loopback"


def test_a_missing_unshare_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    text = refused(IB)
    assert "unshare: No such file or directory" in text
    assert "install util-linux" in text


@needs_namespaces
def test_a_missing_nsenter_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unshare = shutil.which("unshare")
    assert unshare is not None
    (tmp_path / "unshare").symlink_to(unshare)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "nsenter: No such file or directory" in refused(IB)


@needs_namespaces
def test_root_does_without_a_user_namespace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a network namespace without a user namespace")
    script = f"""case "$1" in
  *U*) echo 'unshare: unshare failed: Operation not permitted' >&2; exit 1;;
esac
exec {shutil.which("unshare")} "$@"
"""
    put_unshare(tmp_path, script, monkeypatch)
    with open_link(IB) as opened:
        assert "-U" not in opened.link.receiver.prefix
        assert mismatches(opened.link, opened.facts()) == ()
        holder = opened.link.receiver.prefix[-1]
        assert namespace(holder, "user") == namespace("self", "user")


@needs_namespaces
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"sysctls": {"net.ipv4.no_such_setting": "1"}}, "No such file or directory"),
        ({"sysctls": {"net.ipv4.tcp_sack": "many"}}, "Invalid argument"),
        ({"sysctls": {"net.ipv4.tcp_congestion_control": "no_such"}}, "modprobe tcp_NAME"),
        ({"mtu_bytes": 70000}, "interface: "),
        ({"sysctls": {"net.ipv4.tcp_sack": "0x1"}}, "is 1, and 0x1 was asked for"),
    ],
)
def test_what_the_kernel_does_not_do_is_told(change: Mapping[str, object], expected: str) -> None:
    assert expected in refused(replace(IB, **change))  # type: ignore[arg-type]
