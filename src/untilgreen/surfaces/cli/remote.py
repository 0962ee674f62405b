"""`--server URL`: verbs that show, control and start the runs of an `untilgreen serve`.

The server sends a run's events, and the same functions fold and print them as for a run on this disk, so the
output is the same.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

from cyclopts import App, Parameter

from untilgreen.errors import UserError
from untilgreen.surfaces.cli.options import Json, MostRuns
from untilgreen.surfaces.text.printing import ascii_only, out, out_json, summarize, tell, version_line

if TYPE_CHECKING:
    from untilgreen.client import Client
    from untilgreen.core.values.events import Event
    from untilgreen.core.values.state import RunState

TOKEN = "UNTILGREEN_SERVER_TOKEN"
"""The variable with the token of a server that is not on this machine."""
LAST = "@last"
Server = Annotated[str, Parameter(metavar="URL", help="The address of the server.")]
Run = Annotated[str, Parameter(help="A run id, a prefix of one, or @last.")]
Reason = Annotated[str, Parameter(metavar="TEXT", help="Why, for the journal.")]
app = App(name="untilgreen", help="The commands that work with --server.")


def verb_app(arguments: list[str]) -> App:
    """The parser of these verbs; another verb is refused by name."""
    verb = arguments[0]
    names = sorted(name for name in app if not name.startswith("-"))
    if verb not in names:
        raise UserError(f"`untilgreen {verb}` doesn't take --server. These do: {', '.join(names)}.")
    return app


def connect(server: str) -> Client:
    """A client with the token: of the address, the environment, or the file of a server on this machine."""
    from untilgreen.client import Client

    parts = urlsplit(server)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"--server takes an address such as http://127.0.0.1:7878, not {server!r}.")
    if parts.fragment or os.environ.get(TOKEN):
        return Client(server, "" if parts.fragment else os.environ[TOKEN])
    if parts.hostname in ("127.0.0.1", "localhost", "::1"):
        return Client.local(parts.port or 80)
    raise UserError(
        f"The server at {parts.netloc} needs a token. Set {TOKEN}, or append #TOKEN to the address."
    )


@app.command(name="list")
def list_runs(
    *,
    server: Server,
    status: Annotated[str, Parameter(help="Only runs with this status.")] = "",
    limit: MostRuns = 30,
    json: Json = False,
) -> int:
    """List the server's runs, newest first."""
    from untilgreen.core.values.run_row import RunRow
    from untilgreen.surfaces.cli.verbs.list import HEADER, show_row

    with connect(server) as client:
        found = client.list_runs(limit=max(1, min(limit, 200)), status=status).runs
    if json:
        version_line()
    elif found:
        out(HEADER)
    for run in found:
        over = run.status not in ("open", "waiting", "paused", "damaged")
        row = RunRow(
            status=run.status,
            outcome=run.status if over else None,
            laps=run.laps,
            score=run.score,
            cost=run.cost,
            tokens=run.tokens,
            title=run.title,
            updated=run.updated,
            scores=run.scores,
            agent=run.agent,
            started=run.started or 0.0,
            elapsed=run.elapsed,
        )
        show_row(run.run, row, "running" if run.running and run.status == "open" else run.status, json=json)
    return 0


@app.command
def show(run: Run = LAST, /, *, server: Server, json: Json = False) -> int:
    """Show a run."""
    from untilgreen.surfaces.text import summary

    with connect(server) as client:
        name = _find(client, run)
        known = client.show_run(name)
        state, head, driven = _state(client, name), known.head, known.running
    if json:
        version_line()
        out_json(summary.as_json(state, head, driven=driven))
        return 0
    out(f"{state.run}  {state.plan.title}")
    summarize(state, _flags(server), seen=True, driven=driven)
    return 0


@app.command
def why(run: Run = LAST, /, *, server: Server, json: Json = False) -> int:
    """Explain a run's outcome and suggest next steps."""
    from untilgreen.surfaces.cli.verbs.why import show_reasons
    from untilgreen.surfaces.why.evidence import reasons

    with connect(server) as client:
        name = _find(client, run)
        driven = client.show_run(name).running
        explained = reasons(_state(client, name), flags=_flags(server), driven=driven)
    return show_reasons(explained, json=json)


