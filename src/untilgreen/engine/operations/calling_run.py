"""Finds the run that a command comes from, even if its agent hid every trace of that."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from untilgreen.engine.store import run_ids
from untilgreen.process.table import INSIDE, Unsettled, ancestors, environment, era, open_files


def started_by(state_dir: Path, pid: int | None = None) -> str | None:
    """The run whose agent or gate is an ancestor of this process, or of process `pid`.

    Such an ancestor was started with the mark of the run, or is its driver, which holds the run's lock and
    adopts processes that left their parents.
    """
    runs = (state_dir / run_ids.RUNS).resolve()
    family = (pid, *ancestors(pid)) if pid is not None else ancestors(os.getpid())
    for ancestor in family:
        for mark in _marks(ancestor):
            if run_ids.is_one(mark) and (runs / mark).is_dir():
                return mark
        for file in open_files(ancestor):
            folder = Path(file).parent
            if folder.parent == runs and run_ids.is_one(folder.name):
                return folder.name
    return None


def _marks(pid: int) -> list[str]:
    """The runs whose marks a process was started with, as far as that can be seen."""
    name = f"{INSIDE}=".encode()
    try:
        variables = environment(pid) or b""
    except Unsettled:  # it is ending, or becoming another program
        return []
    entries = variables.split(b"\0")
    return [os.fsdecode(entry.removeprefix(name)) for entry in entries if entry.startswith(name)]


def hidden_ancestry(state_dir: Path) -> str | None:
    """Why the origin of this command can't be known, for example in a process namespace that an agent made.

    There it sees neither the driver nor itself as others do. A turn in progress, whose processes were noted
    in another namespace, may have started it.
    """
    if sys.platform != "linux":
        return None
    try:
        if os.readlink("/proc/self") != str(os.getpid()):  # noqa: PTH115 - a name, not a path
            return "its own process can't be found in /proc"
    except OSError:
        return "/proc can't be read"
    notes = list((state_dir / run_ids.RUNS).glob("*/trees/*.json"))
    if not notes:
        return None
    from untilgreen.process.tree_note import read_notes  # noqa: PLC0415 - seldom needed, and slow to load

    ours = era()
    for note in notes:
        eras = {trace.era for trace in read_notes(note)} - {ours}
        if any(each.split()[:1] == ours.split()[:1] for each in eras):
            return f"run {note.parents[1].name} is at work in another process namespace"
    return None
