"""Curves: what stands in them, that it can be read, and that they are always the same."""

import math
import subprocess
import sys
from itertools import combinations

import matplotlib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.text import Text

from orbtax.model import Arm
from orbtax.report import images
from orbtax.report.charts import Chart, Line, Panel, Reference, Scale, describe_panel
from orbtax.report.figures import draw_chart, draw_panel
from orbtax.report.style import ARM_LOOKS, INK

SIZES = [1024 * 4**power for power in range(6)]
ARMS = (Arm.STREAM, Arm.CALL, Arm.CORBA, Arm.ONEWAY, Arm.AMI)


def line(arm, ends_at, bounds=True, sizes=SIZES):
    y = [ends_at * (place + 1) / len(sizes) for place in range(len(sizes))]
    low, high = ([v * 0.95 for v in y], [v * 1.05 for v in y]) if bounds else ((), ())
    return Line(label=str(arm), look=ARM_LOOKS[arm], x_bytes=sizes, y=y, low=low, high=high)


def chart(*panels, **changes):
    fields = {
        "name": "goodput",
        "title": "Goodput",
        "subject": "ib (emulated)",
        "y_label": "goodput (Gbit/s)",
        "panels": panels or (Panel("4 threads", tuple(line(arm, 40.0) for arm in ARMS)),),
    }
    return Chart(**fields | changes)


def drawn(figure):
    """The figure, laid out, and its canvas."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas


def texts_of(figure):
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def label_boxes(figure, labels):
    """The boxes of the labels' text, without the line that leads to it."""
    renderer = drawn(figure).get_renderer()
    return [
        Text.get_window_extent(text, renderer)
        for text in figure.findobj(Text)
        if text.get_text() in labels
    ]


def assert_apart(boxes):
    for one, other in combinations(boxes, 2):
        assert not one.padded(-0.5).overlaps(other), (one, other)


def test_lines_that_end_at_one_point_have_labels_that_do_not_overlap():
    boxes = label_boxes(draw_panel(chart(), chart().panels[0]), set(map(str, ARMS)))
    assert len(boxes) == len(ARMS)
    assert_apart(boxes)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(0.1, 50), min_size=2, max_size=5))
def test_labels_never_overlap_nor_leave_the_figure(ends):
    lines = tuple(line(arm, end) for arm, end in zip(ARMS, ends, strict=False))
    figure = draw_panel(chart(Panel("1 thread", lines)), Panel("1 thread", lines))
    boxes = label_boxes(figure, set(map(str, ARMS)))
    assert_apart(boxes)
    assert all(
        box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
        for box in boxes
    )


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_all_text_of_a_chart_is_within_the_figure(count):
    panels = [Panel(f"{n + 1} threads", (line(Arm.STREAM, 1e5),)) for n in range(count)]
    figure = draw_chart(chart(*panels))
    renderer = drawn(figure).get_renderer()
    for text in figure.findobj(Text):
        if text.get_text() and text.get_visible():
            box = text.get_window_extent(renderer)
            assert box.x0 >= 0, text
            assert box.x1 <= figure.bbox.x1, text
            assert box.y1 <= figure.bbox.y1, text


def test_titles_name_the_link_and_that_it_is_emulated():
    assert "Goodput on ib (emulated)" in texts_of(draw_chart(chart()))
    alone = texts_of(draw_panel(chart(), chart().panels[0]))
    assert {"Goodput, 4 threads", "ib (emulated)"} <= set(alone)


def test_sizes_are_written_in_units_of_1024_on_a_binary_axis():
    axes = draw_panel(chart(), chart().panels[0]).axes[0]
    drawn(axes.figure)
    assert axes.get_xscale() == "log"
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"]


def test_the_socket_is_drawn_in_ink_and_no_two_arms_look_the_same():
    axes = draw_panel(chart(), chart().panels[0]).axes[0]
    assert INK in [to_hex(drawn_line.get_color()) for drawn_line in axes.lines]
    assert ARM_LOOKS[Arm.STREAM].colour == INK
    assert len({(look.colour, look.dashed) for look in ARM_LOOKS.values()}) == len(Arm)


def test_panels_share_their_axes():
    panels = (
        Panel("1 thread", (line(Arm.CORBA, 1.0),)),
        Panel("4 threads", (line(Arm.CORBA, 40.0, sizes=SIZES[2:4]),)),
    )
    limits = {(axes.get_xlim(), axes.get_ylim()) for axes in draw_chart(chart(*panels)).axes}
    assert len(limits) == 1
    ((_, (bottom, top)),) = limits
    assert bottom == 0
    assert top > 40


