"""IDL → stubs: generated on first use, kept in a cache, loaded from there.

The one module that calls the IDL compiler. The cache's key is the IDL's hash and the ORB's
version, so that neither a changed contract nor another ORB ever meets old stubs.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.resources
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from orbtax.errors import UnavailableError

ORB_DISTRIBUTION = "jeteve-omniorb"
_COMPILE = """
import os, sys
from omniidl.main import main
sys.argv[0] = "omniidl"
try:
    sys.exit(main())
except OSError as error:
    print(error.strerror, file=sys.stderr)
    sys.exit(os.EX_IOERR)
"""


@dataclass(frozen=True, slots=True)
class Stubs:
    """The generated modules: what a client calls, and what a servant is derived from."""

    client: ModuleType
    servant: ModuleType


def idl_file() -> Path:
    """The IDL file of the installed package."""
    return Path(str(importlib.resources.files("orbtax.idl"))) / "orbtax.idl"


def folder() -> Path:
    """The folder of the generated stubs; they are made if they are not there yet.

    Raises UnavailableError if the IDL compiler fails or no folder can be written.
    """
    source = idl_file()
    place = _cache() / _key(source)
    if not (place / "OrbTax").is_dir():
        try:
            _generate(source, place)
        except OSError as error:
            raise _unwritable(place.parent, error.strerror) from error
    return place


def load() -> Stubs:
    """The generated modules, imported; UnavailableError as for `folder`, or if that fails."""
    place = str(folder())
    if place not in sys.path:
        sys.path.insert(0, place)  # before a module of that name elsewhere
    try:
        return Stubs(importlib.import_module("OrbTax"), importlib.import_module("OrbTax__POA"))
    except ImportError as error:
        raise UnavailableError(
            f"the stubs in {place} cannot be imported: {error}. Remove that folder, or install "
            f"the ORB again with `pip install --force-reinstall {ORB_DISTRIBUTION}`."
        ) from error


def orb_version() -> str:
    """Version of the installed ORB distribution."""
    try:
        return importlib.metadata.version(ORB_DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        raise UnavailableError(
            f"the ORB is not installed: this Python has no {ORB_DISTRIBUTION}. "
            f"Install it with `pip install {ORB_DISTRIBUTION}`."
        ) from None


def _key(source: Path) -> str:
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    return f"{digest}-omniorb-{orb_version()}"


def _cache() -> Path:
    """The user's cache, or a private temporary folder where that cannot be written."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        wanted = (Path(base) if base else Path.home() / ".cache") / "orbtax" / "stubs"
        wanted.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: the user has no home
        return _private_cache()
    return wanted if os.access(wanted, os.W_OK) else _private_cache()


def _private_cache() -> Path:
    try:
        place = Path(tempfile.gettempdir()) / f"orbtax-stubs-{_outer_user()}"
        place.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise _unwritable("a temporary folder", error.strerror) from error
    # Stubs are code: a folder that another user has made must never be imported from.
    if place.stat().st_uid != os.getuid() or place.stat().st_mode & 0o022:
        raise UnavailableError(
            f"{place} belongs to another user or can be written by others, so stubs are not kept "
            "there. Set XDG_CACHE_HOME to a folder of yours."
        )
    return place


def _outer_user() -> int:
    """This user's id as it is outside of an emulated link's namespace, where everyone is root."""
    user = os.getuid()
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        inside, outside, count = map(int, line.split())  # user_namespaces(7)
        if inside <= user < inside + count:
            return outside + user - inside
    return user


def _unwritable(place: Path | str, reason: str | None) -> UnavailableError:
    return UnavailableError(
        f"the stubs cannot be kept in {place}: {reason}. Make room there, or set "
        "XDG_CACHE_HOME to a folder that can be written."
    )


def _generate(source: Path, place: Path) -> None:
    """Compiles into a folder of its own, then renames it: two programs at once do not meet."""
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".new-") as scratch:
        # -N: no preprocessor, which would have to be on PATH. -Wbami: asynchronous calls (they do
        # not go together with -Wbpackage).
        arguments = ["-N", "-bpython", "-Wbami", f"-C{scratch}", str(source)]
        done = subprocess.run(
            [sys.executable, "-c", _COMPILE, *arguments], capture_output=True, text=True
        )
        if done.returncode == os.EX_IOERR:
            raise _unwritable(place.parent, done.stderr.strip())
        if done.returncode != 0:
            raise UnavailableError(
                f"the IDL compiler could not compile {source.name}: {done.stderr.strip()}"
            )
        finished = Path(scratch) / "stubs"
        finished.mkdir()
        for entry in list(Path(scratch).iterdir()):
            if entry != finished:
                entry.rename(finished / entry.name)
        try:
            finished.rename(place)
        except OSError:
            if not (place / "OrbTax").is_dir():  # else another program was quicker
                raise
