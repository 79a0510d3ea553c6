"""Which links are open together, and which cells are then run."""

from builders_ends import LINKS

from orbtax.conduct import _groups
from orbtax.model import Arm, Case, Cell, Plan


def plan_of(*cells: str) -> Plan:
    """A plan whose cells have a case on each of the links that a text names: `ib 10ge`."""
    return Plan(
        study="compare",
        links=(LINKS["lo"], LINKS["ib"], LINKS["10ge"], LINKS["1ge"]),
        cells=tuple(
            Cell(
                cases=tuple(
                    Case(link=name, arm=Arm.STREAM, payload_bytes=1024, threads=1)
                    for name in text.split()
                )
            )
            for text in cells
        ),
    )


def groups(plan: Plan, *todo: int) -> list[tuple[list[str], tuple[int, ...]]]:
    wanted = todo or range(len(plan.cells))
    return [([link.name for link in each.links], each.cells) for each in _groups(plan, wanted)]


def test_each_link_is_open_by_itself_in_the_plans_order() -> None:
    assert groups(plan_of("10ge", "ib", "10ge")) == [(["ib"], (1,)), (["10ge"], (0, 2))]


def test_links_of_one_cell_are_open_together() -> None:
    assert groups(plan_of("10ge ib", "lo")) == [(["lo"], (1,)), (["ib", "10ge"], (0,))]


def test_links_that_a_third_cell_joins_are_open_together() -> None:
    assert groups(plan_of("1ge", "ib", "lo", "1ge ib", "lo")) == [
        (["lo"], (2, 4)),
        (["ib", "1ge"], (0, 1, 3)),
    ]


def test_only_the_links_of_what_is_missing_are_opened() -> None:
    assert groups(plan_of("ib 10ge", "ib"), 1) == [(["ib"], (1,))]
    assert _groups(plan_of("ib"), []) == ()
