"""The servant as others see it: programs that nobody here wrote, and lines that garble messages."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orbtax import agent, programs, stubs
from orbtax.model import Amount, Arm, Block, Case, End
from orbtax.programs import Program

pytestmark = pytest.mark.live
WAIT_S = 20.0


def prepared(arm: Arm, payload_bytes: int, total_bytes: int, target: str | None = None):
    case = Case(link="lo", arm=arm, payload_bytes=payload_bytes, threads=1)
    amount = Amount(total_bytes=total_bytes)
    block = Block(case=case, cell=0, round=0, position=0, amount=amount)
    return agent.Prepare(
        block=block, slots=4, address="127.0.0.1", target=target, interface="lo", verify=True
    )


@pytest.fixture
def servant(request) -> Iterator[Program]:
    module = programs.servant_module(getattr(request, "param", Arm.CORBA))
    with Program(programs.command(End(), module, None, {})) as program:
        yield program


def reference(servant: Program) -> str:
    request = prepared(Arm.CORBA, 1000, 10_000)
    return servant.ask(request, agent.Prepared, WAIT_S).target


def test_catior_reads_the_reference(servant: Program) -> None:
    catior = Path(sys.executable).parent / "catior"
    if not catior.exists():
        pytest.skip("omniORB's catior is not installed beside this Python")
    said = subprocess.run([catior, reference(servant)], capture_output=True, text=True, check=True)
    assert "IDL:OrbTax/Sink:1.0" in said.stdout
    assert "127.0.0.1" in said.stdout


INDEPENDENT_CLIENT = """
import sys
from omniORB import CORBA
import OrbTax
orb = CORBA.ORB_init(["client"])
sink = orb.string_to_object(sys.argv[1])._narrow(OrbTax.Sink)
sink.reset()
for size in (0, 1, 1000, 100_000):
    sink.push(b"x" * size)
assert sink.echo(b"there and back") == b"there and back"
sink.ping()
print(sink.total_bytes())
"""


def test_an_independent_stub_pushes_bytes_and_reads_the_total(
    servant: Program, tmp_path: Path
) -> None:
    """Compiled from the IDL by the test itself, with none of our client code."""
    compile_it = "import sys; from omniidl.main import main; sys.exit(main())"
    arguments = ["-N", "-bpython", f"-C{tmp_path}", str(stubs.idl_file())]
    subprocess.run([sys.executable, "-c", compile_it, *arguments], check=True)
    said = subprocess.run(
        [sys.executable, "-c", INDEPENDENT_CLIENT, reference(servant)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert said.stderr == ""
    assert int(said.stdout) == 101_001 + len("there and back")


# --- lines that garble -----------------------------------------------------------------------

MESSAGE_BYTES = 1000
MESSAGES = 200
HELLO_BYTES = 28


def forward(source: socket.socket, sink: socket.socket) -> None:
    while piece := source.recv(65_536):
        sink.sendall(piece)


def relay(target: str, garble: Callable[[list[bytes]], list[bytes]]) -> str:
    """A line to `target` that takes all messages, garbles them and passes them on."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        address, port = target.split(" ")
        client, _ = listener.accept()
        with client, socket.create_connection((address, int(port))) as servant, listener:
            back = threading.Thread(target=forward, args=(servant, client), daemon=True)
            back.start()
            whole = b""
            while len(whole) < HELLO_BYTES + MESSAGES * MESSAGE_BYTES:
                piece = client.recv(65_536)
                whole += piece
                if len(whole) >= HELLO_BYTES and len(whole) - len(piece) < HELLO_BYTES:
                    servant.sendall(whole[:HELLO_BYTES])
            body = whole[HELLO_BYTES:]
            cuts = range(0, len(body), MESSAGE_BYTES)
            messages = garble([body[at : at + MESSAGE_BYTES] for at in cuts])
            servant.sendall(b"".join(messages))
            servant.shutdown(socket.SHUT_WR)
            back.join(WAIT_S)

    threading.Thread(target=run, daemon=True).start()
    return f"127.0.0.1 {listener.getsockname()[1]}"


def untouched(messages: list[bytes]) -> list[bytes]:
    return messages


def drops(messages: list[bytes]) -> list[bytes]:
    return messages[:50] + messages[51:]


def repeats(messages: list[bytes]) -> list[bytes]:
    return [*messages[:50], messages[49], *messages[51:]]


def reorders(messages: list[bytes]) -> list[bytes]:
    return [*messages[:50], messages[51], messages[50], *messages[52:]]


