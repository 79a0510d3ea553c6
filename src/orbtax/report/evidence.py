"""What both ends saw of the blocks, case by case: buffers, TCP state, time per call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from statistics import median

from orbtax.histogram import PERCENTILES, merge, percentile
from orbtax.model import Case, Options
from orbtax.record import BufferRecord, EndRecord, Latencies, Sample, TcpState
from orbtax.report.numbers import significant
from orbtax.report.tables import MISSING, Align, Column, Table
from orbtax.report.wording import options_text
from orbtax.units import display_size, format_size

CaseSamples = Mapping[Case, Sequence[Sample]]

_REASONS_SHOWN = 8


def merged_latencies(of_case: CaseSamples) -> dict[Case, Latencies]:
    """The calls of all rounds of each case that recorded any."""
    merged = {
        case: merge(sample.latencies for sample in samples if sample.latencies)
        for case, samples in of_case.items()
    }
    return {case: latencies for case, latencies in merged.items() if latencies.calls}


def latency_table(on: str, latencies: Mapping[Case, Latencies]) -> Table:
    """Percentiles of the time per call, where enough calls lie beyond them."""
    rows = [
        (
            *case_cells(case),
            f"{of_case.calls:,}",
            *(_microseconds(percentile(of_case, share)) for share in PERCENTILES),
            _microseconds(of_case.max_ns),
        )
        for case, of_case in latencies.items()
    ]
    columns = (
        *CASE_COLUMNS,
        Column("calls"),
        *(Column(f"p{100 * share:g}", "µs") for share in PERCENTILES),
        Column("max", "µs"),
    )
    notes = (
        "All rounds and threads together. A percentile is shown where at least ten calls lie "
        "beyond it.",
    )
    return Table(title=f"Time per call on {on}", columns=columns, rows=tuple(rows), notes=notes)


def buffer_table(on: str, of_case: CaseSamples) -> Table:
    """Socket buffers as asked for and as in force at the end of the blocks, at both ends."""
    rows = [
        (*case_cells(case), *(_buffer_text(samples, pick) for pick in _BUFFERS.values()))
        for case, samples in of_case.items()
    ]
    columns = (*CASE_COLUMNS, *(Column(name, align=Align.LEFT) for name in _BUFFERS))
    notes = (
        "Asked for → in force, the largest over connections and rounds; Linux counts twice what "
        "is asked for. Where it says kernel, the size was left to it, and it tunes it as it goes.",
        *_reasons(_ends(of_case)),
    )
    return Table(title=f"Socket buffers on {on}", columns=columns, rows=tuple(rows), notes=notes)


def tcp_table(on: str, of_case: CaseSamples) -> Table:
    """The connections' state at the sending end, over all rounds and connections of a case."""
    rows = [(*case_cells(case), *_tcp_cells(samples)) for case, samples in of_case.items()]
    columns = (
        *CASE_COLUMNS,
        Column("connections"),
        Column("resent", "segments"),
        Column("resent by servant", "segments"),
        Column("smoothed RTT", "µs"),
        Column("congestion window", "segments"),
        Column("MSS", "B"),
        Column("delivery rate", "Gbit/s"),
        Column("stalled by peer", "%"),
        Column("stalled by buffer", "%"),
        Column("window scaling"),
        Column("control", align=Align.LEFT),
    )
    states = chain.from_iterable(end.connections for end in _ends(of_case))
    notes = (
        "Resent: sum over all rounds. Stalled: share of the time with data to send, spent waiting "
        "for the peer's window or for room in the send buffer. Window scaling: sending, "
        "receiving. The rest: medians as they stood at the end of each block. Source: tcp_info.",
        *_reasons(states),
    )
    return Table(title=f"TCP on {on}", columns=columns, rows=tuple(rows), notes=notes)


CASE_COLUMNS = (
    Column("arm", align=Align.LEFT),
    Column("payload"),
    Column("threads"),
)


def case_cells(case: Case) -> tuple[str, ...]:
    """The cells under `CASE_COLUMNS`; options that are not the default stand with the arm."""
    name = str(case.arm)
    if case.options != Options():
        name += f" ({options_text(case.options)})"
    return name, format_size(case.payload_bytes), str(case.threads)


