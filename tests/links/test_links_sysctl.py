from pathlib import Path

import pytest

from orbtax.links import sysctl


def test_a_value_is_read_with_single_spaces() -> None:
    raw = Path("/proc/sys/net/ipv4/tcp_rmem").read_text(encoding="ascii")
    assert "\t" in raw
    assert sysctl.read_sysctl("net.ipv4.tcp_rmem") == " ".join(raw.split())


def test_a_value_in_force_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "value"
    file.write_text("4096\t8192\n", encoding="ascii")
    monkeypatch.setattr(sysctl, "_path", lambda name: file)
    sysctl.write_sysctl("net.a", "4096 8192")
    assert file.read_text(encoding="ascii") == "4096\t8192\n"
    sysctl.write_sysctl("net.a", "1 2")
    assert file.read_text(encoding="ascii") == "1 2"


def test_a_missing_name_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        sysctl.read_sysctl("net.ipv4.no_such_setting")