def test_the_reference_is_in_view_even_where_all_values_are_below_it():
    low = Panel("1 thread", (line(Arm.CORBA, 0.2),))
    ratio = chart(low, per_cent=True, reference=Reference(1.0, "as fast as the baseline"))
    axes = draw_panel(ratio, low).axes[0]
    drawn(axes.figure)
    assert axes.get_ylim()[1] > 1
    assert "as fast as the baseline" in texts_of(axes.figure)
    assert "100 %" in [label.get_text() for label in axes.get_yticklabels()]
    assert any(list(drawn_line.get_ydata()) == [1.0, 1.0] for drawn_line in axes.lines)


def test_intervals_are_drawn_where_there_are_any():
    one = Panel("1 thread", (line(Arm.CORBA, 1.0, bounds=True),))
    none = Panel("1 thread", (line(Arm.CORBA, 1.0, bounds=False),))
    assert len(draw_panel(chart(one), one).axes[0].collections) == 1
    assert not draw_panel(chart(none), none).axes[0].collections


@pytest.mark.parametrize("scale", Scale)
def test_an_interval_without_end_does_not_flatten_the_rest(scale):
    wild = Line(
        label="corba",
        look=ARM_LOOKS[Arm.CORBA],
        x_bytes=[1024, 4096],
        y=[1.0, 2.0],
        low=[1e-9, 1.9],
        high=[1e9, 2.1],
    )
    panel = Panel("1 thread", (wild,))
    bottom, top = draw_panel(chart(panel, scale=scale), panel).axes[0].get_ylim()
    assert 2.0 < top < 4.0
    assert bottom in (0, -top) or 0.4 < bottom < 1.0


@pytest.mark.parametrize("scale", Scale)
def test_a_panel_without_a_value_says_so(scale):
    nothing = Panel(
        "1 thread",
        (Line(label="corba", look=ARM_LOOKS[Arm.CORBA], x_bytes=[1024], y=[math.nan]),),
    )
    for panel in (nothing, Panel("1 thread", ())):
        figure = draw_panel(chart(panel, scale=scale), panel)
        drawn(figure)
        assert "no values" in texts_of(figure)


def test_a_single_size_can_be_drawn():
    panel = Panel("1 thread", (line(Arm.CORBA, 1.0, sizes=[65536]),))
    figure = draw_panel(chart(panel), panel)
    drawn(figure)
    assert "64 KiB" in texts_of(figure)


def test_signs_of_formulas_are_taken_as_they_are():
    panel = Panel("$x_1$ threads", (line(Arm.CORBA, 1.0),))
    assert b"$x_1$ threads" in images.svg(draw_panel(chart(panel, subject="a$b$c"), panel))


def test_words_for_a_panel_give_ends_and_peak():
    panel = Panel("1 thread", (line(Arm.CORBA, 0.9),))
    assert describe_panel(chart(panel, per_cent=True, title="Efficiency"), panel) == (
        "Efficiency on ib (emulated), 1 thread, goodput (Gbit/s): corba goes from 15.0 % at "
        "1 KiB to 90.0 % at 1 MiB, highest 90.0 % at 1 MiB."
    )


@pytest.mark.parametrize("write", [images.svg, images.png])
def test_the_same_chart_gives_the_same_bytes(write, monkeypatch):
    first = write(draw_chart(chart()))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    assert write(draw_chart(chart())) == first


def test_settings_of_the_user_change_nothing_and_are_left_alone():
    before = images.svg(draw_chart(chart()))
    with matplotlib.rc_context({"lines.linewidth": 9, "font.size": 30, "svg.fonttype": "path"}):
        assert images.svg(draw_chart(chart())) == before
        assert matplotlib.rcParams["font.size"] == 30


def test_reports_never_load_pyplot():
    code = "import sys, orbtax.report.files; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_signed_axis_reaches_as_far_below_zero_as_above():
    away = Line(label="call", look=ARM_LOOKS[Arm.CALL], x_bytes=SIZES[:3], y=[0.02, -0.3, 0.1])
    residuals = chart(Panel("1 thread", (away,)), scale=Scale.SIGNED, per_cent=True)
    (axes,) = draw_panel(residuals, residuals.panels[0]).axes
    assert axes.get_ylim() == pytest.approx((-0.33, 0.33))
    assert "goes from 2.00 % at 1 KiB to 10.0 % at 16 KiB" in describe_panel(
        residuals, residuals.panels[0]
    )
