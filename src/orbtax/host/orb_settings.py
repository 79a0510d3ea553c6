"""What omniORB is told from outside, and every option that is in force.

omniORB takes the command line before `ORB…` variables, and those before its configuration file.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orbtax.errors import ProgramError
from orbtax.host.kernel import UnreadableError

CONFIGURATION_FILE = Path("/etc/omniORB.cfg")

_DUMP_PROGRAM = """\
import sys
from omniORB import CORBA
CORBA.ORB_init(["dump", "-ORBdumpConfiguration", "1", *sys.argv[1:]], CORBA.ORB_ID).destroy()
"""
_DUMP_LIMIT_S = 60
_DUMP_START = "Current configuration is as follows:"
_DUMPED = re.compile(r"omniORB: {3}(?P<name>[A-Za-z]\w*(?: \(\w+\))?) = ?(?P<value>.*)")
_VARIABLE = re.compile(r"ORB(?P<name>InitRef|DefaultInitRef|[a-z]\w*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class StraySetting:
    """An ORB option set outside of this project's command lines."""

    source: str  # `environment` or `configuration file`
    name: str  # without the ORB in front
    value: str


def dump_orb_configuration(arguments: Sequence[str]) -> Mapping[str, str]:
    """Every option that an ORB started with `arguments` has in force, as it prints them itself.

    Runs a child interpreter, since an ORB reads its options once per process. Several values of
    one option are joined by `; `. ProgramError when the child fails or prints no configuration.
    """
    try:
        child = subprocess.run(
            [sys.executable, "-c", _DUMP_PROGRAM, *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_DUMP_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ProgramError(
            f"an ORB started to print its options did not end within {_DUMP_LIMIT_S} s"
        ) from None
    options = parse_dump(child.stderr)
    if child.returncode != 0 or not options:
        said = child.stderr.strip() or "nothing"
        raise ProgramError(
            f"an ORB started with {' '.join(arguments) or 'no options'} to print its options "
            f"ended with status {child.returncode} and said: {said}"
        )
    return options


def parse_dump(text: str) -> Mapping[str, str]:
    """The options in what `-ORBdumpConfiguration 1` prints; none when it is something else."""
    options: dict[str, str] = {}
    _, start, dump = text.partition(_DUMP_START)
    for line in dump.splitlines() if start else ():
        if entry := _DUMPED.fullmatch(line):
            name, value = entry["name"], entry["value"].strip()
            options[name] = f"{options[name]}; {value}" if name in options else value
    return options


def stray_orb_settings(
    environ: Mapping[str, str], config_path: Path = CONFIGURATION_FILE
) -> tuple[StraySetting, ...]:
    """ORB options from `ORB…` variables and the configuration file, in that order.

    The variable OMNIORB_CONFIG names another file, as it does for omniORB; a file that does not
    exist sets nothing. UnreadableError for one that exists and cannot be read.
    """
    from_variables = tuple(
        StraySetting(source="environment", name=option["name"], value=value)
        for variable, value in sorted(environ.items())
        if (option := _VARIABLE.fullmatch(variable))
    )
    path = Path(environ.get("OMNIORB_CONFIG", config_path))
    try:
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError as error:
        raise UnreadableError(
            f"omniORB's configuration file cannot be read: {error.strerror}"
        ) from None
    return from_variables + parse_configuration_file(text)


def parse_configuration_file(text: str) -> tuple[StraySetting, ...]:
    """The options of an omniORB.cfg: `name = value`, a line without a name repeats the last one."""
    settings: list[StraySetting] = []
    last = ""
    for line in text.splitlines():
        name, equals, value = (part.strip() for part in line.partition("="))
        if line.lstrip().startswith("#") or not equals:
            continue
        last = name or last
        settings.append(StraySetting(source="configuration file", name=last, value=value))
    return tuple(settings)
