import msgspec
import pytest

from orbtax.errors import UnavailableError
from orbtax.links.probe import OFFLOADS, SYSCTLS, main, read_interface
from orbtax.links.sysctl import read_sysctl
from orbtax.record import InterfaceFacts


def test_the_loopback_interface_is_read() -> None:
    facts = read_interface("lo")
    assert facts.interface == "lo"
    assert facts.driver == "loopback"
    assert facts.mtu_bytes >= 1500
    assert facts.shaped_bit_s is None
    assert "shaped_bit_s" not in facts.missing
    assert set(facts.offloads) == set(OFFLOADS)
    assert facts.speed_bit_s is None
    assert facts.missing["speed_bit_s"] == "a loopback interface keeps to no speed"
    assert facts.congestion_control == read_sysctl("net.ipv4.tcp_congestion_control")


def test_every_setting_is_read_or_missing_with_a_reason() -> None:
    facts = read_interface("lo")
    for name in SYSCTLS:
        assert (name in facts.sysctls) is not (name in facts.missing)
    assert facts.sysctls["net.ipv4.tcp_rmem"] == read_sysctl("net.ipv4.tcp_rmem")


def test_an_address_finds_its_interface() -> None:
    assert read_interface("127.0.0.1") == read_interface("lo")


def test_more_settings_can_be_asked_for() -> None:
    facts = read_interface("lo", ["net.ipv4.tcp_ecn", "net.ipv4.no_such_setting"])
    assert facts.sysctls["net.ipv4.tcp_ecn"] == read_sysctl("net.ipv4.tcp_ecn")
    assert facts.missing["net.ipv4.no_such_setting"] == "No such file or directory"


@pytest.mark.parametrize("name", ["192.0.2.77", "no-such-if0", ""])
def test_an_unknown_interface_is_refused(name: str) -> None:
    with pytest.raises(UnavailableError, match="no network interface of this host"):
        read_interface(name)


def test_the_program_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    main(["lo", "--sysctl", "net.ipv4.tcp_ecn"])
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    facts = msgspec.json.decode(printed, type=InterfaceFacts)
    assert facts == read_interface("lo", ["net.ipv4.tcp_ecn"])


def test_the_program_prints_why_it_found_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    main(["no-such-if0"])
    assert "no-such-if0" in msgspec.json.decode(capsys.readouterr().out)["error"]
