"""A table in its five forms, with texts that each of them could trip over."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbtax.report.forms import Form, as_csv, as_html, as_latex, as_markdown, as_text, render
from orbtax.report.tables import MISSING, Align, Column, Table, one_line

TABLE = Table(
    title="Best cases on 1ge (emulated)",
    columns=(Column("arm", align=Align.LEFT), Column("goodput", "Gbit/s"), Column("÷ stream", "%")),
    rows=(("stream", "0.951", MISSING), ("corba", "0.864", "90.9 [90.1, 91.8]")),
    notes=("In brackets: the interval.",),
)
NASTY = "<b>&\"'|\\`*_[x](y)$#{}~^% --link"
cells = st.text(max_size=20)


def table_of(*row: str) -> Table:
    return Table(title=NASTY, columns=tuple(map(Column, row)), rows=(row,), notes=(NASTY,))


class Reader(HTMLParser):
    """The tags with their attributes, and the text of each cell."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open:
            self.texts[self._open[-1]][-1] += data


@pytest.mark.parametrize("form", Form)
def test_each_form_holds_every_figure_and_ends_in_one_newline(form):
    text = render(TABLE, form)
    assert all(figure in text for figure in ("0.951", "0.864", "90.9 [90.1, 91.8]"))
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize("form", [form for form in Form if form is not Form.CSV])
def test_all_forms_but_csv_carry_title_and_notes(form):
    text = render(TABLE, form)
    assert "Best cases on 1ge (emulated)" in text.replace("\\", "")
    assert "In brackets: the interval." in text


def test_text_is_meant_to_be_read_as_it_stands():
    assert as_text(TABLE) == (
        "Best cases on 1ge (emulated)\n"
        "\n"
        "arm     goodput           ÷ stream\n"
        "         Gbit/s                  %\n"
        "------  -------  -----------------\n"
        "stream    0.951                  –\n"
        "corba     0.864  90.9 [90.1, 91.8]\n"
        "\n"
        "In brackets: the interval.\n"
    )


def test_markdown_aligns_columns():
    lines = as_markdown(TABLE).splitlines()
    assert lines[2] == "| arm | goodput (Gbit/s) | ÷ stream (%) |"
    assert lines[3] == "| --- | ---: | ---: |"


@given(cells, cells)
def test_a_markdown_row_keeps_its_number_of_cells(one, other):
    row = as_markdown(table_of(one, other)).splitlines()[4]
    unescaped_bars = re.sub(r"\\.", "", row).count("|")
    assert unescaped_bars == 3


def test_markdown_leaves_nothing_to_be_formatted():
    row = as_markdown(table_of(NASTY, "x")).splitlines()[4]
    assert "<" not in row
    assert not re.search(r"(?<!\\)([`*_$]|\]\()", row)


@given(cells, cells)
def test_csv_gives_back_what_was_put_in(one, other):
    rows = list(csv.reader(io.StringIO(as_csv(table_of(one, other)), newline="")))
    assert rows[1:] == [["" if cell == MISSING else one_line(cell) for cell in (one, other)]]


def test_csv_names_units_and_leaves_missing_values_empty():
    assert as_csv(TABLE).splitlines()[:2] == ["arm,goodput (Gbit/s),÷ stream (%)", "stream,0.951,"]


@given(cells, cells)
def test_html_shows_what_was_put_in(one, other):
    reader = Reader(as_html(table_of(one, other)))
    assert reader.texts["td"] == [one_line(other)]
    assert reader.texts["caption"] == [NASTY]
    assert {tag for tag, _ in reader.tags} == {
        *("table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li")
    }


def test_html_headings_say_what_they_head():
    headings = [attrs.get("scope") for tag, attrs in Reader(as_html(TABLE)).tags if tag == "th"]
    assert headings == ["col"] * 3 + ["row"] * 2


def test_latex_of_nasty_text_has_no_bare_special_character():
    row = as_latex(table_of(NASTY, "ok")).splitlines()[8]
    body = row.removeprefix("{}").removesuffix(r" \\")
    body = re.sub(r"\\(text[a-z]+\{\}|[&%$#_{}])", "", body)
    assert body.replace("-{}-", "").count("&") == 1  # between the two cells
    assert not re.search(r"[\\$#_^~%<>|`]", body)


def test_latex_keeps_flags_dashes_and_signs():
    text = as_latex(table_of("--link", "± × ÷ µ – ≥"))
    assert "-{}-link" in text
    assert r"$\pm$ $\times$ $\div$ \textmu{} -- $\geq$" in text


def test_latex_rows_do_not_begin_with_what_could_be_an_option():
    assert r"{}[43.0] & 1 \\" in as_latex(table_of("[43.0]", "1"))


@given(cells)
def test_latex_is_balanced_in_its_braces(cell):
    text = as_latex(table_of(cell, "x")).replace(r"\{", "").replace(r"\}", "")
    assert text.count("{") == text.count("}")
