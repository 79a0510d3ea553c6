"""How long a plan will take, before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orbtax.calibrate import guess
from orbtax.model import Case, Cell, Link, Plan
from orbtax.record import Sample

BLOCK_OVERHEAD_S = 0.06
"""Connecting, warming up, reading both hosts and closing, for one block."""
SCOUT_S = 0.1


def scouts(plan: Plan, todo: Iterable[int], link: Link) -> tuple[tuple[int, Case], ...]:
    """The cases to try first, with their cells: each arm's smallest and largest payload.

    None where every cell has a budget, since that already says how long it takes.
    """
    found: dict[str, list[tuple[int, Case]]] = {}
    for index in todo:
        cell = plan.cells[index]
        if cell.total_bytes is not None and cell.cases[0].link == link.name:
            for case in cell.cases:
                found.setdefault(case.arm, []).append((index, case))
    ends = (
        (
            min(cases, key=lambda each: (each[1].payload_bytes, each[1].threads)),
            max(cases, key=lambda each: (each[1].payload_bytes, -each[1].threads)),
        )
        for cases in found.values()
    )
    return tuple(dict.fromkeys(scout for pair in ends for scout in pair))


def estimate_s(plan: Plan, todo: Iterable[int], samples: Sequence[Sample]) -> float:
    """Seconds that the cells in `todo` will take, by their budgets or by what scouts moved."""
    return sum(_cell_s(plan, plan.cells[index], samples) for index in todo)


def _cell_s(plan: Plan, cell: Cell, samples: Sequence[Sample]) -> float:
    if cell.total_bytes is not None:
        overhead_s = (cell.rounds or 1) * len(cell.cases) * BLOCK_OVERHEAD_S
        return overhead_s + sum(
            _case_s(plan, case, cell.total_bytes, samples) for case in cell.cases
        )
    rounds_s = len(cell.cases) * (plan.block_s + BLOCK_OVERHEAD_S)
    if cell.rounds is not None:
        return (cell.rounds + 1) * rounds_s
    return plan.max_rounds * rounds_s if cell.budget_s is None else cell.budget_s + rounds_s


def _case_s(plan: Plan, case: Case, total_bytes: int, samples: Sequence[Sample]) -> float:
    expected = guess(samples, case)
    each_s = expected.message_s if expected else 0.0
    rate_bit_s = plan.link(case.link).rate_bit_s
    fastest_s = 8 * total_bytes / rate_bit_s if rate_bit_s else 0.0
    return max(fastest_s, each_s * total_bytes / max(case.payload_bytes, 1))
