"""What is measured: cells from sizes and threads, where each end runs, and what is refused."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orbtax import units
from orbtax.errors import RequestError
from orbtax.model import Arm, Case, Cell, Kind, Link, Options, Placement

SMALL_MACHINE_CORES = 8
"""Up to so many cores, a scheduler left to itself gives two-humped results."""
VERIFY_LIMIT_BYTES = 256 * 1024**2
MAX_THREADS = 1024
MAX_PAYLOAD_BYTES = 1024**3


def grid(
    link: Link,
    payloads_bytes: Sequence[int],
    threads: Sequence[int],
    arms: Sequence[Arm],
    *,
    options: Options | None = None,
    rounds: int | None = None,
    total_bytes: int | None = None,
    budget_s: float | None = None,
) -> tuple[Cell, ...]:
    """One cell for each payload and number of threads, with a case for each arm."""
    chosen = options or Options()
    return tuple(
        Cell(
            cases=tuple(
                Case(link=link.name, arm=arm, payload_bytes=size, threads=count, options=chosen)
                for arm in arms
            ),
            rounds=rounds,
            total_bytes=total_bytes,
            budget_s=budget_s,
        )
        for size in payloads_bytes
        for count in threads
    )


def check(cells: Sequence[Cell], *, verify: bool) -> None:
    """Raises RequestError for a cell that cannot be run as it is asked for."""
    for cell in cells:
        for case in cell.cases:
            _check_case(case)
            if cell.total_bytes is not None:
                _check_total(case, cell.total_bytes, cell.rounds or 1, verify)


def parse_arms(text: str) -> tuple[Arm, ...]:
    """Arms from `stream,call,corba`, each once; RequestError names an unknown one."""
    return units.parse_list(text, _parse_arm)


def parse_threads(text: str) -> tuple[int, ...]:
    """Numbers of threads from `1,4,16`, each once."""
    counts = units.parse_list(text, units.parse_count)
    if max(counts) > MAX_THREADS:
        raise RequestError(f"{max(counts)} threads are more than the {MAX_THREADS} allowed.")
    return counts


def parse_sizes(text: str) -> tuple[int, ...]:
    """Payload sizes from `1KiB,64KiB`, each once."""
    sizes = units.parse_list(text, units.parse_size)
    if max(sizes) > MAX_PAYLOAD_BYTES:
        raise RequestError(
            f"a payload of {units.format_size(max(sizes))} is above the limit of "
            f"{units.format_size(MAX_PAYLOAD_BYTES)}: a message has to fit into memory several "
            "times over."
        )
    return sizes


def parse_placement(text: str | None, links: Sequence[Link]) -> Placement:
    """Cores for both ends: `split`, `free`, or explicit ones as `SENDER/RECEIVER`: `0,2/1,3`.

    Without a text: `split` where both ends share one small machine, `free` otherwise.
    """
    cores = tuple(sorted(os.sched_getaffinity(0)))
    on_hosts = any(link.kind is Kind.HOSTS for link in links)
    if text is None:
        small = 1 < len(cores) <= SMALL_MACHINE_CORES and not on_hosts
        text = "split" if small else "free"
    if text == "free":
        return Placement()
    if text == "split":
        return _split(cores, on_hosts)
    sender, slash, receiver = text.partition("/")
    if not slash:
        raise RequestError(
            f"placement {text!r} is none: write `split`, `free`, or the cores of the sender and "
            "the receiver as `0/1` or `0,1/2,3`."
        )
    available = None if on_hosts else cores
    return Placement(
        name="explicit",
        sender_cores=_parse_cores(sender, available),
        receiver_cores=_parse_cores(receiver, available),
    )


def _split(cores: tuple[int, ...], on_hosts: bool) -> Placement:
    if on_hosts:
        raise RequestError(
            "placement `split` divides the cores of one machine; on a link between hosts write "
            "`free` or the cores of each end as `0,1/0,1`."
        )
    if len(cores) < 2:
        raise RequestError(
            "placement `split` needs two cores and this process may use one. Use `free`."
        )
    half = len(cores) // 2
    return Placement(name="split", sender_cores=cores[:half], receiver_cores=cores[half:])


def _parse_cores(text: str, available: tuple[int, ...] | None) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() for word in words):
        raise RequestError(f"{text!r} is no list of cores: write numbers such as `0,1`.")
    cores = tuple(sorted({int(word) for word in words}))
    if available is not None and (unknown := [core for core in cores if core not in available]):
        raise RequestError(
            f"core {unknown[0]} cannot be used here; this process may use "
            f"{', '.join(map(str, available))}."
        )
    return cores


def _parse_arm(text: str) -> Arm:
    try:
        return Arm(text)
    except ValueError:
        raise RequestError(
            f"arm {text!r} is unknown; the arms are {', '.join(arm.value for arm in Arm)}."
        ) from None


def _check_case(case: Case) -> None:
    if case.payload_bytes == 0 and not case.arm.is_corba:
        raise RequestError(f"{case.arm}: a raw socket cannot carry an empty message.")
    if case.payload_bytes and case.arm is Arm.EMPTY:
        raise RequestError(f"{case.arm}: an empty call carries no payload; its size must be 0.")


def _check_total(case: Case, total_bytes: int, rounds: int, verify: bool) -> None:
    each = total_bytes // rounds
    if each < case.payload_bytes:
        raise RequestError(
            f"a total of {units.format_size(total_bytes)} over {rounds} rounds gives each less "
            f"than one message of {units.format_size(case.payload_bytes)}. Ask for a larger total "
            "or fewer rounds."
        )
    if verify and each > VERIFY_LIMIT_BYTES:
        raise RequestError(
            f"to verify, the receiver keeps every message of a round until the clock has stopped, "
            f"and {units.format_size(total_bytes)} over {rounds} rounds is more than "
            f"{units.format_size(VERIFY_LIMIT_BYTES)} each. Ask for more rounds or a smaller total."
        )
