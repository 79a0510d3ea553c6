"""The tables of the mailing-list study, in the shape in which its figures were published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orbtax.analysis.ratio import Interval
from orbtax.analysis.search import Choice, Setting
from orbtax.model import Arm
from orbtax.published.mailing_list import PublishedLink
from orbtax.report.numbers import gbit_s, per_cent, with_bounds, with_half_width
from orbtax.report.results import INTERVALS
from orbtax.report.tables import MISSING, Align, Column, Table
from orbtax.studies.study_grid import STREAM_PAYLOAD_BYTES
from orbtax.studies.study_results import Outcome, Pair, Variation, published_pair
from orbtax.studies.study_words import notes, window_text
from orbtax.units import format_size

STUDY_COLUMNS = (
    Column("link", align=Align.LEFT),
    Column("figures", align=Align.LEFT),
    Column("CORBA", "Gbit/s"),
    Column("MTU", "B"),
    Column("threads"),
    Column("payload"),
    Column("scaling"),
    Column("socket", "Gbit/s"),
    Column("receive window"),
    Column("send window"),
    Column("streams"),
    Column("efficiency", "%"),
)
SEARCH_NOTE = (
    "A setting ties with the fastest if it is within 0.5 % of it, or if the 95 % interval of their "
    "ratio, paired by round, holds 1. Of those that tie the simplest is taken: windows left to "
    "the kernel before windows set by hand, then fewer streams, then smaller windows."
)
_OF_THE_CALL, _OF_THE_SOCKET = 4, 3
"""Columns of settings after each of the two goodputs; they have no difference."""


def study_table(outcomes: Iterable[Outcome]) -> Table:
    """Three rows for each link: ours, as published, and the difference."""
    of_links = tuple(outcomes)
    return Table(
        title="The best of CORBA and of a socket, beside the mailing-list post",
        columns=STUDY_COLUMNS,
        rows=tuple(row for outcome in of_links for row in _three_rows(outcome)),
        notes=(
            INTERVALS,
            "Payload: of one call. Scaling: whether the ends offer to scale TCP windows. "
            "Efficiency: the best CORBA over the best socket, ± its 95 % interval. Difference: of "
            "rates in per cent of the published one, of efficiencies in percentage points.",
            "Windows: as asked for, and in brackets as in force (Linux counts twice what is asked "
            "for; one left to the kernel grows as it goes). Published ones stand as printed.",
            f"The socket is given {format_size(STREAM_PAYLOAD_BYTES)} at a time, as by iperf.",
            *(note for outcome in of_links for note in notes(outcome)),
        ),
    )


def published_table(published: Iterable[PublishedLink]) -> Table:
    """The figures of the post alone, with the efficiencies that follow from them."""
    return Table(
        title="The best of CORBA and of a socket, as published",
        columns=(STUDY_COLUMNS[0], *STUDY_COLUMNS[2:]),
        rows=tuple((each.link, *_published_cells(each)) for each in published),
        notes=("Efficiency: worked out here, the best CORBA over the best socket.",),
    )


def search_table(outcome: Outcome) -> Table:
    """Every setting of the socket that was tried on one link, the fastest first."""
    choice = outcome.socket
    rows = [
        (
            str(setting.case.threads),
            *(window_text(window) for window in outcome.windows_of(setting.case)),
            with_bounds(setting.rate, gbit_s),
            "fastest" if setting.behind is None else with_bounds(setting.behind, per_cent),
            _role(setting, choice),
        )
        for setting in _by_rate(choice)
    ]
    columns = (
        Column("streams"),
        Column("send window"),
        Column("receive window"),
        Column("goodput", "Gbit/s"),
        Column("fastest ÷ this", "%"),
        Column("choice", align=Align.LEFT),
    )
    title = f"Search for the best socket on {outcome.report.name}"
    return Table(title=title, columns=columns, rows=tuple(rows), notes=(INTERVALS, SEARCH_NOTE))


def calls_table(outcome: Outcome) -> Table:
    """Goodput of the calls on one link by threads and payload, the best in brackets."""
    calls = {
        (case.threads, case.payload_bytes): rates
        for case, rates in outcome.rates.items()
        if case.arm is Arm.CORBA
    }
    sizes = sorted({size for _, size in calls})
    taken = outcome.ours.corba
    rows = []
    for count in sorted({count for count, _ in calls}):
        cells = [str(count)]
        for size in sizes:
            rates = calls.get((count, size))
            goodput = Pair(rates, None).corba_bit_s
            text = MISSING if goodput is None else gbit_s(goodput.value)
            cells.append(f"[{text}]" if rates is not None and rates is taken else text)
        rows.append(tuple(cells))
    return Table(
        title=f"Goodput of CORBA on {outcome.report.name} in Gbit/s",
        columns=(Column("threads"), *(Column(format_size(size)) for size in sizes)),
        rows=tuple(rows),
        notes=("In brackets: the best, of those that tie the one of fewest threads.",),
    )


def variation_table(variations: Iterable[Variation]) -> Table:
    """What each variation does to the call and to the socket; no rows without `--vary`."""
    rows = [
        (
            row.link,
            row.name or "as it is",
            with_bounds(row.pair.corba_bit_s, gbit_s),
            with_bounds(row.corba_change, per_cent),
            with_bounds(row.pair.socket_bit_s, gbit_s),
            with_bounds(row.socket_change, per_cent),
            with_bounds(row.pair.efficiency, per_cent),
        )
        for row in variations
    ]
    columns = (
        Column("link", align=Align.LEFT),
        Column("varied", align=Align.LEFT),
        Column("call", "Gbit/s"),
        Column("call, of as it is", "%"),
        Column("socket", "Gbit/s"),
        Column("socket, of as it is", "%"),
        Column("efficiency", "%"),
    )
    note = (
        "Measured at a few sizes and threads of the grid; a row shows the best of these. `of as "
        "it is`: over the best of the same sizes and threads with nothing varied."
    )
    return Table(
        title="One thing varied at a time",
        columns=columns,
        rows=tuple(rows),
        notes=(INTERVALS, note),
    )


def _three_rows(outcome: Outcome) -> Iterator[tuple[str, ...]]:
    link, ours, published = outcome.report.link.name, outcome.ours, outcome.published
    theirs = published_pair(published) if published else Pair(None, None)
    yield link, "ours", *_our_cells(outcome)
    yield link, "published", *_published_cells(published)
    yield (
        link,
        "difference",
        _difference(ours.corba_bit_s, theirs.corba_bit_s),
        *(MISSING for _ in range(_OF_THE_CALL)),
        _difference(ours.socket_bit_s, theirs.socket_bit_s),
        *(MISSING for _ in range(_OF_THE_SOCKET)),
        _points(ours.efficiency, theirs.efficiency),
    )


def _our_cells(outcome: Outcome) -> tuple[str, ...]:
    ours = outcome.ours
    call = ours.corba.case if ours.corba else None
    stream = ours.socket.case if ours.socket else None
    send, receive = outcome.windows
    return (
        with_bounds(ours.corba_bit_s, gbit_s),
        MISSING if outcome.mtu_bytes is None else str(outcome.mtu_bytes),
        MISSING if call is None else str(call.threads),
        MISSING if call is None else format_size(call.payload_bytes),
        {True: "on", False: "off", None: MISSING}[outcome.window_scaling],
        with_bounds(ours.socket_bit_s, gbit_s),
        window_text(receive),
        window_text(send),
        MISSING if stream is None else str(stream.threads),
        with_half_width(ours.efficiency),
    )


def _published_cells(published: PublishedLink | None) -> tuple[str, ...]:
    if published is None:
        return tuple(MISSING for _ in STUDY_COLUMNS[2:])
    efficiency = published_pair(published).efficiency
    return (
        f"{published.corba_gbit_s:g}",
        str(published.corba_mtu_bytes),
        str(published.corba_threads),
        f"{published.corba_kb_per_call} kB",
        published.corba_window_scaling,
        f"{published.socket_gbit_s:g}",
        published.socket_receive_window,
        published.socket_send_window,
        str(published.socket_streams),
        MISSING if efficiency is None else per_cent(efficiency.value),
    )


def _difference(ours: Interval | None, theirs: Interval | None) -> str:
    if ours is None or theirs is None:
        return MISSING
    return f"{_signed(ours.value / theirs.value - 1)} %"


def _points(ours: Interval | None, theirs: Interval | None) -> str:
    if ours is None or theirs is None:
        return MISSING
    return f"{_signed(ours.value - theirs.value)} points"


def _signed(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")


def _by_rate(choice: Choice | None) -> list[Setting]:
    settings = choice.settings if choice else ()
    return sorted(settings, key=lambda setting: -setting.rate.value)


def _role(setting: Setting, choice: Choice | None) -> str:
    if choice is not None and setting.case == choice.taken.case:
        return "taken"
    return "ties" if setting.tied else ""
