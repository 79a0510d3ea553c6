"""`doctor` at the ends of a link, in programs of their own, and its exit code."""

from __future__ import annotations

import sys

import pytest
from invoke import Context, Exit
from links_support import needs_namespaces

from orbtax import checkup, commands
from orbtax.errors import UnavailableError
from orbtax.host import doctor
from orbtax.links import catalogue
from orbtax.model import End, Finding, Kind, Link

pytestmark = pytest.mark.live

HERE = End(address="127.0.0.1", python=sys.executable, interface="lo")


def codes(findings: tuple[Finding, ...]) -> set[str]:
    return {finding.code for finding in findings}


def test_loopback_is_looked_at_once_with_its_interface_watched() -> None:
    (lo,) = catalogue.pick(catalogue.load_catalogue(None), ["lo"])
    findings = checkup.of_link(lo)
    assert not any("no interface was named" in finding.text for finding in findings)
    assert sorted(findings, key=doctor.importance) == list(findings)
    assert len({finding.text for finding in findings}) == len(findings)


@needs_namespaces
def test_an_emulated_link_is_looked_at_inside_its_namespace() -> None:
    (link,) = catalogue.pick(catalogue.load_catalogue(None), ["1ge"])
    findings = checkup.of_link(link)
    assert not any("there is no interface" in finding.text for finding in findings)


def test_both_hosts_of_a_link_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBmaxSocketSend", "1024")
    link = Link(name="site", kind=Kind.HOSTS, mtu_bytes=65_536, sender=HERE, receiver=HERE)
    strays = [each for each in checkup.of_link(link) if each.code == "stray-orb-settings"]
    assert [stray.text.partition(": ")[0] for stray in strays] == ["sender", "receiver"]
    assert all("maxSocketSend" in stray.text for stray in strays)


def test_an_end_that_cannot_be_looked_at_is_named() -> None:
    deaf = End(address="127.0.0.1", python="false", interface="lo")
    link = Link(name="site", kind=Kind.HOSTS, sender=HERE, receiver=deaf)
    with pytest.raises(UnavailableError, match="receiver"):
        checkup.of_link(link)


@pytest.mark.parametrize("serious", [True, False])
def test_what_is_serious_decides_the_exit_code(
    serious: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finding = Finding(code="load", text="much else is running", cure="end it", serious=serious)
    monkeypatch.setattr(checkup, "of_this_host", lambda: (finding,))
    if serious:
        with pytest.raises(Exit) as ended:
            commands.doctor(Context())
        assert ended.value.code == 4
    else:
        commands.doctor(Context())
    assert "much else is running (end it)" in capsys.readouterr().out


def test_a_quiet_machine_is_said_to_be_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(checkup, "of_this_host", lambda: ())
    commands.doctor(Context())
    assert "Nothing" in capsys.readouterr().out
