"""What came out: the answer in a sentence per link, the best cases, the cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from orbtax.analysis.efficiency import CellResult, LinkResult
from orbtax.analysis.ratio import Interval
from orbtax.model import STUDY_TOTAL_BYTES, Arm
from orbtax.report.numbers import counted, gbit_s, per_cent, with_bounds, with_half_width
from orbtax.report.tables import MISSING, Align, Column, Table
from orbtax.report.wording import options_text, subject
from orbtax.units import format_size

_ARMS_BESIDE_RATIOS = 3
INTERVALS = "In brackets: the 95 % interval over the rounds; [–] where there was only one round."


def subject_of(link: LinkResult) -> str:
    """The link of a result with what it is."""
    return subject(link.link, link.kind, link.reverse)


def answer(link: LinkResult) -> str:
    """The answer on one link: what the arm reached, and how much of the stream's best that is."""
    best, stream = link.best_of(link.arm), link.best_of(Arm.STREAM)
    name = subject_of(link)
    if best is None:
        if stream is None:
            return f"On {name} neither {link.arm} nor {Arm.STREAM} gave a figure."
        reached = gbit_s(stream.goodput_bit_s.value)
        return f"On {name} {link.arm} gave no figure; the best TCP stream moved {reached} Gbit/s."
    moved = (
        f"On {name} {link.arm} moved {gbit_s(best.goodput_bit_s.value)} Gbit/s at its "
        f"best ({format_size(best.payload_bytes)}, {counted(best.threads, 'thread')})"
    )
    if stream is None or best.efficiency_link is None:
        return f"{moved}; there is no {Arm.STREAM} to set it against."
    return (
        f"{moved}: {with_half_width(best.efficiency_link)} % of the "
        f"{gbit_s(stream.goodput_bit_s.value)} Gbit/s of the best TCP stream."
    )


def best_table(link: LinkResult, remarks: Iterable[str] = ()) -> Table:
    """The best case of each arm on one link, with its efficiency against the link.

    `remarks` are further notes below it.
    """
    varied = _is_varied(link)
    columns = (
        Column("arm", align=Align.LEFT),
        Column("goodput", "Gbit/s"),
        Column("threads"),
        Column("payload"),
        Column("against the link", "%"),
        *(_OPTIONS if varied else ()),
    )
    rows = [
        (
            str(best.arm),
            with_bounds(best.goodput_bit_s, gbit_s),
            str(best.threads),
            format_size(best.payload_bytes),
            "baseline" if best.arm is Arm.STREAM else with_bounds(best.efficiency_link, per_cent),
            *((options_text(best.options),) if varied else ()),
        )
        for best in link.best
    ]
    unpaired = [
        str(best.arm)
        for best in link.best
        if best.arm is not Arm.STREAM and best.efficiency_link is not None and not best.paired
    ]
    notes = [*remarks, INTERVALS, *(f"{_capital(finding.text)}." for finding in link.findings)]
    if unpaired:
        notes.append(
            f"{', '.join(unpaired)}: its best case and that of {Arm.STREAM} were not run in the "
            "same rounds, so the interval is the wider one of independent means."
        )
    return Table(
        title=f"Best cases on {subject_of(link)}",
        columns=columns,
        rows=tuple(rows),
        notes=tuple(notes),
    )


def cells_table(link: LinkResult) -> Table:
    """Every cell of one link: goodput of each arm, efficiencies, verdict, share of 8 GB moved."""
    arms = arms_of(link)
    rows = [
        (
            *_cell_names(cell, link),
            *(with_bounds(_goodput(cell, arm), gbit_s) for arm in arms),
            with_bounds(cell.efficiency_stream, per_cent),
            with_bounds(cell.efficiency_call, per_cent),
            str(cell.rounds),
            _verdict(cell),
            per_cent(min(result.moved_bytes for result in cell.arms) / STUDY_TOTAL_BYTES),
        )
        for cell in link.cells
    ]
    columns = (
        *_cell_columns(link),
        *(Column(str(arm), "Gbit/s") for arm in arms),
        *_EFFICIENCIES,
        Column("rounds"),
        _VERDICT,
        Column("of 8 GB", "%"),
    )
    notes = (
        INTERVALS,
        *_efficiency_notes(link),
        "of 8 GB: what the arm that moved least has moved, as a share of the study's 8 GB.",
    )
    return Table(
        title=f"All cells on {subject_of(link)}", columns=columns, rows=tuple(rows), notes=notes
    )


