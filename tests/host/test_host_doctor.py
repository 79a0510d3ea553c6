from __future__ import annotations

from pathlib import Path

import pytest
from kernel_trees import MakeKernel

from orbtax.host import doctor, noise
from orbtax.host.kernel import KernelFiles, UnreadableError
from orbtax.host.noise import ProcessTime
from orbtax.model import Finding

CPU = "sys/devices/system/cpu"
QUIET = {
    "proc/cpuinfo": "model name: Fast 3000\nflags: fpu\n",
    "proc/loadavg": "0.00 0.00 0.00 1/99 1234\n",
    "proc/meminfo": "SwapTotal: 0 kB\nSwapFree: 0 kB\n",
    "proc/self/cgroup": "0::/\n",
    "proc/self/net/dev": "eth9: 1 2 0 0 0 0 0 0 5 6 0 0 0 0 0 0\n",
    "proc/sys/net/core/rmem_max": "67108864\n",
    "proc/sys/net/core/wmem_max": "67108864\n",
    "proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t67108864\n",
    "proc/sys/net/ipv4/tcp_wmem": "4096\t16384\t67108864\n",
    "proc/sys/net/ipv4/tcp_window_scaling": "1\n",
    "proc/sys/user/max_user_namespaces": "1000\n",
    "sys/fs/cgroup/cgroup.procs": "",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    f"{CPU}/online": "0-7\n",
    f"{CPU}/cpu0/topology/thread_siblings_list": "0\n",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/intel_pstate/no_turbo": "1\n",
    f"{CPU}/cpu0/thermal_throttle/core_throttle_count": "0\n",
}


@pytest.fixture(autouse=True)
def quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked of the system by calls and not by files."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr(noise, "process_times", dict)
    monkeypatch.setattr(doctor, "iperf3_version", lambda: "iperf 3.17")


def examine(kernel: KernelFiles, environ: dict[str, str] | None = None) -> tuple[Finding, ...]:
    return doctor.examine(
        interface="eth9",
        window_s=0.0,
        kernel=kernel,
        environ=environ or {},
        config_path=Path("/nonexistent"),
    )


def test_only_what_cannot_be_told_is_said_of_a_quiet_host(make_kernel: MakeKernel) -> None:
    findings = examine(make_kernel({**QUIET, "proc/stat": "cpu 1 0 1 9 0 0 0 0\n"}))
    # both looks at one recorded /proc/stat: no tick can have passed
    assert [finding.text for finding in findings] == [
        "stolen time: not checked, since no clock tick passed between the two readings"
    ]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({f"{CPU}/cpu0/topology/thread_siblings_list": "0,8\n"}, "hyper-threads"),
        ({f"{CPU}/cpu3/cpufreq/scaling_governor": "powersave\n"}, "governor"),
        ({f"{CPU}/intel_pstate/no_turbo": "0\n"}, "turbo"),
        ({f"{CPU}/cpu0/thermal_throttle/core_throttle_count": "3\n"}, "thermal-throttling"),
        (
            {
                "sys/class/power_supply/BAT1/type": "Battery\n",
                "sys/class/power_supply/BAT1/status": "Discharging\n",
            },
            "battery",
        ),
        ({"sys/hypervisor/type": "xen\n"}, "virtual-machine"),
        (
            {"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n"},
            "clock-source",
        ),
        ({"sys/fs/cgroup/cpu.max": "400000 100000\n"}, "processor-quota"),
        ({"proc/sys/net/core/rmem_max": "212992\n"}, "small-buffers"),
        ({"proc/sys/net/core/wmem_max": "212992\n"}, "small-buffers"),
        ({"proc/sys/net/ipv4/tcp_rmem": "4096 131072 212992\n"}, "small-buffers"),
        ({"proc/sys/net/ipv4/tcp_wmem": "4096 131072 212992\n"}, "small-buffers"),
        ({"proc/sys/net/ipv4/tcp_window_scaling": "0\n"}, "no-window-scaling"),
        ({"proc/sys/user/max_user_namespaces": "0\n"}, "no-user-namespaces"),
        ({"proc/loadavg": "4.00 0 0 1/9 9\n"}, "load"),
        ({"proc/meminfo": "SwapTotal: 90000 kB\nSwapFree: 80000 kB\n"}, "swap"),
    ],
)
def test_each_trouble_is_found(make_kernel: MakeKernel, change: dict[str, str], code: str) -> None:
    findings = examine(make_kernel(QUIET | change))
    assert [finding.code for finding in findings] == [code, doctor.NOT_CHECKED]


def test_stray_orb_settings_are_found(make_kernel: MakeKernel) -> None:
    findings = examine(make_kernel(QUIET), {"ORBtraceLevel": "40"})
    assert findings[0].code == "stray-orb-settings"
    assert "traceLevel = 40" in findings[0].text


def test_a_host_that_shows_nothing_has_every_check_said(make_kernel: MakeKernel) -> None:
    findings = examine(make_kernel({}))
    assert {finding.code for finding in findings} == {doctor.NOT_CHECKED}
    subjects = {finding.text.partition(":")[0] for finding in findings}
    assert {
        "governor", "turbo", "clock", "processor quota", "hyper-threads", "number of cores",
        "virtual machine", "net.core.rmem_max", "net.ipv4.tcp_wmem", "window scaling", "load",
        "swap", "stolen time", "other traffic", "heat",
    } <= subjects  # fmt: skip


@pytest.mark.parametrize("missing", [name for name in QUIET if not name.endswith("procs")])
def test_a_source_that_is_gone_never_passes_in_silence(
    make_kernel: MakeKernel, missing: str
) -> None:
    texts = {name: text for name, text in QUIET.items() if name != missing}
    texts["proc/stat"] = "cpu 1 0 1 9 0 0 0 0\n"
    assert len(examine(make_kernel(texts))) >= 2


def test_serious_findings_come_first_and_unread_ones_last(make_kernel: MakeKernel) -> None:
    texts = QUIET | {
        "proc/sys/net/ipv4/tcp_window_scaling": "0\n",
        f"{CPU}/intel_pstate/no_turbo": "0\n",
    }
    assert [finding.code for finding in examine(make_kernel(texts))] == [
        "no-window-scaling", "turbo", doctor.NOT_CHECKED,
    ]  # fmt: skip


def test_an_unreadable_source_becomes_a_finding() -> None:
    def check() -> Finding | None:
        raise UnreadableError("the moon is in the way")

    finding = doctor.run_check("tide", check)
    assert finding is not None
    assert (finding.code, finding.serious) == (doctor.NOT_CHECKED, False)
    assert finding.text == "tide: not checked, since the moon is in the way"


def test_what_calls_tell_is_judged_too(
    make_kernel: MakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {3})
    monkeypatch.setattr(doctor, "iperf3_version", lambda: None)
    looks = iter([{7: ProcessTime("hog", 1.0)}, {7: ProcessTime("hog", 99.0)}])
    monkeypatch.setattr(noise, "process_times", lambda: next(looks))
    codes = {finding.code for finding in examine(make_kernel(QUIET))}
    assert codes == {"one-core", "iperf3", "busy-processes", doctor.NOT_CHECKED}


def make_program(directory: Path, text: str) -> None:
    program = directory / "iperf3"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)


def test_the_installed_iperf3_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert doctor.iperf3_version() is None
    make_program(tmp_path, "echo iperf 3.9")
    assert doctor.iperf3_version() == "iperf 3.9\n"
    (tmp_path / "iperf3").write_text("#!/no/such/shell\n")
    with pytest.raises(UnreadableError, match="does not answer"):
        doctor.iperf3_version()
