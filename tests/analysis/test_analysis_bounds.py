from dataclasses import replace

import pytest
from buffer_builders import KIB, ROUNDS, Seen, blocks, case_with, measured
from builders_ends import LINKS

from orbtax.analysis.bottleneck import Label
from orbtax.analysis.bounds import bounds, shortfalls, sleeps_per_message
from orbtax.analysis.flow import case_flow
from orbtax.model import Arm, Case, Options
from orbtax.socket_buffers import Buffers

KERNEL, SMALL = Buffers(), Buffers(16 * KIB, 87_380)
TINY_WINDOW = Buffers(None, 4 * KIB)
STALLED = Seen(gbit_s=4.6, rtt_us=7.0, window_bytes=4096, stalled_by_window=0.99)


def evidence(case, label: Label) -> dict[str, float]:
    (found,) = [each for each in case.bottlenecks if each.label is label]
    return {each.name: each.value for each in found.evidence}


def test_a_window_that_is_always_full_and_too_small_comes_first() -> None:
    case = measured(TINY_WINDOW, replace(STALLED, servant_cores=0.99))
    assert case.labels[:2] == (Label.WINDOW, Label.RECEIVER_PROCESSOR)
    said = evidence(case, Label.WINDOW)
    assert said["window"] == 4096
    assert said["window ÷ round trip under load"] == pytest.approx(4096 * 8 / 7e-6)
    assert said["bandwidth-delay product under load"] == pytest.approx(10e9 / 8 * 7e-6)
    assert said["in flight on average"] == pytest.approx(4.6e9 / 8 * 7e-6, rel=0.02)


def test_a_window_that_is_not_always_full_comes_after_a_full_processor() -> None:
    case = measured(TINY_WINDOW, replace(STALLED, gbit_s=2.0, servant_cores=0.99))
    assert case.labels == (Label.RECEIVER_PROCESSOR, Label.WINDOW)


def test_a_closed_window_that_is_large_enough_is_not_the_cause() -> None:
    case = measured(KERNEL, replace(STALLED, window_bytes=3_000_000))
    assert case.labels == (Label.UNKNOWN,)
    assert evidence(case, Label.UNKNOWN)["time stalled by the peer's window"] > 0.9


def test_without_a_round_trip_there_is_the_kernels_word() -> None:
    case = measured(TINY_WINDOW, replace(STALLED, rtt_us=None))
    assert case.labels == (Label.WINDOW,)
    assert evidence(case, Label.WINDOW) == {
        "time stalled by the peer's window": pytest.approx(0.99)
    }


def test_a_window_that_never_closed_is_not_named_however_small() -> None:
    case = measured(TINY_WINDOW, replace(STALLED, stalled_by_window=0.1))
    assert Label.WINDOW not in case.labels


def test_behind_a_full_link_neither_window_nor_buffer_nor_waiting_means_anything() -> None:
    full = Seen(
        gbit_s=9.8, rtt_us=700.0, window_bytes=4096, stalled_by_window=0.9, sleeps_per_message=2.0
    )
    assert measured(SMALL, full, link=LINKS["10ge"]).labels == (Label.LINK,)


def test_a_stream_whose_sender_sleeps_for_room_is_bound_by_a_fixed_send_buffer() -> None:
    case = measured(SMALL, Seen(sleeps_per_message=1.0))
    assert case.labels == (Label.BUFFER,)
    said = evidence(case, Label.BUFFER)
    assert said["send buffer"] == 2 * 16 * KIB
    assert said["sleeps for room"] == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize(
    ("buffers", "seen"),
    [
        (KERNEL, Seen(sleeps_per_message=1.0)),  # the kernel would have grown it
        (Buffers(None, 4 * KIB), Seen(sleeps_per_message=1.0)),
        (SMALL, Seen(sleeps_per_message=0.1)),  # 0.05 for each buffer's worth
        (SMALL, Seen(sleeps_per_message=1.0, client_cores=0.99)),
        (SMALL, replace(STALLED, sleeps_per_message=1.0)),  # it filled behind a closed window
    ],
)
def test_a_send_buffer_is_not_named_without_reason(buffers: Buffers, seen: Seen) -> None:
    assert Label.BUFFER not in measured(buffers, seen).labels


