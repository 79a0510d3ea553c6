import pytest
from builders_ends import LINKS
from hypothesis import given
from hypothesis import strategies as st

from orbtax.errors import RequestError
from orbtax.model import Arm, Case, Kind, Link, Options
from orbtax.socket_buffers import (
    LARGEST_BYTES,
    RECEIVE_SYSCTL,
    SEND_SYSCTL,
    SMALLEST_BYTES,
    Buffers,
    base_name,
    buffers_of,
    parse_buffers,
    why_not,
    with_buffers,
)

KIB = 1024
IB, LO = LINKS["ib"], LINKS["lo"]
HOSTS = Link(name="cluster", kind=Kind.HOSTS)
POST = Buffers(16 * KIB, 87_380)

sides = st.none() | st.integers(SMALLEST_BYTES, LARGEST_BYTES)
some_buffers = st.builds(Buffers, sides, sides)


def case_on(link: Link, arm: Arm = Arm.CORBA, options: Options | None = None) -> Case:
    return Case(link=link.name, arm=arm, payload_bytes=KIB, threads=1, options=options or Options())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("kernel", Buffers()),
        ("kernel/kernel", Buffers()),
        ("16KiB/87380B", POST),
        (" 16 KiB / 87380 B ", POST),
        ("256KiB", Buffers(256 * KIB, 256 * KIB)),
        ("kernel/4KiB", Buffers(None, 4 * KIB)),
        ("1MB/kernel", Buffers(1_000_000, None)),
    ],
)
def test_what_can_be_asked_for(text: str, wanted: Buffers) -> None:
    assert parse_buffers(text) == wanted


@pytest.mark.parametrize("text", ["", "16", "16K/87380", "1KiB", "kernel/1GiB", "4KiB/", "a/b/c"])
def test_what_cannot_be_had_is_refused(text: str) -> None:
    with pytest.raises(RequestError):
        parse_buffers(text)


def test_a_size_out_of_range_names_the_range() -> None:
    with pytest.raises(RequestError, match="4 KiB to 512 MiB"):
        parse_buffers("4095B")


@given(some_buffers)
def test_what_is_written_is_read_as_the_same(buffers: Buffers) -> None:
    assert parse_buffers(str(buffers)) == buffers


@given(some_buffers)
def test_the_namespaces_of_an_emulated_link_give_what_was_asked_for(buffers: Buffers) -> None:
    link = with_buffers(IB, buffers)
    assert buffers_of(link, case_on(link)) == buffers
    assert base_name(link.name) == "ib"
    assert (link == IB) == (buffers == Buffers())
    assert not set(link.name) & set(" /")


def test_a_namespace_has_twice_the_size_as_default_and_as_limit() -> None:
    link = with_buffers(LINKS["10ge"], POST)
    assert link.name == "10ge~16KiB-87380B"
    assert link.sysctls == {SEND_SYSCTL: "4096 32768 32768", RECEIVE_SYSCTL: "4096 174760 174760"}
    assert link.rate_bit_s == LINKS["10ge"].rate_bit_s


def test_a_side_left_to_the_kernel_is_not_set() -> None:
    link = with_buffers(IB, Buffers(None, 4 * KIB))
    assert SEND_SYSCTL not in link.sysctls
    assert link.sysctls[RECEIVE_SYSCTL] == "4096 8192 8192"


def test_other_settings_of_a_link_stay() -> None:
    scaled = Link(name="ib", kind=Kind.EMULATED, sysctls={"net.ipv4.tcp_window_scaling": "0"})
    assert with_buffers(scaled, POST).sysctls["net.ipv4.tcp_window_scaling"] == "0"


def test_a_namespace_that_leaves_room_leaves_it_to_the_kernel() -> None:
    roomy = Link(name="ib", kind=Kind.EMULATED, sysctls={RECEIVE_SYSCTL: "4096 131072 6291456"})
    assert buffers_of(roomy, case_on(roomy)) == Buffers()


@given(some_buffers)
def test_elsewhere_a_case_asks_for_it_itself(buffers: Buffers) -> None:
    assert buffers_of(LO, case_on(LO, Arm.STREAM, buffers.options)) == buffers


@pytest.mark.parametrize("link", [LO, HOSTS])
def test_the_orb_cannot_fix_its_receive_buffer_on_a_link_that_is_not_emulated(link: Link) -> None:
    reason = why_not(link, Arm.CORBA, POST)
    assert reason is not None
    assert "omniORB has no option for the receive buffer" in reason
    assert link.name in reason
    assert why_not(link, Arm.CORBA, Buffers(16 * KIB, None)) is None
    assert why_not(link, Arm.STREAM, POST) is None
    assert why_not(IB, Arm.CORBA, POST) is None
