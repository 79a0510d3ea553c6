"""What else goes on here while a measurement runs: load, other programs, stolen time, traffic.

The `judge_…` functions take what was read and give a finding, or None when all is well.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

import psutil

from orbtax.host.kernel import KernelFiles, UnreadableError
from orbtax.host.ticks import Ticks
from orbtax.model import Finding
from orbtax.record import InterfaceCount
from orbtax.units import display_rate, display_size

LOAD_SHARE = 0.1
SERIOUS_LOAD_SHARE = 0.5
BUSY_PROCESS_SHARE = 0.05  # of one core
STEAL_SHARE = 0.01
SERIOUS_STEAL_SHARE = 0.05
TRAFFIC_SHARE = 0.001  # of the link's rate
_NAMED_PROCESSES = 3


@dataclass(frozen=True, slots=True)
class ProcessTime:
    """Processor time that one process has used since it began."""

    name: str
    used_s: float


def load_average(kernel: KernelFiles) -> float:
    """Runnable and waiting tasks, averaged over one minute."""
    text = kernel.read_proc("loadavg")
    try:
        return float(text.split()[0])
    except (IndexError, ValueError):
        raise UnreadableError(f"/proc/loadavg is {text.strip()!r}") from None


def process_times() -> Mapping[int, ProcessTime]:
    """Processor time so far of every other process that lets itself be read, by its number."""
    return {
        process.pid: ProcessTime(
            process.info["name"] or f"process {process.pid}",
            process.info["cpu_times"].user + process.info["cpu_times"].system,
        )
        for process in psutil.process_iter(["name", "cpu_times"])
        if process.pid != os.getpid() and process.info["cpu_times"] is not None
    }


def throttle_count(kernel: KernelFiles) -> int:
    """How often cores were slowed down by heat since the start of the system."""
    files = kernel.find_sys("devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count")
    if not files:
        raise UnreadableError("the kernel shows no thermal throttling counts")
    return sum(int(kernel.read_sys(name)) for name in files)


def judge_load(load: float, cores: int) -> Finding | None:
    """Work that waits for the same cores delays every call."""
    if load <= LOAD_SHARE * cores:
        return None
    return Finding(
        code="load",
        text=f"the load average of the last minute is {load:.2f} on {cores} cores: other work "
        "takes time from the servant and the client, and results scatter by as much",
        cure="end other work, wait a minute and look again",
        serious=load > SERIOUS_LOAD_SHARE * cores,
    )


def judge_processes(
    before: Mapping[int, ProcessTime], after: Mapping[int, ProcessTime], window_s: float
) -> Finding | None:
    """Other programs that were busy between two looks `window_s` apart."""
    shares = {
        pid: (used.used_s - before[pid].used_s) / window_s
        for pid, used in after.items()
        if pid in before
    }
    busy = sorted(
        (pid for pid, share in shares.items() if share > BUSY_PROCESS_SHARE),
        key=lambda pid: -shares[pid],
    )
    if not busy:
        return None
    named = ", ".join(
        f"{after[pid].name} {shares[pid]:.0%} of a core" for pid in busy[:_NAMED_PROCESSES]
    )
    more = f" and {len(busy) - _NAMED_PROCESSES} more" if len(busy) > _NAMED_PROCESSES else ""
    return Finding(
        code="busy-processes",
        text=f"other programs are busy now: {named}{more}; what they use is missing in a "
        "measurement on the same cores",
        cure="end them, or keep them off the measured cores with taskset",
    )


def judge_steal(passed: Ticks) -> Finding | None:
    """Time that the hypervisor gave to other machines."""
    if passed.steal is None:
        raise UnreadableError("/proc/stat of this kernel has no column for stolen time")
    if passed.total == 0:
        raise UnreadableError("no clock tick passed between the two readings")
    share = passed.steal / passed.total
    if share <= STEAL_SHARE:
        return None
    return Finding(
        code="steal",
        text=f"the hypervisor took {share:.1%} of the processor time just now: rates fall by "
        "at least as much, and single calls wait for milliseconds",
        cure="measure on a host of your own, or when its other machines are quiet",
        serious=share > SERIOUS_STEAL_SHARE,
    )


def judge_traffic(count: InterfaceCount, window_s: float, rate_bit_s: float) -> Finding | None:
    """Traffic on the link's interface while nothing is measured."""
    sent_bit_s = 8 * count.sent_bytes / window_s
    received_bit_s = 8 * count.received_bytes / window_s
    if max(sent_bit_s, received_bit_s) <= TRAFFIC_SHARE * rate_bit_s:
        return None
    return Finding(
        code="other-traffic",
        text=f"{count.interface} sends {display_rate(sent_bit_s)} and receives "
        f"{display_rate(received_bit_s)} while nothing is measured: it is missing in the "
        "goodput, and samples may be refused as `wrong_link`",
        cure="stop the other traffic, or measure on an interface of its own",
    )


def judge_swap(total_bytes: int, free_bytes: int) -> Finding | None:
    """Memory that was moved to a disk."""
    used_bytes = total_bytes - free_bytes
    if used_bytes <= 0:
        return None
    return Finding(
        code="swap",
        text=f"{display_size(used_bytes)} of memory are in swap: a page that has to come back "
        "from there stops a call for milliseconds",
        cure="end programs that use much memory, then empty the swap: swapoff -a && swapon -a",
    )


def judge_throttling(before: int, after: int) -> Finding | None:
    """Cores slowed down by heat, since the start of the system and just now."""
    if after == 0:
        return None
    now = f", {after - before} of them just now" if after > before else ""
    return Finding(
        code="thermal-throttling",
        text=f"cores were slowed down by heat {after} times since the system started{now}: "
        "later rounds may run at a lower frequency than the first",
        cure="cool the machine, or hold the frequency down (see the governor)",
        serious=after > before,
    )
