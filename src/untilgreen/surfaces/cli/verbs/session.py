"""session: loops in an agent's own session."""

from __future__ import annotations

import os
from typing import Annotated

import anyio
from cyclopts import App, Parameter

from untilgreen.config.sources.from_text import gates_from
from untilgreen.core.exit_codes import NOT_GREEN, OK
from untilgreen.engine import session_loop, session_start
from untilgreen.engine.session_plan import LoopRequest
from untilgreen.engine.store.notes import session_notes
from untilgreen.engine.store.session_runs import SessionRun, found
from untilgreen.errors import JournalError, UserError, readable
from untilgreen.surfaces.cli import completers
from untilgreen.surfaces.cli.caller import me
from untilgreen.surfaces.cli.options import HERE, OPTIONS, UNNEGATED, FleetPlace, Json, LocalPlace
from untilgreen.surfaces.cli.verbs.hook import Agent
from untilgreen.surfaces.hook import answers
from untilgreen.surfaces.hook.session_line import line_of
from untilgreen.surfaces.install.targets import TARGETS, Target
from untilgreen.surfaces.text.printing import out, out_json, tell, version_line
from untilgreen.surfaces.text.safe_text import inert_lines, short

START_SECONDS = 90.0
"""Gates of the baseline that take longer are ended; an agent gives its commands two minutes."""

app = App(
    name="session",
    help="Manage a loop in an agent's session.",
    default_parameter=UNNEGATED,
    group_parameters=OPTIONS,
)

Session = Annotated[
    str | None, Parameter(name="--session", metavar="ID", help="The session (default: the one this runs in).")
]
AgentName = Annotated[Agent | None, Parameter(name="--agent", help="The agent of the session.")]


@app.command
def start(
    task: str,
    /,
    *,
    session: Session = None,
    agent: AgentName = None,
    max_iterations: Annotated[
        str | None, Parameter(metavar="N", help="Maximum number of laps (default: 20).")
    ] = None,
    completion_promise: Annotated[
        str | None,
        Parameter(metavar="TEXT", help="Text with which the agent says that it is done (default: DONE)."),
    ] = None,
    description: Annotated[str, Parameter(metavar="TEXT", help="A short description.")] = "",
    gate: Annotated[
        list[str] | None, Parameter(metavar="CMD", help="A gate: a command, or NAME=CMD. Repeat for more.")
    ] = None,
    strategy: Annotated[
        str | None,
        Parameter(completer=completers.strategies, metavar="NAME", help="The strategy (default: ralph)."),
    ] = None,
    replace: Annotated[bool, Parameter(help="Replace this session's loop.")] = False,
    take: Annotated[
        bool, Parameter(help="Take the directory over from another session that works in it.")
    ] = False,
    place: LocalPlace = HERE,
) -> int:
    """Start a loop in a session, and print its first brief.

    From then on the session's stop hook answers with the next brief, until the gates are green and the agent
    has given its promise. Needs the hooks of `untilgreen install`.

    Parameters
    ----------
    task
        What to do.
    """
    name = named(session)
    wish = LoopRequest(
        session=name,
        agent=agent or _agent(),
        task=readable(task, "The task"),
        directory=place.start,
        max_iterations=max_iterations,
        promise=completion_promise,
        description=description,
        gates=gates_from(gate or []),
        strategy=strategy,
        replace=replace,
        take=take,
    )

    async def begin() -> SessionRun:
        return await session_start.begin(wish, place.store(), seconds=START_SECONDS)

    return _hand_over(anyio.run(begin), begun=True)


