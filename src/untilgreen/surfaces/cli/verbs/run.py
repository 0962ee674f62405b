"""run and resume: start a run or continue one, and show it until it ends."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.exit_codes import OK, SIGINT, exit_code
from untilgreen.core.loop.fold import apply
from untilgreen.core.loop.receive import Resume
from untilgreen.core.values.events import Attached, Event, Restored
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.drive import DriveOptions
from untilgreen.engine.driving.handle import Handle, drive_in_background
from untilgreen.engine.driving.sending import end_pause
from untilgreen.engine.driving.signals import leave_on_a_signal
from untilgreen.engine.driving.start import start
from untilgreen.engine.loop.seat import TERMINAL, UNATTENDED
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.plan import objects_for, plan_of
from untilgreen.engine.wiring.redaction import missing
from untilgreen.engine.wiring.start_notes import start_notes
from untilgreen.engine.wiring.workplace import in_worktree
from untilgreen.engine.worktree.premises import LocalPremises, StartFacts
from untilgreen.errors import PluginFailed, WorkspaceNotReady, only
from untilgreen.surfaces.cli.caller import me
from untilgreen.surfaces.cli.options import (
    HERE,
    MORE,
    NO_FLAGS,
    NO_VIEW_FLAGS,
    Place,
    Run,
    SpecFlags,
    Trust,
    ViewFlags,
)
from untilgreen.surfaces.cli.verbs.trust import allow
from untilgreen.surfaces.live.views import View, choose_view
from untilgreen.surfaces.text import summary
from untilgreen.surfaces.text.printing import (
    ascii_only,
    out,
    out_json,
    print_problem,
    summarize,
    tell,
    version_line,
)
from untilgreen.surfaces.text.safe_text import inert
from untilgreen.surfaces.text.summary import beginning_lines


def run(
    task: str | None = None,
    /,
    *,
    spec: SpecFlags = NO_FLAGS,
    place: Place = HERE,
    view: ViewFlags = NO_VIEW_FLAGS,
    trust: Trust = False,
) -> int:
    """Keep an agent working until the gates are green.

    Parameters
    ----------
    task
        What to do; - reads it from stdin. Or use -f FILE, or `task` in the spec.
    """
    loaded = spec.load(place.start, task if task is not None else spec.piped_task(place.start))
    objects = objects_for(loaded)
    known = StartFacts(objects=objects)
    allow(loaded, place, spec, trust=trust, no_input=view.no_input, objects=objects)
    plan = plan_of(loaded, place.start, objects)
    for sentence in start_notes(loaded, objects):
        note(sentence)
    if place.fleet:
        from untilgreen.surfaces.cli.fleet_runs import begin_in_fleet

        return begin_in_fleet(plan, note, json=view.json)
    store = place.store()

    async def begin() -> FolderRecord:
        return await start(plan, store, known, warn=note)

    return launch(begin, place, view, known)


def launch(
    begin: Callable[[], Awaitable[FolderRecord]],
    place: Place,
    view: ViewFlags,
    known: StartFacts | None = None,
) -> int:
    """Make a run and drive it, here or in the background; if that fails, nothing is left behind."""
    folder = anyio.run(begin)
    if view.detach:
        from untilgreen.surfaces.cli.verbs.detach import start_in_background

        return start_in_background(folder, place, json=view.json, verbose=view.verbose)
    try:
        return drive_in_view(folder, place.store(), view, place.flags, known)
    except WorkspaceNotReady:
        from untilgreen.engine.operations.prune import discard

        anyio.run(discard, folder)
        raise


def note(sentence: str) -> None:
    """Tell the person something before the run begins."""
    tell(f"note: {inert(sentence)}")


def resume(
    run: Run = "@last",
    /,
    *,
    place: Place = HERE,
    view: ViewFlags = NO_VIEW_FLAGS,
    take: Annotated[
        bool, Parameter(help="Take the run from the agent session that works on it.", group=MORE)
    ] = False,
) -> int:
    """Continue an interrupted run.

    Works after Ctrl-C, a crash, a reboot or a pause, and when a question has been answered.
    """
    from untilgreen.surfaces.cli.take_from_session import leave_the_session

    folder = place.find(run)
    leave_the_session(folder, take=take)
    if (state := folder.read().state).outcome is not None and not view.quiet:
        fork = f"untilgreen fork {folder.id} --more 10{place.flags}"
        tell(f"Run {folder.id} is over ({state.outcome}); resume can't continue it. Use: {fork}")

    async def end_the_pause() -> bool:
        return await end_pause(folder, Resume(at=time.time(), by=me()))

    if anyio.run(end_the_pause):
        out(f"Run {folder.id} continues in the process that drives it.")
        out(f"Watch it with: untilgreen follow {folder.id}{place.flags}")
        return OK
    if folder.in_fleet and state.outcome is None:
        anyio.run(folder.wake)
        out(f"Run {folder.id} continues in the fleet.")
        out(f"Watch it with: untilgreen follow {folder.id}{place.flags}")
        return OK
    if view.detach:
        from untilgreen.surfaces.cli.verbs.detach import start_in_background

        return start_in_background(folder, place, json=view.json, verbose=view.verbose)
    return drive_in_view(folder, place.store(), view, place.flags)


def drive_in_view(
    folder: FolderRecord, store: Store, shown: ViewFlags, flags: str, known: StartFacts | None = None
) -> int:
    """Drive a run in this process until it ends or is interrupted; printed commands end with `flags`."""
    seat = UNATTENDED if shown.no_input or not sys.stdin.isatty() else TERMINAL
    found = known or StartFacts()
    restored, warnings, heard = list[Restored](), list[str](), list[int]()

    def remember(event: Event, state: RunState) -> None:
        if isinstance(event, Restored) and state.ending is not None:
            restored.append(event)

    if shown.json:
        version_line()
    elif not shown.quiet:
        _say_where(folder, flags)

    async def go() -> None:
        with choose_view(
            json=shown.json,
            quiet=shown.quiet,
            verbose=shown.verbose,
            plain=shown.plain,
            ascii_only=ascii_only(),
            flags=flags,
        ) as view:
            await _show_beginning(folder, view)
            watchers = (view.on_activity,)
            premises = LocalPremises(store, found, warn=warnings.append, watchers=watchers)
            options = DriveOptions(
                listeners=(remember, view.on_event),
                watchers=watchers,
                signals=True,
                warn=warnings.append,
                objects=found.objects,
            )
            async with (
                _leaving(heard),
                drive_in_background(folder, premises, seat, options, by=me()) as handle,
                keys_handled(handle, view, attended=seat is TERMINAL),
            ):
                await handle.result()

    try:
        anyio.run(go)
    except PluginFailed as error:
        print_problem(str(error))
    except KeyboardInterrupt:  # before signals were handled
        heard.append(SIGINT - 128)
    if heard:
        print_problem("interrupted", f"untilgreen resume {folder.id}{flags}")
        return 128 + heard[0]
    run = folder.read()
    for sentence in () if shown.quiet else warnings:
        tell(f"note: {inert(sentence)}")
    _say_how_it_went(run.state, run.head, restored, shown, flags)
    return exit_code(run.state)


async def _show_beginning(folder: FolderRecord, view: View) -> None:
    """Show what a new run begins with, before anybody drives it: its plan, and a note if it has one."""
    state: RunState | None = None
    for event in (await folder.load()).beginning:
        if isinstance(event, Attached):  # another process may have continued the run meanwhile
            return
        state = apply(state, event)
        view.on_event(event, state)


@asynccontextmanager
async def _leaving(heard: list[int]) -> AsyncIterator[None]:
    """Until the driver handles signals itself, they end the preparation."""
    try:
        async with anyio.create_task_group() as group:
            await group.start(leave_on_a_signal, group.cancel_scope, heard)
            yield
            group.cancel_scope.cancel()
    except BaseExceptionGroup as several:
        cause = only(several)
        raise cause from cause.__cause__


def keys_handled(handle: Handle, view: View, *, attended: bool) -> AbstractAsyncContextManager[None]:
    """Take key presses while a person watches the live view."""
    if not attended or os.name != "posix":
        return nullcontext()
    from untilgreen.surfaces.live.live_view import LiveView

    if not isinstance(view, LiveView):
        return nullcontext()
    from untilgreen.surfaces.live import keys
    from untilgreen.surfaces.live.run_texts import RunTexts

    stdin = sys.stdin.fileno()
    if not keys.usable(stdin):
        return nullcontext()
    texts = RunTexts(FolderRecord(handle.folder).scratch, lambda: handle.state)
    return keys.pressed(handle, view, texts, stdin)


def _say_where(folder: FolderRecord, flags: str) -> None:
    """Print where the run is stored and where it works, and what a new one starts from."""
    state = folder.read().state
    tell(f"run {folder.id} · stored in {inert(str(folder.path))}")
    if in_worktree(state.plan):
        tell(f"worktree {inert(str(folder.scratch.worktree))}")
    for sentence in beginning_lines(state, flags) if state.tree is None else ():
        tell(f"note: {sentence}")
    for sentence in missing(state.plan) if state.outcome is None else ():
        note(sentence)


def _say_how_it_went(
    state: RunState, head: str, restored: list[Restored], shown: ViewFlags, flags: str
) -> None:
    if shown.json:
        out_json(summary.as_json(state, head))
        return
    if not shown.quiet:
        tell("")
    summarize(state, flags)
    for event in restored[-1:]:
        for line in summary.restored_lines(state.run, event.before, event.kept, flags):
            out(line)
    out(f"journal head {head}")