def test_the_sleeps_of_a_client_that_never_waits_are_not_for_room() -> None:
    large = Buffers(16 * KIB**2, 8 * KIB**2)
    busy = Seen(client_cores=0.99, gbit_s=2.0, rtt_us=17.0)
    link, case = case_with(large, payload_bytes=KIB)
    samples = [_sleeping(sample, per_s=170) for sample in blocks(link, case, busy)]
    assert sleeps_per_message(samples) == 0.0
    assert sleeps_per_message([_sleeping(sample, per_s=20_200) for sample in samples]) > 0.05


@pytest.mark.parametrize(("sleeps", "is_bound"), [(0.02, False), (1.0, True)])
def test_a_call_is_bound_by_its_send_buffer_if_its_sender_sleeps_in_the_middle(
    sleeps: float, is_bound: bool
) -> None:
    case = measured(SMALL, Seen(sleeps_per_message=sleeps), arm=Arm.CALL)
    assert case.labels[0] is Label.WAITING
    assert (Label.BUFFER in case.labels) == is_bound


def test_the_kernels_own_word_on_the_send_buffer_stays() -> None:
    assert measured(KERNEL, Seen(stalled_by_buffer=0.8)).labels == (Label.BUFFER,)


def test_nothing_found_says_so_with_its_numbers() -> None:
    case = measured(KERNEL, Seen())
    assert case.labels == (Label.UNKNOWN,)
    assert case.bottlenecks[0].evidence


def test_a_case_without_a_good_block_has_no_bounds() -> None:
    empty = replace(measured(SMALL, Seen()), flow=case_flow([]), bottlenecks=())
    assert bounds(empty, 10e9) == ()
    assert list(shortfalls(SMALL, [])) == []
    assert sleeps_per_message([]) is None


@pytest.mark.parametrize(
    ("arm", "size", "sleeps", "wanted"),
    [
        (Arm.CALL, 1024, 0.0, 2048),  # one message at each end
        (Arm.CALL, 1024**2, 0.0, 2 * 16 * KIB + 2 * 87_380),
        (Arm.STREAM, 64 * KIB, 2.0, 2 * 16 * KIB + 2 * 87_380),  # full
    ],
)
def test_buffers_hold_what_the_arm_puts_there(arm, size, sleeps, wanted) -> None:
    case = measured(SMALL, Seen(sleeps_per_message=sleeps), arm=arm, payload_bytes=size)
    assert case.queued_bytes == wanted


def test_a_stream_that_never_sleeps_has_in_its_buffers_what_is_in_flight() -> None:
    case = measured(Buffers(16 * KIB**2, 8 * KIB**2), Seen(gbit_s=8.0, rtt_us=100.0))
    assert case.queued_bytes == pytest.approx(100_000, rel=0.02)


def test_what_is_smaller_than_asked_for_is_told_with_its_limit() -> None:
    buffers = Buffers(16 * KIB**2, 8 * KIB**2)
    case = Case(link="lo", arm=Arm.STREAM, payload_bytes=KIB, threads=1, options=buffers.options)
    samples = blocks(LINKS["lo"], case, Seen())
    assert list(shortfalls(buffers, samples)) == []
    cut = [_cut(sample, 425_984, "net.core.wmem_max = 212992") for sample in samples]
    (shortfall,) = shortfalls(buffers, cut)
    assert (shortfall.side, shortfall.asked_bytes) == ("send", 16 * KIB**2)
    assert (shortfall.in_force_bytes, shortfall.limit) == (425_984, "net.core.wmem_max = 212992")
    assert case.options != Options()
    assert len(samples) == ROUNDS


def test_a_namespace_that_did_not_take_effect_shows() -> None:
    link, case = case_with(SMALL)
    samples = [_cut(sample, 30_000, None) for sample in blocks(link, case, Seen())]
    (shortfall,) = shortfalls(SMALL, samples)
    assert shortfall.limit is None


def _sleeping(sample, per_s: float):
    processor = sample.client.processor
    switches = round(per_s * processor.window_s)
    client = replace(sample.client, processor=replace(processor, voluntary_switches=switches))
    return replace(sample, client=client)


def _cut(sample, size_bytes: int, limit: str | None):
    buffer = replace(
        sample.client.send_buffer,
        effective_bytes=size_bytes,
        clipped=limit is not None,
        limit=limit,
    )
    return replace(sample, client=replace(sample.client, send_buffer=buffer))
