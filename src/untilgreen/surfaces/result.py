"""The end of a run, or where it stands: for programs as one object, for people as a few lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from untilgreen.core.exits import exit_code
from untilgreen.core.model import IN_PLACE, Outcome
from untilgreen.core.standing import flakes, standings
from untilgreen.core.state import Iteration, RunState
from untilgreen.core.step import undecided
from untilgreen.core.units import several, show_duration
from untilgreen.engine.places import DIRTY, FORKED, MORE, branch_of, in_worktree
from untilgreen.engine.told import status
from untilgreen.surfaces.picture import picture
from untilgreen.surfaces.render import how_to_answer
from untilgreen.surfaces.text import folded, inert, short

MOST_NAMED = 5

if TYPE_CHECKING:
    from untilgreen.surfaces.output import Lap, Result

GOOD = (Outcome.CONVERGED, Outcome.ACCEPTED, Outcome.CLAIMED)


def as_json(state: RunState, head: str = "") -> Result:
    """The result as `show --json` and the last line of `run --json` have it."""
    from untilgreen.surfaces.output import Result

    return Result(
        run=state.run,
        status=status(state),
        outcome=state.outcome,
        reason=state.reason or (state.ending.reason if state.ending else ""),
        exit_code=exit_code(state),
        task=state.plan.task,
        labels=state.plan.labels,
        agent=state.agent,
        strategy=state.plan.strategy.name,
        limits=state.plan.limits,
        elapsed=state.elapsed,
        waited=state.waited,
        tokens=state.spent.tokens,
        cost=state.spent.cost,
        laps=len(state.iterations),
        best=state.best,
        final_snapshot=state.final_snapshot,
        workspace=state.plan.workspace.get("mode", IN_PLACE),
        branch=branch_of(state),
        commit=state.commit,
        commits=state.commits,
        dirty=state.plan.workspace.get(DIRTY, []),
        verdicts=state.last.verdicts if state.last else {},
        baseline=standings(state.plan, state.baseline.verdicts) if state.baseline else {},
        flaky=flakes(state),
        question=state.asked,
        iterations=[_lap(lap) for lap in state.iterations],
        head=head,
    )


def _lap(lap: Iteration) -> Lap:
    from untilgreen.surfaces.output import Lap

    return Lap(
        number=lap.number,
        agent=lap.agent,
        started=lap.started,
        duration=lap.duration,
        tokens=lap.tokens,
        cost=lap.cost,
        error=lap.reply.error,
        reply=lap.reply.text,
        claim=lap.claim,
        snapshot=lap.snapshot,
        score=lap.score,
        verdicts=lap.verdicts,
        failing=sorted(lap.failing),
        signals=lap.signals,
        decision=lap.decision,
    )


def summary(
    state: RunState,
    *,
    width: int,
    ascii_only: bool,
    flags: str = "",
    wrapped: bool = False,
    seen: bool = False,
) -> list[str]:
    """What a person wants to know when a run was left; `flags` end every command that is named.

    Whoever has `seen` what `show` tells is sent further.
    """
    wide = width if wrapped else sys.maxsize
    lines = [picture(state, width=width, ascii_only=ascii_only), ""]
    lines += folded(f"{status(state)}: {short(why(state), 400)}", wide)
    if state.outcome is Outcome.CLAIMED:
        lines.append("Nothing checked this: the run had no gate. Add one with --gate next time.")
    spent = f", ${state.spent.cost:.2f}" if state.spent.cost else ""
    tokens = f", {state.spent.tokens:,} tokens" if state.spent.tokens else ""
    laps = several(len(state.iterations), "lap")
    lines.append(f"{laps} in {show_duration(state.elapsed)}{tokens}{spent}")
    lines += _flaky(state) + _what_is_left(state) + _own_commits(state)
    return lines + _how_to_go_on(state, flags, seen=seen)


def why(state: RunState) -> str:
    """Why a run stands where it stands, in one sentence."""
    if state.outcome is not None:
        return state.reason
    if state.halted is not None:
        return state.halted.detail or state.halted.cause
    if state.asked is not None:
        return state.asked.question
    if (gate := undecided(state)) is not None:
        people = ", ".join(map(str, gate.options.get("people", ()))) or "somebody"
        return f"gate {gate.name!r} waits for {people} to approve"
    if state.pause is not None:
        return state.pause.reason
    return "the run can go on"


def _flaky(state: RunState) -> list[str]:
    """Gates that can't be trusted, however the run ended."""
    return [
        f"Flaky: {inert(name)} changed its mind on the same files in lap{'' if len(laps) == 1 else 's'} "
        f"{', '.join(map(str, laps))}. Try `untilgreen check --repeat 5`."
        for name, laps in flakes(state).items()
    ]


