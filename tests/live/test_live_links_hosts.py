import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from links_support import needs_namespaces

from orbtax.errors import ExitCode, UnavailableError
from orbtax.links import facts
from orbtax.links.catalogue import load_catalogue
from orbtax.links.facts import mismatches
from orbtax.links.opened import open_link
from orbtax.model import End, Kind, Link

pytestmark = pytest.mark.live

HERE = End(address="127.0.0.1")
GREETING = ("sh", "-c", 'echo Welcome to node2; exec "$@"', "sh")


def hosts(receiver: End, **other: object) -> Link:
    return Link(name="far", kind=Kind.HOSTS, sender=HERE, receiver=receiver, **other)  # type: ignore[arg-type]


def refused(receiver: End) -> str:
    with pytest.raises(UnavailableError) as error, open_link(hosts(receiver)):
        pass
    assert error.value.exit_code is ExitCode.UNAVAILABLE
    assert str(error.value).startswith("link far: the receiver cannot be read: ")
    return str(error.value)


@pytest.fixture
def two_hosts() -> Iterator[Link]:
    """Two network namespaces stand for two hosts, entered by a prefix as ssh would be."""
    with open_link(load_catalogue()["1ge"]) as opened:
        yield Link(
            name="far",
            kind=Kind.HOSTS,
            sender=replace(opened.link.sender, python=None, interface=None),
            receiver=replace(opened.link.receiver, python=None, interface=None),
            mtu_bytes=1500,
            rate_bit_s=1_000_000_000,
        )


@needs_namespaces
def test_both_ends_are_filled_in(two_hosts: Link) -> None:
    with open_link(two_hosts) as opened:
        for end, asked in (
            (opened.link.sender, two_hosts.sender),
            (opened.link.receiver, two_hosts.receiver),
        ):
            assert end == replace(asked, python=sys.executable, interface="orbtax0")
        read = opened.facts()
        assert (read.sender.mtu_bytes, read.receiver.mtu_bytes) == (1500, 1500)
        assert mismatches(opened.link, read) == ()
        assert mismatches(replace(opened.link, mtu_bytes=9000), read) != ()


def test_a_greeting_of_the_host_is_passed_over() -> None:
    with open_link(hosts(End(address="127.0.0.1", prefix=GREETING))) as opened:
        assert opened.link.receiver.interface == "lo"
        assert opened.link.receiver.prefix == GREETING
        assert opened.facts().receiver.driver == "loopback"


def test_what_ssh_says_is_told() -> None:
    ssh = "echo 'ssh: connect to host node2 port 22: No route to host' >&2; exit 255"
    text = refused(End(address="10.0.0.2", prefix=("sh", "-c", ssh, "sh")))
    assert "ssh: connect to host node2 port 22: No route to host" in text
    assert "To try it by hand: sh -c " in text


def test_an_end_without_a_word_is_told() -> None:
    assert "it ended with status 1 and said nothing" in refused(
        End(address="10.0.0.2", prefix=("false",))
    )


def test_a_missing_program_is_told() -> None:
    assert "no-such-ssh: No such file or directory" in refused(
        End(address="10.0.0.2", prefix=("no-such-ssh", "node2"))
    )


def test_a_missing_interpreter_is_told() -> None:
    text = refused(End(address="10.0.0.2", prefix=("env", "A=1"), python="/no/such/python"))
    assert "/no/such/python" in text


def test_missing_orbtax_is_told_with_the_cure(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    text = refused(End(address="127.0.0.1", python=str(bare)))
    assert "No module named" in text
    assert "install orbtax there, or set `python`" in text


def test_an_address_of_another_host_is_told() -> None:
    assert "no network interface of this host is or carries 192.0.2.77" in refused(
        End(address="192.0.2.77")
    )


def test_an_interface_can_be_named() -> None:
    with open_link(hosts(End(address="127.0.0.2", interface="lo"))) as opened:
        assert opened.link.receiver.interface == "lo"


@pytest.mark.parametrize("answer", ["hello", "3", "{}", '{"interface": 3}'])
def test_an_answer_that_is_none_is_told(answer: str) -> None:
    prefix = ("sh", "-c", 'echo "$0"', answer)
    assert answer in refused(End(address="127.0.0.1", prefix=prefix))


def test_a_host_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "PATIENCE_S", 0.5)
    silent = ("sh", "-c", "exec tail -f /dev/null", "sh")
    with pytest.raises(UnavailableError, match=r"no answer within 0\.5 s"):
        facts.read_link(replace(hosts(HERE), sender=End(address="127.0.0.1", prefix=silent)))


def test_the_loopback_link_is_one_end_twice() -> None:
    with open_link(load_catalogue()["lo"]) as opened:
        assert opened.link.sender == opened.link.receiver
        assert opened.link.sender == End(address="127.0.0.1", python=sys.executable, interface="lo")
        read = opened.facts()
        assert read.sender == read.receiver
        assert read.sender.driver == "loopback"
        assert mismatches(opened.link, read) == ()
