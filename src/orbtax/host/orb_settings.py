"""What omniORB is told from outside, and every option that is in force.

omniORB takes the command line before `ORB…` variables, and those before its configuration file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from orbtax.errors import ProgramError
from orbtax.orb import CONFIGURATION_FILE

_DUMP_PROGRAM = """\
import sys
from omniORB import CORBA
CORBA.ORB_init(["dump", "-ORBdumpConfiguration", "1", *sys.argv[1:]], CORBA.ORB_ID).destroy()
"""
_DUMP_LIMIT_S = 60
_DUMP_START = "Current configuration is as follows:"
_DUMPED = re.compile(r"omniORB: {3}(?P<name>[A-Za-z]\w*(?: \(\w+\))?) = ?(?P<value>.*)")
# Options that name files or hosts of a site, with values that say nothing about it.
_SITE_OPTIONS = {
    "configFile": ("", str(CONFIGURATION_FILE), os.devnull),
    "traceFile": ("", "[stderr]"),
    "unixTransportDirectory": ("/tmp/omni-%u",),
    "bootstrapAgentHostname": ("",),
    "principal": ("", "[Null]"),
    "InitRef": ("",),
    "DefaultInitRef": ("",),
    "DefaultInitRef (file)": ("",),
    "DefaultInitRef (args)": ("",),
}
_VARIABLE = re.compile(r"ORB(?P<name>InitRef|DefaultInitRef|[a-z]\w*)")


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
) -> tuple[str, ...]:
    """ORB options set outside of our command lines, each with its value and where it was found.

    They come from `ORB…` variables and then from the configuration file, or from the one that
    OMNIORB_CONFIG names instead, as for omniORB; a file that does not exist sets nothing.
    """
    found = [
        f"{option['name']} = {without_site(option['name'], value)} (environment)"
        for variable, value in sorted(environ.items())
        if (option := _VARIABLE.fullmatch(variable))
    ]
    path = Path(environ.get("OMNIORB_CONFIG", config_path))
    try:
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError as error:
        return (*found, f"a configuration file that cannot be read: {error.strerror}")
    found += [
        f"{name} = {without_site(name, value)} (configuration file)"
        for name, value in parse_configuration_file(text)
    ]
    return tuple(found)


def parse_configuration_file(text: str) -> tuple[tuple[str, str], ...]:
    """Names and values of an omniORB.cfg; a line without a name gives the last one another value.

    Lines that begin with `#`, or that are no `name = value`, set nothing.
    """
    settings: list[tuple[str, str]] = []
    last = ""
    for line in text.splitlines():
        name, equals, value = (part.strip() for part in line.partition("="))
        if equals and not name.startswith("#"):
            last = name or last
            settings.append((last, value))
    return tuple(settings)


def without_site(option: str, value: str) -> str:
    """The value of an option as it may be stored: a site's own hosts and paths withheld."""
    usual = _SITE_OPTIONS.get(option)
    return value if usual is None or value in usual else "a name of this site, which is not kept"