@app.command
def go(
    run: Annotated[str | None, Parameter(completer=completers.runs)] = None,
    /,
    *,
    session: Session = None,
    agent: AgentName = None,
    take: Annotated[bool, Parameter(help="Take the run over from a session that works on it.")] = False,
    place: FleetPlace = HERE,
) -> int:
    """Continue the loop that waits in a session, or take over a run.

    Parameters
    ----------
    run
        The run to take over into this session: a run id, a prefix of one, or @last.
    """
    name, store = named(session), place.store()

    async def going() -> SessionRun:
        if run is None:
            return await session_loop.go(name, store, by=me(), seconds=START_SECONDS)
        whose = agent or _agent()
        return await session_loop.adopt(place.find(run), name, whose, store, take=take, seconds=START_SECONDS)

    return _hand_over(anyio.run(going))


@app.command
def cancel(*, session: Session = None, place: LocalPlace = HERE) -> int:
    """Stop the loop of a session now; the files stay as they are."""
    name, store = named(session), place.store()

    async def ending() -> SessionRun | None:
        return await session_loop.cancel(name, store, by=me())

    session_run = anyio.run(ending)
    if session_run is None:
        tell(session_loop.no_loop(f"in session {name!r}"))
        return NOT_GREEN
    out(answers.resting(session_run.state))
    return OK


@app.command
def state(*, session: Session = None, place: LocalPlace = HERE, json: Json = False) -> int:
    """Show the loop of a session, or the one in this directory."""
    store = place.store()
    if session is None and _surrounding() is None:
        session_run, where = anyio.run(session_loop.found_in, store, place.start), "in this directory"
    else:
        name = named(session)
        session_run, where = found(store, name), f"in session {name!r}"
    if session_run is None:
        tell(session_loop.no_loop(where))
        return NOT_GREEN
    if json:
        version_line()
        out_json(line_of(session_run))
    else:
        _row(session_run)
    return OK


@app.command
def active(*, session: Session = None, place: LocalPlace = HERE) -> int:
    """Exit with 0 if a session has a loop that is not over, otherwise with 1; for scripts."""
    session_run = found(place.store(), named(session))
    return OK if session_run is not None and session_run.state.outcome is None else NOT_GREEN


@app.command(name="list")
def list_sessions(*, place: LocalPlace = HERE, json: Json = False) -> int:
    """List the sessions that have a loop."""
    store = place.store()
    if json:
        version_line()
    for note in session_notes.notes(store):
        try:
            session_run = found(store, note.session)
        except JournalError as error:
            tell(f"error: {inert_lines(str(error))}")
            continue
        if session_run is not None and json:
            out_json(line_of(session_run))
        elif session_run is not None:
            _row(session_run)
    return OK


def named(session: str | None) -> str:
    """The session: the one that was named, or the one whose variable is set."""
    if session is not None:
        if not session.strip():
            raise UserError("--session is empty. Name the agent's session.")
        return readable(session, "The session")
    target = _surrounding()
    if target is None:
        raise UserError(
            "No session was named, and this command does not run in one. Name it with --session ID, "
            "or use /ralph in the session."
        )
    return os.environ[target.session_variable]


def _agent() -> str:
    """The agent in whose session this command runs; without one, --agent is needed."""
    target = _surrounding()
    if target is None:
        raise UserError(f"Name the agent of the session with --agent: {', '.join(TARGETS)}.")
    return target.name


def _surrounding() -> Target | None:
    """The agent in whose session this command runs."""
    return next((each for each in TARGETS.values() if os.environ.get(each.session_variable)), None)


def _hand_over(session_run: SessionRun, *, begun: bool = False) -> int:
    """Print the brief for the agent on stdout, everything else for the person on stderr."""
    brief = session_run.brief
    tell(inert_lines(answers.typed(answers.of(session_run, begun=begun).toast, session_run.note.agent)))
    if brief is None:
        return NOT_GREEN
    out(inert_lines(brief.text))
    return OK


def _row(session_run: SessionRun) -> None:
    line = line_of(session_run)
    most = f"/{line.max_iterations}" if line.max_iterations else ""
    out(f"{line.run}  {line.agent} {line.session_id}  lap {line.iteration}{most}  {short(line.prompt, 60)}")
    if line.waits:
        out(f"  {inert_lines(line.waits)}")
