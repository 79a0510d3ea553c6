"""What a host is and how it is set up, in named facts, so that two runs can be told apart.

No host name, user name or path is among them.
"""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from orbtax.host import hardware
from orbtax.host import interface as interfaces
from orbtax.host.kernel import THIS_HOST, KernelFiles, UnreadableError
from orbtax.host.orb_settings import dump_orb_configuration, stray_orb_settings, without_site
from orbtax.host.ticks import TICKS_PER_S, parse_stat
from orbtax.model import Finding
from orbtax.orb import CONFIGURATION_FILE
from orbtax.record import Environment

__all__ = ["changes", "dump_orb_configuration", "read_environment", "stray_orb_settings"]

SYSCTLS = (
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.netdev_budget",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_rto_min_us",
    "kernel.numa_balancing",
)
PACKAGES = ("orbtax", "jeteve-omniorb", "numpy")

Source = Callable[[], str]


def read_environment(
    *,
    interface: str | None,
    orb_configuration: Mapping[str, str],
    kernel: KernelFiles = THIS_HOST,
    environ: Mapping[str, str] | None = None,
    config_path: Path = CONFIGURATION_FILE,
) -> Environment:
    """This host as this process sees it: its own network namespace, environment and packages.

    `orb_configuration` holds omniORB's options in force, by name, as `dump_orb_configuration`
    gives them; `environ` is the process's own unless given. What cannot be read is in `missing`.
    """
    variables = os.environ if environ is None else environ
    facts, missing = _collect(
        _hardware_sources(kernel)
        | _software_sources()
        | {f"sysctl.{name}": _sysctl(kernel, name) for name in SYSCTLS}
        | {"stray_orb_settings": lambda: _joined(stray_orb_settings(variables, config_path))}
    )
    facts |= {f"orb.{name}": without_site(name, value) for name, value in orb_configuration.items()}
    state, missing_state = _collect(_state_sources(kernel, interface))
    return Environment(facts=facts, state=state, missing=missing | missing_state)


def changes(before: Environment, after: Environment) -> tuple[Finding, ...]:
    """One finding for each fact that is not the same any more, or can no longer be read."""
    findings = []
    for name in sorted(before.facts.keys() | after.facts.keys()):
        earlier, later = before.facts.get(name), after.facts.get(name)
        if earlier != later:
            findings.append(
                Finding(
                    code="environment-changed",
                    text=f"{name} changed during the run, from {_shown(before, name)} to "
                    f"{_shown(after, name)}: its rounds were not measured on one set-up",
                    cure="leave the set-up alone while a run lasts, and measure again",
                    serious=earlier is not None and later is not None,
                )
            )
    return tuple(findings)


def _shown(environment: Environment, name: str) -> str:
    if name in environment.facts:
        return repr(environment.facts[name])
    return f"nothing ({environment.missing.get(name, 'it was not there')})"


def _collect(sources: Mapping[str, Source]) -> tuple[dict[str, str], dict[str, str]]:
    """What the sources say, and why the others do not."""
    said: dict[str, str] = {}
    missing: dict[str, str] = {}
    for name, source in sources.items():
        try:
            said[name] = source()
        except UnreadableError as error:
            missing[name] = str(error)
    return said, missing


def _hardware_sources(kernel: KernelFiles) -> dict[str, Source]:
    return {
        "architecture": platform.machine,
        "processor": lambda: hardware.processor_model(kernel),
        "cores": lambda: str(len(hardware.online_cores(kernel))),
        "core_siblings": lambda: _core_siblings(kernel),
        "cache_l1d": lambda: hardware.cache_size(kernel, 1, ("Data", "Unified")),
        "cache_l2": lambda: hardware.cache_size(kernel, 2, ("Data", "Unified")),
        "cache_l3": lambda: hardware.cache_size(kernel, 3, ("Data", "Unified")),
        "memory_bytes": lambda: str(hardware.memory_bytes(kernel, "MemTotal")),
        "governor": lambda: " ".join(hardware.governors(kernel)),
        "turbo": lambda: "on" if hardware.turbo_is_on(kernel) else "off",
        "virtualisation": lambda: hardware.virtualisation(kernel),
        "clock_source": lambda: hardware.clock_source(kernel),
    }


def _software_sources() -> dict[str, Source]:
    return {
        "kernel": lambda: f"{platform.system()} {platform.release()}",
        "distribution": _distribution,
        "python": _python,
        "python_switch_interval_s": lambda: str(sys.getswitchinterval()),
        "version.omniORB": _omniorb_version,
        **{f"version.{name}": _package(name) for name in PACKAGES},
    }


def _state_sources(kernel: KernelFiles, interface: str | None) -> dict[str, Source]:
    sources: dict[str, Source] = {
        "load": lambda: " ".join(kernel.read_proc("loadavg").split()[:3]),
        "available_memory_bytes": lambda: str(hardware.memory_bytes(kernel, "MemAvailable")),
        "frequency_mhz": lambda: f"{hardware.frequency_mhz(kernel):.0f}",
        "steal_s": lambda: _steal_so_far(kernel),
        "uptime_s": lambda: kernel.read_proc("uptime").split()[0],
    }
    if interface is not None:
        sources[f"dropped_packets.{interface}"] = lambda: _dropped_packets(kernel, interface)
    return sources


def _sysctl(kernel: KernelFiles, name: str) -> Source:
    return lambda: kernel.sysctl(name)


def _core_siblings(kernel: KernelFiles) -> str:
    groups = hardware.sibling_groups(kernel)
    return _joined(["+".join(str(core) for core in group) for group in groups])


def _joined(items: Sequence[str]) -> str:
    return "; ".join(items) or "none"


def _package(name: str) -> Source:
    def version() -> str:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            raise UnreadableError(f"no package {name} is installed for this Python") from None

    return version


def _omniorb_version() -> str:
    """The version of the ORB's own library; imported here, since raw arms need no ORB."""
    try:
        import omniORB
    except ImportError as error:
        raise UnreadableError(f"omniORBpy cannot be imported: {error.msg}") from None
    return str(omniORB.coreVersion())


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        raise UnreadableError("there is no os-release file") from None


def _python() -> str:
    threading = " free-threaded" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    return f"{platform.python_implementation()} {platform.python_version()}{threading}"


def _steal_so_far(kernel: KernelFiles) -> str:
    steal = parse_stat(kernel.read_proc("stat")).total.steal
    if steal is None:
        raise UnreadableError("/proc/stat of this kernel has no column for stolen time")
    return str(steal / TICKS_PER_S)


def _dropped_packets(kernel: KernelFiles, interface: str) -> str:
    counters = interfaces.read(interface, kernel)
    return str(counters.received_dropped_packets + counters.sent_dropped_packets)
