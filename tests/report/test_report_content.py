"""What a report is made of, worked out once."""

from dataclasses import replace

from builders import make_failed, make_run

from orbtax.analysis.bottleneck import Label
from orbtax.model import Arm, Purpose
from orbtax.report.content import assemble

RUN = make_run(links=("ib", "1ge"), sizes=(65536,), threads=(4,), failed=0, refused=0)


def ceiling(sample, share):
    """What the bench reaches by itself, if `sample` is so large a share of it."""
    case = replace(sample.case, link="lo")
    rate = sample.goodput_bit_s / share
    return replace(sample, case=case, purpose=Purpose.CEILING, goodput_bit_s=rate)


def labels(report, arm):
    return {
        bottleneck.label
        for case, found in report.links[0].bottlenecks.items()
        if case.arm is arm
        for bottleneck in found
    }


def first(arm):
    return next(
        sample
        for sample in RUN.samples
        if sample.case.arm is arm and sample.purpose is Purpose.MEASURE
    )


def test_each_link_has_its_own_samples_and_visits_in_the_order_of_the_plan():
    report = assemble([RUN])
    assert [link.name for link in report.links] == ["ib (emulated)", "1ge (emulated)"]
    for link in report.links:
        assert [case.arm for case in link.samples] == [Arm.STREAM, Arm.CALL, Arm.CORBA]
        assert {case.link for case in link.samples} == {link.link.name}
        assert [visit.before.link for visit in link.visits] == [link.link.name]
        assert link.samples.keys() == link.costs.keys() == link.bottlenecks.keys()
    assert report.emulated == ("ib", "1ge")


def test_failed_and_sizing_blocks_are_no_evidence():
    samples = tuple(map(make_failed, RUN.samples[:3])) + RUN.samples[3:]
    report = assemble([replace(RUN, samples=samples)])
    kept = [sample for link in report.links for of in link.samples.values() for sample in of]
    assert len(kept) == sum(sample.purpose is Purpose.MEASURE for sample in samples)


def test_a_case_near_what_the_bench_reaches_by_itself_is_labelled():
    near, far = (ceiling(first(Arm.CORBA), share) for share in (0.95, 0.5))
    assert Label.BENCH not in labels(assemble([RUN]), Arm.CORBA)
    assert Label.BENCH in labels(assemble([replace(RUN, samples=(*RUN.samples, near))]), Arm.CORBA)
    for other in (far, make_failed(near)):
        report = assemble([replace(RUN, samples=(*RUN.samples, other))])
        assert Label.BENCH not in labels(report, Arm.CORBA)
