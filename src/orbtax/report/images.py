"""A figure as SVG or PNG: the same figure gives the same bytes."""

from __future__ import annotations

import io
import re
from html import escape

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from orbtax.report.style import GRID, INK, MUTED, PAPER, house_style

PNG_DOTS_PER_INCH = 160

_THEMED = {INK: "--ink", MUTED: "--muted", GRID: "--grid", PAPER: "--paper"}


def png(figure: Figure) -> bytes:
    """The figure as PNG without date or version."""
    return _written(
        FigureCanvasAgg(figure), "png", dpi=PNG_DOTS_PER_INCH, metadata={"Software": None}
    )


def svg(figure: Figure) -> bytes:
    """The figure as SVG, its text as text, without date, version or random names."""
    metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    return _written(FigureCanvasSVG(figure), "svg", metadata=metadata)


def inline_svg(figure: Figure, name: str, alt: str) -> str:
    """The figure as an `<svg>` element for a page that holds several.

    `name` goes before every id, `alt` becomes the title that a screen reader tells, and the tones
    of text, grid and paper become the page's variables (`--ink`, …), so that they follow its theme.
    """
    text = svg(figure).decode()
    _, _, content = text[text.index("<svg") :].partition(">")
    width, height = (72 * side_in for side_in in figure.get_size_inches())
    for tone, variable in _THEMED.items():
        content = content.replace(tone, f"var({variable})")
    used = set(re.findall(r"""(?:href="#|url\(#)([^")]+)""", content))
    content = re.sub(r"(href=\"#|url\(#)", rf"\g<1>{name}-", content)
    content = re.sub(
        r' id="([^"]*)"',
        lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "",
        content,
    )
    content = re.sub(r"<style.*?</style>", "", content, flags=re.DOTALL).replace(
        "xlink:href", "href"
    )
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" style="width: {width:g}pt" role="img" '
        f'aria-labelledby="{name}-title">'
        f'<title id="{name}-title">{escape(alt)}</title>{content}'
    )


def _written(canvas: FigureCanvasAgg | FigureCanvasSVG, form: str, **options: object) -> bytes:
    target = io.BytesIO()
    with house_style(**{"svg.hashsalt": "orbtax"}):
        canvas.print_figure(target, format=form, **options)
    return target.getvalue()
