from pathlib import Path

import pytest

from orbtax.errors import ExitCode, RequestError
from orbtax.links.catalogue import BUILT_IN, load_catalogue, pick
from orbtax.model import Arm, End, Kind

HOSTS = '[a]\nkind = "hosts"\nsender = { address = "10.0.0.1" }\n'
EMULATED = '[a]\nkind = "emulated"\nmtu = "1500 B"\n'
CUBIC = {"net.ipv4.tcp_congestion_control": "cubic"}


@pytest.fixture(autouse=True)
def _empty_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(tmp_path: Path, text: str, name: str = "mine.toml") -> Path:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return file


def test_the_built_in_links_are_those_of_the_mailing_list() -> None:
    catalogue = load_catalogue()
    assert list(catalogue) == ["lo", "ib", "10ge", "1ge"]
    assert catalogue["lo"].kind is Kind.LOOPBACK
    assert [
        (link.kind, link.mtu_bytes, link.rate_bit_s, link.sysctls)
        for link in pick(catalogue, ["ib", "10ge", "1ge"])
    ] == [
        (Kind.EMULATED, 2044, None, CUBIC),
        (Kind.EMULATED, 9048, 10_000_000_000, CUBIC),
        (Kind.EMULATED, 1500, 1_000_000_000, CUBIC),
    ]


def test_a_links_file_adds_and_replaces(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        """
        [ib]  # the real one
        kind = "hosts"
        mtu = "2044B"
        rate = "54 Gbit/s"
        sender = { address = "10.0.0.1" }

        [ib.receiver]
        address = "10.0.0.2"
        prefix = ["ssh", "node2"]
        python = "/opt/orbtax/bin/python"
        interface = "ib0"

        [ib.preload]
        stream = "libvma.so"

        [ib.environment.stream]
        VMA_SPEC = "latency"

        [slow]
        kind = "emulated"
        mtu = "1500 B"
        rate = "100Mbit/s"
        [slow.sysctls]
        net.ipv4.tcp_window_scaling = 0
        "net.ipv4.tcp_rmem" = "4096\t8192  16384"
        """,
    )
    catalogue = load_catalogue(file)
    assert list(catalogue) == ["lo", "ib", "10ge", "1ge", "slow"]
    ib = catalogue["ib"]
    assert (ib.kind, ib.mtu_bytes, ib.rate_bit_s) == (Kind.HOSTS, 2044, 54_000_000_000)
    assert ib.sender == End(address="10.0.0.1")
    assert ib.receiver == End(
        address="10.0.0.2",
        prefix=("ssh", "node2"),
        python="/opt/orbtax/bin/python",
        interface="ib0",
    )
    assert ib.preload == {Arm.STREAM: "libvma.so"}
    assert ib.environment == {Arm.STREAM: {"VMA_SPEC": "latency"}}
    assert catalogue["slow"].rate_bit_s == 100_000_000
    assert catalogue["slow"].sysctls == {
        **CUBIC,
        "net.ipv4.tcp_window_scaling": "0",
        "net.ipv4.tcp_rmem": "4096 8192 16384",
    }


def test_an_emulated_link_may_choose_its_congestion_control(tmp_path: Path) -> None:
    file = write(tmp_path, EMULATED + 'sysctls.net.ipv4.tcp_congestion_control = "reno"\n')
    assert load_catalogue(file)["a"].sysctls == {"net.ipv4.tcp_congestion_control": "reno"}


def test_an_emulated_link_has_cubic_without_being_asked(tmp_path: Path) -> None:
    assert load_catalogue(write(tmp_path, EMULATED))["a"].sysctls == CUBIC