def cuts(messages: list[bytes]) -> list[bytes]:
    return [*messages[:50], messages[50][:-1], *messages[51:]]


def flips_an_end(messages: list[bytes]) -> list[bytes]:
    return [*messages[:50], bytes([messages[50][0] ^ 4]) + messages[50][1:], *messages[51:]]


def flips_the_middle(messages: list[bytes]) -> list[bytes]:
    half = MESSAGE_BYTES // 2
    changed = bytes([messages[50][half] ^ 4])
    spoilt = messages[50][:half] + changed + messages[50][half + 1 :]
    return [*messages[:50], spoilt, *messages[51:]]


def stream_through(servant: Program, garble: Callable[[list[bytes]], list[bytes]]):
    """What the servant says of a stream that went through the line, and the sender's checksum."""
    total = MESSAGES * MESSAGE_BYTES
    target = servant.ask(prepared(Arm.STREAM, MESSAGE_BYTES, total), agent.Prepared, WAIT_S).target
    words = programs.command(End(), programs.CLIENT, None, {})
    with Program(words) as client:
        line = relay(target, garble)
        client.ask(prepared(Arm.STREAM, MESSAGE_BYTES, total, line), agent.Done, WAIT_S)
        servant.ask(agent.Begin(), agent.Done, WAIT_S)
        outcome = None
        # A line that broke fails the client; what it did is judged by the servant's account.
        with contextlib.suppress(programs.ProgramError):
            outcome = client.ask(agent.Go(), agent.Outcome, WAIT_S)
        return servant.ask(agent.Finish(), agent.Receipt, WAIT_S), outcome


@pytest.mark.parametrize("servant", [Arm.STREAM], indirect=True)
def test_an_honest_line_has_no_faults(servant: Program) -> None:
    receipt, outcome = stream_through(servant, untouched)
    assert (receipt.faults, receipt.received_bytes) == (0, MESSAGES * MESSAGE_BYTES)
    assert outcome is not None
    assert receipt.checksum == outcome.checksum


@pytest.mark.parametrize("servant", [Arm.STREAM], indirect=True)
@pytest.mark.parametrize("garble", [drops, repeats, reorders, cuts, flips_an_end])
def test_a_line_that_garbles_is_caught(servant: Program, garble) -> None:
    receipt, _ = stream_through(servant, garble)
    assert receipt.faults > 0


@pytest.mark.parametrize("servant", [Arm.STREAM], indirect=True)
def test_a_flip_between_the_ends_is_caught_by_the_checksum(servant: Program) -> None:
    receipt, outcome = stream_through(servant, flips_the_middle)
    assert receipt.faults == 0
    assert outcome is not None
    assert receipt.checksum != outcome.checksum


# --- what a program does with nonsense --------------------------------------------------------


@pytest.mark.parametrize("servant", [Arm.STREAM, Arm.CORBA], indirect=True)
def test_a_request_out_of_turn_is_refused_and_the_program_goes_on(servant: Program) -> None:
    for request in (agent.Begin(), agent.Finish(), agent.Go()):
        with pytest.raises(programs.ProgramError):
            servant.ask(request, agent.Done, WAIT_S)
    servant.ask(agent.Close(), agent.Done, WAIT_S)


@pytest.mark.parametrize("servant", [Arm.STREAM], indirect=True)
def test_a_stranger_at_the_port_is_a_fault_of_the_block(servant: Program) -> None:
    target = servant.ask(prepared(Arm.STREAM, 1000, 1000), agent.Prepared, WAIT_S).target
    address, port = target.split(" ")
    with socket.create_connection((address, int(port))) as stranger:
        servant.ask(agent.Begin(), agent.Done, WAIT_S)
        stranger.sendall(b"GET / HTTP/1.1\r\nHost: example\r\n\r\n")
        assert stranger.recv(100) == b""
        receipt = servant.ask(agent.Finish(), agent.Receipt, WAIT_S)
    assert receipt.faults == 1
    assert "not as orbtax does" in receipt.first_faults[0]


def test_patience_may_be_longer_than_a_poll_can_wait(servant: Program) -> None:
    servant.ask(agent.Close(), agent.Done, 1e9)


def test_a_line_that_is_no_request_is_answered_with_an_error() -> None:
    words = programs.command(End(), programs.CLIENT, None, {})
    done = subprocess.run(words, input="nonsense\n[]\n", capture_output=True, text=True)
    ready, *answers = done.stdout.splitlines()
    assert '"Ready"' in ready
    assert done.returncode == 0
    assert all('"Failed"' in answer for answer in answers)