@app.command
def follow(run: Run = LAST, /, *, server: Server, json: Json = False) -> int:
    """Watch a run until it ends or waits; Ctrl-C stops watching, not the run."""
    with connect(server) as client:
        return _watch(client, _find(client, run), server, json=json)


@app.command
def report(
    run: Run = LAST,
    /,
    *,
    server: Server,
    format_: Annotated[
        Literal["html", "md", "json", "junit", "text"], Parameter(name="--format", help="The format.")
    ] = "md",
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], metavar="FILE", help="Write to this file.")
    ] = None,
) -> int:
    """Write a report on a run."""
    from untilgreen.surfaces.text import streams

    with connect(server) as client:
        text = client.report(_find(client, run), format_)
    if output is None:
        streams.write_bytes(sys.stdout, text)
        return 0
    try:
        output.expanduser().write_bytes(text)
    except OSError as error:
        raise UserError(f"{output} can't be written: {error.strerror}. Name another file.") from error
    tell(f"Wrote {output}")
    return 0


@app.command
def answer(
    run: Run,
    choice: str,
    argument: str | None = None,
    /,
    *,
    server: Server,
    note: Annotated[str, Parameter(metavar="TEXT", help="A note for the agent.")] = "",
) -> int:
    """Answer a run's question, or approve its result."""
    with connect(server) as client:
        name = _find(client, run)
        question = client.show_run(name).question
        known = question.id if question is not None else ""
        client.answer(name, choice, question=known, note=note, argument=argument)
    out(f"Run {name} received the answer.")
    return 0


@app.command
def steer(run: Run, note: str, /, *, server: Server) -> int:
    """Leave a note for the agent's next turn."""
    with connect(server) as client:
        name = client.steer(_find(client, run), note).run
    out(f"Run {name} will pass the note on.")
    return 0


@app.command
def pause(run: Run = LAST, /, *, server: Server, reason: Reason = "") -> int:
    """Pause a run after the current turn."""
    return _control(server, run, "pause", reason, "will pause after the current turn")


@app.command
def resume(run: Run = LAST, /, *, server: Server, reason: Reason = "") -> int:
    """Continue a paused or interrupted run, on the server's machine."""
    return _control(server, run, "resume", reason, "continues")


@app.command
def stop(run: Run = LAST, /, *, server: Server, reason: Reason = "") -> int:
    """Stop a run after the current lap."""
    return _control(server, run, "stop", reason, "will stop after the current lap")


@app.command
def cancel(run: Run = LAST, /, *, server: Server, reason: Reason = "") -> int:
    """Stop a run now, and kill the agent's turn."""
    return _control(server, run, "cancel", reason, "is cancelled")


@app.command(name="run")
def start(
    task: str = "",
    /,
    *,
    server: Server,
    agent: Annotated[str, Parameter(name=["--agent", "-a"], help="The agent.")] = "",
    gate: Annotated[
        list[str] | None, Parameter(name=["--gate", "-g"], metavar="CMD", help="A gate. Repeat for more.")
    ] = None,
    max_iterations: Annotated[str, Parameter(metavar="N", help="Maximum number of laps.")] = "",
    max_cost: Annotated[str, Parameter(metavar="USD", help="Maximum cost.")] = "",
    worktree: Annotated[bool, Parameter(help="Work in a git worktree.")] = False,
    directory: Annotated[
        str, Parameter(name=["--cd", "-C"], metavar="DIR", help="A directory of the server's machine.")
    ] = "",
    trust: Annotated[bool, Parameter(help="Trust the spec file there, as the plan shows it.")] = False,
    detach: Annotated[bool, Parameter(help="Return at once; don't watch the run.")] = False,
    json: Json = False,
) -> int:
    """Start a run on the server's machine, within its --root directories, and watch it."""
    from msgspec.structs import replace

    from untilgreen.config.sources.from_text import gates_from
    from untilgreen.core.values.model import WORKTREE
    from untilgreen.surfaces.web.api.requests import NewRun

    spec = {
        "task": task,
        "agent": agent,
        "gates": gates_from(gate or []),
        "limits": {"cost": max_cost} if max_cost else None,
        "workspace": {"mode": WORKTREE} if worktree else None,
    }
    given = {key: value for key, value in spec.items() if value}
    new = NewRun(workspace=directory, spec=given, max_iterations=max_iterations)
    with connect(server) as client:
        if needed := client.plan(new).trust:
            if not trust:
                lines = "\n".join(f"  {line}" for line in needed.lines)
                raise UserError(
                    f"{needed.path} is not trusted there. It would run:\n{lines}\nAccept it with --trust."
                )
            new = replace(new, trust=needed.digest)
        name = client.start_run(new).run
        if detach:
            out(name)
            return 0
        return _watch(client, name, server, json=json)


