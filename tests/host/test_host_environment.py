from __future__ import annotations

import getpass
import json
import platform
from dataclasses import replace
from pathlib import Path

import pytest
from kernel_trees import MakeKernel

from orbtax.host.environment import SYSCTLS, changes, read_environment
from orbtax.host.kernel import KernelFiles
from orbtax.record import Environment

ORB = {"giopMaxMsgSize": "2097152", "traceFile": "[stderr]", "configFile": "/home/secret/orb.cfg"}


def read(
    kernel: KernelFiles, environ: dict[str, str] | None = None, interface: str | None = "lo"
) -> Environment:
    return read_environment(
        interface=interface,
        orb_configuration=ORB,
        kernel=kernel,
        environ=environ or {},
        config_path=Path("/nonexistent"),
    )


@pytest.fixture
def kernel(make_kernel: MakeKernel) -> KernelFiles:
    sysctls = {f"proc/sys/{name.replace('.', '/')}": f"{name}\t1\n" for name in SYSCTLS}
    return make_kernel(
        {
            **sysctls,
            "proc/cpuinfo": "model name: Fast 3000\ncpu MHz\t: 2600.000\nflags: hypervisor\n",
            "proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 600 kB\n",
            "proc/loadavg": "0.10 0.20 0.30 1/99 1234\n",
            "proc/uptime": "1000.50 900.00\n",
            "proc/stat": "cpu 1 0 1 1 0 0 0 50\n",
            "proc/self/net/dev": "lo: 1 2 0 4 0 0 0 0 5 6 0 8 0 0 0 0\n",
            "sys/devices/system/cpu/online": "0-3\n",
            "sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0,2\n",
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
            "sys/devices/system/cpu/cpu0/cache/index0/level": "2\n",
            "sys/devices/system/cpu/cpu0/cache/index0/type": "Unified\n",
            "sys/devices/system/cpu/cpu0/cache/index0/size": "512K\n",
            "sys/devices/system/cpu/intel_pstate/no_turbo": "0\n",
            "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
        }
    )


def test_facts_say_what_the_host_is(kernel: KernelFiles) -> None:
    environment = read(kernel, {"ORBmaxSocketSend": "1000"})
    expected = {
        "processor": "Fast 3000",
        "cores": "4",
        "core_siblings": "0+2",
        "cache_l2": "512K",
        "memory_bytes": "1024000",
        "governor": "powersave",
        "turbo": "on",
        "virtualisation": "a hypervisor without a name",
        "clock_source": "tsc",
        "sysctl.net.ipv4.tcp_rmem": "net.ipv4.tcp_rmem 1",
        "stray_orb_settings": "maxSocketSend = 1000 (environment)",
        "orb.giopMaxMsgSize": "2097152",
        "orb.traceFile": "[stderr]",
    }
    assert {name: environment.facts.get(name) for name in expected} == expected
    assert {"kernel", "python", "python_switch_interval_s"} <= environment.facts.keys()
    assert {"version.omniORB", "version.orbtax", "version.numpy"} <= environment.facts.keys()
    assert {f"sysctl.{name}" for name in SYSCTLS} <= environment.facts.keys()
    assert "cache_l3" in environment.missing


def test_state_is_what_moves_by_itself(kernel: KernelFiles) -> None:
    state = read(kernel).state
    assert state["load"] == "0.10 0.20 0.30"
    assert state["available_memory_bytes"] == "614400"
    assert state["frequency_mhz"] == "2600"
    assert float(state["steal_s"]) > 0
    assert state["uptime_s"] == "1000.50"
    assert state["dropped_packets.lo"] == "12"
    assert state.keys().isdisjoint(read(kernel).facts)


def test_a_host_that_shows_nothing_says_why(make_kernel: MakeKernel) -> None:
    environment = read(make_kernel({}))
    for name in ("processor", "governor", "sysctl.net.core.rmem_max", "load", "steal_s"):
        assert name not in environment.facts
        assert environment.missing[name]


def test_without_an_interface_none_is_asked(kernel: KernelFiles) -> None:
    environment = read(kernel, interface=None)
    assert not [name for name in (*environment.state, *environment.missing) if "dropped" in name]


def test_no_name_of_the_site_is_in_it(kernel: KernelFiles) -> None:
    everything = json.dumps([read(kernel).facts, read(kernel).state, read(kernel).missing])
    assert "secret" not in everything
    assert str(Path.cwd()) not in everything
    assert str(kernel.proc.parent) not in everything
    words = everything.replace('"', " ").split()
    assert platform.node() not in words
    assert getpass.getuser() not in words


def test_two_readings_of_one_set_up_are_equal_in_facts(kernel: KernelFiles) -> None:
    before, after = read(kernel), read(kernel)
    assert before.facts == after.facts
    assert changes(before, after) == ()


def test_a_changed_sysctl_is_flagged(kernel: KernelFiles, make_kernel: MakeKernel) -> None:
    before = read(kernel)
    after = read(make_kernel({"proc/sys/net/ipv4/tcp_rmem": "4096 8192 16384\n"}))
    (finding,) = changes(before, after)
    assert finding.code == "environment-changed"
    assert finding.serious
    assert "sysctl.net.ipv4.tcp_rmem" in finding.text
    assert "'4096 8192 16384'" in finding.text
    assert "'net.ipv4.tcp_rmem 1'" in finding.text


def test_state_may_change() -> None:
    before = Environment(facts={"a": "1"}, state={"load": "0"})
    assert changes(before, replace(before, state={"load": "9"})) == ()


def test_a_fact_that_went_or_came_is_said_with_the_reason() -> None:
    known = Environment(facts={"governor": "performance"}, state={})
    unknown = Environment(facts={}, state={}, missing={"governor": "not shown"})
    (gone,) = changes(known, unknown)
    (come,) = changes(unknown, known)
    assert "not shown" in gone.text
    assert "'performance'" in come.text
    assert not gone.serious
    assert not come.serious
