"""One thing varied at a time: links of their own, cases of their own, and what cannot be had."""

from __future__ import annotations

from dataclasses import replace

import pytest
from study_builders import CONTROLS, emulated

from orbtax.errors import RequestError
from orbtax.model import Arm, Kind, Link, Options
from orbtax.studies import variations
from orbtax.studies.study_grid import FULL, QUICK
from orbtax.studies.variations import (
    Vary,
    base_name,
    left_out,
    parse_vary,
    probe_of,
    variation_of,
    varied_cases,
    varied_links,
)

IB, GIGABIT = emulated("ib", "1ge")
HOSTS = Link(name="lab", kind=Kind.HOSTS)
PROBE = probe_of(QUICK)


def test_a_varied_link_differs_in_one_thing_and_in_its_name() -> None:
    links = {link.name: link for link in varied_links(IB, tuple(Vary), CONTROLS)}
    assert list(links) == [
        "ib~scaling-off",
        "ib~mtu-1500",
        "ib~mtu-9000",
        "ib~mtu-65520",
        "ib~reno",
    ]
    assert replace(links["ib~mtu-9000"], name="ib", mtu_bytes=IB.mtu_bytes) == IB
    scaling = links["ib~scaling-off"]
    assert scaling.sysctls == {**IB.sysctls, "net.ipv4.tcp_window_scaling": "0"}
    assert links["ib~reno"].sysctls["net.ipv4.tcp_congestion_control"] == "reno"


def test_what_a_link_is_already_is_no_variation() -> None:
    names = {link.name for link in varied_links(GIGABIT, tuple(Vary), ("cubic", "bbr", "reno"))}
    assert "1ge~mtu-1500" not in names
    assert "1ge~cubic" not in names
    assert {"1ge~bbr", "1ge~reno"} <= names


def test_a_control_that_the_kernel_does_not_offer_is_said_and_not_replaced() -> None:
    assert "ib~bbr" not in {link.name for link in varied_links(IB, [Vary.CONGESTION], CONTROLS)}
    (finding,) = left_out([IB], [Vary.CONGESTION], CONTROLS)
    assert "bbr" in finding.text
    assert "reno, cubic" in finding.text
    assert "tcp_bbr" in finding.cure
    assert left_out([IB], [Vary.MTU], CONTROLS) == ()


def test_between_hosts_nothing_of_the_hosts_is_varied() -> None:
    assert varied_links(HOSTS, tuple(Vary), CONTROLS) == ()
    findings = left_out([HOSTS], tuple(Vary), CONTROLS)
    assert {finding.text.split()[0] for finding in findings} == {"scaling", "mtu"}
    cases = varied_cases(HOSTS, tuple(Vary), PROBE)
    assert {variation_of(case) for case in cases} == {
        "connections-5",
        "oneway",
        "ami",
        "cubic",
        "bbr",
        "reno",
    }
    by_socket = [case for case in cases if case.options.congestion_control]
    assert {case.arm for case in by_socket} == {Arm.STREAM}


def test_varied_cases_differ_from_cases_of_the_grid_in_one_option() -> None:
    known = {*QUICK.calls("ib"), *QUICK.sockets("ib")}
    for case in varied_cases(IB, tuple(Vary), PROBE):
        plain = Arm.CORBA if case.arm.is_corba else case.arm
        assert replace(case, arm=plain, options=Options()) in known
        assert case not in known


def test_the_connections_are_limited_only_where_that_is_a_limit() -> None:
    cases = varied_cases(IB, [Vary.CONNECTIONS], replace(PROBE, threads=(1, 5, 6)))
    assert {case.threads for case in cases} == {6}
    assert {case.connections for case in cases} == {5}


@pytest.mark.parametrize("grid", [QUICK, FULL, replace(QUICK, threads=(2, 3), streams=(9,))])
def test_a_probe_is_a_part_of_any_grid(grid) -> None:
    probe = probe_of(grid)
    assert set(probe.base("ib")) <= {*grid.calls("ib"), *grid.sockets("ib")}
    assert probe.threads
    assert probe.streams


def test_the_link_and_the_variation_are_read_back_from_a_case() -> None:
    (link,) = varied_links(IB, [Vary.SCALING], CONTROLS)
    case = PROBE.base(link.name)[0]
    assert (base_name(case.link), variation_of(case)) == ("ib", "scaling-off")
    assert variation_of(QUICK.calls("ib")[0]) == ""
    assert {variation_of(case) for case in QUICK.sockets("ib")} == {""}


def test_the_bare_flag_is_everything_and_a_list_is_what_it_names() -> None:
    assert parse_vary(None) == parse_vary(False) == ()
    assert parse_vary(True) == tuple(Vary)
    assert parse_vary("mtu, oneway") == (Vary.MTU, Vary.ONEWAY)
    with pytest.raises(RequestError, match=r"'colour' cannot be varied.*scaling, mtu"):
        parse_vary("colour")
    with pytest.raises(RequestError, match="twice"):
        parse_vary("mtu,mtu")


def test_the_controls_are_the_kernels_or_none(monkeypatch) -> None:
    monkeypatch.setattr(variations, "read_sysctl", lambda name: "reno bbr cubic")
    assert variations.offered_controls() == ("reno", "bbr", "cubic")

    def refuse(name):
        raise OSError("no such file")

    monkeypatch.setattr(variations, "read_sysctl", refuse)
    assert variations.offered_controls() == ()
