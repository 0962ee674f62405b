"""A desktop notification, with the system's own tools: notify-send on Linux, osascript on macOS."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import anyio

from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.errors import UntilgreenError
from untilgreen.notify.environment import path_for
from untilgreen.notify.messages import USUAL, News, Wanted, check_kinds, news
from untilgreen.process.run import run

SECONDS = 10.0
_SCRIPT = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
"""Text is passed as arguments, so it is never read as AppleScript."""


_PROGRAM = "osascript" if sys.platform == "darwin" else "notify-send"
_INSTALL = f"there is no {_PROGRAM}; install it, for example with `apt-get install libnotify-bin`"


@dataclass(frozen=True, kw_only=True)
class Desktop:
    """Shows each message on the desktop; needs notify-send on Linux, and nothing on macOS."""

    on: Wanted = USUAL

    def __post_init__(self) -> None:
        check_kinds(self.on, "desktop")

    def missing(self) -> str:
        """What has to be installed first, if anything."""
        return "" if shutil.which(_PROGRAM) else _INSTALL

    async def notify(self, event: Event, state: RunState) -> None:
        told = news(event, state, self.on)
        if told is None:
            return
        path = path_for(state.plan)
        argv = command(told, path)
        with anyio.move_on_after(SECONDS):
            ran = await run(argv, cwd=Path.cwd(), env={"PATH": path})
            if not ran.ok:
                last = (ran.stderr.strip() or ran.stdout.strip()).splitlines()[-1:]
                raise UntilgreenError(f"{argv[0]} failed ({ran.ending}){': ' if last else ''}{''.join(last)}")
            return
        raise UntilgreenError(f"{argv[0]} took longer than {SECONDS:.0f}s and was stopped")


def command(told: News, path: str, platform: str = sys.platform) -> list[str]:
    """The program and its arguments; an error says what to install."""
    title, body = f"untilgreen: {told.outcome or told.news}", told.body.replace("\0", "")
    found = shutil.which("osascript" if platform == "darwin" else "notify-send", path=path)
    if found is None:
        raise UntilgreenError(_INSTALL)
    if platform == "darwin":
        return [found, "-e", _SCRIPT, title, body]
    urgency = "critical" if told.news in ("stuck", "waiting", "escalated") else "normal"
    return [found, "--app-name=untilgreen", f"--urgency={urgency}", "--", title, body]
