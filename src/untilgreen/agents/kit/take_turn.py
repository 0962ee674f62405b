"""Takes one turn of a command-line agent: starts the program, listens to it, and makes a reply."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from anyio import CancelScope, create_task_group, move_on_after, sleep, to_thread
from msgspec.structs import replace

from untilgreen.agents.kit.json_lines import JsonObject, read
from untilgreen.agents.kit.run_cli import Ran, run_cli
from untilgreen.agents.kit.sandbox_homes import Home, with_homes
from untilgreen.agents.kit.turn import GaveUp, Turn
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Reply, Usage
from untilgreen.core.values.units import show_duration
from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Activity, TurnContext
from untilgreen.process.talk import Talk
from untilgreen.regex import regex

_MARGIN_SECONDS = 5.0
"""How long before the engine's deadline we end a turn here, so that its session and usage are kept."""
_LINGER_SECONDS = 10
"""How long an agent may keep running after it said that its turn is over."""
_LOST = regex(
    r"no (conversation|rollout|session|thread|chat)s? (was |were )?found|(session|conversation) not found"
    r"|invalid session|no such session|does not exist.{0,20}session",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class About:
    """What a person must know to use an agent, shown if it is missing, logged out or denied something."""

    install: str
    """The command that installs it."""
    login: str
    """How to log in, as a sentence."""
    permit: str
    """How to allow more than editing files and running the gates, as a sentence."""
    fenced: str = "edit files, and run: {gates}"
    """What it may do by default."""
    version: tuple[str, ...] = ("--version",)
    """Arguments that make it print its version."""
    help: tuple[str, ...] = ("--help",)
    """Arguments that make it print its flags."""
    flags: tuple[str, ...] = ()
    """The flags that we use, all of which its help must name."""
    homes: tuple[Home, ...] = ()
    """Those of its directories that a sandbox shows."""
    variables: tuple[str, ...] = ()
    """The variables that it reads, which are passed into a sandbox."""
    status: tuple[str, ...] = ()
    """Arguments that make it print whether somebody is logged in, without a turn."""
    logged_out: str = ""
    """A pattern of what it prints if nobody is; any other output proves nothing."""
    tells_cost: bool = False
    """Whether it reports the cost of its turns."""
    tells_all_tokens: bool = True
    """Whether the tokens that it reports are those of the whole turn, not of its last request only."""
    root_needs: str = ""
    """The variable that must be 1 for root, or it refuses to permit everything."""


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    """How to start one turn."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    """Its variables; those that the user has set take precedence."""
    stdin: str | Talk | None = None
    """Its whole input, or a conversation that continues while it works."""
    session: str | None = None
    """The session's name, if we choose it."""


def _ignore_line(line: str, turn: Turn) -> None:
    """Banners and warnings have no effect."""


def _nothing_more(turn: Turn) -> None:
    """Most agents report everything while they work."""


def _no_status(code: int) -> int | None:
    """Most agents exit with 1 for any failure."""


@dataclass(frozen=True, kw_only=True)
class Listeners:
    """How an adapter handles what its agent prints."""

    event: Callable[[JsonObject, Turn], None]
    line: Callable[[str, Turn], None] = _ignore_line
    """For lines that are not JSON objects."""
    error_line: Callable[[str, Turn], None] | None = None
    """For lines on stderr; without it they are shown as they come."""
    status: Callable[[int], int | None] = _no_status
    """The provider's status that an exit code stands for."""
    end: Callable[[Turn], None] = _nothing_more
    """Called when the agent has ended, for what is in its own files."""


async def take_turn(
    about: About,
    command: Callable[[Brief], CommandLine],
    brief: Brief,
    context: TurnContext,
    listeners: Listeners,
) -> Reply:
    """Take one turn; if the session to continue is gone, take it in a new one."""
    reply = await _attempt(about, command(brief), brief, context, listeners)
    if brief.session and not reply.ok and _LOST.search(reply.detail):
        context.report(Activity(kind="note", text=f"Session {brief.session} is gone; starting a new one."))
        brief = replace(brief, session=None, counted=Usage())
        reply = await _attempt(about, command(brief), brief, context, listeners)
    return replace(reply, detail=f"{reply.detail}\n{about.login}") if reply.error == "auth" else reply


async def _attempt(
    about: About, line: CommandLine, brief: Brief, context: TurnContext, listeners: Listeners
) -> Reply:
    fenced = brief.permissions == "gates"
    turn = Turn(context=context, counted=brief.counted, session=brief.session or line.session, fenced=fenced)

    def on_line(text: str) -> None:
        said = read(text)
        if said is None:
            listeners.line(text, turn)
        else:
            listeners.event(said, turn)

    def on_error_line(text: str) -> None:
        if listeners.error_line is not None:
            listeners.error_line(text, turn)

    env = {name: value for name, value in line.env.items() if name not in os.environ}
    env["PWD"] = str(context.root)  # some agents trust it more than their working directory
    if context.sandbox is not None:
        sandbox = with_homes(context.sandbox, about.homes, about.variables, {**os.environ, **context.env})
        context = replace(context, sandbox=sandbox)
        env |= {about.root_needs: "1"} if about.root_needs else {}
    ran: Ran | None = None
    missing: AgentUnavailable | None = None
    seconds = (
        None if context.seconds is None else max(context.seconds * 0.9, context.seconds - _MARGIN_SECONDS)
    )
    with move_on_after(seconds) as scope:
        async with create_task_group() as group:
            group.start_soon(_end_what_is_over, turn, group.cancel_scope)
            try:
                ran = await run_cli(
                    line.argv,
                    context,
                    stdin=line.stdin,
                    env=env,
                    on_line=on_line,
                    on_error_line=on_error_line if listeners.error_line else None,
                    install=about.install,
                )
                turn.status = turn.status or listeners.status(ran.status)
            except GaveUp:  # a listener ended the turn, and `turn` knows why
                pass
            except AgentUnavailable as error:
                missing = error
            group.cancel_scope.cancel()
    if missing is not None:
        raise missing
    await to_thread.run_sync(listeners.end, turn)
    reply = replace(turn.reply(ran, about.permit), exit_code=None if ran is None else ran.status)
    if scope.cancelled_caught and not reply.ok:
        ending = f"ended after {show_duration(seconds or 0)}, its time limit"
        return replace(reply, error="timeout", detail=ending, retry_at=None)
    return reply


async def _end_what_is_over(turn: Turn, scope: CancelScope) -> None:
    """End an agent that keeps running after its turn is over."""
    idle = 0
    while idle < _LINGER_SECONDS:
        await sleep(1)
        idle = idle + 1 if turn.over else 0
    scope.cancel()
