"""stop, cancel, pause, steer and answer: the verbs that send something to a run."""

from __future__ import annotations

import secrets
import time
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.receive import Answer, Arrival, Cancel, Pause, Steer, Stop
from untilgreen.engine.mail import conclude, deliver
from untilgreen.errors import UserError
from untilgreen.surfaces.cli import completing
from untilgreen.surfaces.cli.look import me, refuse_agents
from untilgreen.surfaces.cli.options import HERE, Place, Run
from untilgreen.surfaces.cli.say import out

Reason = Annotated[str | None, Parameter(name="--reason", help="Why, for the record.")]


def stop(run: Run = "@last", /, *, reason: Reason = None, place: Place = HERE) -> int:
    """End a run after the lap under way.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    """
    stop = Stop(at=time.time(), by=me(), reason=reason or "stopped by command")
    return _send(run, place, stop, "will end after this lap")


def cancel(run: Run = "@last", /, *, reason: Reason = None, place: Place = HERE) -> int:
    """End a run now; the agent's turn is ended with everything it started.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    """
    cancel = Cancel(at=time.time(), by=me(), reason=reason or "cancelled by command")
    return _send(run, place, cancel, "is cancelled")


def pause(run: Run = "@last", /, *, reason: Reason = None, place: Place = HERE) -> int:
    """Let a run start no further turn; `untilgreen resume` goes on.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    """
    pause = Pause(at=time.time(), by=me(), reason=reason or "paused by command")
    return _send(run, place, pause, "starts no further turn")


def steer(run: Run, note: str, /, *, place: Place = HERE) -> int:
    """Leave a note for the agent's next brief; the turn under way is not disturbed.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    note
        What the agent should know.
    """
    steer = Steer(at=time.time(), by=me(), id=secrets.token_hex(8), note=note)
    return _send(run, place, steer, "will tell its agent")


def answer(
    run: Run,
    choice: Annotated[str, Parameter(completer=completing.answers)],
    argument: str | None = None,
    /,
    *,
    note: Annotated[str, Parameter(help="Something for the agent to know.")] = "",
    as_: Annotated[str | None, Parameter(name="--as", help="Who answers. Default: your user name.")] = None,
    place: Place = HERE,
) -> int:
    """Answer the question that a run asks, approve what it did, or allow a change.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    choice
        One of the choices that the run offers, for example continue, accept, stop or rollback;
        approve or reject for an approval gate; allow for a path that the agent may change.
    argument
        What the choice needs: the lap for rollback, the name for agent, the path for allow.
    """
    refuse_agents("answer", place.store().state_dir)
    reply = Answer(at=time.time(), by=as_ or me(), choice=choice, argument=argument, note=note)
    return _send(run, place, reply, "has its answer")


def _send(run: str, place: Place, arrival: Arrival, taken: str) -> int:
    folder, store = place.find(run), place.store()

    async def send() -> str:
        refused = await deliver(folder, arrival)
        if refused and not isinstance(arrival, Stop | Cancel):
            return refused
        ended = await conclude(folder, store)  # also what one that was killed after its word left to do
        return "" if ended else refused

    refused = anyio.run(send)
    if refused:
        raise UserError(refused)
    out(f"Run {folder.id} {taken}.")
    return 0
