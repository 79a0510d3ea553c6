"""What all commands share: what their flags refuse."""

import subprocess
import sys
from pathlib import Path

import pytest

from orbtax import commands
from orbtax.__main__ import main
from orbtax.commandline import chosen_links
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
