"""From a plan to a report when something goes wrong on the way: what there is, is told."""

import pytest
from builders import make_run

from orbtax import conduct, sitting, store
from orbtax.errors import ExitCode, RequestError, UnavailableError
from orbtax.studies import reporting

RUN = make_run(links=("ib",), sizes=(1024,), threads=(1,), rounds=4, failed=0, refused=0)
GONE = UnavailableError("the link is gone")


@pytest.fixture
def measure(monkeypatch, tmp_path):
    """A run that keeps `samples` and then meets its end."""

    def measured(end, samples=RUN.samples, folder="run"):
        def conducted(_run, keep, _observer):
            kept = keep()
            for sample in samples:
                kept.append(sample)
            kept.close()
            if end is not None:
                raise end

        monkeypatch.setattr(conduct, "conduct", conducted)
        return sitting.measure(RUN.record.plan, "orbtax compare", tmp_path / folder, quiet=False)

    return measured


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [
        (GONE, ExitCode.UNAVAILABLE, "error: the link is gone"),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED, "interrupted: "),
    ],
)
def test_what_was_measured_before_the_end_is_reported(measure, tmp_path, capsys, end, code, said):
    assert measure(end) is code
    out, err = capsys.readouterr()
    assert "Best cases on ib" in out
    assert (tmp_path / "run" / "report" / "index.html").exists()
    assert said in err
    assert f"--resume {tmp_path / 'run'}" in err


def test_half_a_sample_on_a_full_disk_does_not_hide_the_others(measure, monkeypatch, capsys):
    close = store.Store.close

    def close_after_half(kept):
        with (kept.folder / "samples.jsonl").open("ab") as file:
            file.write(b'{"case": ')
        close(kept)

    monkeypatch.setattr(store.Store, "close", close_after_half)
    assert measure(GONE) is ExitCode.UNAVAILABLE
    assert "Best cases on ib" in capsys.readouterr().out


def test_without_a_sample_a_fault_is_all_there_is_to_tell(measure, capsys):
    with pytest.raises(UnavailableError):
        measure(GONE, samples=())
    assert capsys.readouterr().out == ""


def test_a_folder_of_another_run_is_neither_reported_nor_touched(measure, tmp_path, capsys):
    store.Store.create(tmp_path / "run", RUN.record).close()
    with pytest.raises(RequestError, match="not empty"):
        measure(None)
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "run" / "report").exists()


@pytest.mark.parametrize("end", [None, GONE, KeyboardInterrupt()])
def test_an_interruption_of_the_report_still_tells_how_to_go_on(measure, monkeypatch, capsys, end):
    def interrupted(*_runs, **_flags):
        raise KeyboardInterrupt

    monkeypatch.setattr(reporting, "write", interrupted)
    assert measure(end) is ExitCode.INTERRUPTED
    assert "--resume" in capsys.readouterr().err


def test_files_that_cannot_be_written_leave_the_table(measure, monkeypatch, tmp_path, capsys):
    write = reporting.write

    def blocked(runs, folder, **flags):
        folder.write_text("a file where the folder has to be")
        write(runs, folder, **flags)

    monkeypatch.setattr(reporting, "write", blocked)
    with pytest.raises(RequestError, match=rf"invoke report {tmp_path / 'run'} --out"):
        measure(None)
    assert "Best cases on ib" in capsys.readouterr().out
    assert measure(GONE, folder="other") is ExitCode.UNAVAILABLE
    out, err = capsys.readouterr()
    assert "Best cases on ib" in out
    assert err.index("invoke report") < err.index("the link is gone") < err.index("--resume")
