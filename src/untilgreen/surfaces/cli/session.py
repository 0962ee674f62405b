"""session: loops inside of an agent's own session."""

from __future__ import annotations

import os
from typing import Annotated

import anyio
from cyclopts import App, Parameter

from untilgreen.config.written import gates_from
from untilgreen.core.exits import NOT_GREEN, OK
from untilgreen.engine import inside, sessions
from untilgreen.engine.inside import Standing, Wish
from untilgreen.errors import JournalError, UserError, readable
from untilgreen.surfaces.cli import completing
from untilgreen.surfaces.cli.hook import Agent
from untilgreen.surfaces.cli.look import me
from untilgreen.surfaces.cli.options import HERE, Json, Place
from untilgreen.surfaces.cli.say import out, out_json, tell, version_line
from untilgreen.surfaces.hook import answers
from untilgreen.surfaces.hook.flags import AGENTS
from untilgreen.surfaces.sessions import line_of
from untilgreen.surfaces.text import inert_lines, short

START_SECONDS = 90.0
"""Gates of the baseline that take longer are ended; an agent gives its commands two minutes."""
KNOWN = {
    "CLAUDE_CODE_SESSION_ID": "claude",
    "CODEX_THREAD_ID": "codex",
    "COPILOT_AGENT_SESSION_ID": "copilot",
    "QWEN_CODE_SESSION_ID": "qwen",
}
"""Variables with which agents tell the session that a command runs in."""

app = App(name="session", help="Start, end and look at a loop inside of an agent's session.")

Session = Annotated[
    str | None, Parameter(name="--session", help="Whose loop. Default: the session this runs in.")
]
AgentName = Annotated[Agent | None, Parameter(name="--agent", help="Whose session it is.")]


@app.command
def start(
    task: str,
    /,
    *,
    session: Session = None,
    agent: AgentName = None,
    max_iterations: Annotated[str | None, Parameter(help="At most so many laps; 20 if not said.")] = None,
    completion_promise: Annotated[str | None, Parameter(help="Its claim; DONE if not said.")] = None,
    description: Annotated[str, Parameter(help="A few words of yours about it.")] = "",
    gate: Annotated[list[str] | None, Parameter(help="A gate: a command, or name=command.")] = None,
    strategy: Annotated[
        str | None, Parameter(completer=completing.strategies, help="When to go on; ralph if not said.")
    ] = None,
    replace: Annotated[bool, Parameter(help="End the loop that this session has.")] = False,
    place: Place = HERE,
) -> int:
    """Start a loop in a session, and print its first brief.

    From now on the session's stop hook answers with the next brief, until the gates are green and the
    promise was given. Needs the hooks that `untilgreen install` writes.

    Parameters
    ----------
    task
        What is wanted, in words.
    """
    name = named(session)
    wish = Wish(
        session=name,
        agent=agent or _agent(session),
        task=readable(task, "The task"),
        directory=place.start,
        max_iterations=max_iterations,
        promise=completion_promise,
        description=description,
        gates=gates_from(gate or []),
        strategy=strategy,
        replace=replace,
    )

    async def begin() -> Standing:
        return await inside.begin(wish, place.store(), seconds=START_SECONDS)

    return _hand_over(anyio.run(begin), begun=True)


@app.command
def go(
    run: Annotated[str | None, Parameter(completer=completing.runs)] = None,
    /,
    *,
    session: Session = None,
    agent: AgentName = None,
    place: Place = HERE,
) -> int:
    """Go on with the loop that waits in a session, or with a run from elsewhere.

    Parameters
    ----------
    run
        A run to take into this session: its id, the beginning of it, or @last.
    """
    name, store = named(session), place.store()

    async def going() -> Standing:
        if run is None:
            return await inside.go(name, store, by=me(), seconds=START_SECONDS)
        whose = agent or _agent(session)
        return await inside.adopt(place.find(run), name, whose, store, seconds=START_SECONDS)

    return _hand_over(anyio.run(going))


@app.command
def cancel(*, session: Session = None, place: Place = HERE) -> int:
    """End the loop of a session now; the files stay as they are."""
    name, store = named(session), place.store()

    async def ending() -> Standing | None:
        return await inside.cancel(name, store, by=me())

    standing = anyio.run(ending)
    if standing is None:
        tell(inside.no_loop(name))
        return NOT_GREEN
    out(answers.resting(standing.state))
    return OK


@app.command
def state(*, session: Session = None, place: Place = HERE, json: Json = False) -> int:
    """Show how the loop of a session stands."""
    name = named(session)
    standing = anyio.run(inside.found, place.store(), name)
    if standing is None:
        tell(inside.no_loop(name))
        return NOT_GREEN
    if json:
        version_line()
        out_json(line_of(standing))
    else:
        _row(standing)
    return OK


@app.command
def active(*, session: Session = None, place: Place = HERE) -> int:
    """Exit with 0 where a session has a loop that is not over, else with 1; for scripts."""
    standing = anyio.run(inside.found, place.store(), named(session))
    return OK if standing is not None and standing.state.outcome is None else NOT_GREEN


@app.command(name="list")
def list_sessions(*, place: Place = HERE, json: Json = False) -> int:
    """List the sessions that have a loop."""
    store = place.store()
    if json:
        version_line()
    for note in sessions.notes(store):
        try:
            standing = anyio.run(inside.found, store, note.session)
        except JournalError as error:
            tell(f"error: {inert_lines(str(error))}")
            continue
        if standing is not None and json:
            out_json(line_of(standing))
        elif standing is not None:
            _row(standing)
    return OK


def named(session: str | None) -> str:
    """The session that is meant: a start that can't name it would loop in somebody else's."""
    if session is not None:
        if not session.strip():
            raise UserError("--session is empty. Name the agent's session.")
        return readable(session, "The session")
    found = next((os.environ[name] for name in KNOWN if os.environ.get(name)), None)
    if found is None:
        raise UserError(
            "No session was named, and none is known here. Name it with --session ID, "
            "or use /ralph inside of the session."
        )
    return found


def _agent(session: str | None) -> str:
    """The agent whose mark is here; whoever names a session of another one names that, too."""
    marked = next((agent for name, agent in KNOWN.items() if os.environ.get(name)), None)
    if marked is None:
        raise UserError(f"Name the agent of the session with --agent: {', '.join(AGENTS)}.")
    return marked


def _hand_over(standing: Standing, *, begun: bool = False) -> int:
    """The brief is for the agent, everything else for the person."""
    brief = standing.brief
    tell(inert_lines(answers.typed(answers.of(standing, begun=begun).toast, standing.note.agent)))
    if brief is None:
        return NOT_GREEN
    out(inert_lines(brief.text))
    return OK


def _row(standing: Standing) -> None:
    line = line_of(standing)
    most = f"/{line.max_iterations}" if line.max_iterations else ""
    out(f"{line.run}  {line.agent} {line.session_id}  lap {line.iteration}{most}  {short(line.prompt, 60)}")
    if line.waits:
        out(f"  {inert_lines(line.waits)}")
