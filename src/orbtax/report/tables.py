"""One table of strings, and how it is laid out in lines of a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rich.cells import cell_len

MISSING = "–"
"""What a cell shows where there is no value; empty in CSV."""


class Align(StrEnum):
    """The side of its column on which a cell stands."""

    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, the unit of its values, and the side on which they stand."""

    heading: str
    unit: str = ""
    align: Align = Align.RIGHT

    @property
    def name(self) -> str:
        """Heading and unit on one line."""
        return f"{self.heading} ({self.unit})" if self.unit else self.heading


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A titled table of strings; the first cell of a row names the row.

    Raises ValueError if a row is not as long as there are columns.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.title!r}: row {row} has {len(row)} cells, not {len(self.columns)}"
                )


def grid_lines(table: Table) -> list[str]:
    """Headings, units and rows of a table as aligned lines, without title and notes."""
    head = [[column.heading for column in table.columns]]
    if any(column.unit for column in table.columns):
        head.append([column.unit for column in table.columns])
    body = [[one_line(cell) for cell in row] for row in table.rows]
    widths = [max(map(cell_len, cells)) for cells in zip(*head, *body, strict=True)]
    aligns = [column.align for column in table.columns]
    return [
        *(_text_row(row, widths, aligns) for row in head),
        "  ".join("-" * width for width in widths),
        *(_text_row(row, widths, aligns) for row in body),
    ]


def fold(table: Table, width: int, keys: int) -> tuple[Table, ...]:
    """The table as several that are at most `width` wide, where its columns allow that.

    Each begins with the first `keys` columns and has at least one more; the notes go to the last.
    """
    groups: list[list[int]] = []
    for place in range(keys, len(table.columns)):
        if groups and _width(_pick(table, keys, [*groups[-1], place])) <= width:
            groups[-1].append(place)
        else:
            groups.append([place])
    if len(groups) < 2:
        return (table,)
    parts = [replace(_pick(table, keys, group), notes=()) for group in groups]
    return (*parts[:-1], replace(parts[-1], notes=table.notes))


def one_line(text: str) -> str:
    """The text on one line, with control characters made harmless."""
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """The text with control characters (a program's colours) replaced, but for its line ends."""
    kept = "\n\N{NO-BREAK SPACE}"
    return "".join(c if c.isprintable() or c in kept else "\ufffd" for c in text)


def _pick(table: Table, keys: int, others: Sequence[int]) -> Table:
    """The table with its first `keys` columns and some others."""
    places = [*range(keys), *others]
    return replace(
        table,
        columns=tuple(table.columns[place] for place in places),
        rows=tuple(tuple(row[place] for place in places) for row in table.rows),
    )


def _width(table: Table) -> int:
    return max(map(cell_len, grid_lines(table)))


def _text_row(cells: Sequence[str], widths: Sequence[int], aligns: Sequence[Align]) -> str:
    padded = []
    for cell, width, align in zip(cells, widths, aligns, strict=True):
        padding = " " * (width - cell_len(cell))
        padded.append(padding + cell if align is Align.RIGHT else cell + padding)
    return "  ".join(padded).rstrip()
