"""The study of buffers on links that are really there: sizes in force, and a window too small."""

import csv
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from links_support import needs_namespaces

pytestmark = [pytest.mark.live, pytest.mark.slow]

ORBTAX = str(Path(sys.executable).parent / "orbtax")
Row = dict[str, str]
Find = Callable[[str, str, str], Row]


def study(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ORBTAX, "buffers", *words, "--out", "run"],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
    )


def rows_of(place: Path) -> list[Row]:
    with (place / "run" / "report" / "summary.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> Find:
    """A small run on the emulated 10 Gbit/s link, found by arm, size and buffers."""
    place = tmp_path_factory.mktemp("emulated")
    words = ["--link", "10ge", "--sizes", "1KiB,64KiB", "--rounds", "2"]
    done = study(place, *words, "--buffers", "kernel,16KiB/87380B,kernel/4KiB,16MiB/8MiB")
    assert done.returncode == 0, done.stderr
    rows = {(row["arm"], row["payload_bytes"], row["buffers"]): row for row in rows_of(place)}
    return lambda arm, size, buffers: rows[arm, size, buffers]


@needs_namespaces
@pytest.mark.parametrize("arm", ["stream", "call", "corba"])
@pytest.mark.parametrize(
    ("buffers", "send", "receive"),
    [
        ("16 KiB/87380 B", 2 * 16 * 1024, 2 * 87_380),
        # More than net.core.wmem_max and rmem_max, which no namespace can raise.
        ("16 MiB/8 MiB", 2 * 16 * 1024**2, 2 * 8 * 1024**2),
    ],
)
def test_every_socket_has_what_was_asked_for(
    emulated: Find, arm: str, buffers: str, send: int, receive: int
) -> None:
    for size in ("1024", "65536"):
        row = emulated(arm, size, buffers)
        assert (row["send_buffer_bytes"], row["receive_buffer_bytes"]) == (str(send), str(receive))
        assert row["clipped"] == "False"


@needs_namespaces
@pytest.mark.parametrize("arm", ["stream", "call", "corba"])
def test_what_is_left_to_the_kernel_is_left_to_it(emulated: Find, arm: str) -> None:
    row = emulated(arm, "65536", "kernel/4 KiB")
    assert row["send_buffer_asked_bytes"] == ""
    assert int(row["send_buffer_bytes"]) > 8192
    assert row["receive_buffer_bytes"] == "8192"


@needs_namespaces
def test_a_window_of_4_kib_binds_a_stream(emulated: Find) -> None:
    row = emulated("stream", "65536", "kernel/4 KiB")
    assert "window-limited" in row["bounds"]
    assert "window ÷ round trip under load" in row["since"]
    assert float(row["window_bytes"]) < 10_000
    assert "window-limited" not in emulated("stream", "65536", "kernel")["bounds"]


def test_on_loopback_the_orb_is_measured_only_as_it_can_be_had(tmp_path: Path) -> None:
    words = ["--link", "lo", "--sizes", "4KiB", "--rounds", "2"]
    done = study(tmp_path, *words, "--buffers", "kernel,16KiB/87380B,16KiB/kernel")
    assert done.returncode in (0, 4), done.stderr  # other traffic may disturb loopback
    assert "corba cannot have 16 KiB/87380 B here" in done.stdout
    of_corba = {row["buffers"]: row for row in rows_of(tmp_path) if row["arm"] == "corba"}
    assert set(of_corba) == {"kernel", "16 KiB/kernel"}
    assert of_corba["16 KiB/kernel"]["send_buffer_bytes"] == str(2 * 16 * 1024)
    streams = {row["buffers"]: row for row in rows_of(tmp_path) if row["arm"] == "stream"}
    assert streams["16 KiB/87380 B"]["receive_buffer_bytes"] == str(2 * 87_380)


def test_a_size_above_the_hosts_limit_is_marked_as_clipped(tmp_path: Path) -> None:
    limit_bytes = int(Path("/proc/sys/net/core/wmem_max").read_text())
    asked = 2 * limit_bytes // 1024
    words = ["--link", "lo", "--sizes", "4KiB", "--rounds", "1", "--arms", "stream"]
    done = study(tmp_path, *words, "--buffers", f"{asked}KiB/kernel")
    (row,) = rows_of(tmp_path)
    assert row["clipped"] == "True"
    assert int(row["send_buffer_bytes"]) == 2 * limit_bytes
    assert f"net.core.wmem_max = {limit_bytes}" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--buffers", "16"], "size"),
        (["--buffers", "1KiB"], "4 KiB to 512 MiB"),
        (["--buffers", "64KiB", "--arms", "corba", "--link", "lo"], "omniORB has no option"),
    ],
)
def test_a_wrong_request_says_what_to_write(tmp_path: Path, words: list[str], said: str) -> None:
    done = study(tmp_path, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "run").exists()