def brief_tables(link: LinkResult) -> tuple[Table, ...]:
    """The same without the intervals of the goodputs, narrow enough for a terminal.

    One table, or one of goodputs and one of efficiencies where there are more than three arms.
    """
    arms = arms_of(link)
    names = [_cell_names(cell, link) for cell in link.cells]
    goodputs = [
        tuple(gbit_s(rate.value) if (rate := _goodput(cell, arm)) else MISSING for arm in arms)
        for cell in link.cells
    ]
    efficiencies = [
        (
            with_half_width(cell.efficiency_stream),
            with_half_width(cell.efficiency_call),
            _verdict(cell),
        )
        for cell in link.cells
    ]
    keys, notes, on = _cell_columns(link), _efficiency_notes(link), subject_of(link)
    arm_columns = tuple(Column(str(arm), "Gbit/s") for arm in arms)
    ratio_columns = (*_EFFICIENCIES, _VERDICT)

    def table(title: str, columns: tuple[Column, ...], *cells: Sequence[tuple[str, ...]]) -> Table:
        rows = tuple(sum(row, ()) for row in zip(names, *cells, strict=True))
        return Table(title=f"{title} on {on}", columns=(*keys, *columns), rows=rows)

    if len(arms) <= _ARMS_BESIDE_RATIOS:
        whole = table("Cells", (*arm_columns, *ratio_columns), goodputs, efficiencies)
        return (replace(whole, notes=notes),)
    ratios = table(f"Efficiency of {link.arm}", ratio_columns, efficiencies)
    return table("Goodput", arm_columns, goodputs), replace(ratios, notes=notes)


def arms_of(link: LinkResult) -> tuple[Arm, ...]:
    """The arms that any cell of the link has, in the order of `Arm`."""
    present = {result.arm for cell in link.cells for result in cell.arms}
    return tuple(arm for arm in Arm if arm in present)


_OPTIONS = (Column("options", align=Align.LEFT),)
_EFFICIENCIES = (Column("÷ stream", "%"), Column("÷ call", "%"))
_VERDICT = Column("verdict", align=Align.LEFT)


def _is_varied(link: LinkResult) -> bool:
    return len({cell.options for cell in link.cells}) > 1


def _cell_columns(link: LinkResult) -> tuple[Column, ...]:
    return Column("payload"), Column("threads"), *(_OPTIONS if _is_varied(link) else ())


def _cell_names(cell: CellResult, link: LinkResult) -> tuple[str, ...]:
    options = (options_text(cell.options),) if _is_varied(link) else ()
    return format_size(cell.payload_bytes), str(cell.threads), *options


def _goodput(cell: CellResult, arm: Arm) -> Interval | None:
    result = cell.arm(arm)
    return result.goodput_bit_s if result else None


def _verdict(cell: CellResult) -> str:
    return str(cell.verdict) if cell.rounds else "no figure"


def _efficiency_notes(link: LinkResult) -> tuple[str, ...]:
    ratios = [
        efficiency
        for cell in link.cells
        for efficiency in (cell.efficiency_stream, cell.efficiency_call)
        if efficiency is not None
    ]
    if not ratios:
        return ()
    notes = [
        f"÷: goodput of {link.arm} over that of the other at the same size and threads, "
        "paired by round."
    ]
    if any(ratio.value > 1 for ratio in ratios):
        notes.append("Above 100 %: the baseline was the weaker of the two in that cell.")
    return tuple(notes)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
