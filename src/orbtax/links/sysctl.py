"""Kernel settings by name, as this process sees them: those under `net.` are of its namespace."""

from __future__ import annotations

from pathlib import Path

CONGESTION_CONTROL = "net.ipv4.tcp_congestion_control"


def read_sysctl(name: str) -> str:
    """The value with single spaces between its parts; OSError if it cannot be read."""
    return " ".join(_path(name).read_text(encoding="ascii").split())


def write_sysctl(name: str, value: str) -> None:
    """Set a value; OSError if the kernel refuses. One that is in force already is left alone."""
    if read_sysctl(name) != value:
        _path(name).write_text(value, encoding="ascii")


def _path(name: str) -> Path:
    return Path("/proc/sys", *name.split("."))
