"""What can go wrong, each with the exit code that a shell sees.

A message names the value, the rule that it breaks and what to do. Programs raise these; only the
command line turns them into text and an exit status.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit statuses of every orbtax command."""

    DONE = 0
    FAULT = 1  # a fault of ours
    REQUEST = 2  # a wrong request
    UNAVAILABLE = 3  # the link or a needed part is not available here
    INCOMPLETE = 4  # finished, but samples failed or a check did
    INTERRUPTED = 130


class OrbtaxError(Exception):
    """The root of all errors that orbtax raises on purpose."""

    exit_code: ExitCode = ExitCode.FAULT


class RequestError(OrbtaxError):
    """A wrong request: an unknown link, a bad size, a file that does not say what it must."""

    exit_code = ExitCode.REQUEST


class UnavailableError(OrbtaxError):
    """A link or a needed part is not available on this machine."""

    exit_code = ExitCode.UNAVAILABLE


class ProgramError(OrbtaxError):
    """A servant or client program ended or answered with an error; the text is what it said."""
