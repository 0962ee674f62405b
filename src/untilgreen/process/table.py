"""Who is running: one look at the machine's processes, and signals that can't hit the wrong one.

A number alone does not name a process, since numbers are given out again. Number and start time do, within
one boot and one process namespace; `era` names those two.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

PROC = Path("/proc")
_LINUX = sys.platform == "linux"
_GONE = (b"Z", b"X", b"x")
_LONGEST_STAT = 4096
_KERNEL_THREAD = 0x00200000
_ENVIRON_END = 48
"""Where the fields say at which address the variables end; nowhere, while there is no program."""
# The clock behind psutil's create_time may be corrected; nobody gives a number out again so soon.
_SAME_START_SECONDS = 0.0 if _LINUX else 2.0


class Unsettled(Exception):
    """A process can't say now what it is; look again."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One process, as it was when looked at."""

    pid: int
    parent: int
    group: int
    session: int
    start: float
    """Clock ticks since boot on Linux, else seconds since the epoch; only good for comparing."""
    alive: bool = True

    def is_same(self, start: float) -> bool:
        """Whether it is the one that began then, and not another one with its number."""
        return abs(self.start - start) <= _SAME_START_SECONDS


Table = dict[int, Seen]


@cache
def era() -> str:
    """The boot and the process namespace in which a process number means something."""
    if not _LINUX:
        return str(int(psutil.boot_time()) // 60)
    parts = []
    with suppress(OSError):
        parts.append((PROC / "sys/kernel/random/boot_id").read_text().strip())
    with suppress(OSError):
        parts.append(str((PROC / "self/ns/pid").readlink()))
    return " ".join(parts)


def look() -> Table:
    """Every process that can be seen now, those that ended and wait for their parent included."""
    return {seen.pid: seen for seen in (_read_proc() if _LINUX else ask_psutil())}


def find(pid: int) -> Seen | None:
    """One process by its number."""
    if _LINUX:
        return _stat(pid)
    with suppress(psutil.Error, OSError):
        return _described(psutil.Process(pid))
    return None


def _read_proc() -> Iterator[Seen]:
    """The same as psutil shows, at a sixth of its price: this runs each time that a child ends."""
    for folder in os.scandir(PROC):
        if folder.name.isdigit() and (seen := _stat(int(folder.name))):
            yield seen


def _stat(pid: int) -> Seen | None:
    fields = _fields(pid)
    if not fields or int(fields[6]) & _KERNEL_THREAD:
        return None
    return Seen(
        pid=pid,
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        start=float(fields[19]),
        alive=fields[0] not in _GONE,
    )


def _fields(pid: int) -> list[bytes]:
    """What proc(5) says about a process, from its third field on; nothing if it is gone."""
    try:
        handle = os.open(f"/proc/{pid}/stat", os.O_RDONLY)  # pathlib would take five times as long
        try:
            line = os.read(handle, _LONGEST_STAT)
        finally:
            os.close(handle)
    except OSError:
        return []
    # The second field is the program's name, which may hold spaces and brackets itself.
    return line[line.rindex(b")") + 2 :].split()


def ask_psutil() -> Iterator[Seen]:
    """The table on systems without /proc."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            yield _described(process)


def _described(process: psutil.Process) -> Seen:
    pid = process.pid
    return Seen(
        pid=pid,
        parent=process.ppid(),
        group=os.getpgid(pid) if hasattr(os, "getpgid") else 0,
        session=os.getsid(pid) if hasattr(os, "getsid") else 0,
        start=process.create_time(),
        alive=process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD),
    )


def called(name: str, word: str, below: Sequence[Path]) -> list[Seen]:
    """Programs of that name, started with that word, that run in one of these directories, as far as seen."""
    found = _called(name, word) if _LINUX else _called_elsewhere(name, word)
    return [seen for seen, place in found if any(place.is_relative_to(each) for each in below)]


def _called(name: str, word: str) -> Iterator[tuple[Seen, Path]]:
    for pid in [int(folder.name) for folder in os.scandir(PROC) if folder.name.isdigit()]:
        if word.encode() in _words(pid, name)[1:] and (seen := _stat(pid)) and seen.alive:
            with suppress(OSError):
                yield seen, (PROC / str(pid) / "cwd").readlink()


def _called_elsewhere(name: str, word: str) -> Iterator[tuple[Seen, Path]]:
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.name() == name and word in process.cmdline()[1:]:
                yield _described(process), Path(process.cwd())


def lives(seen: Seen) -> bool:
    """Whether it still runs."""
    now = find(seen.pid)
    return now is not None and now.alive and now.is_same(seen.start)


def _words(pid: int, name: str) -> list[bytes]:
    """The command line of a process, where its program has that name."""
    try:
        with open(f"/proc/{pid}/comm", "rb") as file:  # noqa: PTH123 - pathlib would take five times as long
            if file.read().rstrip(b"\n") != name.encode():
                return []
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 - the same
            return file.read().split(b"\0")
    except OSError:
        return []


def environment(pid: int) -> bytes | None:
    """The variables that a process was started with, each ended by a zero byte; None if they can't be read.

    A program that writes its title over them (PostgreSQL, Redis, Chrome) shows something else or nothing. A
    process that is just becoming another program, or ending, shows nothing either, and raises Unsettled.
    """
    if _LINUX:
        return _environ(PROC / str(pid) / "environ", pid)
    try:
        variables = psutil.Process(pid).environ()
    except (psutil.Error, OSError):
        return None
    return b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in variables.items())


def _environ(path: Path, pid: int) -> bytes | None:
    try:
        if variables := path.read_bytes():
            return variables
        fields = _fields(pid)
        if len(fields) > _ENVIRON_END and fields[_ENVIRON_END] == b"0":
            raise Unsettled
        return path.read_bytes()
    except OSError:
        return None


def send(seen: Seen, signum: int) -> None:
    """Signal exactly this process; one that is gone, or not ours to signal, is left alone."""
    with suppress(ProcessLookupError, PermissionError):
        if not _LINUX:
            if (now := find(seen.pid)) and now.is_same(seen.start):
                os.kill(seen.pid, signum)
            return
        try:
            handle = os.pidfd_open(seen.pid)
        except ProcessLookupError:
            return
        except OSError:  # an old kernel or a sandbox without pidfd_open
            os.kill(seen.pid, signum)
            return
        try:
            # The handle holds the process that has the number now; only then is the start time checked.
            if (now := find(seen.pid)) and now.is_same(seen.start):
                signal.pidfd_send_signal(handle, signum)
        finally:
            os.close(handle)


def send_to_group(seen: Seen, signum: int) -> None:
    """Signal everything that shares its group, at once: what forks and ends can't slip through between two.

    Nobody joins the session of another, so all of it has come from the same one; our own is left alone. A
    group whose number has been given out again has a leader in another session.
    """
    if not hasattr(os, "killpg") or seen.group <= 1 or seen.session in (0, os.getsid(0)):
        return
    leader = find(seen.group)
    if leader is None or leader.session == seen.session:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(seen.group, signum)
