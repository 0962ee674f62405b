"""follow: watch a run while another process drives it."""

from __future__ import annotations

import signal
import sys

import anyio

from untilgreen.core.exit_codes import SIGINT, SIGTERM, exit_code
from untilgreen.core.loop.step import AwaitAnswer, AwaitResume, Halt, next_step
from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.end_undriven import end_undriven
from untilgreen.engine.driving.handle import Handle
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.hub import Hub
from untilgreen.engine.store.reading import state_of
from untilgreen.engine.worktree.premises import LocalPremises
from untilgreen.surfaces.cli.caller import agent_mark, me
from untilgreen.surfaces.cli.options import HERE, Json, Place, Plain, Run
from untilgreen.surfaces.cli.verbs.run import keys_handled
from untilgreen.surfaces.live.views import View, choose_view
from untilgreen.surfaces.text import summary
from untilgreen.surfaces.text.printing import ascii_only, out_json, summarize, tell, version_line

LOOK_SECONDS = 0.25
"""How often to check for new activity of the agent."""


def follow(
    run: Run = "@last",
    /,
    *,
    place: Place = HERE,
    json: Json = False,
    plain: Plain = False,
) -> int:
    """Watch a run that another process drives.

    Ctrl-C stops watching, not the run. On a terminal this is the live view of `run`, keys included.
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
        tell(f"The run continues. Watch it again: untilgreen follow {folder.id}{place.flags}")
        return watch.left
    loaded = place.find(folder.id).read()  # a run of the fleet is copied when it is found
    state, head = loaded.state, loaded.head
    if json:
        out_json(summary.as_json(state, head))
    else:
        tell("")
        summarize(state, place.flags)
    return exit_code(state)


class _Watch:
    """Shows every event so far and each new one, while a process drives the run."""

    def __init__(self, folder: FolderRecord, place: Place, *, json: bool, plain: bool) -> None:
        self._folder = folder
        self._place = place
        self._json = json
        self._plain = plain
        self._state: RunState | None = None
        self.left = 0
        """The exit code, if watching ended before the run did."""

    async def go(self) -> None:
        """Show everything; key presses are carried out even if no process drives the run any more."""
        handle = Handle(self._folder, await state_of(self._folder), me())
        attended = sys.stdin.isatty() and agent_mark() is None
        with choose_view(
            json=self._json,
            quiet=False,
            verbose=False,
            plain=self._plain,
            ascii_only=ascii_only(),
            flags=self._place.flags,
        ) as view:
            async with keys_handled(handle, view, attended=attended):
                await self._show(handle, view)
        if attended and not self.left:
            await end_undriven(self._folder, LocalPremises(self._place.store()))

    async def _show(self, handle: Handle, view: View) -> None:
        def hear(event: Event, state: RunState) -> None:
            self._state = handle.state = state
            view.on_event(event, state)

        hub = Hub(self._folder, (hear,))
        async with anyio.create_task_group() as group:
            group.start_soon(self._until_sigterm, group.cancel_scope)
            group.start_soon(self._show_activity, view)
            group.start_soon(hub.run)
            await hub.until_left()
            while self._folder.in_fleet and not hub.over and not _rests(hub.state):
                await anyio.sleep(LOOK_SECONDS)
                await hub.until_left()
            group.cancel_scope.cancel()

    async def _show_activity(self, view: View) -> None:
        """The agent's latest activity in the current lap; older activity is skipped."""
        known = 0.0
        while True:
            last, lap = await self._folder.shown(), self._state.open if self._state else None
            works = lap is not None and lap.offered and lap.reply is None
            if last and lap and works and last.lap == lap.number and last.at > max(known, lap.started):
                view.on_activity(last.activity)
                known = last.at
            await anyio.sleep(LOOK_SECONDS)

    async def _until_sigterm(self, watching: anyio.CancelScope) -> None:
        """Stop watching on SIGTERM, so that the terminal is left as it was."""
        with anyio.open_signal_receiver(signal.SIGTERM) as signals:
            async for _ in signals:
                self.left = SIGTERM
                watching.cancel()


def _rests(state: RunState | None) -> bool:
    """Whether the run waits for a person, so that no worker takes it by itself."""
    return state is not None and isinstance(next_step(state), AwaitAnswer | AwaitResume | Halt)
