"""A note of a running tree beside the run, for whoever has to end it after a crash."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from untilgreen.errors import UserError
from untilgreen.process.table import era
from untilgreen.process.tree import Trace, Tree

GRACE_SECONDS = 1.0


def write_note(path: Path, trace: Trace) -> None:
    """There as a whole before it returns: the tree may only begin its work after that.

    It need not outlive the machine, since the processes that it names don't.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(handle, msgspec.json.encode(trace))
    finally:
        os.close(handle)
    fresh.replace(path)


def read_note(path: Path) -> Trace | None:
    """What a note says; a missing or unreadable one says nothing."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Trace)
    except (OSError, ValueError, RecursionError):
        return None


def forget(path: Path) -> None:
    """The tree is gone, and so may be its note."""
    path.unlink(missing_ok=True)


async def end_left_behind(note: Path, *, grace: float = GRACE_SECONDS) -> tuple[int, ...]:
    """End what is alive of the noted tree, and say which processes that were; no note, nothing to do.

    A note from before a reboot, or from another machine or container, is left as it is: its numbers mean
    nothing here.
    """
    trace = read_note(note)
    if trace is None or trace.era != era():
        return ()
    tree = Tree(trace=trace, watched=False)
    if tree.holds_us():
        raise UserError(
            f"This process belongs to the agent's turn that it would have to end (process {trace.pid}). "
            "Run the command in another terminal."
        )
    ended = await tree.end(grace)
    if not ended.survivors:
        forget(note)
    return tuple(sorted(ended.pids))
