"""stop, cancel, pause, steer and answer: send something to a run."""

from __future__ import annotations

import os
import shlex
import time
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.loop.fold import fold
from untilgreen.core.loop.receive import ALLOW, APPROVE, REJECT, Answer, Arrival, Cancel, Pause, Steer, Stop
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.launch import deliver_and_launch, goes_on, launch_again
from untilgreen.engine.driving.sending import must_end
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.errors import UserError
from untilgreen.surfaces.cli import completers
from untilgreen.surfaces.cli.caller import me, refuse_agents
from untilgreen.surfaces.cli.options import HERE, Place, Run
from untilgreen.surfaces.text.printing import out
from untilgreen.surfaces.text.questions import choices_of, question_lines
from untilgreen.surfaces.text.safe_text import inert

LAST = "@last"
Reason = Annotated[str | None, Parameter(name="--reason", metavar="TEXT", help="Why, for the journal.")]


def stop(run: Run = "@last", /, *, reason: Reason = None, place: Place = HERE) -> int:
    """Stop a run after the current lap."""
    stop = Stop(at=time.time(), by=me(), reason=reason or "requested with `untilgreen stop`")
    return _send(run, place, stop, "will stop after this lap")


def cancel(run: Run = "@last", /, *, reason: Reason = None, place: Place = HERE) -> int:
    """Stop a run now, and kill the agent's turn."""
    cancel = Cancel(at=time.time(), by=me(), reason=reason or "requested with `untilgreen cancel`")
    return _send(run, place, cancel, "is cancelled")


def pause(run: Run = "@last", /, *, reason: Reason = None, place: Place = HERE) -> int:
    """Pause a run after the current turn; `untilgreen resume` continues it."""
    pause = Pause(at=time.time(), by=me(), reason=reason or "requested with `untilgreen pause`")
    return _send(run, place, pause, "will pause after the current turn")


def steer(run: Run | None = None, note: str | None = None, /, *, place: Place = HERE) -> int:
    """Leave a note for the agent's next turn.

    With one argument, that is the note, and the run is the last one here.

    Parameters
    ----------
    note
        What the agent should know; the current turn is not interrupted.
    """
    if note is None or run is None:
        if run is None or run.startswith("@"):
            raise UserError("There is no note. Write it in quotes: untilgreen steer RUN 'NOTE'")
        run, note = LAST, run
    steer = Steer(at=time.time(), by=me(), id=os.urandom(8).hex(), note=note)
    return _send(run, place, steer, "will pass the note on")


def answer(
    run: Run | None = None,
    choice: Annotated[str | None, Parameter(completer=completers.answers)] = None,
    argument: str | None = None,
    /,
    *,
    note: Annotated[str, Parameter(metavar="TEXT", help="A note for the agent.")] = "",
    as_: Annotated[
        str | None, Parameter(name="--as", metavar="NAME", help="Who answers (default: your user name).")
    ] = None,
    place: Place = HERE,
) -> int:
    """Answer a run's question, approve its result, or allow a change.

    Without RUN, the last run here is answered; without CHOICE, its question is shown.

    Parameters
    ----------
    choice
        A choice that the run offers, such as continue, accept, stop or rollback; approve or reject for an
        approval gate; allow for a path that the agent may change.
    argument
        What the choice needs: a lap for rollback, a name for agent, a path for allow; for other choices, a
        note for the agent.
    """
    refuse_agents("answer", place.store().state_dir)
    run, choice, argument = _whose(run, choice, argument, place)
    reply = Answer(at=time.time(), by=as_ or me(), choice=choice, argument=argument, note=note)
    return _send(run, place, reply, "received the answer")


def _whose(
    run: str | None, choice: str | None, argument: str | None, place: Place
) -> tuple[str, str, str | None]:
    """The run may be left out: then the first word is the answer."""
    if run is None or (choice is None and run.startswith("@")):
        raise UserError(_unanswered(place.find(run or LAST).read().state, place.flags))
    if choice is not None and (argument is not None or run not in _choices(place)):
        return run, choice, argument
    return LAST, run, choice


def _unanswered(state: RunState, flags: str) -> str:
    """The error for a missing answer: the question, and how to answer it."""
    choices = choices_of(state)
    if not choices:
        return f"Run {state.run} is not asking anything. See its state: untilgreen show {state.run}{flags}"
    import shutil

    asked = "\n".join(f"  {each}" for each in question_lines(state, shutil.get_terminal_size().columns - 2))
    command = f"untilgreen answer {state.run} {shlex.quote(inert(choices[0]))}{flags}"
    return f"There is no answer. Run {state.run} asks:\n{asked}\nAnswer it, for example with: {command}"


def _choices(place: Place) -> set[str]:
    """What the last run can be answered with."""
    asked = place.find(LAST).read().state.open_question
    return {*(asked.choices if asked else ()), APPROVE, REJECT, ALLOW}


def _send(run: str, place: Place, arrival: Arrival, taken: str) -> int:
    folder, store = place.find(run), place.store()

    refused = folder.take_at_once(arrival)
    if refused is None or not _done(folder, arrival, refused):
        refused, over = anyio.run(_follow_up, folder, store, arrival, refused)
    else:
        over = folder.read().state.outcome is not None
    if refused:
        more = (
            f" To continue from its files: untilgreen fork {folder.id} --more 10{place.flags}" if over else ""
        )
        raise UserError(refused + more)
    over = over and isinstance(arrival, Stop)  # no lap was running, so the run stopped at once
    out(f"Run {folder.id} {'has ended' if over else taken}.")
    return 0


def _done(folder: FolderRecord, arrival: Arrival, refused: str) -> bool:
    """Whether a recorded command needs nothing more, as is usual; then no event loop is started."""
    state = folder.read().state
    return not (goes_on(state) or (must_end(state) and _may_end(arrival, refused)))


async def _follow_up(
    folder: FolderRecord, store: Store, arrival: Arrival, refused: str | None
) -> tuple[str, bool]:
    """Finish a command, and return why it was refused and whether the run is over now."""
    refused = await _refused(folder, store, arrival, refused)
    now = fold(await folder.open_journal().events())  # a fleet's run is a copy, from before the command
    return refused, now is not None and now.outcome is not None


async def _refused(folder: FolderRecord, store: Store, arrival: Arrival, refused: str | None) -> str:
    """Why a command was refused, empty if it was not; it is sent here unless it already was."""
    if refused is None:
        refused = await deliver_and_launch(folder, arrival)
    else:
        await launch_again(folder)
    if not _may_end(arrival, refused):
        return refused
    return "" if await _ended(folder, store) else refused


def _may_end(arrival: Arrival, refused: str) -> bool:
    """A refused stop or cancel also finishes what an earlier, killed command left undone."""
    return not refused or isinstance(arrival, Stop | Cancel)


async def _ended(folder: FolderRecord, store: Store) -> bool:
    """End the run if a command wants that; only then is the code that drives runs imported."""
    if not must_end((await folder.load()).state):
        return False
    from untilgreen.engine.driving.end_undriven import end_undriven
    from untilgreen.engine.worktree.premises import LocalPremises

    return await end_undriven(folder, LocalPremises(store))
