"""The command line of a command that sees a room in place of the workspace."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from untilgreen.ports import RoomView

_ENTRY = Path(__file__).with_name("room_entry.py")


def hide_below(folder: Path) -> None:
    """Let nothing of the directory below show through this directory of a room."""
    os.setxattr(folder, "user.overlay.opaque", b"y")


def room_command(argv: Sequence[str], view: RoomView, cwd: Path) -> list[str]:
    """The command line that runs a command in a room, which is set up as it starts and is gone with it."""
    overlays = [part for each in view.overlays for part in (each.path, each.upper, each.work)]
    counts = (len(view.overlays), len(view.hidden))
    asked = (cwd, view.at, view.stash, *counts, *overlays, *view.hidden)
    return [sys.executable, "-I", "-S", str(_ENTRY), *map(str, asked), *argv]
