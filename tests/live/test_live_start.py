"""Programs that cannot start: a message and an exit code that says so, never a traceback."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from orbtax import programs
from orbtax.errors import ProgramError, UnavailableError
from orbtax.model import Amount, Arm, Block, Case, End, Kind, Link, Placement
from orbtax.pair import Pair
from orbtax.programs import Program

pytestmark = pytest.mark.live

HERE = End(address="127.0.0.1", interface="lo")
FAULTY = """
from orbtax import agent
from orbtax.errors import {error}

def load():
    raise {error}("the shelf is empty")

agent.run("faulty", lambda request: agent.Done(), load=load)
"""


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch) -> Path:
    """Where neither a cache nor a temporary folder for stubs can be had."""
    planted = tmp_path / f"orbtax-stubs-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)  # as if another user had made it
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return planted


@pytest.mark.parametrize(
    ("raised", "got"), [("UnavailableError", UnavailableError), ("OrbtaxError", ProgramError)]
)
def test_what_keeps_a_program_from_starting_is_raised(raised: str, got: type[Exception]) -> None:
    with pytest.raises(got, match=r"could not start: the shelf is empty$"):
        Program([sys.executable, "-c", FAULTY.format(error=raised)])


def test_a_disk_without_room_for_a_temporary_file_is_told(monkeypatch) -> None:
    def refuse() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(UnavailableError, match=r"No space left on device.*TMPDIR"):
        Program(programs.command(HERE, programs.CLIENT, None, {}))


def test_cores_that_are_not_there_are_told() -> None:
    words = programs.command(HERE, programs.CLIENT, (4095,), {})
    with pytest.raises(UnavailableError, match=r"the cores 4095 cannot be used here.*--placement"):
        Program(words)


def test_a_servant_without_stubs_ends_the_block_s_run(nowhere: Path) -> None:
    link = Link(name="lo", kind=Kind.LOOPBACK, sender=HERE, receiver=HERE)
    case = Case(link="lo", arm=Arm.CORBA, payload_bytes=1000, threads=1)
    block = Block(case=case, cell=0, round=0, position=0, amount=Amount(total_bytes=1000))
    with (
        Pair(link, Placement(), 0, verify=False) as pair,
        pytest.raises(UnavailableError, match=r"orbtax-stubs.*belongs to another user"),
    ):
        pair.run(block)


@pytest.mark.parametrize(
    "end", [End(python="false"), End(python="no-such-python"), End(prefix=("no-such-ssh", "node2"))]
)
def test_an_end_that_cannot_be_described_is_unavailable(end: End) -> None:
    link = Link(name="far", kind=Kind.HOSTS, sender=HERE, receiver=end)
    with (
        Pair(link, Placement(), 0, verify=False) as pair,
        pytest.raises(UnavailableError, match="link far, receiver: "),
    ):
        pair.describe(Arm.CALL, {})


def test_the_command_ends_with_a_message_and_exit_code_3(nowhere: Path, tmp_path: Path) -> None:
    words = ["compare", "--link", "lo", "--sizes", "1KiB", "--threads", "1", "--out", "run"]
    orbtax = str(Path(sys.executable).parent / "orbtax")
    done = subprocess.run([orbtax, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    assert "Set XDG_CACHE_HOME to a folder of yours" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
