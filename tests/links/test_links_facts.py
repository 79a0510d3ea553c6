from dataclasses import replace

from orbtax.links.facts import changes, mismatches
from orbtax.links.side import bucket_rate_bit_s
from orbtax.model import Kind, Link
from orbtax.record import InterfaceFacts, LinkFacts
from orbtax.units import format_rate

CUBIC = {"net.ipv4.tcp_congestion_control": "cubic"}
EMULATED = Link(
    name="10ge",
    kind=Kind.EMULATED,
    mtu_bytes=9048,
    rate_bit_s=10_000_000_000,
    sysctls={**CUBIC, "net.ipv4.tcp_window_scaling": "1"},
)
END = InterfaceFacts(
    interface="orbtax0",
    mtu_bytes=9048,
    driver="veth",
    qdisc="tbf",
    shaped_bit_s=bucket_rate_bit_s(10_000_000_000, 9048),
    congestion_control="cubic",
    offloads={"tcp-segmentation-offload": True},
    sysctls={**CUBIC, "net.ipv4.tcp_window_scaling": "1"},
)
BUCKET = format_rate(bucket_rate_bit_s(10_000_000_000, 9048))
FACTS = LinkFacts(link="10ge", sender=END, receiver=END)
HOSTS = Link(name="far", kind=Kind.HOSTS, rate_bit_s=10_000_000_000)


def receiver(**other: object) -> LinkFacts:
    return replace(FACTS, receiver=replace(END, **other))  # type: ignore[arg-type]


def test_a_link_that_stayed_as_it_was_has_no_change() -> None:
    assert changes(FACTS, FACTS) == ()


def test_each_fact_that_moved_is_a_serious_finding() -> None:
    after = receiver(
        interface="eth1",
        mtu_bytes=1500,
        speed_bit_s=1_000_000_000,
        driver="e1000",
        qdisc="fq",
        shaped_bit_s=None,
        congestion_control="bbr",
        offloads={"tcp-segmentation-offload": False},
        sysctls={"net.ipv4.tcp_window_scaling": "0"},
    )
    found = changes(FACTS, after)
    assert len(found) == 10
    assert all(finding.serious and finding.code == "link-changed" for finding in found)
    texts = "\n".join(finding.text for finding in found)
    for part in (
        "the MTU at the receiver was 9048 B before the run and is 1500 B after it",
        "of the token bucket at the receiver was 9973585736 bit/s before the run and is none",
        "tcp-segmentation-offload at the receiver was on before the run and is off",
        "net.ipv4.tcp_window_scaling at the receiver was 1 before the run and is 0",
        "net.ipv4.tcp_congestion_control at the receiver was cubic before the run and is not read",
        "the speed at the receiver was none before the run and is 1 Gbit/s",
    ):
        assert part in texts


def test_a_change_is_told_at_its_end() -> None:
    after = replace(FACTS, sender=replace(END, mtu_bytes=1500))
    assert [finding.text for finding in changes(FACTS, after)] == [
        "link 10ge: the MTU at the sender was 9048 B before the run and is 1500 B after it"
    ]


def test_a_link_as_asked_has_no_mismatch() -> None:
    assert mismatches(EMULATED, FACTS) == ()


def test_an_emulated_link_must_be_what_was_asked() -> None:
    found = mismatches(
        EMULATED,
        receiver(
            shaped_bit_s=1_000_000_000,
            congestion_control="bbr",
            sysctls={"net.ipv4.tcp_window_scaling": "0"},
        ),
    )
    assert [(finding.code, finding.serious, finding.text) for finding in found] == [
        (
            "link-mismatch",
            True,
            f"link 10ge: {fact} at the receiver is {is_now}, and {asked} was asked for",
        )
        for fact, is_now, asked in (
            ("the token bucket's rate", "1 Gbit/s", BUCKET),
            ("net.ipv4.tcp_congestion_control", "bbr", "cubic"),
            ("net.ipv4.tcp_window_scaling", "0", "1"),
        )
    ]


def test_a_bucket_that_nobody_asked_for_is_a_mismatch() -> None:
    unlimited = replace(EMULATED, rate_bit_s=None)
    assert [finding.text for finding in mismatches(unlimited, FACTS)] == [
        f"link 10ge: the token bucket's rate at the {end} is {BUCKET}, and none was asked for"
        for end in ("sender", "receiver")
    ]


def test_a_rate_is_kept_by_the_kernel_in_whole_bytes() -> None:
    assert mismatches(replace(EMULATED, rate_bit_s=10_000_000_003), FACTS) == ()


def test_an_mtu_that_differs_is_told_at_each_end_and_between_them() -> None:
    assert [finding.code for finding in mismatches(EMULATED, receiver(mtu_bytes=1500))] == [
        "link-mismatch",
        "mtu-unequal",
    ]
    assert [finding.code for finding in mismatches(HOSTS, receiver(mtu_bytes=1500))] == [
        "mtu-unequal"
    ]


def test_a_real_interface_may_be_faster_than_the_path_but_not_slower() -> None:
    assert mismatches(HOSTS, receiver(speed_bit_s=25_000_000_000)) == ()
    assert mismatches(HOSTS, receiver(speed_bit_s=None)) == ()
    found = mismatches(HOSTS, receiver(speed_bit_s=1_000_000_000))
    assert [finding.text for finding in found] == [
        "link far: the speed at the receiver is 1 Gbit/s, and 10 Gbit/s was asked for"
    ]
