"""One table of strings: its shape, its lines, its parts when it is too wide."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from orbtax.report.tables import Align, Column, Table, fold, grid_lines, one_line

TABLE = Table(
    title="Best cases",
    columns=(Column("arm", align=Align.LEFT), Column("goodput", "Gbit/s"), Column("threads")),
    rows=(("stream", "43.6", "6"), ("corba", "8.66", "26")),
    notes=("One note.",),
)
texts = st.text(max_size=12)
grids = st.integers(2, 6).flatmap(
    lambda width: st.lists(st.tuples(*[texts] * width), min_size=1, max_size=4)
)


def table_of(rows):
    columns = tuple(Column(f"c{place}") for place in range(len(rows[0])))
    return Table(title="any", columns=columns, rows=tuple(rows), notes=("note",))


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="2 cells, not 3"):
        Table(title="bad", columns=TABLE.columns, rows=(("stream", "43.6"),))


def test_numbers_stand_on_the_right_and_names_on_the_left():
    assert grid_lines(TABLE) == [
        "arm     goodput  threads",
        "         Gbit/s",
        "------  -------  -------",
        "stream     43.6        6",
        "corba      8.66       26",
    ]


def test_wide_characters_count_as_a_terminal_shows_them():
    table = Table(
        title="links",
        columns=(Column("link", align=Align.LEFT), Column("rate")),
        rows=(("東京", "1"), ("lo", "22")),
    )
    rows = grid_lines(table)[2:]
    assert {cell_len(row) for row in rows} == {len("東京") * 2 + 2 + len("rate")}


@given(grids)
def test_every_line_of_a_grid_is_one_line_and_no_wider_than_its_rule(rows):
    lines = grid_lines(table_of(rows))
    rule = next(line for line in lines if line and set(line) <= {"-", " "})
    assert all("\n" not in line and line.isprintable() for line in lines)
    assert all(cell_len(line) <= cell_len(rule) for line in lines)


@given(grids, st.integers(1, 60))
def test_folding_keeps_every_column_once_and_repeats_the_keys(rows, width):
    table = table_of(rows)
    parts = fold(table, width, keys=1)
    assert [column for part in parts for column in part.columns[1:]] == list(table.columns[1:])
    assert all([row[0] for row in part.rows] == [row[0] for row in rows] for part in parts)
    assert [part.notes for part in parts] == [()] * (len(parts) - 1) + [("note",)]
    for part in parts:
        fits = max(map(cell_len, grid_lines(part))) <= width
        assert fits or len(part.columns) == 2


def test_a_table_that_fits_is_not_folded():
    assert fold(TABLE, 80, keys=1) == (TABLE,)


def test_what_a_program_printed_cannot_steer_a_terminal():
    assert one_line("a\x1b[31mred\r\n\tb\x00\udc80") == "a\ufffd[31mred b\ufffd\ufffd"
