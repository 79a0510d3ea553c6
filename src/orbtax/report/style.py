"""How figures look: colours that colour-blind readers tell apart, one look per arm.

The palette is that of Okabe and Ito (2008, "Color Universal Design"). The socket is drawn in ink,
the tone of the text, in every figure; the other arms differ in colour and in marker, so that they
stay apart in a black-and-white print.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType

from matplotlib import style

from orbtax.model import Arm

INK = "#1d232a"
MUTED = "#66707a"
GRID = "#dde2e6"
PAPER = "#ffffff"

ORANGE = "#e69f00"
SKY_BLUE = "#56b4e9"
GREEN = "#009e73"
YELLOW = "#f0e442"
BLUE = "#0072b2"
VERMILION = "#d55e00"
PURPLE = "#cc79a7"

LABEL_POINTS = 8.0


@dataclass(frozen=True, slots=True)
class Look:
    """How one line is drawn."""

    colour: str
    marker: str = "o"
    dashed: bool = False


ARM_LOOKS: Mapping[Arm, Look] = MappingProxyType(
    {
        Arm.STREAM: Look(INK, "o"),
        Arm.CALL: Look(BLUE, "s"),
        Arm.CORBA: Look(VERMILION, "D"),
        Arm.ONEWAY: Look(GREEN, "^"),
        Arm.AMI: Look(PURPLE, "v"),
        Arm.PINGPONG: Look(SKY_BLUE, "P"),
        Arm.EMPTY: Look(YELLOW, "X"),
        Arm.ECHO: Look(ORANGE, "*"),
        Arm.IPERF3: Look(MUTED, "o", dashed=True),
    }
)

_SETTINGS = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.facecolor": PAPER,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelcolor": INK,
    "axes.labelsize": LABEL_POINTS,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.unicode_minus": True,
    "figure.facecolor": PAPER,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": LABEL_POINTS,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "lines.solid_capstyle": "round",
    "svg.fonttype": "none",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": LABEL_POINTS - 0.5,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": LABEL_POINTS - 0.5,
}


@contextmanager
def house_style(**settings: object) -> Iterator[None]:
    """matplotlib's defaults with our settings, whatever the user's own say; put back afterwards."""
    with style.context(_SETTINGS | settings, after_reset=True):
        yield
