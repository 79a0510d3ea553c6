"""Several runs in one report, and those that do not belong together."""

from dataclasses import replace

import pytest
from builders import make_plan, make_run
from builders_ends import make_environment

from orbtax.analysis.efficiency import link_results
from orbtax.errors import RequestError
from orbtax.model import Placement
from orbtax.report.joining import join_runs


def small(link, **changes):
    fields = {"sizes": (1024,), "threads": (1,), "rounds": 4, "failed": 0, "refused": 0}
    return make_run(links=(link,), folder=f"results/{link}", **fields | changes)


def on(run, **facts):
    """The run as if its sender had other facts."""
    visits = tuple(
        replace(visit, sender_before=make_environment(**facts)) for visit in run.record.visits
    )
    return replace(run, record=replace(run.record, visits=visits))


def planned(run, **changes):
    return replace(run, record=replace(run.record, plan=replace(run.record.plan, **changes)))


def test_one_run_stays_as_it_is():
    run = small("ib")
    assert join_runs([run]) is run


def test_joined_links_give_the_results_that_each_gives_alone():
    runs = [small("ib"), small("1ge")]
    assert link_results(join_runs(runs)) == tuple(link_results(run)[0] for run in runs)


def test_the_same_case_of_two_runs_is_pooled_and_stays_paired():
    result = link_results(join_runs([small("ib"), small("ib", seed=21)]))[0]
    (cell,) = result.cells
    assert cell.rounds == 8
    assert cell.efficiency_stream.rounds == 8


def test_done_cells_point_to_the_joined_plan():
    runs = [small("ib", sizes=(1024, 4096)), small("1ge")]
    runs = [replace(run, record=replace(run.record, done_cells=(0,))) for run in runs]
    joined = join_runs(runs).record
    assert joined.done_cells == (0, 2)
    assert {sample.cell for sample in join_runs(runs).samples} == {0, 1, 2}


def test_another_set_up_is_refused_with_what_differs():
    other = on(small("1ge"), kernel="Linux 7.0.0", governor="powersave")
    with pytest.raises(RequestError) as refusal:
        join_runs([small("ib"), other])
    said = str(refusal.value)
    assert "governor of the sender is performance and powersave" in said
    assert "kernel of the sender is Linux 6.8.0 x86_64 and Linux 7.0.0" in said
    assert "--join" in said


def test_another_set_up_is_taken_when_asked_for():
    other = on(small("1ge"), kernel="Linux 7.0.0")
    assert len(join_runs([small("ib"), other], join=True).record.plan.links) == 2


def test_a_fact_that_only_one_run_knows_is_a_difference():
    with pytest.raises(RequestError, match="turbo of the sender is unknown and on"):
        join_runs([small("ib"), on(small("1ge"), turbo="on")])


def test_sysctls_of_the_network_may_differ_from_link_to_link_but_not_on_one():
    name = "sysctl.net.ipv4.tcp_congestion_control"
    join_runs([small("ib"), on(small("1ge"), **{name: "bbr"})])
    with pytest.raises(RequestError, match=r"tcp_congestion_control"):
        join_runs([small("ib"), on(small("ib"), **{name: "bbr"})])


def test_options_of_the_orb_that_follow_the_case_are_no_set_up():
    name = "orb.maxGIOPConnectionPerServer"
    one, four = on(small("ib"), **{name: "1"}), on(small("1ge", threads=(4,)), **{name: "4"})
    assert len(join_runs([one, four]).record.plan.links) == 2
    with pytest.raises(RequestError, match=r"orb\.lcdMode of the sender is 0 and 1"):
        join_runs(
            [on(small("ib"), **{"orb.lcdMode": "0"}), on(small("1ge"), **{"orb.lcdMode": "1"})]
        )


def test_another_placement_is_another_set_up():
    with pytest.raises(RequestError, match="placement split and free"):
        join_runs([small("ib"), planned(small("1ge"), placement=Placement())])


def test_many_differences_are_counted_rather_than_told():
    facts = {f"fact{number}": "x" for number in range(9)}
    with pytest.raises(RequestError, match="and 4 more"):
        join_runs([small("ib"), on(small("1ge"), **facts)])


def test_one_name_for_two_links_is_refused_even_when_asked():
    link = replace(make_plan(("ib",)).links[0], mtu_bytes=1500)
    other = planned(small("ib"), links=(link,))
    with pytest.raises(RequestError, match="link ib of results/ib is defined otherwise"):
        join_runs([small("ib"), other], join=True)


def test_runs_of_different_studies_are_refused():
    with pytest.raises(RequestError, match="compare, latency"):
        join_runs([small("ib"), planned(small("1ge"), study="latency")], join=True)


def test_a_run_that_never_opened_a_link_joins_with_any():
    unopened = small("1ge")
    unopened = replace(unopened, record=replace(unopened.record, visits=()), samples=())
    assert len(join_runs([small("ib"), unopened]).record.plan.cells) == 2
