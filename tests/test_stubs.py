"""Stubs: made once, in a folder for this IDL and this ORB, by however many programs at once."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from orbtax import stubs
from orbtax.errors import UnavailableError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "orbtax" / "stubs"


def test_the_idl_is_found_in_the_installed_package() -> None:
    assert "interface Sink" in stubs.idl_file().read_text()


def test_stubs_are_made_once() -> None:
    place = stubs.folder()
    made = (place / "OrbTax" / "__init__.py").stat().st_mtime_ns
    assert stubs.folder() == place
    assert (place / "OrbTax" / "__init__.py").stat().st_mtime_ns == made


def test_another_idl_or_orb_has_stubs_of_its_own(tmp_path: Path, monkeypatch) -> None:
    first = stubs.folder()
    monkeypatch.setattr(stubs, "orb_version", lambda: "9.9")
    assert stubs.folder() != first
    changed = tmp_path / "orbtax.idl"
    changed.write_text(stubs.idl_file().read_text() + "\n// changed\n")
    monkeypatch.setattr(stubs, "idl_file", lambda: changed)
    assert len({stubs.folder(), first}) == 2


def test_several_programs_at_once_make_one_whole_set(cache: Path) -> None:
    load = "from orbtax import stubs; print(stubs.load().client.Sink)"
    programs = [
        subprocess.Popen([sys.executable, "-c", load], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = {program.communicate()[0] for program in programs}
    assert {program.returncode for program in programs} == {0}
    assert len(said) == 1
    assert len(list(cache.iterdir())) == 1


def test_an_idl_that_does_not_compile_is_told_with_the_compilers_words(
    tmp_path: Path, monkeypatch
) -> None:
    broken = tmp_path / "broken.idl"
    broken.write_text("interface {")
    monkeypatch.setattr(stubs, "idl_file", lambda: broken)
    with pytest.raises(UnavailableError, match=r"broken\.idl.*[Ss]yntax error"):
        stubs.folder()


def test_a_cache_that_cannot_be_written_is_not_needed(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert (stubs.folder() / "OrbTax").is_dir()


def test_stubs_of_another_user_are_never_imported(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    planted = tmp_path / f"orbtax-stubs-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    with pytest.raises(UnavailableError, match="belongs to another user"):
        stubs.folder()


def run_load(*prefix: str, limit_bytes: int | None = None) -> subprocess.CompletedProcess[str]:
    """Loads the stubs in a program of its own, which may write files of so many bytes at most."""
    code = (
        "import resource, sys\n"
        "from orbtax import stubs\n"
        "from orbtax.errors import UnavailableError\n"
        "sys.dont_write_bytecode = True\n"
        f"limit = {limit_bytes}\n"
        "if limit is not None: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))\n"
        "try: print(stubs.folder())\n"
        "except UnavailableError as error: print(error)\n"
    )
    words = [*prefix, sys.executable, "-c", code]
    return subprocess.run(words, capture_output=True, text=True)


@pytest.mark.parametrize("limit_bytes", [0, 1000])
def test_a_full_disk_is_told_with_what_to_do(cache: Path, limit_bytes: int) -> None:
    done = run_load(limit_bytes=limit_bytes)
    assert (done.returncode, done.stderr) == (0, "")
    assert "File too large" in done.stdout
    assert "XDG_CACHE_HOME" in done.stdout
    assert "Traceback" not in done.stdout
    assert list(cache.iterdir()) == []


def test_a_disk_that_takes_no_folder_is_told_with_what_to_do(monkeypatch) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(UnavailableError, match=r"No space left on device.*XDG_CACHE_HOME"):
        stubs.folder()


def test_a_user_without_a_home_needs_none(tmp_path: Path, monkeypatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert stubs.folder().parent == tmp_path / f"orbtax-stubs-{os.getuid()}"


def test_a_user_namespace_does_not_make_everyone_the_same_user(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    other = ("unshare", "-U", f"--map-user={os.getuid() + 4242}")
    if subprocess.run([*other, "true"], capture_output=True).returncode:
        pytest.skip("no user namespaces here")
    inside, outside = run_load(*other), run_load()
    assert inside.stdout == outside.stdout
    assert f"orbtax-stubs-{os.getuid()}/" in inside.stdout


def test_stubs_that_cannot_be_imported_are_told_with_what_to_do(cache: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "modules", {k: v for k, v in sys.modules.items() if k != "OrbTax"})
    broken = stubs.folder() / "OrbTax" / "__init__.py"
    broken.write_text("import no_such_module")
    with pytest.raises(UnavailableError, match=f"{cache}.*no_such_module.*Remove"):
        stubs.load()


def test_a_missing_orb_is_told_with_its_cure(monkeypatch) -> None:
    monkeypatch.setattr(stubs, "ORB_DISTRIBUTION", "no-such-orb")
    with pytest.raises(UnavailableError, match="pip install no-such-orb"):
        stubs.orb_version()
