"""What iperf3 is asked, and what is read in its answers; no iperf3 is started here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orbtax import iperf3
from orbtax.errors import ProgramError, UnavailableError
from orbtax.model import Amount, Arm, Block, Case, Options


def block(threads: int = 2, payload_bytes: int = 65_536, **options: Any) -> Block:
    case = Case(
        link="ib",
        arm=Arm.IPERF3,
        payload_bytes=payload_bytes,
        threads=threads,
        options=Options(**options),
    )
    return Block(case=case, cell=0, round=0, position=0, amount=Amount(total_bytes=1_000_000))


def value_of(words: list[str], flag: str) -> str:
    return words[words.index(flag) + 1]


def test_a_client_is_asked_for_what_our_own_stream_would_move() -> None:
    words = iperf3.client_words(block(threads=3), "198.18.0.2", 4711)
    assert words[:3] == ["iperf3", "--client", "198.18.0.2"]
    assert value_of(words, "--port") == "4711"
    assert value_of(words, "--length") == "65536"
    assert value_of(words, "--parallel") == "3"
    assert value_of(words, "--bytes") == "1000000"
    assert "--no-delay" in words
    assert not {"--window", "--congestion"} & set(words)


def test_options_that_change_a_result_are_passed_on() -> None:
    chosen = block(
        nodelay=False,
        send_buffer_bytes=262_144,
        receive_buffer_bytes=262_144,
        congestion_control="reno",
    )
    words = iperf3.client_words(chosen, "::1", 1)
    assert "--no-delay" not in words
    assert value_of(words, "--window") == "262144"
    assert value_of(words, "--congestion") == "reno"


@pytest.mark.parametrize("receive_buffer_bytes", [None, 131_072])
def test_unlike_buffers_are_refused(receive_buffer_bytes: int | None) -> None:
    chosen = block(send_buffer_bytes=262_144, receive_buffer_bytes=receive_buffer_bytes)
    with pytest.raises(UnavailableError, match="one size"):
        iperf3.client_words(chosen, "::1", 1)


def test_a_server_takes_one_test_at_one_address() -> None:
    words = iperf3.server_words("198.18.0.2", 4711)
    assert "--one-off" in words
    assert value_of(words, "--bind") == "198.18.0.2"
    assert value_of(words, "--port") == "4711"


def said(**changes: Any) -> dict[str, Any]:
    """A client's answer, with what is not used left in."""

    def count(bytes_: int, **more: Any) -> dict[str, Any]:
        return {"start": 0, "end": 0.1, "seconds": 0.1, "bytes": bytes_, **more}

    place = {"socket": 5, "local_host": "10.0.0.1", "remote_host": "10.0.0.2", "remote_port": 9}
    answer = {
        "start": {
            "connected": [{**place, "local_port": 1}, {**place, "local_port": 2}],
            "version": "iperf 3.12",
            "tcp_mss_default": 1448,
        },
        "intervals": [],
        "end": {
            "streams": [
                {"sender": count(600, retransmits=3), "receiver": count(500)},
                {"sender": count(600, retransmits=0), "receiver": count(490)},
            ],
            "sum_sent": count(1200, retransmits=3),
            "sum_received": {"start": 0, "end": 0.25, "seconds": 0.25, "bytes": 990},
            "cpu_utilization_percent": {"host_total": 12.5},
            "sender_tcp_congestion": "cubic",
        },
    }
    return {**answer, **changes}


def parse(answer: dict[str, Any]) -> iperf3.Result:
    return iperf3.parse(json.dumps(answer).encode())


def test_the_receivers_count_and_seconds_are_the_result() -> None:
    result = parse(said())
    assert (result.received_bytes, result.window_s) == (990, 0.25)
    assert result.stream_bytes == (500, 490)
    assert result.stream_window_s == (0.1, 0.1)


def test_connections_are_told_as_far_as_iperf3_does() -> None:
    first, second = parse(said()).connections
    assert (first.local, first.remote) == ("10.0.0.1:1", "10.0.0.2:9")
    assert (first.retransmissions, second.retransmissions) == (3, 0)
    assert (first.congestion_control, first.mss_bytes) == ("cubic", 1448)
    assert first.smoothed_rtt_us is None


def test_a_part_of_a_message_counts_as_one() -> None:
    assert iperf3.messages(block(payload_bytes=100), parse(said())) == 10


def test_its_own_words_say_why_it_failed() -> None:
    answer = said(end={}, error="unable to connect to server: Connection refused")
    with pytest.raises(ProgramError, match=r"^iperf3: unable to connect to server: Connection r"):
        parse(answer)


def test_a_refused_command_line_is_told_by_what_it_complained_about() -> None:
    complaint = b"iperf3: parameter error - block size too large (maximum = 1048576 bytes)\n\n"
    with pytest.raises(ProgramError, match=r"^iperf3: parameter error - block size too large"):
        iperf3.parse(b"Usage: iperf3 [-s|-c host]", complaint)


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"start": {"connected": []}}', b"\xff"])
def test_what_is_no_answer_is_refused(text: bytes) -> None:
    with pytest.raises(ProgramError, match="its answer is no result"):
        iperf3.parse(text)


def test_a_receiver_that_took_nothing_gives_no_rate() -> None:
    end = said()["end"]
    with pytest.raises(ProgramError, match="taken nothing"):
        parse(said(end={**end, "sum_received": {"seconds": 0, "bytes": 0}}))


def test_an_absent_or_old_iperf3_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iperf3.doctor, "iperf3_version", lambda: None)
    with pytest.raises(UnavailableError, match="not installed"):
        iperf3.check_installed()
    monkeypatch.setattr(iperf3.doctor, "iperf3_version", lambda: "iperf 3.9 (cJSON 1.7.13)")
    with pytest.raises(UnavailableError, match=r"version 3\.9"):
        iperf3.check_installed()
    monkeypatch.setattr(iperf3.doctor, "iperf3_version", lambda: "iperf 3.12 (cJSON 1.7.15)")
    iperf3.check_installed()
