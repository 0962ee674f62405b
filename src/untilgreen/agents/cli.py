"""A turn of a command line agent, as every adapter takes it: start it, hear it, and say what came of it."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from anyio import CancelScope, create_task_group, move_on_after, sleep, to_thread
from msgspec.structs import replace

from untilgreen.agents.homes import Home, let_in
from untilgreen.agents.process import Ran, run_cli
from untilgreen.agents.stream import Said, read
from untilgreen.agents.turn import GaveUp, Turn
from untilgreen.core.brief import Brief
from untilgreen.core.model import Reply, Usage
from untilgreen.core.units import show_duration
from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Activity, Desk

_MARGIN_SECONDS = 5.0
"""So much before the engine's deadline the turn is ended here, where its session and usage are known."""
_LINGER_SECONDS = 10
"""How long an agent may stay after it has said that its turn is over."""
_LOST = re.compile(
    r"no (conversation|rollout|session|thread|chat)s? (was |were )?found|(session|conversation) not found"
    r"|invalid session|no such session|does not exist.{0,20}session",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class About:
    """What a person must know to use an agent: said where it is missing, locked out or not permitted."""

    install: str
    """The command that installs it."""
    login: str
    """A sentence: how to let it in."""
    permit: str
    """A sentence: how to permit more than editing files and running the gates."""
    fenced: str = "edit files, and run: {gates}"
    """What it may do by default."""
    version: tuple[str, ...] = ("--version",)
    """Arguments that make it print its version."""
    help: tuple[str, ...] = ("--help",)
    """Arguments that make it print its flags."""
    flags: tuple[str, ...] = ()
    """The flags that we use, all of which its help must name."""
    homes: tuple[Home, ...] = ()
    """Its directories, as far as they are let into a sandbox."""
    variables: tuple[str, ...] = ()
    """The variables that it heeds, which are let into a sandbox."""


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    """How to start one turn."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables for it; those that the user has set himself are left alone."""
    stdin: str | None = None
    session: str | None = None
    """The session's name, where we choose it."""


def _unheard(line: str, turn: Turn) -> None:
    """Banners and warnings say nothing about the turn."""


def _all_heard(turn: Turn) -> None:
    """Most agents tell everything while they work."""


def _no_status(code: int) -> int | None:
    """Most agents exit with 1 whatever it was."""


@dataclass(frozen=True, kw_only=True)
class Ears:
    """How an adapter understands what its agent prints."""

    event: Callable[[Said, Turn], None]
    line: Callable[[str, Turn], None] = _unheard
    """For what is no JSON object."""
    error_line: Callable[[str, Turn], None] | None = None
    """For what comes on the other stream; without it, that is shown as it comes."""
    status: Callable[[int], int | None] = _no_status
    """The provider's status that an exit code stands for."""
    end: Callable[[Turn], None] = _all_heard
    """For what stands in the agent's own files when it has ended."""


async def take_turn(
    about: About, command: Callable[[Brief], CommandLine], brief: Brief, desk: Desk, ears: Ears
) -> Reply:
    """One turn; where the session to go on with is gone, the turn is taken in a new one."""
    reply = await _attempt(about, command(brief), brief, desk, ears)
    if brief.session and not reply.ok and _LOST.search(reply.detail):
        desk.report(Activity(kind="note", text=f"Session {brief.session} is gone; a new one is begun."))
        brief = replace(brief, session=None, counted=Usage())
        reply = await _attempt(about, command(brief), brief, desk, ears)
    return replace(reply, detail=f"{reply.detail}\n{about.login}") if reply.error == "auth" else reply


async def _attempt(about: About, line: CommandLine, brief: Brief, desk: Desk, ears: Ears) -> Reply:
    fenced = brief.permissions == "gates"
    turn = Turn(desk=desk, counted=brief.counted, session=brief.session or line.session, fenced=fenced)

    def on_line(text: str) -> None:
        said = read(text)
        if said is None:
            ears.line(text, turn)
        else:
            ears.event(said, turn)

    def on_error_line(text: str) -> None:
        if ears.error_line is not None:
            ears.error_line(text, turn)

    env = {name: value for name, value in line.env.items() if name not in os.environ}
    env["PWD"] = str(desk.root)  # some believe it more than their directory
    if desk.walls is not None:
        walls = let_in(desk.walls, about.homes, about.variables, {**os.environ, **desk.env})
        desk = dataclasses.replace(desk, walls=walls)
    ran: Ran | None = None
    missing: AgentUnavailable | None = None
    seconds = None if desk.seconds is None else max(desk.seconds * 0.9, desk.seconds - _MARGIN_SECONDS)
    with move_on_after(seconds) as scope:
        async with create_task_group() as group:
            group.start_soon(_end_what_is_over, turn, group.cancel_scope)
            try:
                ran = await run_cli(
                    line.argv,
                    desk,
                    stdin=line.stdin,
                    env=env,
                    on_line=on_line,
                    on_error_line=on_error_line if ears.error_line else None,
                )
                turn.status = turn.status or ears.status(ran.status)
            except GaveUp:  # the listener ended the turn, and `turn` knows why
                pass
            except AgentUnavailable as error:
                missing = AgentUnavailable(f"{error} Install it with `{about.install}`.")
            group.cancel_scope.cancel()
    if missing is not None:
        raise missing
    await to_thread.run_sync(ears.end, turn)
    reply = turn.reply(ran, about.permit)
    if scope.cancelled_caught and not reply.ok:
        ending = f"ended after {show_duration(seconds or 0)}, all it had"
        return replace(reply, error="timeout", detail=ending, retry_at=None)
    return reply


async def _end_what_is_over(turn: Turn, scope: CancelScope) -> None:
    """An agent that has said its last word and does not leave is helped out."""
    idle = 0
    while idle < _LINGER_SECONDS:
        await sleep(1)
        idle = idle + 1 if turn.over else 0
    scope.cancel()
