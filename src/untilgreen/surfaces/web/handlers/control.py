"""The operations that change something: each hands a command to the run, as the command line does."""

from __future__ import annotations

import secrets

from untilgreen.core.loop.receive import Answer, Arrival, Cancel, Pause, Resume, Steer, Stop
from untilgreen.engine.driving.end_undriven import end_undriven
from untilgreen.engine.driving.launch import deliver_and_launch, launch
from untilgreen.engine.driving.sending import deliver
from untilgreen.engine.store.reading import status
from untilgreen.engine.wiring.clock import SystemClock
from untilgreen.engine.worktree.premises import LocalPremises
from untilgreen.surfaces.web.api.requests import AnswerBody, Done, LineComment
from untilgreen.surfaces.web.guard import Refusal
from untilgreen.surfaces.web.handlers.call import Call

MOST_QUOTED = 2_000


async def answer(call: Call) -> Done:
    """Answer a question, or approve; an answer to an older question is refused."""
    body: AnswerBody = call.body
    given = Answer(
        at=_now(),
        by=call.person.name,
        question=body.question,
        choice=body.choice,
        argument=body.argument,
        note=body.note,
    )
    return await _send(call, given)


async def steer(call: Call) -> Done:
    """A note for the agent's next brief."""
    return await _send(call, _note(call, call.body.note))


async def comment(call: Call) -> Done:
    """A comment on lines of a diff, as a note that says which lines."""
    body: LineComment = call.body
    run = await call.run()
    if not 1 <= body.lap <= len(run.state.laps):
        raise Refusal(404, "Not found", f"Run {run.id} has no lap {body.lap}.")
    if not body.text.strip():
        raise Refusal(400, "Bad request", "The comment is empty.")
    place = f"line {body.first}" if body.first == body.last else f"lines {body.first}-{body.last}"
    quoted = "".join(f"> {line}\n" for line in body.quoted[:MOST_QUOTED].splitlines())
    return await _send(
        call, _note(call, f"About {body.file}, {place} (lap {body.lap}):\n{quoted}{body.text}")
    )


async def pause(call: Call) -> Done:
    """Pause the run after the current turn."""
    return await _send(call, Pause(at=_now(), by=call.person.name, reason=_reason(call, "paused")))


async def resume(call: Call) -> Done:
    """End a pause, and drive the run again if no process does."""
    run = await call.run()
    if run.state.outcome is not None:
        raise Refusal(409, "Refused", f"Run {run.id} has ended: {run.state.outcome}.")
    if run.state.pause is not None:
        await _send(call, Resume(at=_now(), by=call.person.name))
    if await run.record.driver() is None:
        await run.record.wake() if run.folder is None else await launch(run.folder)
    return Done(run=run.id, status=status((await call.run()).state))


async def stop(call: Call) -> Done:
    """End the run after the current lap."""
    return await _send(call, Stop(at=_now(), by=call.person.name, reason=_reason(call, "stopped")))


async def cancel(call: Call) -> Done:
    """End the run now."""
    return await _send(call, Cancel(at=_now(), by=call.person.name, reason=_reason(call, "cancelled")))


async def _send(call: Call, arrival: Arrival) -> Done:
    run = await call.run()
    folder = run.folder
    if folder is None:  # a worker of its fleet takes it, and drives the run again
        refused = await deliver(run.record, arrival)
    else:
        refused = await deliver_and_launch(folder, arrival)
    if refused:
        raise Refusal(409, "Refused", refused)
    if folder is not None:
        await end_undriven(folder, LocalPremises(call.service.runs.store))
    return Done(run=run.id, status=status((await call.run()).state))


def _note(call: Call, text: str) -> Steer:
    return Steer(at=_now(), by=call.person.name, id=secrets.token_hex(8), note=text)


def _reason(call: Call, verb: str) -> str:
    return call.body.reason or f"{verb} by {call.person.name} on the page"


def _now() -> float:
    return SystemClock().now()
