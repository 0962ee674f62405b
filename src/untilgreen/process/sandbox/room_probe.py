"""Tests whether a room can stand in place of the workspace on this machine, with overlays in it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from anyio import to_thread

from untilgreen.ports import Overlay, RoomView
from untilgreen.process.run import run
from untilgreen.process.sandbox.room import hide_below

PATIENCE_SECONDS = 20.0
_TEST = (
    "test -f kept/below && ! test -e kept/gone && ! test -e own/old && test -f own/new && "
    "echo changed > kept/below && rm -r kept"
)
_known: dict[int, bool] = {}
"""By file system: what works in one of its directories works in all."""


async def rooms_work(scratch: Path) -> bool:
    """Whether commands can see a room kept in this directory; tried with a real one, once per file system."""
    if sys.platform != "linux":
        return False
    device = await to_thread.run_sync(_device, scratch)
    if device not in _known:
        _known[device] = await _try(scratch / "probe")
    return _known[device]


async def _try(place: Path) -> bool:
    try:
        view = await to_thread.run_sync(_lay_out, place)
        ran = await run(
            ("/bin/sh", "-c", _TEST), cwd=view.place, view=view, seconds=PATIENCE_SECONDS, fence=False
        )
        return ran.ok and await to_thread.run_sync(_unharmed, view.at / "kept" / "below")
    except OSError:
        return False
    finally:
        await to_thread.run_sync(lambda: shutil.rmtree(place, ignore_errors=True))


def _device(place: Path) -> int:
    place.mkdir(parents=True, exist_ok=True)
    return place.stat().st_dev


def _unharmed(below: Path) -> bool:
    return below.read_text(encoding="ascii") == "below"


def _lay_out(place: Path) -> RoomView:
    shutil.rmtree(place, ignore_errors=True)
    at, room = place / "at", place / "room"
    for folder in (at / "kept", at / "own", room / "own", place / "stash", place / "work"):
        folder.mkdir(parents=True)
    for file in (at / "kept" / "below", at / "kept" / "gone", at / "own" / "old", room / "own" / "new"):
        file.write_text(file.name, encoding="ascii")
    hide_below(room / "own")
    own = Overlay(path=at, upper=room, work=place / "work")
    hidden = (at / "kept" / "gone",)
    return RoomView(place=room, at=at, stash=place / "stash", overlays=(own,), hidden=hidden)