def test_the_file_of_the_working_directory_is_read(tmp_path: Path) -> None:
    write(tmp_path, '[mine]\nkind = "loopback"\n', "links.toml")
    assert "mine" in load_catalogue()
    assert "mine" not in load_catalogue(write(tmp_path, '[other]\nkind = "loopback"\n'))


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ('\n[a]\nkind = "emulated"\nmtu = 9000\n', 4, '"9000 B"'),
        ('[a]\nkind = "emulated"\nmtu = "9000"\n', 3, "the unit is missing"),
        ('[a]\nkind = "emulated"\nmtu = "9K"\n', 3, "KiB"),
        ('[a]\nkind = "emulated"\nmtu = "67 B"\n', 3, "from 68 B to 65535 B"),
        ('[a]\nkind = "emulated"\nmtu = "64 KiB"\n', 3, "from 68 B to 65535 B"),
        ('# one\n\n[a]\nkind = "emulated"\n', 3, "mtu is missing"),
        ('[a]\nmtu = "1500 B"\n', 1, "kind is missing"),
        ('[a]\nkind = "wireless"\n', 2, '"loopback", "emulated", "hosts"'),
        ('[a]\nkind = ["emulated"]\n', 2, '"loopback", "emulated", "hosts"'),
        (EMULATED + "speed = 3\n", 4, "unknown key; expected one of kind, preload, environment"),
        (EMULATED + 'rate = "10G"\n', 4, "bit/s"),
        (EMULATED + 'rate = "1bit/s"\n', 4, "at least 8 kbit/s, not '1bit/s'"),
        (EMULATED + 'rate = "7999bit/s"\n', 4, "at least 8 kbit/s"),
        (HOSTS + 'receiver.address = "10.0.0.2"\nrate = "7 bit/s"\n', 5, "at least 8 kbit/s"),
        (EMULATED + 'rate = "100Gbit/s"\n', 4, "at most 34359738360 bit/s"),
        (EMULATED + 'sender = { address = "10.0.0.1" }\n', 4, "unknown key"),
        (EMULATED + "sysctls = 3\n", 4, "expected a table"),
        (EMULATED + '[a.sysctls]\nkernel.hostname = "x"\n', 5, "begins with net."),
        (EMULATED + '[a.sysctls]\n"net/../kernel" = "x"\n', 5, "begins with net."),
        (EMULATED + "[a.sysctls]\nnet.core.somaxconn = true\n", 5, "whole number"),
        (EMULATED + '[a.sysctls]\nnet.core.somaxconn = " "\n', 5, "whole number"),
        ('[a]\nkind = "loopback"\nmtu = "1500 B"\n', 3, "unknown key"),
        (HOSTS, 1, "receiver is missing"),
        (HOSTS + 'receiver = { adress = "10.0.0.2" }\n', 4, "receiver.adress: unknown key"),
        (HOSTS + '[a.receiver]\n\nprefix = ["ssh", "b"]\n', 4, "address is missing"),
        (HOSTS + '[a.receiver]\naddress = "node2"\n', 5, "IPv4 address"),
        (HOSTS + '[a.receiver]\naddress = "10.0.0.2"\nprefix = "ssh b"\n', 6, "list of words"),
        (
            HOSTS + '[a.receiver]\naddress = "10.0.0.2"\nprefix = [\n"ssh",\n1]\n',
            6,
            "list of words",
        ),
        (HOSTS + '[a.receiver]\naddress = "10.0.0.2"\npython = ""\n', 6, "text in quotes"),
        (HOSTS + '[a.receiver]\naddress = "10.0.0.2"\ninterface = "a/b"\n', 6, '"eth0"'),
        (
            EMULATED + '[a.preload]\nsocket = "libvma.so"\n',
            5,
            "unknown arm; expected one of stream",
        ),
        (EMULATED + "[a.environment.corba]\n\nX = 1\n", 6, "text in quotes"),
        (EMULATED + '[a.environment.corba]\n"A=B" = "1"\n', 5, "name of an environment variable"),
        (EMULATED + '[a.environment.corba]\n"" = "1"\n', 5, "name of an environment variable"),
        (EMULATED + '[a.environment.corba]\n1A = "1"\n', 5, "with no digit first"),
        (EMULATED + '[a.environment.corba]\nA-B = "1"\n', 5, "name of an environment variable"),
        (EMULATED + '[a.environment.corba]\n"A\\u0000" = "1"\n', 5, "environment variable"),
        (EMULATED + '[a.environment.corba]\nA = "\\u0000"\n', 5, "text in quotes"),
        (EMULATED + '[a.environment.corba]\nORBtraceLevel = "1"\n', 5, "no setting of the ORB"),
        (EMULATED + '[a.environment.corba]\nOMNIORB_CONFIG = "x"\n', 5, "no setting of the ORB"),
        (EMULATED + '[a.preload]\ncorba = "\\u0000"\n', 5, "text in quotes"),
        (HOSTS + '[a.receiver]\naddress = "10.0.0.2"\nprefix = ["\\u0000"]\n', 6, "list of words"),
        (EMULATED + '["b c"]\nkind = "loopback"\n', 4, "link name"),
        ('a = "emulated"\n', 1, "expected a table such as [a]"),
    ],
)
def test_a_fault_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, expected: str
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(RequestError) as refused:
        load_catalogue(file)
    assert refused.value.exit_code is ExitCode.REQUEST
    assert f"{file}, line {line}: " in str(refused.value)
    assert expected in str(refused.value)


def test_the_slowest_rate_is_taken(tmp_path: Path) -> None:
    (link,) = pick(load_catalogue(write(tmp_path, EMULATED + 'rate = "8 kbit/s"\n')), ["a"])
    assert link.rate_bit_s == 8000


def test_the_line_is_right_below_values_of_several_lines(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        '[a]\nkind = "hosts"\n'
        'sender = { address = "10.0.0.1", prefix = [\n  "mtu = 1",\n  "ssh",\n] }\n'
        'receiver.address = "10.0.0.2"\n'
        '# mtu = "1 B"\n'
        "receiver.python = '''\nmtu = 5\n'''\n"
        "mtu = 9000\n",
    )
    with pytest.raises(RequestError, match=r"line 12: a\.mtu"):
        load_catalogue(file)


def test_a_syntax_error_names_the_line(tmp_path: Path) -> None:
    file = write(tmp_path, '[a]\nkind = "loopback\n')
    with pytest.raises(RequestError, match=r"not valid TOML.*line 2"):
        load_catalogue(file)


def test_a_missing_or_unreadable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="cannot be read"):
        load_catalogue(tmp_path / "none.toml")
    with pytest.raises(RequestError, match="cannot be read"):
        load_catalogue(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(RequestError, match="not valid TOML"):
        load_catalogue(tmp_path / "bytes.toml")


def test_pick_keeps_the_order() -> None:
    assert [link.name for link in pick(load_catalogue(), ["1ge", "lo"])] == ["1ge", "lo"]


def test_an_unknown_link_is_refused_with_the_known_ones() -> None:
    with pytest.raises(RequestError, match=r"'40ge' is unknown.*lo, ib, 10ge, 1ge"):
        pick(load_catalogue(), ["ib", "40ge"])


def test_built_in_names_are_unique() -> None:
    assert len({link.name for link in BUILT_IN}) == len(BUILT_IN)
