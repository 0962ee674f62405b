"""The machine's processes at one moment, and signals that can't reach the wrong one.

Process ids are reused, so an id alone does not identify a process. Id and start time do, within one boot and
one pid namespace; `era` identifies those two.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:  # imported only where there is no /proc: importing it takes longer than most commands
    import psutil

INSIDE = "UNTILGREEN_INSIDE"
"""Tells every program that it was started by a run."""
PROC = Path("/proc")
_LINUX = sys.platform == "linux"
_GONE = (b"Z", b"X", b"x")
_LONGEST_STAT = 4096
_KERNEL_THREAD = 0x00200000
_ENVIRON_END = 48
"""Index of the field with the end address of the environment; 0 while there is no program."""
# The clock behind psutil's create_time may be corrected; ids are not reused that soon.
_SAME_START_SECONDS = 0.0 if _LINUX else 2.0


class Unsettled(Exception):
    """A process can't be identified at this moment; try again."""


class Seen(Struct, frozen=True):
    """One process, as it was when the table was read."""

    pid: int
    parent: int
    group: int
    session: int
    start: float
    """Clock ticks since boot on Linux, else seconds since the epoch; only for comparison."""
    alive: bool = True

    def is_same(self, start: float) -> bool:
        """Whether it is the process that began then, and not another with the same id."""
        return abs(self.start - start) <= _SAME_START_SECONDS


Table = dict[int, Seen]


@cache
def era() -> str:
    """The boot and the pid namespace in which a process id has a meaning."""
    if not _LINUX:
        import psutil  # noqa: PLC0415 - see above

        return str(int(psutil.boot_time()) // 60)
    parts = []
    with suppress(OSError):
        parts.append((PROC / "sys/kernel/random/boot_id").read_text().strip())
    with suppress(OSError):
        parts.append(str((PROC / "self/ns/pid").readlink()))
    return " ".join(parts)


def look() -> Table:
    """Every process visible now, including zombies."""
    return {seen.pid: seen for seen in (_read_proc() if _LINUX else ask_psutil())}


def find(pid: int) -> Seen | None:
    """One process by its id."""
    if _LINUX:
        return _stat(pid)
    import psutil  # noqa: PLC0415 - see above

    with suppress(psutil.Error, OSError):
        return _described(psutil.Process(pid))
    return None


def _read_proc() -> Iterator[Seen]:
    """The same as psutil, at a sixth of the cost: this runs each time a child ends."""
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
    """The fields of proc(5) stat from the third on; empty if the process is gone."""
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
    import psutil  # noqa: PLC0415 - see above

    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            yield _described(process)


def _described(process: psutil.Process) -> Seen:
    import psutil  # noqa: PLC0415 - see above

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
    """Programs of this name running in or below these directories, with this word among their arguments."""
    found = _called(name, word) if _LINUX else _called_elsewhere(name, word)
    return [seen for seen, place in found if any(place.is_relative_to(each) for each in below)]


def _called(name: str, word: str) -> Iterator[tuple[Seen, Path]]:
    for pid in [int(folder.name) for folder in os.scandir(PROC) if folder.name.isdigit()]:
        if word.encode() in _words(pid, name)[1:] and (seen := _stat(pid)) and seen.alive:
            with suppress(OSError):
                yield seen, (PROC / str(pid) / "cwd").readlink()


def _called_elsewhere(name: str, word: str) -> Iterator[tuple[Seen, Path]]:
    import psutil  # noqa: PLC0415 - see above

    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.name() == name and word in process.cmdline()[1:]:
                yield _described(process), Path(process.cwd())


def lives(seen: Seen) -> bool:
    """Whether it is still running."""
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
    """The environment a process was started with, as NUL-terminated entries; None if unreadable.

    Programs that write their title over it (PostgreSQL, Redis, Chrome) show something else or nothing. A
    process in the middle of exec or exit shows nothing either, and raises Unsettled.
    """
    if _LINUX:
        return _environ(PROC / str(pid) / "environ", pid)
    import psutil  # noqa: PLC0415 - see above

    try:
        variables = psutil.Process(pid).environ()
    except (psutil.Error, OSError):
        return None
    return b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in variables.items())


def ancestors(pid: int) -> Iterator[int]:
    """Its parent, that one's parent and so on, as far as they can be seen."""
    seen = find(pid)
    while seen is not None and seen.parent > 0:
        yield seen.parent
        seen = find(seen.parent)


def open_files(pid: int) -> Iterator[str]:
    """The files that a process has open, as far as they can be seen."""
    if not _LINUX:
        import psutil  # noqa: PLC0415 - see above

        with suppress(psutil.Error, OSError):
            yield from (file.path for file in psutil.Process(pid).open_files())
        return
    with suppress(OSError):
        for number in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - a list, as it changes while it is read
            with suppress(OSError):
                yield os.readlink(f"/proc/{pid}/fd/{number}")  # noqa: PTH115 - may be no path at all


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
    """Signal exactly this process; ignored if it is gone or not ours to signal."""
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
            # The handle pins the process that has the id now; only then is the start time checked.
            if (now := find(seen.pid)) and now.is_same(seen.start):
                signal.pidfd_send_signal(handle, signum)
        finally:
            os.close(handle)


def send_to_group(seen: Seen, signum: int) -> None:
    """Signal its whole process group at once, so nothing that forks and exits slips through.

    No process can join another session, so the whole group belongs to the tree; our own group is left alone.
    A reused group id has a leader in another session.
    """
    if not hasattr(os, "killpg") or seen.group <= 1 or seen.session in (0, os.getsid(0)):
        return
    leader = find(seen.group)
    if leader is None or leader.session == seen.session:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(seen.group, signum)