def _what_is_left(state: RunState) -> list[str]:
    best = state.best
    if state.outcome is None or not state.iterations or best is None or best.snapshot is None:
        return []
    if state.final_snapshot == best.snapshot and state.outcome not in GOOD:
        untouched = " (before the first turn)" if best.lap == 0 else ""
        return [f"The files are those of lap {best.lap}{untouched}, the best one."]
    return []


def _how_to_go_on(state: RunState, flags: str, *, seen: bool) -> list[str]:
    go_on = f"Go on with: untilgreen resume {state.run}{flags}"
    if state.outcome is None:
        if undecided(state) is not None:
            return [f"Answer with: untilgreen answer {state.run} approve{flags}  (approve | reject)", go_on]
        return [how_to_answer(state, flags), go_on] if state.asked is not None else [go_on]
    verb = "show" if state.outcome in GOOD and not seen else "why"
    return [
        f"Look closer with: untilgreen {verb} {state.run}{flags}",
        f"              or: untilgreen diff {state.run}{flags}",
        *_how_to_take_it(state, flags),
    ]


def _own_commits(state: RunState) -> list[str]:
    """Nobody should find commits in a branch that no person made and nobody told of."""
    if not state.commits:
        return []
    count = len(state.commits)
    names = short("; ".join(state.commits[:MOST_NAMED]), 300) + ("; …" if count > MOST_NAMED else "")
    kept = f", kept as refs/untilgreen/{state.run}/commits" if in_worktree(state.plan) else ""
    return [f"The agent made {several(count, 'commit')} itself{kept}: {names}"]


def _how_to_take_it(state: RunState, flags: str) -> list[str]:
    """Where the result of a run with a worktree of its own is, and how it gets into the user's files."""
    if not in_worktree(state.plan):
        return []
    if state.commit is None:
        return ["Nothing was committed: the files are as they were when the run began."]
    return [
        f"The result is commit {state.commit[:12]} on branch {branch_of(state)}.",
        f"Bring it into your files with: untilgreen apply {state.run}{flags}",
    ]


def beginning_lines(state: RunState, flags: str = "") -> list[str]:
    """What a person should know about the files that a run begins with."""
    where = state.plan.workspace
    begins = [f"It begins with the files of {inert(where[FORKED])}."] if FORKED in where else []
    dirty = where.get(DIRTY, [])
    if not dirty:
        return begins
    count = len(dirty) + where.get(MORE, 0)
    names = ", ".join(map(inert, dirty[:MOST_NAMED])) + (", …" if count > MOST_NAMED else "")
    said = f"{several(count, 'path')} had uncommitted changes at the start: {names}."
    if in_worktree(state.plan):
        return [*begins, f"{said} They are not in the worktree; commit them to have them there."]
    if begins:
        return [*begins, f"{said} They are kept, and the end of the run says how to get them back."]
    return [f"{said} They are kept: untilgreen restore {state.run}@0{flags}"]


def restored_lines(run: str, before: str, kept: tuple[str, ...], flags: str = "") -> list[str]:
    """What a restore left alone, and the way back from it."""
    left = (
        "Left alone, since they changed outside of the agent's turns, by a gate or by somebody: "
        f"{', '.join(map(inert, kept))}"
    )
    back = f"To get back what was there before: untilgreen restore {run} --snapshot {before[:12]}{flags}"
    return [left, back] if kept else [back]
