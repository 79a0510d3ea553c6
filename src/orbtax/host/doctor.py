"""A read-only look at what spoils a measurement on this host.

A check that cannot read its source says so in a finding `not-checked`; none passes silently.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from orbtax.host import cgroup, hardware, noise, settings
from orbtax.host import interface as interfaces
from orbtax.host.interface import InterfaceReading
from orbtax.host.kernel import THIS_HOST, KernelFiles, UnreadableError
from orbtax.host.noise import ProcessTime
from orbtax.host.orb_settings import stray_orb_settings
from orbtax.host.ticks import HostTicks, parse_stat
from orbtax.model import Finding
from orbtax.orb import CONFIGURATION_FILE

NOT_CHECKED = "not-checked"
USUAL_RATE_BIT_S = 10_000_000_000

Check = Callable[[], Finding | None]
T = TypeVar("T")

_VERSION_LIMIT_S = 10
_BUFFER_SYSCTLS = (
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
)


def examine(
    *,
    interface: str | None = None,
    rate_bit_s: float = USUAL_RATE_BIT_S,
    round_trip_s: float = 0.001,
    window_s: float = 0.5,
    kernel: KernelFiles = THIS_HOST,
    environ: Mapping[str, str] | None = None,
    config_path: Path = CONFIGURATION_FILE,
) -> tuple[Finding, ...]:
    """Everything here that may spoil a measurement: serious things first, unread ones last.

    `interface`, `rate_bit_s` and `round_trip_s` are those of the link that is to be measured. It
    takes `window_s`, over which stolen time, other programs and other traffic are watched.
    """
    before = _look(kernel, interface)
    time.sleep(window_s)
    after = _look(kernel, interface)
    checks = {
        **_machine_checks(kernel),
        **_network_checks(kernel, rate_bit_s, round_trip_s),
        **_program_checks(os.environ if environ is None else environ, config_path),
        **_noise_checks(kernel),
        **_watching_checks(before, after, rate_bit_s),
    }
    findings = [finding for what, check in checks.items() if (finding := run_check(what, check))]
    return tuple(sorted(findings, key=importance))


def importance(finding: Finding) -> tuple[bool, bool]:
    """A key to sort by: serious things first, what was not checked last."""
    return not finding.serious, finding.code == NOT_CHECKED


def run_check(what: str, check: Check) -> Finding | None:
    """The finding of one check; one of the kind `not-checked` where its source is unreadable."""
    try:
        return check()
    except UnreadableError as error:
        return Finding(code=NOT_CHECKED, text=f"{what}: not checked, since {error}")


def iperf3_version() -> str | None:
    """What the installed iperf3 says of itself; None when there is none.

    UnreadableError when it does not answer.
    """
    program = shutil.which("iperf3")
    if program is None:
        return None
    try:
        said = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnreadableError(f"iperf3 --version does not answer: {error}") from None
    return said.stdout


def _machine_checks(kernel: KernelFiles) -> dict[str, Check]:
    return {
        "number of cores": lambda: settings.judge_cores(
            len(hardware.online_cores(kernel)), len(os.sched_getaffinity(0))
        ),
        "hyper-threads": lambda: settings.judge_siblings(hardware.sibling_groups(kernel)),
        "governor": lambda: settings.judge_governor(hardware.governors(kernel)),
        "turbo": lambda: settings.judge_turbo(hardware.turbo_is_on(kernel)),
        "power": lambda: settings.judge_power(hardware.runs_on_battery(kernel)),
        "virtual machine": lambda: settings.judge_virtualisation(hardware.virtualisation(kernel)),
        "clock": lambda: settings.judge_clock(hardware.clock_source(kernel)),
        "processor quota": lambda: settings.judge_quota(
            cgroup.processor_quota(kernel), len(hardware.online_cores(kernel))
        ),
    }


def _network_checks(
    kernel: KernelFiles, rate_bit_s: float, round_trip_s: float
) -> dict[str, Check]:
    def buffer_limit(sysctl: str) -> Check:
        return lambda: settings.judge_buffer_limit(
            sysctl, kernel.sysctl_numbers(sysctl)[-1], rate_bit_s, round_trip_s
        )

    return {
        **{sysctl: buffer_limit(sysctl) for sysctl in _BUFFER_SYSCTLS},
        "window scaling": lambda: settings.judge_window_scaling(
            kernel.sysctl_numbers("net.ipv4.tcp_window_scaling")[0]
        ),
        "user namespaces": lambda: (
            None
            if os.geteuid() == 0  # root needs none
            else settings.judge_user_namespaces(settings.refusing_sysctl(kernel))
        ),
    }


def _program_checks(environ: Mapping[str, str], config_path: Path) -> dict[str, Check]:
    return {
        "iperf3": lambda: settings.judge_iperf3(iperf3_version()),
        "settings of omniORB": lambda: settings.judge_stray_settings(
            stray_orb_settings(environ, config_path)
        ),
    }


def _noise_checks(kernel: KernelFiles) -> dict[str, Check]:
    return {
        "load": lambda: noise.judge_load(
            noise.load_average(kernel), len(hardware.online_cores(kernel))
        ),
        "swap": lambda: noise.judge_swap(
            hardware.memory_bytes(kernel, "SwapTotal"), hardware.memory_bytes(kernel, "SwapFree")
        ),
    }


@dataclass(frozen=True, slots=True)
class _Attempt(Generic[T]):
    """What a source gave, or why it did not."""

    value: T | UnreadableError

    @classmethod
    def at(cls, source: Callable[[], T]) -> _Attempt[T]:
        try:
            return cls(source())
        except UnreadableError as error:
            return cls(error)

    def get(self) -> T:
        if isinstance(self.value, UnreadableError):
            raise self.value
        return self.value


@dataclass(frozen=True, slots=True)
class _Look:
    """What moves by itself, at one moment."""

    clock_s: float
    ticks: _Attempt[HostTicks]
    counters: _Attempt[InterfaceReading]
    throttles: _Attempt[int]
    processes: Mapping[int, ProcessTime]


def _look(kernel: KernelFiles, interface: str | None) -> _Look:
    def counters() -> InterfaceReading:
        if interface is None:
            raise UnreadableError("no interface was named: name a link to have it watched")
        return interfaces.read(interface, kernel)

    return _Look(
        clock_s=time.monotonic(),
        ticks=_Attempt.at(lambda: parse_stat(kernel.read_proc("stat"))),
        counters=_Attempt.at(counters),
        throttles=_Attempt.at(lambda: noise.throttle_count(kernel)),
        processes=noise.process_times(),
    )


def _watching_checks(before: _Look, after: _Look, rate_bit_s: float) -> dict[str, Check]:
    window_s = after.clock_s - before.clock_s
    return {
        "stolen time": lambda: noise.judge_steal(after.ticks.get().since(before.ticks.get()).total),
        "other programs": lambda: noise.judge_processes(
            before.processes, after.processes, window_s
        ),
        "other traffic": lambda: noise.judge_traffic(
            interfaces.difference(before.counters.get(), after.counters.get()),
            window_s,
            rate_bit_s,
        ),
        "heat": lambda: noise.judge_throttling(before.throttles.get(), after.throttles.get()),
    }
