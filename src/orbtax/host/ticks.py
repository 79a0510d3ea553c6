"""The clock ticks of /proc/stat (proc(5)), for the host and for each core."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from orbtax.host.kernel import UnreadableError

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
"""USER_HZ."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """Ticks since boot; `user` includes nice (and guests), `system` hard interrupts.

    A kernel that does not count soft interrupts or stolen time leaves them None.
    """

    user: int
    system: int
    idle: int  # waiting for a disk included
    softirq: int | None = None
    steal: int | None = None

    @property
    def busy(self) -> int:
        """Ticks in which this host's own work ran."""
        return self.user + self.system + (self.softirq or 0)

    @property
    def total(self) -> int:
        """All ticks: busy, idle, or taken by the hypervisor."""
        return self.busy + self.idle + (self.steal or 0)

    @property
    def occupied_share(self) -> float | None:
        """Part of the time, 0 to 1, that was not idle; None when no tick passed."""
        return None if self.total == 0 else 1 - self.idle / self.total

    def since(self, earlier: Ticks) -> Ticks:
        """The ticks that passed since `earlier`; a count that ran back by rounding is 0."""
        return Ticks(
            max(0, self.user - earlier.user),
            max(0, self.system - earlier.system),
            max(0, self.idle - earlier.idle),
            _passed(earlier.softirq, self.softirq),
            _passed(earlier.steal, self.steal),
        )


@dataclass(frozen=True, slots=True)
class HostTicks:
    """All cores together, and each by its number."""

    total: Ticks
    cores: Mapping[int, Ticks]

    def since(self, earlier: HostTicks) -> HostTicks:
        """The ticks that passed since `earlier`, of the cores that were online both times."""
        both = sorted(self.cores.keys() & earlier.cores.keys())
        return HostTicks(
            self.total.since(earlier.total),
            {core: self.cores[core].since(earlier.cores[core]) for core in both},
        )

    @property
    def busiest_core(self) -> tuple[int, float] | None:
        """The core that was least idle and its share, the lowest number of equals."""
        shares = {core: ticks.occupied_share for core, ticks in self.cores.items()}
        known = {core: share for core, share in shares.items() if share is not None}
        if not known:
            return None
        core = max(known, key=lambda core: (known[core], -core))
        return core, known[core]


def parse_stat(text: str) -> HostTicks:
    """The processor lines of a /proc/stat; UnreadableError when they are not as proc(5) says."""
    total: Ticks | None = None
    cores: dict[int, Ticks] = {}
    for line in text.splitlines():
        name, *columns = line.split() or [""]
        if name == "cpu":
            total = _parse_ticks(name, columns)
        elif name.startswith("cpu") and name[3:].isdecimal():
            cores[int(name[3:])] = _parse_ticks(name, columns)
    if total is None:
        raise UnreadableError("/proc/stat has no line for all cores")
    return HostTicks(total, cores)


def _parse_ticks(name: str, columns: list[str]) -> Ticks:
    """Columns: user nice system idle, and in later kernels iowait irq softirq steal guest …"""
    if len(columns) < 4 or not all(column.isdecimal() for column in columns):
        raise UnreadableError(f"/proc/stat gives {' '.join(columns)!r} for {name}")
    counts = [int(column) for column in columns]
    user, nice, system, idle = counts[:4]
    later: list[int | None] = [*counts[4:8], None, None, None, None]
    iowait, irq, softirq, steal = later[:4]
    return Ticks(user + nice, system + (irq or 0), idle + (iowait or 0), softirq, steal)


def _passed(earlier: int | None, later: int | None) -> int | None:
    return None if earlier is None or later is None else max(0, later - earlier)
