"""The method of the mailing-list post and that of a run of ours, side by side."""

from __future__ import annotations

from orbtax.model import STUDY_TOTAL_BYTES, Arm, Plan
from orbtax.report.front import listed
from orbtax.report.tables import Align, Column, Table
from orbtax.studies.study_grid import STREAM_PAYLOAD_BYTES
from orbtax.studies.variations import variation_of
from orbtax.units import format_size


def method_table(plan: Plan) -> Table:
    """What was done in the post, and what in a run of this plan."""
    cases = [case for cell in plan.cells for case in cell.cases if not variation_of(case)]
    calls = [case for case in cases if case.arm is Arm.CORBA]
    streams = [case for case in cases if case.arm is Arm.STREAM]
    sizes = sorted({case.payload_bytes for case in calls})
    windows = {case.options.send_buffer_bytes for case in streams}
    fixed = plan.cells[0].total_bytes
    rows = (
        ("call", "octet sequence, two-way", "octet sequence, two-way, omniORBpy at both ends"),
        ("payload", "1 kB to 1 MB in powers of two", listed(map(format_size, sizes))),
        ("client threads", "1 to 32", _numbers({case.threads for case in calls})),
        (
            "each combination",
            "until 8 GB have been sent",
            f"{format_size(fixed)} in {plan.cells[0].rounds} rounds"
            if fixed
            else f"{plan.cells[0].rounds} rounds of about {plan.block_s:.2g} s; the share of "
            f"{format_size(STUDY_TOTAL_BYTES)} stands below the table",
        ),
        ("connections", "not told", "one for each thread"),
        (
            "socket",
            "iperf",
            f"stream: one connection a thread, {format_size(STREAM_PAYLOAD_BYTES)} at a time",
        ),
        ("streams", "searched", _numbers({case.threads for case in streams})),
        (
            "windows",
            "searched",
            listed("kernel" if size is None else format_size(size) for size in _sorted(windows))
            + ", laid down before the run",
        ),
        ("order", "not told", "all cases in turn, forwards and backwards from round to round"),
        ("rate", "not told at which end", "payload confirmed by the receiver"),
        ("best", "the best goodput", "simplest setting that the noise does not tell from the best"),
        ("cores", "not told", f"placement {plan.placement.name}"),
    )
    columns = tuple(Column(name, align=Align.LEFT) for name in ("", "the post", "here"))
    return Table(title="Method", columns=columns, rows=rows)


def _numbers(values: set[int]) -> str:
    ordered = sorted(values)
    if len(ordered) > 2 and ordered == list(range(ordered[0], ordered[-1] + 1)):
        return f"{ordered[0]} to {ordered[-1]}"
    return listed(map(str, ordered))


def _sorted(windows: set[int | None]) -> list[int | None]:
    return sorted(windows, key=lambda size: size or 0)
