from __future__ import annotations

import pytest
from kernel_trees import MakeKernel

from orbtax.errors import ExitCode
from orbtax.host.kernel import UnreadableError


def test_a_sysctl_is_read_by_its_name_with_single_blanks(make_kernel: MakeKernel) -> None:
    kernel = make_kernel({"proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n"})
    assert kernel.sysctl("net.ipv4.tcp_rmem") == "4096 131072 6291456"
    assert kernel.sysctl_numbers("net.ipv4.tcp_rmem") == (4096, 131072, 6291456)


@pytest.mark.parametrize("text", ["\n", "cubic\n", "1 two\n"])
def test_numbers_are_asked_for_and_nothing_else_is_taken(
    make_kernel: MakeKernel, text: str
) -> None:
    kernel = make_kernel({"proc/sys/net/core/rmem_max": text})
    with pytest.raises(UnreadableError, match=r"net\.core\.rmem_max is .*no list of numbers"):
        kernel.sysctl_numbers("net.core.rmem_max")


def test_what_is_not_there_is_named_as_the_kernel_does(make_kernel: MakeKernel) -> None:
    kernel = make_kernel({})
    with pytest.raises(UnreadableError, match=r"^/proc/sys/net/core/rmem_max cannot be read: No"):
        kernel.sysctl("net.core.rmem_max")
    with pytest.raises(UnreadableError, match=r"^/sys/hypervisor/type cannot be read") as caught:
        kernel.read_sys("hypervisor/type")
    assert caught.value.exit_code is ExitCode.UNAVAILABLE


def test_found_names_can_be_read(make_kernel: MakeKernel) -> None:
    kernel = make_kernel({"sys/a/b2/size": "2\n", "sys/a/b1/size": "1\n", "sys/a/c": "x"})
    names = kernel.find_sys("a/b*/size")
    assert names == ("a/b1/size", "a/b2/size")
    assert [kernel.read_sys(name) for name in names] == ["1", "2"]
    assert kernel.find_sys("nowhere/*") == ()
