"""What all commands share: errors into exit codes, links by name, flags that several have."""

from __future__ import annotations

import functools
import inspect
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TypeVar

import invoke
from invoke import Argument, Exit, Program, Task
from invoke.exceptions import ParseError

from orbtax.errors import ExitCode, OrbtaxError, RequestError

if TYPE_CHECKING:
    from orbtax.model import Link

P = ParamSpec("P")
T = TypeVar("T")

LINK_HELP: Mapping[str, str] = {
    "link": "link to measure: lo, ib, 10ge, 1ge or one of links.toml (repeat, or use commas)",
    "links": "file with links of the site; without it, links.toml here",
}
RUN_HELP: Mapping[str, str] = {
    "out": "folder for the run, which must not exist yet; without it, one below results/",
    "resume": "folder of an earlier run: run what is missing there",
    "quiet": "no progress, only the result",
    "placement": "cores: split, free, or SENDER/RECEIVER such as 0/1 or 0,1/2,3",
}


def command(body: Callable[P, ExitCode]) -> Callable[P, None]:
    """A task body whose result is the exit code, and whose errors are a message and a code."""

    defaults = {name: flag.default for name, flag in inspect.signature(body).parameters.items()}

    @functools.wraps(body)
    def run(*args: P.args, **flags: P.kwargs) -> None:
        try:
            _resume_alone(flags, defaults)
            code = body(*args, **flags)
            from orbtax.report import terminal

            terminal.flush_result()
        except OrbtaxError as error:
            fail(str(error), error.exit_code)
        except KeyboardInterrupt:
            fail("interrupted", ExitCode.INTERRUPTED)
        if code:
            raise Exit(code=int(code))

    return run


def _resume_alone(flags: Mapping[str, object], defaults: Mapping[str, object]) -> None:
    """Refuses flags beside `--resume`: a run goes on with the plan that it was begun with."""
    if flags.get("resume") is None:
        return
    for name, value in flags.items():
        # invoke gives an empty list for a flag that may be repeated and was not given.
        if name not in ("resume", "quiet") and (value or None) != (defaults[name] or None):
            raise RequestError(
                f"--{name.replace('_', '-')} cannot stand beside --resume: a run goes on with the "
                "plan that it was begun with. Leave the flag away, or begin a new run."
            )


def fail(text: str, code: ExitCode) -> NoReturn:
    """Ends the command with a message."""
    from orbtax.report import terminal

    terminal.say_error(text)
    raise Exit(code=int(code))


def chosen_links(names: list[str] | None, file: str | None, default: str) -> tuple[Link, ...]:
    """The links that `--link` names, of the built-in ones and those of `--links`."""
    from orbtax import units
    from orbtax.links import catalogue

    wanted = units.parse_list(",".join(names or [default]), str)
    return catalogue.pick(catalogue.load_catalogue(path(file)), wanted)


def if_given(parse: Callable[[str], T], text: str | None) -> T | None:
    """The value of a flag; None if it was not given."""
    return None if text is None else parse(text)


def path(text: str | None) -> Path | None:
    """The path of a flag; None if it was not given. RequestError for one that is no text."""
    if text is None:
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RequestError(
            f"the path {text!r} is not written in UTF-8, as all that is kept of a run is. Name "
            "another one."
        ) from None
    return Path(text)


def command_line() -> str:
    """The command line as it was given, without the folder of the program itself."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


class Command(Task):  # type: ignore[misc]
    """invoke's own task, but a flag that may be repeated needs a value as any other does."""

    def get_arguments(self, ignore_unknown_help: bool | None = None) -> list[Argument]:
        """The flags of the task."""
        arguments: list[Argument] = super().get_arguments(ignore_unknown_help)
        for argument in arguments:
            if argument.kind is list:
                argument.raw_value = None  # invoke takes the empty list there for a value given
        return arguments


task = functools.partial(invoke.task, klass=Command)


class Orbtax(Program):  # type: ignore[misc]
    """invoke's own program, but an unknown flag is a wrong request: exit code 2."""

    def parse_tasks(self) -> None:
        """Reads the tasks and their flags from the command line."""
        try:
            super().parse_tasks()
        except ParseError as error:
            fail(str(error), ExitCode.REQUEST)
