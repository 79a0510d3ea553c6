"""Link and hosts before and after."""

from dataclasses import replace

from builders import make_run
from builders_ends import make_environment

from orbtax.report.surroundings import host_table, link_table, state_table
from orbtax.units import display_rate

VISIT = make_run(links=("1ge",), sizes=(1024,), threads=(1,), rounds=4).record.visits[0]


def rows(table):
    return {row[:-2]: row[-2:] for row in table.rows}


def test_facts_that_both_ends_share_stand_once():
    shown = rows(link_table("1ge (emulated)", [VISIT]))
    bucket = display_rate(VISIT.before.sender.shaped_bit_s)
    assert shown["MTU", "both", "0"] == ("1500 B", "the same")
    assert shown["token bucket", "both", "0"] == (bucket, "the same")
    assert shown["net.ipv4.tcp_window_scaling", "both", "0"] == ("1", "the same")


def test_a_fact_that_changed_shows_both_values():
    sender = replace(VISIT.after.sender, mtu_bytes=9000)
    visit = replace(VISIT, after=replace(VISIT.after, sender=sender))
    shown = rows(link_table("1ge", [visit]))
    assert shown["MTU", "sender", "0"] == ("1500 B", "9000 B")
    assert shown["MTU", "receiver", "0"] == ("1500 B", "the same")


def test_a_run_cut_short_does_not_claim_an_after():
    visit = replace(VISIT, after=None, sender_after=None, receiver_after=None)
    for table in (link_table("1ge", [visit]), state_table("1ge", [visit])):
        assert {row[-1] for row in table.rows} == {"not read, since the run was cut short"}


def test_each_session_has_its_rows():
    table = link_table("1ge", [VISIT, replace(VISIT, session=1)])
    assert {row[2] for row in table.rows} == {"0", "1"}


def test_the_state_of_the_hosts_moves():
    after = replace(make_environment(), state={"load": "3.10"})
    shown = rows(state_table("1ge", [replace(VISIT, receiver_after=after)]))
    assert shown["load", "receiver", "0"] == ("0.05", "3.10")
    assert shown["memory_available_bytes", "receiver", "0"] == ("4000000000", "–")


def test_hosts_are_shown_side_by_side_with_what_is_not_known():
    receiver = replace(make_environment(kernel="Linux 7.0"), missing={"turbo": "no such file"})
    table = host_table("1ge", [replace(VISIT, receiver_before=receiver)])
    assert ("kernel", "Linux 6.8.0 x86_64", "Linux 7.0") in table.rows
    assert table.notes == ("Not known at the receiver: turbo, no such file.",)
    names = [row[0] for row in table.rows]
    assert names.index("virtualisation") < names.index("orb.giopMaxMsgSize")


def test_a_run_that_never_opened_a_link_has_no_rows():
    assert link_table("ib", []).rows == host_table("ib", []).rows == state_table("ib", []).rows
    assert not link_table("ib", []).rows
