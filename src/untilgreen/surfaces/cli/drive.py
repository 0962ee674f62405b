"""run and resume: the verbs that drive."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.events import Event, Restored
from untilgreen.core.exits import OK, SIGINT, exit_code
from untilgreen.core.fold import apply
from untilgreen.core.receive import Resume
from untilgreen.core.state import RunState
from untilgreen.engine.checking import leave_on_a_signal
from untilgreen.engine.drive import start
from untilgreen.engine.handle import Handle, Ride, driven
from untilgreen.engine.mail import let_go_on
from untilgreen.engine.places import in_worktree
from untilgreen.engine.pruning import discard
from untilgreen.engine.seat import TERMINAL, UNATTENDED
from untilgreen.engine.store import RunFolder, Store
from untilgreen.engine.told import look, told
from untilgreen.engine.veil import missing
from untilgreen.engine.wiring import plan_of
from untilgreen.errors import PluginFailed, WorkspaceNotReady, only
from untilgreen.journal.file import FileJournal
from untilgreen.surfaces import result
from untilgreen.surfaces.cli.detach import detach as leave_alone
from untilgreen.surfaces.cli.look import me, summarise
from untilgreen.surfaces.cli.options import HERE, UNSAID, Json, Place, Run, SpecFlags, Trust
from untilgreen.surfaces.cli.say import ascii_only, complain, out, out_json, tell, version_line
from untilgreen.surfaces.cli.taking import leave_the_session
from untilgreen.surfaces.cli.trusting import allow
from untilgreen.surfaces.result import beginning_lines
from untilgreen.surfaces.text import inert
from untilgreen.surfaces.views import View, choose

Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], help="Say nothing but the result.")]
Verbose = Annotated[bool, Parameter(name=["--verbose", "-v"], help="Also say what the agent prints.")]
Plain = Annotated[
    bool,
    Parameter(name="--plain", help="A line for each event and nothing redrawn, as screen readers like it."),
]
Detach = Annotated[
    bool, Parameter(name="--detach", help="Drive it in the background; it goes on when the terminal closes.")
]
NoInput = Annotated[bool, Parameter(name="--no-input", help="Nobody can answer: never wait for a person.")]


def run(
    task: str | None = None,
    /,
    *,
    spec: SpecFlags = UNSAID,
    place: Place = HERE,
    trust: Trust = False,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    plain: Plain = False,
    no_input: NoInput = False,
    detach: Detach = False,
) -> int:
    """Keep an agent working until the gates are green.

    Parameters
    ----------
    task
        What is wanted, in words; `-` reads it from stdin. Also: -f FILE, or `task` in the spec.
    """
    loaded = spec.load(place.start, task)
    allow(loaded, place, spec, trust=trust, no_input=no_input)
    plan = plan_of(loaded, place.start)
    store = place.store()

    async def begin() -> RunFolder:
        return await start(plan, store, warn=note)

    shown = Shown(json=json, quiet=quiet, verbose=verbose, plain=plain, flags=place.flags)
    return drive_new(begin, place, shown, no_input=no_input, detach=detach)


def drive_new(
    begin: Callable[[], Awaitable[RunFolder]], place: Place, shown: Shown, *, no_input: bool, detach: bool
) -> int:
    """Make a run and drive it, here or in the background; one that can't begin leaves nothing."""
    folder = anyio.run(begin)
    if detach:
        return leave_alone(folder, place, json=shown.json, verbose=shown.verbose)
    try:
        return drive_shown(folder, place.store(), shown, no_input=no_input)
    except WorkspaceNotReady:
        anyio.run(discard, folder)
        raise


def note(sentence: str) -> None:
    """Something that a person should know when a run begins."""
    tell(f"note: {inert(sentence)}")


def resume(
    run: Run = "@last",
    /,
    *,
    place: Place = HERE,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    plain: Plain = False,
    no_input: NoInput = False,
    detach: Detach = False,
    take: Annotated[bool, Parameter(help="Take it out of the session that works on it.")] = False,
) -> int:
    """Go on with a run that was left: by Ctrl-C, a crash, a reboot, or to wait for a person.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    """
    folder = place.find(run)
    leave_the_session(folder, take=take)

    async def end_the_pause() -> bool:
        return await let_go_on(folder, Resume(at=time.time(), by=me()))

    if anyio.run(end_the_pause):
        out(f"Run {folder.id} goes on where it is driven.")
        out(f"Watch it with: untilgreen follow {folder.id}{place.flags}")
        return OK
    if detach:
        return leave_alone(folder, place, json=json, verbose=verbose)
    shown = Shown(json=json, quiet=quiet, verbose=verbose, plain=plain, flags=place.flags)
    return drive_shown(folder, place.store(), shown, no_input=no_input)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """How a run is shown while it is driven."""

    json: bool = False
    quiet: bool = False
    verbose: bool = False
    plain: bool = False
    flags: str = ""
    """What printed commands end with."""


