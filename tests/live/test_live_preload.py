"""Both ends of an arm under a preloaded library, and what happens where one cannot be had."""

import json
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from orbtax.errors import UnavailableError
from orbtax.host.preload import preload_faults
from orbtax.model import Amount, Arm, Block, Case, End, Kind, Link, Options, Placement
from orbtax.pair import Pair
from orbtax.preload import try_out
from orbtax.record import Status

COMPILER = shutil.which("gcc") or shutil.which("cc")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.live,
    pytest.mark.skipif(COMPILER is None, reason="no C compiler here to make a library with"),
]

HERE = End(address="127.0.0.1", interface="lo")
PAYLOAD_BYTES = 4096
MESSAGES = 500

COUNTING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_long *calls;

/* A mapped file, since the programs end without running destructors. */
__attribute__((constructor)) static void begin(void) {
    char name[4096];
    snprintf(name, sizeof name, "%s/%d", getenv("COUNT_IN"), getpid());
    int file = open(name, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof *calls)) abort();
    calls = mmap(0, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
}

ssize_t send(int fd, const void *from, size_t size, int flags) {
    static ssize_t (*next)(int, const void *, size_t, int);
    if (!next) next = dlsym(RTLD_NEXT, "send");
    atomic_fetch_add(calls, 1);
    return next(fd, from, size, flags);
}

ssize_t sendto(int fd, const void *from, size_t size, int flags,
               const struct sockaddr *to, socklen_t length) {
    static ssize_t (*next)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    if (!next) next = dlsym(RTLD_NEXT, "sendto");
    atomic_fetch_add(calls, 1);
    return next(fd, from, size, flags, to, length);
}
"""
REFUSING_TO_LOAD = r"""
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void) {
    fputs("no device of this kind\n", stderr);
    _exit(9);
}
"""
REFUSING_SOCKETS = r"""
#include <errno.h>
int connect(int fd, const void *to, unsigned length) { errno = EPROTONOSUPPORT; return -1; }
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    def compile_library(source: str) -> Path:
        folder = tmp_path_factory.mktemp("library")
        (folder / "library.c").write_text(source)
        library = folder / "library.so"
        words = [COMPILER, "-shared", "-fPIC", "-o", library, folder / "library.c", "-ldl"]
        subprocess.run(words, check=True)
        return library

    return compile_library


@pytest.fixture(scope="module")
def counting(build: Callable[[str], Path]) -> Path:
    return build(COUNTING)


def link_under(library: Path | str, *arms: Arm, **environment: str) -> Link:
    return Link(
        name="lo",
        kind=Kind.LOOPBACK,
        sender=HERE,
        receiver=HERE,
        preload={arm: str(library) for arm in arms},
        environment={arm: environment for arm in arms if environment},
    )


def case_of(arm: Arm) -> Case:
    return Case(link="lo", arm=arm, payload_bytes=PAYLOAD_BYTES, threads=1)


@pytest.fixture
def pair_on() -> Iterator[Callable[[Link], Pair]]:
    with ExitStack() as pairs:
        yield lambda link: pairs.enter_context(Pair(link, Placement(), 0, verify=False))


def counts_in(folder: Path) -> list[int]:
    """What each process counted, the fewest first."""
    return sorted(struct.unpack("l", file.read_bytes())[0] for file in folder.iterdir())


@pytest.mark.parametrize("arm", [Arm.STREAM, Arm.CALL, Arm.CORBA])
def test_both_ends_run_under_the_library(arm: Arm, counting: Path, pair_on, tmp_path: Path) -> None:
    pair = pair_on(link_under(counting, arm, COUNT_IN=str(tmp_path)))
    amount = Amount(total_bytes=MESSAGES * PAYLOAD_BYTES)
    sample = pair.run(Block(case=case_of(arm), cell=0, round=0, position=0, amount=amount))
    assert sample.status is Status.OK, sample.reason
    assert sample.connections == 1
    *_, replies, messages = counts_in(tmp_path)
    assert messages >= MESSAGES
    assert replies >= (MESSAGES if arm.waits else 1)


def test_a_further_orb_option_reaches_the_orb(counting: Path, pair_on, tmp_path: Path) -> None:
    """Pieces of at most 1 KiB take at least four calls a message, which the library counts."""
    pair = pair_on(link_under(counting, Arm.CORBA, COUNT_IN=str(tmp_path)))
    case = replace(case_of(Arm.CORBA), options=Options(orb=(("maxSocketSend", "1024"),)))
    amount = Amount(total_bytes=MESSAGES * PAYLOAD_BYTES)
    sample = pair.run(Block(case=case, cell=0, round=0, position=0, amount=amount))
    assert sample.status is Status.OK, sample.reason
    assert counts_in(tmp_path)[-1] >= MESSAGES * PAYLOAD_BYTES // 1024


