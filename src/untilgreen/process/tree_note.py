"""A note about a running process tree, for the next driver to clean up after a crash."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from untilgreen.errors import UserError
from untilgreen.process.table import era
from untilgreen.process.tree import Trace, Tree

GRACE_SECONDS = 1.0


def write_note(path: Path, trace: Trace) -> None:
    """Write the note completely before returning; the tree may begin only after that.

    It need not survive a reboot, since the processes it names don't.
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
    """Read a note; None if it is missing or unreadable."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Trace)
    except (OSError, ValueError, RecursionError):
        return None


def forget(path: Path) -> None:
    """Remove the note of a tree that is gone."""
    path.unlink(missing_ok=True)


async def end_left_behind(note: Path, *, grace: float = GRACE_SECONDS) -> tuple[int, ...]:
    """Kill what is still running of the noted tree, and return the killed process ids.

    A note from before a reboot, or from another machine or container, is left alone: its ids mean nothing
    here.
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
