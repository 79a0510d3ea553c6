"""What the machine is: processor, caches, memory, and how its clock and frequency are governed.

Every function takes the kernel's files, gives a text or number, and raises UnreadableError with
the reason when this machine does not show it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from orbtax.host.kernel import KernelFiles, UnreadableError

_CPU = "devices/system/cpu"
_CLOCK_SOURCE = "devices/system/clocksource/clocksource0/current_clocksource"
_CORE_MHZ = re.compile(r"^cpu MHz\s*: (\d+\.\d+)$", re.MULTILINE)
_VIRTUAL_MAKERS = (
    "QEMU",
    "KVM",
    "VMware",
    "VirtualBox",
    "Xen",
    "Virtual Machine",
    "Amazon EC2",
    "Google Compute Engine",
    "OpenStack",
    "Parallels",
    "Bochs",
    "bhyve",
)


def processor_model(kernel: KernelFiles) -> str:
    """The processor's name; on Arm, which has none there, its implementer and part numbers."""
    info = _first_core(kernel)
    for name in ("model name", "cpu model", "Processor", "cpu"):
        if info.get(name):
            return info[name]
    if "CPU implementer" in info and "CPU part" in info:
        return f"implementer {info['CPU implementer']} part {info['CPU part']}"
    raise UnreadableError("/proc/cpuinfo names no processor")


def online_cores(kernel: KernelFiles) -> tuple[int, ...]:
    """Numbers of the logical processors that are online."""
    return parse_core_list(kernel.read_sys(f"{_CPU}/online"))


def cache_size(kernel: KernelFiles, level: int, kinds: tuple[str, ...]) -> str:
    """Size of the first core's cache of a level, as the kernel writes it, such as `48K`."""
    for size_file in kernel.find_sys(f"{_CPU}/cpu0/cache/index*/size"):
        index = size_file.removesuffix("/size")
        is_level = kernel.read_sys(f"{index}/level") == str(level)
        if is_level and kernel.read_sys(f"{index}/type") in kinds:
            return kernel.read_sys(size_file)
    raise UnreadableError(f"/sys/{_CPU}/cpu0/cache shows no such cache of level {level}")


def memory_bytes(kernel: KernelFiles, name: str) -> int:
    """A value of /proc/meminfo, such as `MemTotal`."""
    for line in kernel.read_proc("meminfo").splitlines():
        key, _, value = line.partition(":")
        columns = value.split()
        if key == name and columns and columns[0].isdecimal():
            return int(columns[0]) * 1024
    raise UnreadableError(f"/proc/meminfo has no {name}")


def governors(kernel: KernelFiles) -> tuple[str, ...]:
    """The distinct frequency governors of all cores."""
    files = kernel.find_sys(f"{_CPU}/cpu[0-9]*/cpufreq/scaling_governor")
    if not files:
        raise UnreadableError(
            "the kernel shows no frequency governor, as is usual in a virtual machine"
        )
    return tuple(sorted({kernel.read_sys(name) for name in files}))


def turbo_is_on(kernel: KernelFiles) -> bool:
    """Whether cores may go above their nominal frequency."""
    try:
        return kernel.read_sys(f"{_CPU}/intel_pstate/no_turbo") == "0"
    except UnreadableError:
        pass
    try:
        return kernel.read_sys(f"{_CPU}/cpufreq/boost") == "1"
    except UnreadableError:
        raise UnreadableError(
            "the kernel shows no turbo switch (intel_pstate/no_turbo or cpufreq/boost)"
        ) from None


def frequency_mhz(kernel: KernelFiles) -> float:
    """The cores' mean clock frequency at this moment."""
    files = kernel.find_sys(f"{_CPU}/cpu[0-9]*/cpufreq/scaling_cur_freq")
    in_khz = [text for name in files if (text := kernel.read_sys(name)).isdecimal()]
    shown = [int(text) / 1000 for text in in_khz] or [
        float(value) for value in _CORE_MHZ.findall(kernel.read_proc("cpuinfo"))
    ]
    if not shown:
        raise UnreadableError("neither cpufreq nor /proc/cpuinfo shows a clock frequency")
    return sum(shown) / len(shown)


def virtualisation(kernel: KernelFiles) -> str:
    """`none seen`, or the hypervisor that the processor, /sys/hypervisor or the firmware name."""
    try:
        return kernel.read_sys("hypervisor/type")
    except UnreadableError:
        pass
    maker = _virtual_maker(kernel)
    if maker is not None:
        return maker
    flags = _first_core(kernel).get("flags", "")
    return "a hypervisor without a name" if "hypervisor" in flags.split() else "none seen"


def clock_source(kernel: KernelFiles) -> str:
    """What the kernel tells the time by, such as `tsc`."""
    return kernel.read_sys(_CLOCK_SOURCE)


def sibling_groups(kernel: KernelFiles) -> tuple[tuple[int, ...], ...]:
    """Logical processors that share one core, for every core that has more than one."""
    files = kernel.find_sys(f"{_CPU}/cpu[0-9]*/topology/thread_siblings_list")
    if not files:
        raise UnreadableError(f"/sys/{_CPU} shows no topology")
    groups = {parse_core_list(kernel.read_sys(name)) for name in files}
    return tuple(sorted(group for group in groups if len(group) > 1))


def runs_on_battery(kernel: KernelFiles) -> bool:
    """Whether a battery of the machine itself (not of a mouse) is being used up."""
    for type_file in kernel.find_sys("class/power_supply/*/type"):
        supply = type_file.removesuffix("/type")
        is_own = not kernel.find_sys(f"{supply}/scope") or (
            kernel.read_sys(f"{supply}/scope") != "Device"
        )
        is_battery = kernel.read_sys(type_file) == "Battery"
        if is_own and is_battery and kernel.read_sys(f"{supply}/status") == "Discharging":
            return True
    return False


def parse_core_list(text: str) -> tuple[int, ...]:
    """The numbers of a kernel list such as `0-2,8`; UnreadableError for anything else."""
    cores: set[int] = set()
    for item in text.strip().split(","):
        first, dash, last = item.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UnreadableError(f"{text.strip()!r} is no list of cores")
        cores.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(cores))


def _first_core(kernel: KernelFiles) -> Mapping[str, str]:
    """The first block of /proc/cpuinfo."""
    info: dict[str, str] = {}
    for line in kernel.read_proc("cpuinfo").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            info.setdefault(name.strip(), value.strip())
    return info


def _virtual_maker(kernel: KernelFiles) -> str | None:
    for name in ("product_name", "sys_vendor"):
        try:
            shown = kernel.read_sys(f"class/dmi/id/{name}")
        except UnreadableError:
            continue  # no firmware table: the processor's flag still tells
        for maker in _VIRTUAL_MAKERS:
            if maker.lower() in shown.lower():
                return maker
    return None