def drive_shown(folder: RunFolder, store: Store, shown: Shown, *, no_input: bool) -> int:
    """The same for a new run, whose start is told, too, and for an old one."""
    seat = UNATTENDED if no_input or not sys.stdin.isatty() else TERMINAL
    restored: list[Restored] = []
    warnings: list[str] = []
    heard: list[int] = []

    def remember(event: Event, state: RunState) -> None:
        if isinstance(event, Restored) and state.ending is not None:
            restored.append(event)

    if shown.json:
        version_line()
    elif not shown.quiet:
        _say_where(folder, shown.flags)

    async def go() -> None:
        with choose(
            json=shown.json,
            quiet=shown.quiet,
            verbose=shown.verbose,
            plain=shown.plain,
            ascii_only=ascii_only(),
            flags=shown.flags,
        ) as view:
            events = await FileJournal(folder.journal).events() if look(folder).end.seq == 1 else ()
            for event in events[:1]:  # another process may have gone on with the run meanwhile
                view.on_event(event, apply(None, event))
            ride = Ride(
                seat=seat,
                by=me(),
                listeners=(remember, view.on_event),
                watchers=(view.on_activity,),
                signals=True,
                warn=warnings.append,
            )
            async with (
                _leaving(heard),
                driven(folder, store, ride) as handle,
                heeded(handle, view, attended=seat is TERMINAL),
            ):
                await handle.result()

    try:
        anyio.run(go)
    except PluginFailed as error:
        complain(str(error))
    except KeyboardInterrupt:  # before anybody listened for signals
        heard.append(SIGINT - 128)
    if heard:
        complain("interrupted", f"untilgreen resume {folder.id}{shown.flags}")
        return 128 + heard[0]
    state, head = told(folder)
    for sentence in () if shown.quiet else warnings:
        tell(f"note: {inert(sentence)}")
    _say_how_it_went(state, head, restored, shown)
    return exit_code(state)


@asynccontextmanager
async def _leaving(heard: list[int]) -> AsyncIterator[None]:
    """Until the driver listens for signals itself, they end what is made ready for it."""
    try:
        async with anyio.create_task_group() as group:
            await group.start(leave_on_a_signal, group.cancel_scope, heard)
            yield
            group.cancel_scope.cancel()
    except BaseExceptionGroup as several:
        cause = only(several)
        raise cause from cause.__cause__


def heeded(handle: Handle, view: View, *, attended: bool) -> AbstractAsyncContextManager[None]:
    """Keys are heeded where a person sits at the live view."""
    if not attended or os.name != "posix":
        return nullcontext()
    from untilgreen.surfaces.live import LiveView

    if not isinstance(view, LiveView):
        return nullcontext()
    from untilgreen.surfaces import keys

    stdin = sys.stdin.fileno()
    return keys.pressed(handle, view, stdin) if keys.usable(stdin) else nullcontext()


def _say_where(folder: RunFolder, flags: str) -> None:
    """Where the run is kept and where it works; what a new one begins with is named before money is spent."""
    state, _ = told(folder)
    tell(f"run {folder.id} · kept in {inert(str(folder.path))}")
    if in_worktree(state.plan):
        tell(f"works in {inert(str(folder.worktree))}")
    for sentence in beginning_lines(state, flags) if state.tree is None else ():
        tell(f"note: {sentence}")
    for sentence in missing(state.plan) if state.outcome is None else ():
        note(sentence)


def _say_how_it_went(state: RunState, head: str, restored: list[Restored], shown: Shown) -> None:
    if shown.json:
        out_json(result.as_json(state, head))
        return
    if not shown.quiet:
        tell("")
    summarise(state, shown.flags)
    for event in restored[-1:]:
        for line in result.restored_lines(state.run, event.before, event.kept, shown.flags):
            out(line)
    out(f"journal head {head}")
