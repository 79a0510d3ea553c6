"""Straight lines with at most one breakpoint, fitted to times over sizes with relative residuals.

A residual is ln(model ÷ measured), so that a message of 1 byte counts as much as one of 10 MB and
twice the time is as wrong as half of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.stats import f as f_distribution

from orbtax.analysis.ratio import CONFIDENCE

SEGMENT_SIZES = 4
"""Sizes that each side of a breakpoint must have."""
BREAKPOINT_PARAMETERS = 3
_STEP = 1e-5
_TOLERANCE = 1e-14  # of a fit: every shown digit is the same on every processor

Array = NDArray[np.float64]


class Shape(StrEnum):
    """How the time follows the size."""

    LINE = "line"  # one straight line
    BEND = "bend"  # two that meet
    JUMP = "jump"  # two that do not


@dataclass(frozen=True, slots=True)
class Segment:
    """One straight line: from which size on, its time at size zero, and its time per byte."""

    from_bytes: float
    intercept_us: float
    byte_us: float


Lines = tuple[Segment, ...]
Quantity = Callable[[Lines], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """One shape fitted to sizes (bytes, rising) and times (µs), arrays of one length.

    `second` is the index of the first size of a jump's second segment, and `possible_seconds` are
    those that the data do not rule out (95 %).
    """

    shape: Shape
    sizes: Array
    times: Array
    parameters: Array
    covariance: Array
    squares: float  # sum of the squared residuals
    second: int = 0
    possible_seconds: tuple[int, ...] = ()

    @property
    def lines(self) -> Lines:
        """The fitted segments."""
        return self._lines(self.parameters)

    @property
    def residuals(self) -> Array:
        """ln(model ÷ measured) of each size."""
        return _residuals(self.lines, self.sizes, self.times)

    @property
    def freedom(self) -> int:
        """Sizes beyond the parameters of the lines."""
        return len(self.sizes) - len(self.parameters)

    @property
    def aicc(self) -> float:
        """Akaike's criterion with Hurvich and Tsai's correction; infinite for too few sizes.

        The scatter is a parameter too, and a breakpoint counts as three.
        """
        count = len(self.sizes)
        free = _LINE_PARAMETERS[self.shape] + 1
        free += 0 if self.shape is Shape.LINE else BREAKPOINT_PARAMETERS
        correction = 2 * free * (free + 1) / (count - free - 1) if count > free + 1 else math.inf
        return count * math.log(self.squares / count) + 2 * free + correction

    def log_estimate(self, quantity: Quantity) -> tuple[float, float] | None:
        """The logarithm of a quantity and its standard error by the delta method.

        None if the quantity is not above zero there.
        """
        value = quantity(self.lines)
        if not 0 < value < math.inf:
            return None
        gradient = np.empty_like(self.parameters)
        for place, parameter in enumerate(self.parameters):
            step = np.zeros_like(self.parameters)
            step[place] = _STEP * abs(parameter) or _STEP
            beside = [quantity(self._lines(self.parameters + way * step)) for way in (1, -1)]
            if not all(0 < each < math.inf for each in beside):
                return None
            gradient[place] = math.log(beside[0] / beside[1]) / (2 * step[place])
        return math.log(value), math.sqrt(gradient @ self.covariance @ gradient)

    def _lines(self, parameters: Array) -> Lines:
        return _segments(self.shape, parameters, self.sizes[self.second])


def fit_shape(shape: Shape, sizes: Array, times: Array) -> Fit | None:
    """The best fit of a shape; None if there are too few sizes for it."""
    return _FITTERS[shape](sizes, times)


_LINE_PARAMETERS = {Shape.LINE: 2, Shape.BEND: 3, Shape.JUMP: 4}


def _fit_line(sizes: Array, times: Array) -> Fit | None:
    if len(sizes) <= _LINE_PARAMETERS[Shape.LINE]:
        return None
    return _refined(Shape.LINE, sizes, times, _relative(_line(sizes), times))


def _fit_bend(sizes: Array, times: Array) -> Fit | None:
    """Tried at every size and half-way between, then moved to where it fits best."""
    starts = []
    for place in _places(sizes):
        for bend in (sizes[place], math.sqrt(sizes[place - 1] * sizes[place])):
            design = np.column_stack([_line(sizes), np.maximum(sizes - bend, 0)])
            lines = _relative(design, times)
            starts.append((_relative_squares(design @ lines, times), [*lines, bend]))
    if not starts:
        return None
    best = min(starts, key=lambda start: start[0])[1]
    return _refined(Shape.BEND, sizes, times, np.array(best))


def _fit_jump(sizes: Array, times: Array) -> Fit | None:
    tried = {}
    for place in _places(sizes):
        sides = slice(None, place), slice(place, None)
        lines = [_relative(_line(sizes[side]), times[side]) for side in sides]
        model = [_line(sizes[side]) @ line for side, line in zip(sides, lines, strict=True)]
        squares = _relative_squares(np.concatenate(model), times)
        tried[place] = squares, np.concatenate(lines)
    if not tried:
        return None
    place = min(tried, key=lambda at: tried[at][0])
    freedom = len(sizes) - _LINE_PARAMETERS[Shape.JUMP]
    most = tried[place][0] * (1 + float(f_distribution.ppf(CONFIDENCE, 1, freedom)) / freedom)
    possible = tuple(at for at, (squares, _) in tried.items() if squares <= most)
    return _refined(Shape.JUMP, sizes, times, tried[place][1], place, possible)


_FITTERS: Mapping[Shape, Callable[[Array, Array], Fit | None]] = {
    Shape.LINE: _fit_line,
    Shape.BEND: _fit_bend,
    Shape.JUMP: _fit_jump,
}


def _refined(
    shape: Shape,
    sizes: Array,
    times: Array,
    start: Array,
    second: int = 0,
    possible_seconds: tuple[int, ...] = (),
) -> Fit:
    """Least squares of the residuals, from a start found with model ÷ measured − 1."""

    def residuals(parameters: Array) -> Array:
        return _residuals(_segments(shape, parameters, sizes[second]), sizes, times)

    limits = _limits(shape, sizes)
    solution = least_squares(
        residuals,
        np.clip(start, *limits),
        bounds=limits,
        x_scale="jac",
        xtol=_TOLERANCE,
        ftol=_TOLERANCE,
        gtol=_TOLERANCE,
    )
    # A perfect fit still has the rounding of its numbers.
    squares = max(2 * float(solution.cost), len(sizes) * float(np.finfo(float).eps))
    jacobian, scale = _scaled(np.asarray(solution.jac, dtype=float))
    inverse = np.linalg.pinv(jacobian.T @ jacobian) / np.outer(scale, scale)
    return Fit(
        shape=shape,
        sizes=sizes,
        times=times,
        parameters=np.asarray(solution.x, dtype=float),
        covariance=inverse * squares / (len(sizes) - len(start)),
        squares=squares,
        second=second,
        possible_seconds=possible_seconds,
    )


def _limits(shape: Shape, sizes: Array) -> tuple[Array, Array]:
    """Between which values the parameters of a shape may be.

    A bend that wanders off among the last sizes leaves fewer behind it than its place and slope
    need, and rounding decides which of many pairs is taken.
    """
    free = np.full(_LINE_PARAMETERS[shape], np.inf)
    if shape is not Shape.BEND:
        return -free, free
    return (
        np.array([-np.inf, -np.inf, -np.inf, sizes[SEGMENT_SIZES - 1]]),
        np.array([np.inf, np.inf, np.inf, sizes[-SEGMENT_SIZES]]),
    )


def _segments(shape: Shape, parameters: Array, second_from: float) -> Lines:
    intercept, slope, *others = map(float, parameters)
    first = Segment(0, intercept, slope)
    if shape is Shape.LINE:
        return (first,)
    if shape is Shape.BEND:
        more, bend = others
        return first, Segment(bend, intercept - more * bend, slope + more)
    return first, Segment(float(second_from), *others)


def _residuals(lines: Lines, sizes: Array, times: Array) -> Array:
    """ln(model ÷ measured); a model at or below zero counts as very far away."""
    model = np.empty_like(sizes)
    for line in lines:
        beyond = sizes >= line.from_bytes
        model[beyond] = line.intercept_us + line.byte_us * sizes[beyond]
    result: Array = np.log(np.maximum(model, 1e-6 * times) / times)
    return result


def _places(sizes: Array) -> range:
    """Indices at which a second segment may begin."""
    return range(SEGMENT_SIZES, len(sizes) - SEGMENT_SIZES + 1)


def _line(sizes: Array) -> Array:
    return np.column_stack([np.ones_like(sizes), sizes])


def _relative(design: Array, times: Array) -> Array:
    """Least squares of model ÷ measured − 1."""
    weighted, scale = _scaled(design / times[:, None])
    result: Array = np.linalg.lstsq(weighted, np.ones_like(times), rcond=None)[0] / scale
    return result


def _relative_squares(model: Array, times: Array) -> float:
    return float(((model / times - 1) ** 2).sum())


def _scaled(columns: Array) -> tuple[Array, Array]:
    """The columns at length one, and their lengths; a column of zeros stays as it is."""
    lengths = np.linalg.norm(columns, axis=0)
    lengths[lengths == 0] = 1
    return columns / lengths, lengths
