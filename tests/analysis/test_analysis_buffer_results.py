from dataclasses import replace

import pytest
from buffer_builders import KIB, Seen, run_of
from builders import make_failed
from builders_ends import LINKS

from orbtax.analysis.bottleneck import Label
from orbtax.analysis.buffer_results import buffer_results
from orbtax.model import Arm
from orbtax.socket_buffers import Buffers
from orbtax.studies.buffers import SETTINGS

KERNEL, SMALL, MIDDLE, LARGE = SETTINGS
FULL = 2.0


def test_links_that_differ_in_their_buffers_alone_are_one() -> None:
    run = run_of({}, (LINKS["ib"], LINKS["10ge"]))
    ib, ten = buffer_results(run)
    assert (ib.link.name, ten.link.name) == ("ib", "10ge")
    assert ib.buffers == SETTINGS
    assert ib.sizes_bytes == (KIB, 64 * KIB)
    assert set(ib.cases) == {
        (arm, size, buffers)
        for arm in (Arm.STREAM, Arm.CALL, Arm.CORBA)
        for size in (KIB, 64 * KIB)
        for buffers in SETTINGS
    }
    assert ib.lacking == {}


def test_the_best_that_a_link_carries_is_its_rate_or_what_was_measured() -> None:
    seen = {(Arm.STREAM, 64 * KIB, SMALL): Seen(gbit_s=7.5)}
    ib, ten = buffer_results(run_of(seen, (LINKS["ib"], LINKS["10ge"])))
    assert ib.best_bit_s == pytest.approx(7.5e9, rel=0.01)
    assert ten.best_bit_s == pytest.approx(10e9 * 8996 / 9086)
    assert ten.delay_product_bytes == pytest.approx(ten.best_bit_s / 8 * 21e-6)  # least of 21 µs


def test_a_window_is_held_against_the_best_of_the_link() -> None:
    tiny = Buffers(None, 4 * KIB)
    seen = {
        (Arm.STREAM, 64 * KIB, KERNEL): Seen(gbit_s=9.0),
        (Arm.STREAM, 64 * KIB, tiny): Seen(
            gbit_s=4.6, rtt_us=7.0, window_bytes=4096, stalled_by_window=1.0
        ),
    }
    (ib,) = buffer_results(run_of(seen, settings=(KERNEL, tiny)))
    labels = ib.cases[Arm.STREAM, 64 * KIB, tiny].labels
    assert labels == (Label.WINDOW, Label.AUTOTUNING)


def test_what_only_others_show_makes_an_unknown_cause_a_known_one() -> None:
    seen = {(Arm.STREAM, KIB, KERNEL): Seen(gbit_s=9.0), (Arm.STREAM, KIB, SMALL): Seen(gbit_s=5.0)}
    (ib,) = buffer_results(run_of(seen, settings=(KERNEL, SMALL)))
    assert ib.cases[Arm.STREAM, KIB, KERNEL].labels == (Label.UNKNOWN,)
    assert ib.cases[Arm.STREAM, KIB, SMALL].labels == (Label.AUTOTUNING,)


def test_comparisons_are_within_an_arm_and_a_size() -> None:
    seen = {
        (Arm.STREAM, 64 * KIB, LARGE): Seen(gbit_s=3.0, sleeps_per_message=FULL),
        (Arm.CALL, 64 * KIB, SMALL): Seen(gbit_s=40.0),
        (Arm.CALL, 64 * KIB, MIDDLE): Seen(gbit_s=40.0),
        (Arm.CALL, 64 * KIB, KERNEL): Seen(gbit_s=40.0),
        (Arm.CALL, 64 * KIB, LARGE): Seen(gbit_s=40.0),
    }
    (ib,) = buffer_results(run_of(seen))
    (found,) = ib.slowdowns
    assert (found.larger.case.arm, found.larger.buffers) == (Arm.STREAM, LARGE)
    assert found.outgrown == ("second-level cache", "third-level cache")
    assert ib.comparisons == 2 * 3  # each of two arms, three of four settings


@pytest.mark.parametrize("name", ["ib", "lo"])
def test_settings_are_paired_by_round(name: str) -> None:
    seen = {
        (Arm.STREAM, KIB, SMALL): Seen(gbit_s=8.0),
        (Arm.STREAM, KIB, LARGE): Seen(gbit_s=4.0),
        (Arm.CORBA, KIB, KERNEL): Seen(gbit_s=1.0),
    }
    (result,) = buffer_results(run_of(seen, (LINKS[name],)))
    (found,) = [each for each in result.slowdowns if each.larger.buffers == LARGE]
    assert found.paired
    assert found.ratio.rounds == 5
    # Both scatter by 1 % in the same rounds, so that their ratio does not.
    assert found.ratio.high == pytest.approx(found.ratio.value, rel=1e-3)


def test_what_cannot_be_had_is_told_and_not_measured() -> None:
    (lo,) = buffer_results(run_of({}, (LINKS["lo"],)))
    assert set(lo.lacking) == {(Arm.CORBA, buffers) for buffers in (SMALL, MIDDLE, LARGE)}
    assert not {(arm, buffers) for arm, _, buffers in lo.cases} & set(lo.lacking)


def test_a_run_that_was_cut_short_leaves_gaps() -> None:
    run = run_of({})
    short = replace(
        run,
        samples=tuple(make_failed(sample) for sample in run.samples[:3]),
        record=replace(run.record, visits=run.record.visits[:1]),
    )
    (ib,) = buffer_results(short)
    assert len(ib.cases) == 24
    assert all(each.goodput_bit_s is None and not each.bottlenecks for each in ib.cases.values())
    assert ib.best_bit_s is None
    assert ib.delay_product_bytes is None
    assert ib.comparisons == 0
