"""What all commands share: what their flags refuse."""

import subprocess
import sys
from pathlib import Path

import pytest
from invoke import Exit

from orbtax import commands
from orbtax.__main__ import main
from orbtax.commandline import chosen_links, command, path
from orbtax.errors import ExitCode, RequestError

PROGRAMS = Path(sys.executable).parent
ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("words", [["--link"], ["--link", "--quiet"]])
@pytest.mark.parametrize(("program", "code"), [("orbtax", 2), ("invoke", 1)])
def test_a_link_flag_without_a_link_is_refused(words, program, code):
    done = subprocess.run(
        [PROGRAMS / program, "doctor" if words == ["--link"] else "compare", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == code
    assert "needed value" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("names", "said"), [([""], "empty"), (["lo,"], "empty"), (["lo", "ib,lo"], "lo twice")]
)
def test_links_are_named_once_and_none_is_empty(names, said):
    with pytest.raises(RequestError, match=said):
        chosen_links(names, None, default="ib")


def test_links_keep_the_order_in_which_they_are_named():
    assert [link.name for link in chosen_links(["ib, lo", "1ge"], None, "lo")] == [
        "ib",
        "lo",
        "1ge",
    ]


def test_an_interruption_while_it_loads_shows_no_traceback(monkeypatch):
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "main", interrupted)
    assert main() is ExitCode.INTERRUPTED


def test_without_a_home_the_figures_are_drawn_without_a_word(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "import orbtax.report.style"],
        env={"HOME": "/proc/none", "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_path_that_is_no_text_is_refused():
    with pytest.raises(RequestError, match="UTF-8"):
        path("bad\udcff")


@command
def measuring(resume: str | None = None, out: str | None = None, quiet: bool = False) -> ExitCode:
    return ExitCode.DONE


def test_a_run_that_goes_on_takes_no_other_flag(capsys):
    measuring(resume="run", out=None, quiet=True)
    with pytest.raises(Exit) as ended:
        measuring(resume="run", out="elsewhere", quiet=False)
    assert ended.value.code == ExitCode.REQUEST
    assert "--out cannot stand beside --resume" in capsys.readouterr().err
