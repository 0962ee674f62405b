"""Notes about running process trees, for the next driver to clean up after a crash.

A file has a line for each tree that has begun and one for each that has ended, and is removed when all have.
Trees that run side by side share a file: creating and removing one takes longer than starting a tree.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct, field

from untilgreen.errors import UserError
from untilgreen.process.table import era
from untilgreen.process.tree import Trace, Tree

GRACE_SECONDS = 1.0


class _Ending(Struct, frozen=True, kw_only=True):
    """The line that says that nothing is left of a tree."""

    ended: str
    """Its mark."""


class _Notes(Struct, kw_only=True):
    """A file of notes that this process writes."""

    handle: int
    running: set[str] = field(default_factory=set)
    left: bool = False
    """Whether something of a tree could not be ended, so that the file stays."""

    def add(self, line: Trace | _Ending) -> None:
        # The newline comes first: the last line of a driver that died may lack one.
        data = b"\n" + msgspec.json.encode(line)
        if os.write(self.handle, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


_written: dict[Path, _Notes] = {}


def write_note(path: Path, trace: Trace) -> None:
    """Write the note completely before returning; the tree may begin only after that.

    It need not survive a reboot, since the processes it names don't.
    """
    if path not in _written:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        _written[path] = _Notes(handle=handle)
    _written[path].running.add(trace.mark)
    _written[path].add(trace)


def read_notes(path: Path) -> list[Trace]:
    """The trees noted as begun but not as ended; none if the file is missing or unreadable."""
    found: dict[str, Trace] = {}
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return []
    for line in lines:
        try:
            note = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
            if "ended" in note:
                found.pop(msgspec.json.decode(note["ended"], type=str), None)
            else:
                trace = msgspec.json.decode(line, type=Trace)
                found[trace.mark] = trace
        except (ValueError, RecursionError):
            continue
    return list(found.values())


def forget(path: Path, mark: str, *, survived: bool = False) -> None:
    """Note that nothing is left of a tree, unless something `survived`."""
    notes = _written.get(path)
    if notes is None:
        return
    notes.running.discard(mark)
    notes.left |= survived
    if not survived and (notes.running or notes.left):
        with suppress(OSError):  # on a full disk, the next driver just looks for the tree again
            notes.add(_Ending(ended=mark))
    if not notes.running:
        _close(path, remove=not notes.left)


def _close(path: Path, *, remove: bool) -> None:
    notes = _written.pop(path, None)
    if notes is not None:
        os.close(notes.handle)
    if remove:
        path.unlink(missing_ok=True)


async def end_left_behind(note: Path, *, grace: float = GRACE_SECONDS) -> tuple[int, ...]:
    """Kill what is still running of the noted trees, and return the killed process ids.

    A note from before a reboot, or from another machine or container, is left alone: its ids mean nothing
    here.
    """
    noted = read_notes(note)
    trees = [Tree(trace=trace, watched=False) for trace in noted if trace.era == era()]
    for tree in trees:
        if tree.holds_us():
            raise UserError(
                f"This command runs inside the agent's turn that it would have to end (process "
                f"{tree.trace.pid}). Run the command in another terminal."
            )
    ended = [await tree.end(grace) for tree in trees]
    if len(trees) == len(noted) and not any(each.survivors for each in ended):
        _close(note, remove=True)
    return tuple(sorted({pid for each in ended for pid in each.pids}))