def test_an_arm_without_a_library_runs_without_it(counting: Path, pair_on, tmp_path: Path) -> None:
    link = link_under(counting, Arm.CALL, COUNT_IN=str(tmp_path))
    amount = Amount(total_bytes=MESSAGES * PAYLOAD_BYTES)
    block = Block(case=case_of(Arm.STREAM), cell=0, round=0, position=0, amount=amount)
    assert pair_on(link).run(block).status is Status.OK
    assert counts_in(tmp_path) == []


def test_trying_out_tells_which_arms_ran_under_what(counting: Path, pair_on, tmp_path) -> None:
    link = link_under(counting, Arm.STREAM, Arm.CORBA, COUNT_IN=str(tmp_path))
    cases = [case_of(arm) for arm in (Arm.STREAM, Arm.CALL, Arm.CORBA)] * 2
    found = try_out(pair_on(link), link, cases)
    assert [finding.code for finding in found] == ["preloaded"] * 2
    assert [finding.text.split()[0] for finding in found] == ["stream", "corba"]
    assert all(str(counting) in finding.text for finding in found)


def test_a_plain_link_is_not_tried_and_nothing_is_started(pair_on) -> None:
    pair = pair_on(link_under("unused"))
    assert try_out(pair, link_under("unused"), [case_of(Arm.STREAM)]) == ()
    assert pair.pids == ()


@pytest.mark.parametrize("arm", [Arm.STREAM, Arm.CORBA])
def test_a_missing_library_is_told_in_the_loaders_words(arm: Arm, pair_on, tmp_path: Path) -> None:
    link = link_under(tmp_path / "gone.so", arm)
    with pytest.raises(UnavailableError, match=r"gone\.so.*No such file"):
        try_out(pair_on(link), link, [case_of(arm)])


def test_a_file_that_is_no_library(pair_on, tmp_path: Path) -> None:
    (tmp_path / "words.so").write_text("no library at all, however long it may be" * 100)
    link = link_under(tmp_path / "words.so", Arm.CALL)
    with pytest.raises(UnavailableError, match=r"words\.so.*invalid ELF header"):
        try_out(pair_on(link), link, [case_of(Arm.CALL)])


def test_a_library_that_refuses_at_the_start(build, pair_on) -> None:
    link = link_under(build(REFUSING_TO_LOAD), Arm.STREAM)
    with pytest.raises(UnavailableError, match="no device of this kind"):
        try_out(pair_on(link), link, [case_of(Arm.STREAM)])


def test_a_library_that_refuses_at_the_first_socket(build, pair_on) -> None:
    link = link_under(build(REFUSING_SOCKETS), Arm.STREAM)
    with pytest.raises(UnavailableError, match="Protocol not supported"):
        try_out(pair_on(link), link, [case_of(Arm.STREAM)])


def test_faults_are_those_of_the_libraries_alone(counting: Path, tmp_path: Path) -> None:
    assert preload_faults({}) == ()
    (fault,) = preload_faults({"LD_PRELOAD": f"libc.so.6:{tmp_path / 'gone.so'}"})
    assert "gone.so" in fault
    (left_out,) = preload_faults({"LD_PRELOAD": str(counting)})
    assert left_out == f"{counting}: the loader left it out"


def orbtax(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).parent / "orbtax")
    return subprocess.run([program, *words], cwd=cwd, capture_output=True, text=True)


STUDY = ["buffers", "--link", "rdma", "--sizes", "1KiB", "--rounds", "1", "--buffers", "kernel"]


def test_a_run_under_a_library_tells_which_arms_had_it(counting: Path, tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    counts.mkdir()
    arms = ("stream", "corba")
    (tmp_path / "links.toml").write_text(
        '[rdma]\nkind = "loopback"\n[rdma.preload]\n'
        + "".join(f'{arm} = "{counting}"\n' for arm in arms)
        + "".join(f'[rdma.environment.{arm}]\nCOUNT_IN = "{counts}"\n' for arm in arms)
    )
    done = orbtax(*STUDY, "--out", "run", cwd=tmp_path)
    assert done.returncode in (0, 4), done.stderr  # other traffic may disturb loopback
    found = json.loads((tmp_path / "run" / "run.json").read_text())["findings"]
    told = [finding["text"] for finding in found if finding["code"] == "preloaded"]
    assert [text.split()[0] for text in told] == list(arms)
    assert all(f"LD_PRELOAD={counting}" in text for text in told)
    assert len(counts_in(counts)) >= 2 * len(arms)


def test_the_command_ends_before_it_measures(tmp_path: Path) -> None:
    (tmp_path / "links.toml").write_text(
        f'[rdma]\nkind = "loopback"\n[rdma.preload]\nstream = "{tmp_path}/librspreload.so"\n'
    )
    done = orbtax(*STUDY, "--arms", "stream", "--out", "run", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "librspreload.so" in done.stderr
    assert "cannot open shared object file" in done.stderr
    assert (tmp_path / "run" / "samples.jsonl").read_text() == ""
