from __future__ import annotations

import pytest
from kernel_trees import MakeKernel

from orbtax.host.cgroup import processor_quota
from orbtax.host.kernel import UnreadableError

ROOT = "sys/fs/cgroup"


def test_the_tightest_limit_above_the_process_counts(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(
        {
            "proc/self/cgroup": "0::/user/job\n",
            f"{ROOT}/cgroup.procs": "",
            f"{ROOT}/user/cpu.max": "150000 100000\n",
            f"{ROOT}/user/job/cpu.max": "max 100000\n",
            f"{ROOT}/other/cpu.max": "1000 100000\n",
        }
    )
    assert processor_quota(kernel) == 1.5


def test_no_limit_is_none(make_kernel: MakeKernel) -> None:
    kernel = make_kernel({"proc/self/cgroup": "0::/\n", f"{ROOT}/cgroup.procs": ""})
    assert processor_quota(kernel) is None


@pytest.mark.parametrize("root", ["cpu", "cpu,cpuacct"])
def test_version_1_is_read_beside_version_2(make_kernel: MakeKernel, root: str) -> None:
    kernel = make_kernel(
        {
            "proc/self/cgroup": "4:memory:/x\n3:cpu,cpuacct:/box\n1:name=systemd:/\n0::/\n",
            f"{ROOT}/unified/cgroup.procs": "",
            f"{ROOT}/{root}/cgroup.procs": "",
            f"{ROOT}/{root}/cpu.cfs_quota_us": "-1\n",
            f"{ROOT}/{root}/cpu.cfs_period_us": "100000\n",
            f"{ROOT}/{root}/box/cpu.cfs_quota_us": "50000\n",
            f"{ROOT}/{root}/box/cpu.cfs_period_us": "100000\n",
        }
    )
    assert processor_quota(kernel) == 0.5


def test_a_container_that_does_not_see_its_path_reads_the_root(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(
        {
            "proc/self/cgroup": "0::/docker/4f\n",
            f"{ROOT}/cgroup.procs": "",
            f"{ROOT}/cpu.max": "200000 100000\n",
        }
    )
    assert processor_quota(kernel) == 2


def test_groups_that_are_not_shown_are_not_taken_for_no_limit(make_kernel: MakeKernel) -> None:
    with pytest.raises(UnreadableError, match="no control group"):
        processor_quota(make_kernel({"proc/self/cgroup": "0::/user\n"}))


def test_a_limit_of_another_form_is_refused(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(
        {
            "proc/self/cgroup": "0::/\n",
            f"{ROOT}/cgroup.procs": "",
            f"{ROOT}/cpu.max": "much\n",
        }
    )
    with pytest.raises(UnreadableError, match=r"cpu\.max is 'much'"):
        processor_quota(kernel)
