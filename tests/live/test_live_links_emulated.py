import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from links_support import (
    assert_gone,
    holder_pids,
    inhabitants,
    namespace,
    needs_namespaces,
    send_over,
    wait_for_end,
)

import orbtax
from orbtax.links.catalogue import load_catalogue
from orbtax.links.facts import changes, mismatches
from orbtax.links.opened import open_link
from orbtax.links.side import INTERFACE, bucket_rate_bit_s

pytestmark = [pytest.mark.live, needs_namespaces]

CATALOGUE = load_catalogue()
NOBODY = 65534

HOLD = """
import json, sys
from orbtax.links.catalogue import load_catalogue
from orbtax.links.opened import open_link
with open_link(load_catalogue()["ib"]) as opened:
    ends = opened.link.sender, opened.link.receiver
    print(json.dumps([int(end.prefix[-1]) for end in ends]), flush=True)
"""
"""Opens a link and tells the processes that hold it; each test says what it does then."""


def start(then: str, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD + then],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )


@pytest.mark.parametrize("name", ["ib", "10ge", "1ge"])
def test_a_link_is_what_was_asked_and_carries_traffic(name: str) -> None:
    asked = CATALOGUE[name]
    with open_link(asked) as opened:
        link, facts = opened.link, opened.facts()
        for end in (facts.sender, facts.receiver):
            assert end.interface == INTERFACE
            assert end.mtu_bytes == asked.mtu_bytes
            wanted = asked.rate_bit_s and bucket_rate_bit_s(asked.rate_bit_s, asked.mtu_bytes or 0)
            assert end.shaped_bit_s == (wanted and wanted // 8 * 8)
            assert end.qdisc == ("noqueue" if asked.rate_bit_s is None else "tbf")
            assert end.driver == "veth"
            assert end.congestion_control == "cubic"
            assert end.speed_bit_s is None
            assert end.offloads["tcp-segmentation-offload"]
        assert (link.mtu_bytes, link.rate_bit_s) == (asked.mtu_bytes, asked.rate_bit_s)
        assert send_over(link.sender, link.receiver, "there") == (
            link.sender.address,
            "there",
            "cubic",
        )
        assert send_over(link.receiver, link.sender, "and back") == (
            link.receiver.address,
            "and back",
            "cubic",
        )
        assert mismatches(link, facts) == ()


def test_the_settings_of_a_link_are_its_own() -> None:
    sysctls = {
        "net.ipv4.tcp_congestion_control": "reno",
        "net.ipv4.tcp_window_scaling": "0",
        "net.ipv4.tcp_rmem": "4096 8192 16384",
    }
    outside = Path("/proc/sys/net/ipv4/tcp_rmem").read_text(encoding="ascii")
    with open_link(replace(CATALOGUE["ib"], sysctls=sysctls)) as opened:
        facts = opened.facts()
        for end in (facts.sender, facts.receiver):
            assert end.congestion_control == "reno"
            assert end.sysctls["net.ipv4.tcp_window_scaling"] == "0"
            assert end.sysctls["net.ipv4.tcp_rmem"] == "4096 8192 16384"
        assert send_over(opened.link.sender, opened.link.receiver, "x")[2] == "reno"
        assert Path("/proc/sys/net/ipv4/tcp_rmem").read_text(encoding="ascii") == outside


def test_a_change_during_a_run_is_found() -> None:
    with open_link(CATALOGUE["1ge"]) as opened:
        before = opened.facts()
        setting = "open('/proc/sys/net/ipv4/tcp_sack', 'w').write('0')"
        end = opened.link.receiver
        subprocess.run([*end.prefix, str(end.python), "-c", setting], check=True)
        assert [finding.text for finding in changes(before, opened.facts())] == [
            "link 1ge: net.ipv4.tcp_sack at the receiver was 1 before the run and is 0 after it"
        ]


def test_nothing_is_left_after_the_end_or_an_exception() -> None:
    with open_link(CATALOGUE["1ge"]) as opened:
        held = inhabitants(holder_pids(opened.link))
    assert_gone(held)

    held = []
    with pytest.raises(ZeroDivisionError):
        _fail_over_a_link(held)
    assert len(held) == 2
    assert_gone(held)


def _fail_over_a_link(held: list[psutil.Process]) -> None:
    with open_link(CATALOGUE["ib"]) as opened:
        held += inhabitants(holder_pids(opened.link))
        raise ZeroDivisionError


@pytest.mark.parametrize(
    "then",
    [
        "    sys.stdin.read()\n",
        # A child that outlives its parent keeps the holders' input open.
        "    import os\n    os.fork()\n    sys.stdin.read()\n",
    ],
    ids=["alone", "with a child that lives on"],
)
def test_nothing_is_left_after_a_kill(then: str) -> None:
    with start(then) as victim:
        assert victim.stdout is not None
        held = inhabitants(json.loads(victim.stdout.readline()))
        victim.kill()
        assert victim.wait() == -signal.SIGKILL
        wait_for_end(held)
        assert_gone(held)


def test_ctrl_c_takes_the_link_away_last() -> None:
    then = """
    try:
        print("waiting", flush=True)
        sys.stdin.read()
    except KeyboardInterrupt:
        print(opened.facts().receiver.mtu_bytes, flush=True)
"""
    with start(then, start_new_session=True) as foreground:
        assert foreground.stdout is not None
        held = inhabitants(json.loads(foreground.stdout.readline()))
        assert foreground.stdout.readline() == "waiting\n"
        os.killpg(foreground.pid, signal.SIGINT)
        assert foreground.stdout.readline() == "2044\n"
        assert foreground.wait() == 0
    assert_gone(held)


def test_two_links_at_once_do_not_meet() -> None:
    with open_link(CATALOGUE["ib"]) as one, open_link(CATALOGUE["1ge"]) as other:
        all_pids = (*holder_pids(one.link), *holder_pids(other.link))
        assert len({namespace(pid, "net") for pid in all_pids}) == 4
        assert send_over(one.link.sender, one.link.receiver, "one")[1] == "one"
        assert send_over(other.link.sender, other.link.receiver, "other")[1] == "other"
        with pytest.raises(subprocess.CalledProcessError, match="non-zero"):
            send_over(one.link.sender, other.link.receiver, "lost")


def interpreter_for_nobody() -> tuple[str, dict[str, str]]:
    """An interpreter that a user without rights may run, with what makes orbtax importable."""
    if os.geteuid() != 0:
        return sys.executable, dict(os.environ)
    source = str(Path(orbtax.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, *sys.path])}
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        try:
            subprocess.run(
                [python, "-c", "import msgspec, pyroute2, orbtax.links.opened"],
                check=True,
                capture_output=True,
                env=environment,
                cwd="/",
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        return python, environment
    pytest.skip("no interpreter here that a user without rights can run orbtax with")


def test_no_root_is_needed() -> None:
    python, environment = interpreter_for_nobody()
    rights = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    allowed = subprocess.run(["unshare", "-Urn", "true"], capture_output=True, text=True, **rights)  # type: ignore[call-overload]
    if allowed.returncode:
        pytest.skip(f"no user namespaces here: {allowed.stderr.strip()}")
    then = "    print(opened.facts().receiver.shaped_bit_s, flush=True)\n"
    done = subprocess.run(
        [python, "-c", HOLD.replace('"ib"', '"1ge"') + then],
        capture_output=True,
        text=True,
        env=environment,
        cwd="/",
        **rights,  # type: ignore[call-overload]
    )
    assert done.stderr == ""
    pids, rate_bit_s = done.stdout.splitlines()
    assert rate_bit_s == str(bucket_rate_bit_s(10**9, 1500) // 8 * 8)
    assert not [pid for pid in json.loads(pids) if psutil.pid_exists(pid)]
