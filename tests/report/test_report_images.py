"""Figures on a page: no names that clash, no colours that do not follow the theme."""

import re
from xml.etree import ElementTree

from orbtax.model import Arm
from orbtax.report.charts import Chart, Line, Panel
from orbtax.report.figures import draw_panel
from orbtax.report.images import inline_svg, png, svg
from orbtax.report.style import ARM_LOOKS, INK

PANEL = Panel(
    "4 threads",
    tuple(
        Line(label=str(arm), look=ARM_LOOKS[arm], x_bytes=[1024, 4096], y=[1.0, 2.0])
        for arm in (Arm.STREAM, Arm.CORBA)
    ),
)
CHART = Chart(
    name="goodput", title="Goodput", subject="lo", y_label="goodput (Gbit/s)", panels=(PANEL,)
)


def figure():
    return draw_panel(CHART, PANEL)


def ids(text):
    return re.findall(r' id="([^"]*)"', text)


def test_files_tell_neither_when_nor_by_what_they_were_made():
    assert b"date" not in svg(figure()).lower()
    assert b"matplotlib.org" not in svg(figure())
    assert b"Software" not in png(figure())


def test_two_figures_on_a_page_share_no_id_and_refer_to_their_own():
    one, other = inline_svg(figure(), "one", "x"), inline_svg(figure(), "other", "x")
    assert not set(ids(one)) & set(ids(other))
    assert len(ids(one)) == len(set(ids(one)))
    assert set(re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', one)) <= {
        pair for name in ids(one) for pair in ((name, ""), ("", name))
    }


def test_an_inline_figure_is_well_formed_and_needs_no_network():
    text = inline_svg(figure(), "one", "a < b & c")
    root = ElementTree.fromstring(text)
    assert root.find("title").text == "a < b & c"
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") in ids(text)
    assert "http" not in text
    assert "<style" not in text


def test_ink_and_paper_follow_the_theme_and_arms_keep_their_colour():
    text = inline_svg(figure(), "one", "x")
    assert INK not in text
    assert "var(--ink)" in text
    assert "var(--paper)" in text
    assert ARM_LOOKS[Arm.CORBA].colour in text
