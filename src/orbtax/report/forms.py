"""A table written as plain text, Markdown, CSV, HTML or LaTeX.

A table holds strings: whoever makes it decides on digits and units, each form only on layout and
escaping.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Sequence
from enum import StrEnum

from orbtax.report.tables import MISSING, Align, Column, Table, grid_lines, one_line


class Form(StrEnum):
    """What a table can be written as."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CSV = "csv"
    HTML = "html"
    LATEX = "latex"

    @property
    def suffix(self) -> str:
        """What the name of a file in this form ends in, without the dot."""
        return {Form.TEXT: "txt", Form.MARKDOWN: "md", Form.LATEX: "tex"}.get(self, self.value)


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
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(one_line(column.name) for column in table.columns)
    for row in table.rows:
        writer.writerow("" if cell == MISSING else one_line(cell) for cell in row)
    return text.getvalue()


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


def _markdown(text: str) -> str:
    """The text with nothing left that formats; a bracket alone does not, as in an interval."""
    escaped = re.sub(r"[\\`*_|~#$]|\](?=[(\[:])", lambda found: f"\\{found[0]}", one_line(text))
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
