"""follow: the verb that watches a run while another process drives it, and can tell it something."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.events import Event
from untilgreen.core.exits import SIGINT, SIGTERM, exit_code
from untilgreen.core.fold import apply
from untilgreen.core.state import RunState
from untilgreen.engine import lock
from untilgreen.engine.drive import state_of
from untilgreen.engine.files import last_shown
from untilgreen.engine.handle import Handle
from untilgreen.engine.mail import conclude
from untilgreen.engine.store import RunFolder
from untilgreen.engine.told import told
from untilgreen.journal.file import FileJournal
from untilgreen.surfaces import result
from untilgreen.surfaces.cli.drive import Plain, heeded
from untilgreen.surfaces.cli.look import agent_mark, me, summarise
from untilgreen.surfaces.cli.options import HERE, Place, Run
from untilgreen.surfaces.cli.say import ascii_only, out_json, tell, version_line
from untilgreen.surfaces.views import View, choose

LOOK_SECONDS, LOOKS = 0.25, 8
"""How often, and how many times in a row, nobody drives before a run counts as left."""
Json = Annotated[bool, Parameter(name="--json", help="Print JSON lines on stdout.")]


def follow(run: Run = "@last", /, *, place: Place = HERE, json: Json = False, plain: Plain = False) -> int:
    """Watch a run that another process drives, until it is left; Ctrl-C stops watching, not the run.

    On a terminal it is the view of `run`, with its keys: what is pressed is sent to whoever drives.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    """
    folder = place.find(run)
    if json:
        version_line()
    watch = _Watch(folder, place, json=json, plain=plain)
    try:
        anyio.run(watch.go)
    except KeyboardInterrupt:
        watch.left = SIGINT
    if watch.left:
        tell(f"The run goes on. Watch it again: untilgreen follow {folder.id}{place.flags}")
        return watch.left
    state, head = told(folder)
    if json:
        out_json(result.as_json(state, head))
    else:
        tell("")
        summarise(state, place.flags)
    return exit_code(state)


class _Watch:
    """Every event so far and each new one, for as long as somebody drives."""

    def __init__(self, folder: RunFolder, place: Place, *, json: bool, plain: bool) -> None:
        self._folder = folder
        self._place = place
        self._json = json
        self._plain = plain
        self._state: RunState | None = None
        self.left = 0
        """The exit code, where the watching was ended before the run."""

    async def go(self) -> None:
        """Show it all; what is pressed meanwhile is brought to its end, also where nobody drives any more."""
        handle = Handle(self._folder, await state_of(self._folder), me())
        attended = sys.stdin.isatty() and agent_mark() is None
        with choose(
            json=self._json,
            quiet=False,
            verbose=False,
            plain=self._plain,
            ascii_only=ascii_only(),
            flags=self._place.flags,
        ) as view:
            async with heeded(handle, view, attended=attended):
                await self._show(handle, view)
        if attended and not self.left:
            await conclude(self._folder, self._place.store())

    async def _show(self, handle: Handle, view: View) -> None:
        seen = 0
        async with anyio.create_task_group() as group:
            group.start_soon(_until_it_is_left, self._folder, group.cancel_scope)
            group.start_soon(self._until_told_to_end, group.cancel_scope)
            group.start_soon(self._show_activity, view)
            async for event in FileJournal(self._folder.journal).follow():
                self._hear(event, handle, view)
                seen += 1
            group.cancel_scope.cancel()
        for event in (await FileJournal(self._folder.journal).events())[seen:]:
            self._hear(event, handle, view)

    def _hear(self, event: Event, handle: Handle, view: View) -> None:
        self._state = handle.state = apply(self._state, event)
        view.on_event(event, self._state)

    async def _show_activity(self, view: View) -> None:
        """What the agent shows in the lap that is open; an older thing is no news."""
        known = 0.0
        while True:
            last, lap = last_shown(self._folder), self._state.open if self._state else None
            works = lap is not None and lap.offered and lap.reply is None
            if last and lap and works and last.lap == lap.number and last.at > max(known, lap.started):
                view.on_activity(last.activity)
                known = last.at
            await anyio.sleep(LOOK_SECONDS)

    async def _until_told_to_end(self, watching: anyio.CancelScope) -> None:
        """SIGTERM, too, leaves the terminal as it was found."""
        with anyio.open_signal_receiver(signal.SIGTERM) as signals:
            async for _ in signals:
                self.left = SIGTERM
                watching.cancel()


async def _until_it_is_left(folder: RunFolder, watching: anyio.CancelScope) -> None:
    """A run has a driver from a moment after its start on, and between two drivers for a moment none."""
    looks = 0
    while looks < LOOKS:
        looks = 0 if lock.owner(folder.lock) else looks + 1
        await anyio.sleep(LOOK_SECONDS)
    watching.cancel()
