from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_trees import MakeKernel

from orbtax.host.buffers import judge
from orbtax.host.kernel import KernelFiles
from orbtax.record import TcpState


@pytest.fixture
def kernel(make_kernel: MakeKernel) -> KernelFiles:
    return make_kernel(
        {"proc/sys/net/core/wmem_max": "212992\n", "proc/sys/net/core/rmem_max": "425984\n"}
    )


def make_state(send: int | None = None, receive: int | None = None) -> TcpState:
    return TcpState(local="a:1", remote="b:2", send_buffer_bytes=send, receive_buffer_bytes=receive)


def test_a_request_granted_in_full_is_not_clipped(kernel: KernelFiles) -> None:
    record = judge(65_536, [make_state(send=131_072)], "send", kernel)
    assert not record.clipped
    assert not record.autotuned
    assert (record.requested_bytes, record.effective_bytes) == (65_536, 131_072)
    assert record.limit is None


def test_one_byte_less_than_twice_is_clipped(kernel: KernelFiles) -> None:
    assert judge(65_536, [make_state(send=131_071)], "send", kernel).clipped


@pytest.mark.parametrize(
    ("which", "state", "limit"),
    [
        ("send", make_state(send=425_984), "net.core.wmem_max = 212992"),
        ("receive", make_state(receive=851_968), "net.core.rmem_max = 425984"),
    ],
)
def test_a_clipped_request_names_the_limit(
    kernel: KernelFiles, which: str, state: TcpState, limit: str
) -> None:
    record = judge(1_000_000, [state], which, kernel)
    assert record.clipped
    assert record.limit == limit


def test_one_clipped_connection_is_enough(kernel: KernelFiles) -> None:
    states = [make_state(send=2_000_000), make_state(send=425_984)]
    record = judge(1_000_000, states, "send", kernel)
    assert record.clipped
    assert record.effective_bytes == 2_000_000


def test_a_request_that_never_reached_the_socket_does_not_blame_the_limit(
    kernel: KernelFiles,
) -> None:
    record = judge(200_000, [make_state(receive=131_072)], "receive", kernel)
    assert record.clipped
    assert "never reached the socket" in str(record.limit)


def test_a_namespace_without_the_limit_says_so(make_kernel: MakeKernel) -> None:
    record = judge(200_000, [make_state(send=131_072)], "send", make_kernel({}))
    assert record.clipped
    assert "does not show" in str(record.limit)


def test_without_a_request_the_kernel_tunes(kernel: KernelFiles) -> None:
    record = judge(None, [make_state(receive=131_072), make_state(receive=6_000_000)], "receive")
    assert record.autotuned
    assert not record.clipped
    assert record.effective_bytes == 6_000_000


def test_without_connections_there_is_no_effective_size(kernel: KernelFiles) -> None:
    record = judge(65_536, [], "send", kernel)
    assert record.effective_bytes is None
    assert not record.clipped


@given(requested=st.integers(1, 2**30), effective=st.integers(1, 2**31))
def test_clipped_is_exactly_less_than_twice(requested: int, effective: int) -> None:
    record = judge(requested, [make_state(send=effective)], "send", KernelFiles())
    assert record.clipped == (effective < 2 * requested)
    assert (record.limit is not None) == record.clipped
