"""Values that the kernel shows as files under /proc and /sys, read with a reason when it does not.

Everything here takes other roots, so that checks can be tried on recorded files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orbtax.errors import UnavailableError


class UnreadableError(UnavailableError):
    """A value that this host does not show; the text says which and why."""


@dataclass(frozen=True, slots=True)
class KernelFiles:
    """The kernel's two file trees."""

    proc: Path = Path("/proc")
    sys: Path = Path("/sys")

    def read_proc(self, name: str) -> str:
        """The text of /proc/`name`; UnreadableError when it cannot be read."""
        return _text(self.proc / name, f"/proc/{name}")

    def read_sys(self, name: str) -> str:
        """The stripped text of /sys/`name`; UnreadableError when it cannot be read."""
        return _text(self.sys / name, f"/sys/{name}").strip()

    def find_sys(self, pattern: str) -> tuple[str, ...]:
        """Names under /sys that match a glob pattern, sorted, as `read_sys` takes them."""
        return tuple(sorted(str(path.relative_to(self.sys)) for path in self.sys.glob(pattern)))

    def sysctl(self, name: str) -> str:
        """A sysctl such as `net.ipv4.tcp_rmem`, its columns parted by one blank.

        Network sysctls are those of the calling process's network namespace. UnreadableError when
        the kernel, or this namespace, has none of that name.
        """
        return " ".join(self.read_proc(f"sys/{name.replace('.', '/')}").split())

    def sysctl_numbers(self, name: str) -> tuple[int, ...]:
        """The whole numbers of a sysctl; UnreadableError when it holds anything else, or none."""
        columns = self.sysctl(name).split()
        try:
            numbers = tuple(int(column) for column in columns)
        except ValueError:
            numbers = ()
        if not numbers:
            raise UnreadableError(f"{name} is {' '.join(columns)!r}, which is no list of numbers")
        return numbers


THIS_HOST = KernelFiles()


def _text(path: Path, shown: str) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UnreadableError(f"{shown} cannot be read: {error.strerror}") from None
