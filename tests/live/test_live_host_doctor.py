from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orbtax.errors import ProgramError
from orbtax.host import doctor, environment, noise
from orbtax.host.orb_settings import dump_orb_configuration

pytestmark = pytest.mark.live


@contextmanager
def traffic_on_loopback() -> Iterator[None]:
    stop = threading.Event()

    def send() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            near = socket.create_connection(listener.getsockname())
            far, _ = listener.accept()
        with near, far:
            while not stop.is_set():
                near.sendall(bytes(65_536))
                left = 65_536
                while left:
                    left -= len(far.recv(left))

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_a_real_host_is_examined_without_changing_it() -> None:
    findings = doctor.examine(interface="lo", window_s=0.1)
    for finding in findings:
        assert finding.text
        assert finding.cure or finding.code == doctor.NOT_CHECKED
        assert not any(character in finding.text for character in "\n\t")


def test_traffic_on_the_links_interface_is_found() -> None:
    with traffic_on_loopback():
        findings = doctor.examine(interface="lo", window_s=0.2)
    (traffic,) = (finding for finding in findings if finding.code == "other-traffic")
    assert traffic.text.startswith("lo sends ")


def test_a_busy_program_is_named() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            before = noise.process_times()
            while noise.process_times()[busy.pid].used_s < before[busy.pid].used_s + 0.1:
                pass
            finding = noise.judge_processes(
                {busy.pid: before[busy.pid]}, {busy.pid: noise.process_times()[busy.pid]}, 0.1
            )
        finally:
            busy.kill()
    assert finding is not None
    assert "python" in finding.text
    assert os.getpid() not in before


def test_options_in_force_are_those_that_were_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMNIORB_CONFIG", os.devnull)
    monkeypatch.setenv("ORBtraceThreadId", "0")
    options = dump_orb_configuration(
        ["-ORBmaxGIOPConnectionPerServer", "32", "-ORBgiopMaxMsgSize", "4194304"]
    )
    assert options["maxGIOPConnectionPerServer"] == "32"
    assert options["giopMaxMsgSize"] == "4194304"
    assert options["traceThreadId"] == "0"
    assert options["oneCallPerConnection"] == "1"
    assert len(options) > 60


def test_the_configuration_file_is_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "omniORB.cfg"
    path.write_text("giopBufferSize = 16384\nInitRef = A=corbaloc::a/b\n = B=corbaloc::a/c\n")
    monkeypatch.setenv("OMNIORB_CONFIG", str(path))
    options = dump_orb_configuration([])
    assert options["giopBufferSize"] == "16384"
    assert options["InitRef"] == "A=corbaloc::a/b; B=corbaloc::a/c"
    assert environment.stray_orb_settings(os.environ)[0].startswith("giopBufferSize = 16384")


def test_an_option_that_omniorb_does_not_know_is_a_program_error() -> None:
    with pytest.raises(ProgramError, match="-ORBsocketRecvBuffer"):
        dump_orb_configuration(["-ORBsocketRecvBuffer", "65536"])


def test_this_host_is_described_with_every_orb_option() -> None:
    options = dump_orb_configuration([])
    described = environment.read_environment(interface="lo", orb_configuration=options)
    assert {f"orb.{name}" for name in options} <= described.facts.keys()
    assert described.facts["kernel"].startswith("Linux ")
    assert described.facts["version.omniORB"].count(".") >= 1
    again = environment.read_environment(interface="lo", orb_configuration=options)
    assert environment.changes(described, again) == ()
