"""How links, cases and options are named in tables, figures and sentences."""

from __future__ import annotations

from orbtax.model import Case, Kind, Options
from orbtax.report.numbers import counted
from orbtax.units import format_size


def subject(link: str, kind: Kind, reverse: bool = False) -> str:
    """A link's name with what it is, wherever it is not between real machines."""
    words = [link] if kind is Kind.HOSTS else [f"{link} ({kind})"]
    return " ".join([*words, "with the ends exchanged"] if reverse else words)


def options_text(options: Options) -> str:
    """The options that are not the default ones, in words; `default` if all are."""
    said = []
    if not options.nodelay:
        said.append("TCP_NODELAY off")
    if options.send_buffer_bytes is not None:
        said.append(f"send buffer {format_size(options.send_buffer_bytes)}")
    if options.receive_buffer_bytes is not None:
        said.append(f"receive buffer {format_size(options.receive_buffer_bytes)}")
    if options.connections is not None:
        said.append(counted(options.connections, "connection"))
    if options.depth != Options().depth:
        said.append(f"depth {options.depth}")
    if options.congestion_control is not None:
        said.append(options.congestion_control)
    said += [f"{name} {value}" for name, value in options.orb]
    return ", ".join(said) or "default"


def case_text(case: Case) -> str:
    """A case in words: `corba, 64 KiB, 4 threads`."""
    words = [str(case.arm), format_size(case.payload_bytes), counted(case.threads, "thread")]
    if case.options != Options():
        words.append(options_text(case.options))
    return ", ".join(words)
