"""Processor time of this process and of the whole host, core by core.

Process times are getrusage(2), which counts every thread, those of the ORB included. Host times
are the clock ticks of /proc/stat (proc(5)): 1/USER_HZ s, mostly 10 ms, is the finest they tell.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orbtax.host.kernel import THIS_HOST, KernelFiles, UnreadableError
from orbtax.host.ticks import TICKS_PER_S, parse_stat
from orbtax.record import ProcessorCost

_HOST_TIMES = ("host_user_s", "host_system_s", "host_softirq_s", "host_steal_s", "host_busy_s")
_HOST_FIELDS = (*_HOST_TIMES, "cores", "busiest_core", "busiest_core_share")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorReading:
    """Counters of the process and the host at one moment."""

    clock_s: float  # monotonic
    process_user_s: float
    process_system_s: float
    voluntary_switches: int
    involuntary_switches: int
    peak_memory_bytes: int
    allowed_cores: tuple[int, ...]
    stat: str | None  # the text of /proc/stat
    missing: Mapping[str, str] = field(default_factory=dict)


def read(kernel: KernelFiles = THIS_HOST, whose: int = resource.RUSAGE_SELF) -> ProcessorReading:
    """What this process and this host have used so far.

    With `whose` RUSAGE_CHILDREN it is what the ended children of this process have used.
    """
    missing: dict[str, str] = {}
    try:
        stat = kernel.read_proc("stat")
    except UnreadableError as error:
        stat = None
        missing |= dict.fromkeys(_HOST_FIELDS, str(error))
    used = resource.getrusage(whose)
    peak_memory_bytes = used.ru_maxrss * 1024
    if whose == resource.RUSAGE_CHILDREN:
        missing["peak_memory_bytes"] = "the value is that of the largest child that has ended"
    else:
        try:
            peak_memory_bytes = parse_peak_memory(kernel.read_proc("self/status"))
        except UnreadableError as error:
            missing["peak_memory_bytes"] = (
                f"{error}; the value is getrusage's, which may be that of the program that "
                "started us"
            )
    return ProcessorReading(
        clock_s=time.monotonic(),
        process_user_s=used.ru_utime,
        process_system_s=used.ru_stime,
        voluntary_switches=used.ru_nvcsw,
        involuntary_switches=used.ru_nivcsw,
        peak_memory_bytes=peak_memory_bytes,
        allowed_cores=tuple(sorted(os.sched_getaffinity(0))),
        stat=stat,
        missing=missing,
    )


def parse_peak_memory(status: str) -> int:
    """Bytes of VmHWM in a /proc/self/status; UnreadableError when it has none."""
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name == "VmHWM":
            size, _, unit = value.strip().partition(" ")
            if unit == "kB" and size.isdecimal():
                return int(size) * 1024
    raise UnreadableError("/proc/self/status has no VmHWM in kB")


def difference(before: ProcessorReading, after: ProcessorReading) -> ProcessorCost:
    """What was used between two readings of this process on this host."""
    host, missing = _host_use(before, after)
    return ProcessorCost(
        window_s=after.clock_s - before.clock_s,
        process_user_s=after.process_user_s - before.process_user_s,
        process_system_s=after.process_system_s - before.process_system_s,
        voluntary_switches=after.voluntary_switches - before.voluntary_switches,
        involuntary_switches=after.involuntary_switches - before.involuntary_switches,
        peak_memory_bytes=after.peak_memory_bytes,
        allowed_cores=after.allowed_cores,
        missing={**before.missing, **after.missing, **missing},
        **host,
    )


def _host_use(
    before: ProcessorReading, after: ProcessorReading
) -> tuple[dict[str, Any], dict[str, str]]:
    """The fields of `ProcessorCost` that come from /proc/stat, and reasons for the others."""
    if before.stat is None or after.stat is None:
        return {}, {}  # `read` gave the reason
    try:
        ticks = parse_stat(after.stat).since(parse_stat(before.stat))
    except UnreadableError as error:
        return {}, dict.fromkeys(_HOST_FIELDS, str(error))
    total = ticks.total
    counts = (total.user, total.system, total.softirq, total.steal, total.busy)
    use: dict[str, Any] = {
        name: None if count is None else count / TICKS_PER_S
        for name, count in zip(_HOST_TIMES, counts, strict=True)
    }
    missing = {
        name: "/proc/stat of this kernel has no column for it"
        for name, value in use.items()
        if value is None
    }
    use["cores"] = len(ticks.cores)
    busiest = ticks.busiest_core
    if busiest is None:
        reason = "no clock tick passed between the two readings"
        missing |= dict.fromkeys(("busiest_core", "busiest_core_share"), reason)
    else:
        use["busiest_core"], use["busiest_core_share"] = busiest
    return use, missing
