"""One table, written as plain text, Markdown, CSV, HTML or LaTeX.

A table holds strings: whoever makes it decides on digits and units, each form only on layout and
escaping. Plain text is aligned by what a terminal shows, not by the number of characters.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rich.cells import cell_len

MISSING = "–"
"""What a cell shows where there is no value; empty in CSV."""


class Align(StrEnum):
    """The side of its column on which a cell stands."""

    LEFT = "left"
    RIGHT = "right"


class Form(StrEnum):
    """What a table can be written as."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CSV = "csv"
    HTML = "html"
    LATEX = "latex"


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


def render(table: Table, form: Form) -> str:
    """The table in one of its forms, ending in a newline."""
    writers = {
        Form.TEXT: as_text,
        Form.MARKDOWN: as_markdown,
        Form.CSV: as_csv,
        Form.HTML: as_html,
        Form.LATEX: as_latex,
    }
    return writers[form](table)


def as_text(table: Table) -> str:
    """Plain text: title, headings, units in a line of their own, rows, notes."""
    lines = [one_line(table.title), "", *grid_lines(table)]
    lines += ["", *map(one_line, table.notes)] if table.notes else []
    return "\n".join(lines) + "\n"


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


def as_markdown(table: Table) -> str:
    """A GitHub-flavoured pipe table under its title in bold, its notes as a list."""
    names = [_markdown(column.name) for column in table.columns]
    rules = ["---:" if column.align is Align.RIGHT else "---" for column in table.columns]
    rows = [names, rules, *([_markdown(cell) for cell in row] for row in table.rows)]
    lines = [f"**{_markdown(table.title)}**", ""]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    lines += ["", *(f"- {_markdown(note)}" for note in table.notes)] if table.notes else []
    return "\n".join(lines) + "\n"


def as_csv(table: Table) -> str:
    """RFC 4180 with newlines alone: headings with their units, rows; a missing value is empty."""
    rows = [["" if cell == MISSING else cell for cell in row] for row in table.rows]
    return csv_text([column.name for column in table.columns], rows)


def as_html(table: Table) -> str:
    """A `<table>` with caption and scoped headings, its notes as a list after it."""
    head = "".join(
        f'<th scope="col" class="{column.align}">{_html_heading(column)}</th>'
        for column in table.columns
    )
    body = "".join(f"<tr>{_html_row(row, table.columns)}</tr>\n" for row in table.rows)
    notes = "".join(f"<li>{_html(note)}</li>\n" for note in table.notes)
    return (
        f"<table>\n<caption>{_html(table.title)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"
        + (f'<ul class="notes">\n{notes}</ul>\n' if notes else "")
    )


def as_latex(table: Table) -> str:
    """A `table` environment with rules of the booktabs package, notes as lines below."""
    aligns = "".join("r" if column.align is Align.RIGHT else "l" for column in table.columns)
    head = " & ".join(_latex(column.name) for column in table.columns)
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(table.title)}}}",
        rf"\begin{{tabular}}{{{aligns}}}",
        r"\toprule",
        # A row that begins with a bracket would be read as an option of the \\ before it.
        rf"{{}}{head} \\",
        r"\midrule",
        *(rf"{{}}{' & '.join(map(_latex, row))} \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\smallskip {_latex(note)}" for note in table.notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def csv_text(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of strings under their names as CSV with `\\n` line ends."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()


def one_line(text: str) -> str:
    """The text on one line, with control characters (a program's colours) made harmless."""
    return "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))


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


def _markdown(text: str) -> str:
    escaped = re.sub(r"([\\`*_\[\]|~#$])", r"\\\1", one_line(text))
    return html.escape(escaped, quote=False)


def _html(text: str) -> str:
    return html.escape(one_line(text))


def _html_heading(column: Column) -> str:
    unit = f' <span class="unit">{_html(column.unit)}</span>' if column.unit else ""
    return _html(column.heading) + unit


def _html_row(row: Sequence[str], columns: Sequence[Column]) -> str:
    cells = [
        f'<td class="{column.align}">{_html(cell)}</td>'
        for cell, column in zip(row[1:], columns[1:], strict=True)
    ]
    return f'<th scope="row" class="{columns[0].align}">{_html(row[0])}</th>' + "".join(cells)


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "µ": r"\textmu{}",
    "×": r"$\times$",
    "÷": r"$\div$",
    "±": r"$\pm$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "½": r"$\frac{1}{2}$",
    "∞": r"$\infty$",
    "–": "--",
    "…": r"\ldots{}",
}


# Two hyphens would become a dash, as in the name of a flag.
_TO_ESCAPE = re.compile("-(?=-)|" + "|".join(map(re.escape, _LATEX)))


def _latex(text: str) -> str:
    return _TO_ESCAPE.sub(lambda found: _LATEX.get(found[0], "-{}"), one_line(text))
