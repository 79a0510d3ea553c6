"""Heat maps: every cell with its figure, the best one framed."""

import math

import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.text import Text

from orbtax.report import images
from orbtax.report.charts import HeatMap, Mark, describe_heat_map
from orbtax.report.heatmap import draw_heat_map
from orbtax.report.style import VERMILION

KIB = 1024


def heat_map(values=((1.0, 2.0), (3.0, 8.66)), **changes):
    fields = {
        "name": "surface",
        "title": "Goodput of corba",
        "subject": "ib (emulated)",
        "unit": "Gbit/s",
        "payload_bytes": (64 * KIB, 256 * KIB),
        "threads": (16, 32),
        "values": values,
    }
    return HeatMap(**fields | changes)


def texts_of(figure):
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def frames(figure):
    return [
        patch.get_xy()
        for patch in figure.axes[0].patches
        if not patch.get_fill() and to_hex(patch.get_edgecolor()) == VERMILION
    ]


def test_every_cell_shows_its_figure_and_the_title_says_emulated():
    shown = texts_of(draw_heat_map(heat_map()))
    assert {"1.00", "2.00", "3.00", "8.66", "best", "ib (emulated), Gbit/s"} <= set(shown)


@pytest.mark.parametrize(
    ("values", "place"),
    [(((1, 2), (3, 4)), (1, 1)), (((1, 9), (3, 4)), (1, 0)), (((5, math.nan), (3, 4)), (0, 0))],
)
def test_the_greatest_value_is_framed(values, place):
    assert frames(draw_heat_map(heat_map(values))) == [place]


def test_what_was_not_measured_is_a_dash_and_no_best():
    figure = draw_heat_map(heat_map(((math.nan, math.nan), (math.nan, math.nan))))
    assert texts_of(figure).count("–") == 4
    assert frames(figure) == []
    assert "no values" in describe_heat_map(heat_map(((math.nan,) * 2,) * 2))


def test_a_mark_between_measured_threads_lies_between_their_rows():
    figure = draw_heat_map(heat_map(marks=(Mark(256 * KIB, 26, "published: 26 threads"),)))
    ((x, y),) = {(ring.get_xdata()[0], ring.get_ydata()[0]) for ring in figure.axes[0].lines}
    assert x == pytest.approx(1.5)
    assert y == pytest.approx(0.5 + math.log2(26 / 16))
    assert "ring: published: 26 threads" in texts_of(figure)


def test_figures_stand_out_from_their_cells():
    def luminance(colour):
        red, green, blue = to_rgb(colour)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    values = tuple(tuple(float(10 * row + column) for column in range(10)) for row in range(10))
    sizes = tuple(KIB << power for power in range(10))
    figure = draw_heat_map(heat_map(values, payload_bytes=sizes, threads=tuple(range(1, 11))))
    cells = [patch for patch in figure.axes[0].patches if patch.get_fill()]
    numbers = [text for text in figure.axes[0].texts if text.get_text() != "best"]
    for patch, text in zip(cells, numbers, strict=True):
        assert abs(luminance(patch.get_facecolor()) - luminance(text.get_color())) > 0.35


def test_words_for_a_heat_map_name_its_best_cell():
    assert describe_heat_map(heat_map()) == (
        "Goodput of corba on ib (emulated) by payload and threads: from 1.00 to 8.66 Gbit/s, "
        "best at 256 KiB and 32 threads."
    )


def test_the_same_heat_map_gives_the_same_bytes():
    assert images.svg(draw_heat_map(heat_map())) == images.svg(draw_heat_map(heat_map()))
    assert images.png(draw_heat_map(heat_map())) == images.png(draw_heat_map(heat_map()))
