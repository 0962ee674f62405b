"""The command line of a command that sees a room in place of the workspace."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from untilgreen.ports import RoomView

_ENTRY = Path(__file__).with_name("room_entry.py")


def hide_below(folder: Path) -> None:
    """A directory of a room that shows nothing of the one it lies over."""
    os.setxattr(folder, "user.overlay.opaque", b"y")


def entered(argv: Sequence[str], view: RoomView, cwd: Path) -> list[str]:
    """Run a command in a room; the room is made as the command starts, and is gone with it."""
    overlays = [part for each in view.overlays for part in (each.path, each.upper, each.work)]
    counts = (len(view.overlays), len(view.hidden))
    asked = (cwd, view.at, view.stash, *counts, *overlays, *view.hidden)
    return [sys.executable, "-I", "-S", str(_ENTRY), *map(str, asked), *argv]
