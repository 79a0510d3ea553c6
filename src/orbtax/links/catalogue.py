"""The links by name: the built-in ones, and those that a `links.toml` adds or replaces."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from orbtax.errors import RequestError
from orbtax.links.document import (
    Key,
    Place,
    read_document,
    read_fields,
    read_parsed,
    read_table,
    read_text,
    read_words,
)
from orbtax.links.sysctl import CONGESTION_CONTROL
from orbtax.model import Arm, End, Kind, Link
from orbtax.units import format_rate, parse_rate, parse_size

DEFAULT_FILE = Path("links.toml")
EMULATED_SYSCTLS = {CONGESTION_CONTROL: "cubic"}
"""Set on every emulated link unless it says otherwise, so that such links are alike everywhere."""

BUILT_IN = (
    Link(name="lo", kind=Kind.LOOPBACK),
    Link(name="ib", kind=Kind.EMULATED, mtu_bytes=2044, sysctls=EMULATED_SYSCTLS),
    Link(
        name="10ge",
        kind=Kind.EMULATED,
        mtu_bytes=9048,
        rate_bit_s=10_000_000_000,
        sysctls=EMULATED_SYSCTLS,
    ),
    Link(
        name="1ge",
        kind=Kind.EMULATED,
        mtu_bytes=1500,
        rate_bit_s=1_000_000_000,
        sysctls=EMULATED_SYSCTLS,
    ),
)
"""`ib` has no rate: no bucket is fast enough to stand for InfiniBand, so memory sets the limit."""

MTU_RANGE_BYTES = (68, 65535)  # what IPv4 asks for at least, what a veth takes at most
MIN_RATE_BIT_S = 8000  # a bucket counts whole bytes per second, which are coarse below this
MAX_EMULATED_RATE_BIT_S = (2**32 - 1) * 8  # the token bucket keeps bytes/s in 32 bits


def load_catalogue(file: Path | None = None) -> Mapping[str, Link]:
    """Name → link: the built-in links and those of a links file, which win.

    Args:
        file: the links file; None takes `links.toml` of the working directory if there is one.

    Raises:
        RequestError: the file is missing or does not say what it must; names file and line.
    """
    links = {link.name: link for link in BUILT_IN}
    if file is None and not DEFAULT_FILE.exists():
        return links
    document, tables = read_document(file or DEFAULT_FILE)
    return links | {name: _read_link(document.at(name), table) for name, table in tables.items()}


def pick(catalogue: Mapping[str, Link], names: Iterable[str]) -> tuple[Link, ...]:
    """The links called `names`, in that order; RequestError lists the known ones."""
    names = tuple(names)
    for name in names:
        if name not in catalogue:
            raise RequestError(
                f"link {name!r} is unknown: the known links are {', '.join(catalogue)}; "
                f"others can be defined in {DEFAULT_FILE}"
            )
    return tuple(catalogue[name] for name in names)


def _read_link(place: Place, value: object) -> Link:
    table = read_table(place, value)
    name = place.keys[-1]
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}", name):
        raise place.refusal(
            "expected a link name of at most 32 letters, digits, '.', '_' and '-', "
            "with a letter or digit first"
        )
    if "kind" not in table:
        raise place.refusal(f"the key kind is missing; expected kind = one of {_KIND_NAMES}")
    kind = _read_kind(place.at("kind"), table["kind"])
    fields = read_fields(place, table, _KEYS[kind])
    if kind is Kind.EMULATED:
        fields["sysctls"] = EMULATED_SYSCTLS | fields.get("sysctls", {})
    return Link(name=name, **fields)


def _read_kind(place: Place, value: object) -> Kind:
    if not isinstance(value, str) or value not in tuple(Kind):
        raise place.refusal(f"expected one of {_KIND_NAMES}, not {value!r}")
    return Kind(value)


def _read_mtu(place: Place, value: object) -> int:
    mtu_bytes = _read_size(place, value)
    least, most = MTU_RANGE_BYTES
    if not least <= mtu_bytes <= most:
        raise place.refusal(f"expected an MTU from {least} B to {most} B, not {value!r}")
    return mtu_bytes


def _read_rate(place: Place, value: object) -> int:
    rate_bit_s = _read_any_rate(place, value)
    if rate_bit_s < MIN_RATE_BIT_S:
        raise place.refusal(f"expected at least {format_rate(MIN_RATE_BIT_S)}, not {value!r}")
    return rate_bit_s


def _read_emulated_rate(place: Place, value: object) -> int:
    rate_bit_s = _read_rate(place, value)
    if rate_bit_s > MAX_EMULATED_RATE_BIT_S:
        raise place.refusal(
            f"expected at most {MAX_EMULATED_RATE_BIT_S} bit/s on an emulated link, not {value!r}; "
            "without a rate it runs as fast as the machine can"
        )
    return rate_bit_s


def _read_address(place: Place, value: object) -> str:
    address = read_text(place, value)
    try:
        return str(ipaddress.IPv4Address(address))
    except ValueError:
        raise place.refusal(
            f'expected the IPv4 address of this end on the link, such as "10.0.0.1", not {value!r}'
        ) from None


def _read_interface(place: Place, value: object) -> str:
    interface = read_text(place, value)
    if not re.fullmatch(r"[^\s/:]{1,15}", interface):
        raise place.refusal(f'expected a network interface such as "eth0", not {value!r}')
    return interface


def _read_end(place: Place, value: object) -> End:
    return End(**read_fields(place, value, _END_KEYS))


def _read_sysctls(place: Place, value: object, stem: str = "") -> dict[str, str]:
    """Name → value; without quotes, TOML reads a dotted name as tables within tables."""
    sysctls: dict[str, str] = {}
    for key, item in read_table(place, value).items():
        name = f"{stem}{key}"
        if isinstance(item, dict):
            sysctls |= _read_sysctls(place.at(key), item, f"{name}.")
        elif not re.fullmatch(r"net(\.[A-Za-z0-9_-]+)+", name):
            raise place.at(key).refusal(
                "expected a name that begins with net., since only those belong to a link"
            )
        elif isinstance(item, bool) or not isinstance(item, int | str) or not str(item).strip():
            raise place.at(key).refusal(f"expected a text or a whole number, not {item!r}")
        else:
            sysctls[name] = " ".join(str(item).split())
    return sysctls


def _read_arm(place: Place) -> Arm:
    try:
        return Arm(place.keys[-1])
    except ValueError:
        raise place.refusal(f"unknown arm; expected one of {', '.join(Arm)}") from None


def _read_preload(place: Place, value: object) -> Mapping[Arm, str]:
    table = read_table(place, value)
    return {_read_arm(place.at(arm)): read_text(place.at(arm), item) for arm, item in table.items()}


def _read_variable(place: Place) -> str:
    name = place.keys[-1]
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise place.refusal(
            "expected the name of an environment variable: letters, digits and '_', "
            "with no digit first"
        )
    if name.startswith("ORB") or name == "OMNIORB_CONFIG":
        raise place.refusal(
            "expected no setting of the ORB: programs shut out variables that begin with ORB, and "
            "OMNIORB_CONFIG, so that all runs compare"
        )
    return name


def _read_environment(place: Place, value: object) -> Mapping[Arm, Mapping[str, str]]:
    table = read_table(place, value)
    return {
        _read_arm(place.at(arm)): {
            _read_variable(place.at(arm).at(name)): read_text(place.at(arm).at(name), item)
            for name, item in read_table(place.at(arm), variables).items()
        }
        for arm, variables in table.items()
    }


_read_size = read_parsed(parse_size, "9000 B")
_read_any_rate = read_parsed(parse_rate, "10Gbit/s")
_KIND_NAMES = ", ".join(f'"{kind}"' for kind in Kind)
_END_KEYS = {
    "address": Key("address", _read_address, required='"10.0.0.1"'),
    "prefix": Key("prefix", read_words),
    "python": Key("python", read_text),
    "interface": Key("interface", _read_interface),
}
_COMMON_KEYS = {
    "kind": Key("kind", _read_kind),
    "preload": Key("preload", _read_preload),
    "environment": Key("environment", _read_environment),
}
_KEYS: Mapping[Kind, Mapping[str, Key]] = {
    Kind.LOOPBACK: _COMMON_KEYS,
    Kind.EMULATED: {
        **_COMMON_KEYS,
        "mtu": Key("mtu_bytes", _read_mtu, required='"9000 B"'),
        "rate": Key("rate_bit_s", _read_emulated_rate),
        "sysctls": Key("sysctls", _read_sysctls),
    },
    Kind.HOSTS: {
        **_COMMON_KEYS,
        "sender": Key("sender", _read_end, required='{ address = "10.0.0.1" }'),
        "receiver": Key(
            "receiver",
            _read_end,
            required='{ address = "10.0.0.2", prefix = ["ssh", "node2"] }',
        ),
        "mtu": Key("mtu_bytes", _read_mtu),
        "rate": Key("rate_bit_s", _read_rate),
    },
}
