"""How much processor time the control groups of this process allow, in versions 1 and 2."""

from __future__ import annotations

from pathlib import PurePosixPath

from orbtax.host.kernel import KernelFiles, UnreadableError

_UNIFIED_ROOTS = ("fs/cgroup", "fs/cgroup/unified")
_LEGACY_ROOTS = ("fs/cgroup/cpu", "fs/cgroup/cpu,cpuacct")


def processor_quota(kernel: KernelFiles) -> float | None:
    """Cores' worth of time that this process and its kin may use; None for no limit.

    The tightest limit of the group and of those above it, from `cpu.max` or `cpu.cfs_quota_us`.
    UnreadableError when the control groups are not shown here, or a limit has another form.
    """
    limits: list[float | None] = []
    for controller, roots, read_limit in (
        ("", _UNIFIED_ROOTS, _unified_limit),
        ("cpu", _LEGACY_ROOTS, _legacy_limit),
    ):
        group = _group(kernel, controller)
        shown = [root for root in roots if kernel.find_sys(f"{root}/cgroup.procs")]
        if group is not None:
            limits += [
                read_limit(kernel, f"{root}{level}")
                for root in shown
                for level in (group, *group.parents)
            ]
    if not limits:
        raise UnreadableError("/sys/fs/cgroup shows no control group of this process")
    return min((limit for limit in limits if limit is not None), default=None)


def _group(kernel: KernelFiles, controller: str) -> PurePosixPath | None:
    """The path of this process's group; lines are `number:controllers:path`."""
    for line in kernel.read_proc("self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return PurePosixPath(path)
    return None


def _unified_limit(kernel: KernelFiles, group: str) -> float | None:
    """`max 100000` or `150000 100000`: quota and period in µs."""
    try:
        text = kernel.read_sys(f"{group}/cpu.max")
    except UnreadableError:
        return None  # the root of the tree, or a group that limits no processor time
    quota, _, period = text.partition(" ")
    return None if quota == "max" else _share(quota, period, "cpu.max")


def _legacy_limit(kernel: KernelFiles, group: str) -> float | None:
    try:
        quota = kernel.read_sys(f"{group}/cpu.cfs_quota_us")
        period = kernel.read_sys(f"{group}/cpu.cfs_period_us")
    except UnreadableError:
        return None
    return None if quota == "-1" else _share(quota, period, "cpu.cfs_quota_us")


def _share(quota_us: str, period_us: str, name: str) -> float:
    if not (quota_us.isdecimal() and period_us.isdecimal() and int(period_us) > 0):
        raise UnreadableError(f"{name} is {quota_us!r} per {period_us!r}, which is no quota")
    return int(quota_us) / int(period_us)
