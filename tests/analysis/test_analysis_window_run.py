"""A receive buffer of 4 KiB on the emulated 10 Gbit/s link, in a stored run that was measured."""

from pathlib import Path

import pytest

from orbtax import store
from orbtax.analysis.bottleneck import Label
from orbtax.analysis.buffer_results import BufferResult, buffer_results
from orbtax.model import Arm
from orbtax.socket_buffers import Buffers

RUN = Path(__file__).parents[1] / "data" / "buffers-10ge-window"
KERNEL, SMALL_WINDOW = Buffers(), Buffers(None, 4096)
LARGE_BYTES = 64 * 1024


@pytest.fixture(scope="module")
def result() -> BufferResult:
    (measured,) = buffer_results(store.read(RUN))
    return measured


def test_the_stream_is_window_bound_and_as_fast_as_window_over_round_trip(result) -> None:
    case = result.cases[Arm.STREAM, LARGE_BYTES, SMALL_WINDOW]
    assert case.labels[0] is Label.WINDOW
    assert case.flow.receive_buffer_bytes == 2 * 4096
    assert case.flow.window_bytes == pytest.approx(4096, rel=0.01)
    assert case.goodput_bit_s.value == pytest.approx(case.flow.window_bit_s, rel=0.2)


@pytest.mark.parametrize("arm", [Arm.CALL, Arm.CORBA])
def test_a_call_is_so_too_in_the_time_with_data_to_send(result, arm: Arm) -> None:
    case = result.cases[arm, LARGE_BYTES, SMALL_WINDOW]
    assert case.labels[:2] == (Label.WINDOW, Label.WAITING)
    assert case.flow.busy_bit_s == pytest.approx(case.flow.window_bit_s, rel=0.2)
    assert case.goodput_bit_s.value < 0.8 * case.flow.window_bit_s


def test_with_the_kernels_choice_the_same_stream_fills_the_link(result) -> None:
    case = result.cases[Arm.STREAM, LARGE_BYTES, KERNEL]
    assert case.labels == (Label.LINK,)
    assert case.flow.window_bytes > 100 * 4096


def test_small_messages_were_merged_behind_the_small_window_and_so_faster(result) -> None:
    small, kernels = (result.cases[Arm.STREAM, 1024, buffers] for buffers in (SMALL_WINDOW, KERNEL))
    assert small.goodput_bit_s.value > 1.2 * kernels.goodput_bit_s.value
    assert small.flow.segments_per_message < 0.6 < kernels.flow.segments_per_message
    (slowdown,) = [each for each in result.slowdowns if each.larger == kernels]
    assert slowdown.smaller == small
    assert slowdown.paired
    assert "segments" in [change.name for change in slowdown.changes]
