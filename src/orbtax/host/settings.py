"""How this host is set up, judged for measuring.

Each `judge_…` function takes what was read and gives a finding with what was seen, how much it
may matter and the cure, or None when all is well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from orbtax.host.kernel import KernelFiles, UnreadableError
from orbtax.model import Finding
from orbtax.units import display_duration, display_rate, display_size

OLDEST_IPERF3 = (3, 12)
# read without a system call, and steady
_FAST_CLOCKS = ("tsc", "arch_sys_counter", "timebase", "tod", "stp", "riscv_clocksource")
_VIRTUAL_CLOCKS = ("kvm-clock", "hyperv_clocksource_tsc_page")
_CORES_NEEDED = 2


@dataclass(frozen=True, slots=True)
class NamespaceSysctl:
    """A sysctl that refuses user namespaces at one value and allows them at another."""

    name: str
    refusing: int
    allowing: int
    everywhere: bool = False  # False: only some distributions have it


_NAMESPACE_SYSCTLS = (
    NamespaceSysctl("user.max_user_namespaces", 0, 10000, everywhere=True),
    NamespaceSysctl("kernel.unprivileged_userns_clone", 0, 1),
    NamespaceSysctl("kernel.apparmor_restrict_unprivileged_userns", 1, 0),
)


def judge_cores(online: int, allowed: int) -> Finding | None:
    """Servant and client each want a core, of those that this process is allowed."""
    if min(online, allowed) >= _CORES_NEEDED:
        return None
    return Finding(
        code="one-core",
        text=f"{allowed} of {online} cores may be used here: servant and client take turns on "
        "one, so a call costs two changes of process and the rates say little about a link",
        cure="measure between two machines, or allow two cores (taskset, cpuset)",
        serious=True,
    )


def judge_siblings(groups: Sequence[tuple[int, ...]]) -> Finding | None:
    """Hyper-threads share the units of one core."""
    if not groups:
        return None
    shown = ", ".join("+".join(str(core) for core in group) for group in groups[:4])
    more = ", …" if len(groups) > 4 else ""
    return Finding(
        code="hyper-threads",
        text=f"logical processors share cores ({shown}{more}): servant and client on one pair "
        "each run up to half as fast",
        cure="place them on different cores with --placement, or switch hyper-threading off",
    )


def judge_governor(governors: Sequence[str]) -> Finding | None:
    """A governor other than `performance` changes the frequency with the load."""
    if tuple(governors) == ("performance",):
        return None
    return Finding(
        code="governor",
        text=f"the frequency governor is {', '.join(governors)}: the clock follows the load, so "
        "short calls run slower than full streams, at times by half",
        cure="cpupower frequency-set --governor performance",
    )


def judge_turbo(is_on: bool) -> Finding | None:
    """Turbo makes the frequency depend on heat and on how many cores are busy."""
    if not is_on:
        return None
    return Finding(
        code="turbo",
        text="turbo is on: the frequency depends on heat and on how many cores are busy, so one "
        "thread may run a tenth to a third faster than many",
        cure="write 1 to /sys/devices/system/cpu/intel_pstate/no_turbo, or 0 to "
        "/sys/devices/system/cpu/cpufreq/boost",
    )


def judge_power(is_on_battery: bool) -> Finding | None:
    """A laptop on its battery saves power at the cost of speed."""
    if not is_on_battery:
        return None
    return Finding(
        code="battery",
        text="the machine runs on its battery: the firmware may lower frequencies at any moment",
        cure="plug it in",
    )


def judge_virtualisation(name: str) -> Finding | None:
    """A virtual machine shares what it runs on."""
    if name == "none seen":
        return None
    return Finding(
        code="virtual-machine",
        text=f"this is a virtual machine ({name}): its cores and its network are shared with "
        "others, and interrupts cost more than on the bare machine",
        cure="compare arms only within one run; for absolute figures use a host of your own",
    )


def judge_clock(source: str) -> Finding | None:
    """A slow clock costs each timed call."""
    if source in _FAST_CLOCKS:
        return None
    if source in _VIRTUAL_CLOCKS:
        text = f"the clock is {source}, which a hypervisor keeps: it may step by microseconds"
    else:
        text = (
            f"the clock is {source}: reading it is a system call of up to some microseconds, "
            "which shows in every call of small messages"
        )
    return Finding(
        code="clock-source",
        text=text,
        cure="boot with clocksource=tsc if the machine's tsc is stable",
    )


def judge_quota(quota_cores: float | None, cores: int) -> Finding | None:
    """A quota stops all threads for the rest of a period once it is used up."""
    if quota_cores is None or quota_cores >= cores:
        return None
    return Finding(
        code="processor-quota",
        text=f"a control group allows {quota_cores:g} of {cores} cores' time: once it is used "
        "up, all threads stop for up to 100 ms",
        cure="lift the quota (cpu.max; for a container: start it without a limit of cores)",
        serious=quota_cores < _CORES_NEEDED,
    )


def judge_buffer_limit(
    sysctl: str, limit_bytes: int, rate_bit_s: float, round_trip_s: float
) -> Finding | None:
    """A buffer limit beside the bandwidth-delay product, rate × round trip.

    The largest of `tcp_rmem` and `tcp_wmem` counts the kernel's own bookkeeping, about half;
    `rmem_max` and `wmem_max` limit a request, which is doubled afterwards.
    """
    in_flight_bytes = rate_bit_s * round_trip_s / 8
    usable_bytes = limit_bytes // 2 if sysctl.startswith("net.ipv4.") else limit_bytes
    if usable_bytes >= in_flight_bytes:
        return None
    return Finding(
        code="small-buffers",
        text=f"{sysctl} ends at {limit_bytes} bytes: {display_rate(rate_bit_s)} with a round "
        f"trip of {display_duration(round_trip_s)} need {display_size(in_flight_bytes)} in "
        f"flight, so one connection may be held to {usable_bytes / in_flight_bytes:.0%} of "
        "the rate",
        cure=f"raise {sysctl} with sysctl -w",
    )


def judge_window_scaling(value: int) -> Finding | None:
    """Without window scaling at most 65535 bytes are in flight."""
    if value != 0:
        return None
    return Finding(
        code="no-window-scaling",
        text="net.ipv4.tcp_window_scaling is 0: no connection has more than 65535 bytes in "
        "flight, which 10 Gbit/s send in 52 µs",
        cure="sysctl -w net.ipv4.tcp_window_scaling=1, at both ends",
        serious=True,
    )


def refusing_sysctl(kernel: KernelFiles) -> NamespaceSysctl | None:
    """The sysctl that keeps an ordinary user from making a namespace, None if none does.

    UnreadableError when the kernel shows nothing of user namespaces.
    """
    for rule in _NAMESPACE_SYSCTLS:
        try:
            values = kernel.sysctl_numbers(rule.name)
        except UnreadableError:
            if rule.everywhere:
                raise
            continue  # a distribution's own, which this one does not have
        if values == (rule.refusing,):
            return rule
    return None


def judge_user_namespaces(refused_by: NamespaceSysctl | None) -> Finding | None:
    """Emulated links need a user namespace, unless root makes them."""
    if refused_by is None:
        return None
    return Finding(
        code="no-user-namespaces",
        text=f"{refused_by.name} is {refused_by.refusing}: an ordinary user cannot make "
        "emulated links here; loopback and real hosts are not affected",
        cure=f"sysctl -w {refused_by.name}={refused_by.allowing}, or run as root",
    )


def judge_iperf3(version_text: str | None) -> Finding | None:
    """What `iperf3 --version` says; None when it is not installed."""
    oldest = ".".join(str(part) for part in OLDEST_IPERF3)
    if version_text is None:
        seen = "iperf3 is not installed"
    else:
        found = re.search(r"\biperf (\d+)\.(\d+)", version_text)
        if found is None:
            first_line, *_ = version_text.splitlines() or [""]
            seen = f"iperf3 does not say which version it is: {first_line!r}"
        elif (int(found[1]), int(found[2])) < OLDEST_IPERF3:
            seen = f"iperf3 is version {found[1]}.{found[2]}"
        else:
            return None
    return Finding(
        code="iperf3",
        text=f"{seen}: the baseline cannot be checked beside it; results are not affected",
        cure=f"install iperf3 {oldest} or later",
    )


def judge_stray_settings(settings: Sequence[str]) -> Finding | None:
    """ORB options from outside change runs of other programs, and ours if it let them in."""
    if not settings:
        return None
    return Finding(
        code="stray-orb-settings",
        text=f"omniORB is set from outside: {', '.join(settings)}; orbtax keeps this from its "
        "own programs, while other programs run with it and compare differently",
        cure="unset the ORB variables and empty omniORB's configuration file",
    )