@app.command
def fork(
    run: Annotated[str, Parameter(help="RUN@LAP, such as @last@3.")],
    /,
    *,
    server: Server,
    note: Annotated[str, Parameter(metavar="TEXT", help="A note for the agent.")] = "",
    detach: Annotated[bool, Parameter(help="Return at once; don't watch the run.")] = False,
    json: Json = False,
) -> int:
    """Start another run from the files of a lap, on the server's machine, and watch it."""
    from untilgreen.surfaces.cli.lap_names import laps
    from untilgreen.surfaces.web.api.requests import ForkRun

    text, lap, _ = laps(run)
    with connect(server) as client:
        name = _find(client, text)
        best = client.show_run(name).best
        number = int(lap) if lap and lap.isdecimal() else best.lap if best else 0
        made = client.fork(name, ForkRun(lap=number, note=note)).run
        if detach:
            out(made)
            return 0
        return _watch(client, made, server, json=json)


def _control(server: str, run: str, verb: str, reason: str, taken: str) -> int:
    with connect(server) as client:
        name = client.control(_find(client, run), verb, reason).run
    out(f"Run {name} {taken}.")
    return 0


def _find(client: Client, text: str) -> str:
    """A run by id, unique prefix or `@last`."""
    from untilgreen.engine.store import run_ids

    if run_ids.is_one(text):
        return text
    names = [run.run for run in client.list_runs(limit=200).runs]
    if text == LAST and names:
        return names[0]
    fitting = [name for name in names if name.startswith(text)]
    if len(fitting) == 1:
        return fitting[0]
    some = f"several runs: {', '.join(fitting[:5])}" if fitting else "no run on the server"
    raise UserError(f"{text!r} names {some}. See them with: untilgreen list --server URL")


def _state(client: Client, run: str) -> RunState:
    """The state of a run as it is now, from its events."""
    from untilgreen.core.loop.fold import fold

    position = client.show_run(run).position
    events: list[Event] = []
    for at, line in client.follow(run):
        events.append(line.event)
        if at >= position:
            break
    state = fold(events)
    if state is None:
        raise UserError(f"Run {run} has no events yet.")
    return state


def _watch(client: Client, run: str, server: str, *, json: bool) -> int:
    from untilgreen.core.exit_codes import SIGINT, exit_code
    from untilgreen.core.loop.fold import apply
    from untilgreen.surfaces.text import summary
    from untilgreen.surfaces.text.event_lines import line as words_of

    state: RunState | None = None
    if json:
        version_line()
    try:
        for _, line in client.follow(run):
            state = apply(state, line.event)
            if json:
                out_json(line)
            elif words := words_of(line.event, state, ascii_only=ascii_only()):
                out(words)
            if state.open_question is not None and state.outcome is None:
                break  # it waits for a person, and may for a long time
    except KeyboardInterrupt:
        tell(f"The run continues. Watch it again: untilgreen follow {run}{_flags(server)}")
        return SIGINT
    if state is None:
        raise UserError(f"Run {run} has no events yet.")
    if json:
        out_json(summary.as_json(state, client.show_run(run).head))
    else:
        summarize(state, _flags(server))
    return exit_code(state)


def _flags(server: str) -> str:
    """What a printed command has to repeat; never the token."""
    return f" --server {shlex.quote(server.partition('#')[0])}"