_BUFFERS: Mapping[str, Callable[[Sample], BufferRecord | None]] = {
    "client's send buffer": lambda s: s.client.send_buffer if s.client else None,
    "client's receive buffer": lambda s: s.client.receive_buffer if s.client else None,
    "servant's send buffer": lambda s: s.servant.send_buffer if s.servant else None,
    "servant's receive buffer": lambda s: s.servant.receive_buffer if s.servant else None,
}


def _buffer_text(samples: Sequence[Sample], pick: Callable[[Sample], BufferRecord | None]) -> str:
    seen = [record for sample in samples if (record := pick(sample))]
    if not seen:
        return MISSING
    asked = seen[0].requested_bytes
    known = [record.effective_bytes for record in seen if record.effective_bytes is not None]
    in_force = display_size(max(known)) if known else "unknown"
    text = f"{'kernel' if asked is None else format_size(asked)} → {in_force}"
    clipped = next((record for record in seen if record.clipped), None)
    if clipped is not None:
        return f"{text}, clipped by {clipped.limit or 'the kernel'}"
    return f"{text}, autotuned" if any(record.autotuned for record in seen) else text


def _tcp_cells(samples: Sequence[Sample]) -> tuple[str, ...]:
    client = [sample.client.connections for sample in samples if sample.client]
    servant = [sample.servant.connections for sample in samples if sample.servant]
    sending, replying = (list(chain.from_iterable(side)) for side in (client, servant))
    busy_s = _sum(sending, "busy_s")
    scales = set(map(attrgetter("window_scale_send", "window_scale_receive"), sending))
    controls = set(map(attrgetter("congestion_control"), sending))
    return (
        _middle([len(connections) for connections in client]),
        _count(_sum(sending, "retransmissions")),
        _count(_sum(replying, "retransmissions")),
        _middle(_known(sending, "smoothed_rtt_us")),
        _middle(_known(sending, "congestion_window_segments")),
        _middle(_known(sending, "mss_bytes")),
        _middle([rate / 1e9 for rate in _known(sending, "delivery_rate_bit_s")]),
        _share(_sum(sending, "receiver_limited_s"), busy_s),
        _share(_sum(sending, "buffer_limited_s"), busy_s),
        "; ".join(sorted(f"{out}, {back}" for out, back in scales if out is not None)) or MISSING,
        ", ".join(sorted(name for name in controls if name)) or MISSING,
    )


def _ends(of_case: CaseSamples) -> Iterator[EndRecord]:
    for samples in of_case.values():
        for sample in samples:
            yield from (end for end in (sample.client, sample.servant) if end)


def _reasons(records: Iterable[EndRecord | TcpState]) -> list[str]:
    """Why values are missing, each reason once."""
    reasons = dict.fromkeys(
        f"{name}: {reason}"
        for record in filter(attrgetter("missing"), records)
        for name, reason in record.missing.items()
    )
    shown = list(reasons)[:_REASONS_SHOWN]
    more = len(reasons) - len(shown)
    return [f"Missing: {'; '.join(shown)}{f'; and {more} more' if more else ''}."] if shown else []


def _known(states: Sequence[TcpState], name: str) -> list[float]:
    """One field of all connections, where it could be read."""
    return [value for value in map(attrgetter(name), states) if value is not None]


def _sum(states: Sequence[TcpState], name: str) -> float | None:
    known = _known(states, name)
    return sum(known) if known else None


def _middle(known: Sequence[float]) -> str:
    """The median in words."""
    if not known:
        return MISSING
    middle = median(known)
    whole = middle >= 1000 or middle == round(middle)
    return f"{middle:,.0f}" if whole else significant(middle)


def _count(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.0f}"


def _share(part: float | None, whole: float | None) -> str:
    if part is None or not whole:
        return MISSING
    return significant(100 * part / whole)


def _microseconds(duration_ns: float | None) -> str:
    return MISSING if duration_ns is None else significant(duration_ns / 1000)
