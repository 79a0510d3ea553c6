from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

from orbtax.host import reading
from orbtax.host.interface import InterfaceReading
from orbtax.host.processor import ProcessorReading
from orbtax.host.tcp import RawConnection


def make_processor(clock_s: float) -> ProcessorReading:
    return ProcessorReading(
        clock_s=clock_s,
        process_user_s=clock_s / 2,
        process_system_s=0.0,
        voluntary_switches=0,
        involuntary_switches=0,
        peak_memory_bytes=1,
        allowed_cores=(0,),
        stat=None,
    )


def make_counters(count: int) -> InterfaceReading:
    return InterfaceReading(
        interface="lo",
        received_bytes=count,
        received_packets=count,
        received_dropped_packets=0,
        sent_bytes=count,
        sent_packets=count,
        sent_dropped_packets=0,
    )


def make_reading(clock_s: float, count: int) -> reading.Reading:
    return reading.Reading(
        processor_first=make_processor(clock_s),
        connections=(),
        interface=make_counters(count),
        processor_last=make_processor(clock_s + 0.01),
    )


def difference(before: reading.Reading, after: reading.Reading):
    return reading.difference(before, after, send_buffer_bytes=None, receive_buffer_bytes=4096)


def test_the_cost_of_reading_lies_outside_the_block() -> None:
    record = difference(make_reading(10.0, 5), make_reading(12.0, 25))
    assert round(record.processor.window_s, 6) == 1.99
    assert record.interface is not None
    assert record.interface.received_bytes == 20
    assert record.send_buffer is not None
    assert record.send_buffer.autotuned
    assert record.receive_buffer is not None
    assert record.receive_buffer.requested_bytes == 4096
    assert record.missing == {}


def test_a_connection_that_was_closed_is_named() -> None:
    raw = RawConnection(
        inode=1,
        local="10.0.0.1:4",
        remote="10.0.0.2:5",
        info=bytes(232),
        congestion_control=None,
        nodelay=False,
        send_buffer_bytes=1,
        receive_buffer_bytes=1,
    )
    before = replace(make_reading(1.0, 0), connections=(raw,))
    record = difference(before, make_reading(2.0, 0))
    assert "10.0.0.1:4 → 10.0.0.2:5" in record.missing["connections"]


def test_an_interface_made_anew_is_missing_and_the_rest_stays() -> None:
    record = difference(make_reading(1.0, 50), make_reading(2.0, 5))
    assert record.interface is None
    assert "ran backwards" in record.missing["interface"]


def test_an_interface_that_is_not_there_is_missing_with_the_reason() -> None:
    record = difference(reading.read("nosuch0"), reading.read("nosuch0"))
    assert record.interface is None
    assert "nosuch0" in record.missing["interface"]


def test_no_interface_named_is_said() -> None:
    assert "not known" in reading.read(None).missing["interface"]


def test_importing_it_is_light() -> None:
    program = "import sys, orbtax.host.reading; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "orbtax.host.reading" in loaded
    assert not {"numpy", "psutil", "omniORB", "pyroute2", "subprocess", "msgspec"} & set(loaded)
