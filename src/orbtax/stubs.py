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
_COMPILE = "import sys; from omniidl.main import main; sys.argv[0] = 'omniidl'; sys.exit(main())"


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
        _generate(source, place)
    return place


def load() -> Stubs:
    """The generated modules, imported."""
    place = str(folder())
    if place not in sys.path:
        sys.path.insert(0, place)  # before a module of that name elsewhere
    return Stubs(importlib.import_module("OrbTax"), importlib.import_module("OrbTax__POA"))


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
    wanted = (Path(base) if base else Path.home() / ".cache") / "orbtax" / "stubs"
    try:
        wanted.mkdir(parents=True, exist_ok=True)
    except OSError:
        return _private_cache()
    return wanted if os.access(wanted, os.W_OK) else _private_cache()


def _private_cache() -> Path:
    place = Path(tempfile.gettempdir()) / f"orbtax-stubs-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    # Stubs are code: a folder that another user has made must never be imported from.
    if place.stat().st_uid != os.getuid() or place.stat().st_mode & 0o022:
        raise UnavailableError(
            f"{place} belongs to another user or can be written by others, so stubs are not kept "
            "there. Set XDG_CACHE_HOME to a folder of yours."
        )
    return place


def _generate(source: Path, place: Path) -> None:
    """Compiles into a folder of its own, then renames it: two programs at once do not meet."""
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".new-") as scratch:
        # -N: no preprocessor, which would have to be on PATH. -Wbami: asynchronous calls (they do
        # not go together with -Wbpackage).
        arguments = ["-N", "-bpython", "-Wbami", f"-C{scratch}", str(source)]
        done = subprocess.run(
            [sys.executable, "-c", _COMPILE, *arguments], capture_output=True, text=True
        )
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
