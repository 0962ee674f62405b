"""The result of a run so far: one object for programs, a few lines for people."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from untilgreen.core.exit_codes import exit_code
from untilgreen.core.loop.step import gate_waiting_for_people
from untilgreen.core.scoring.gate_health import flakes, health_by_gate
from untilgreen.core.scoring.progress import progress
from untilgreen.core.scoring.weakened_tests import ending_reason
from untilgreen.core.values.model import IN_PLACE, Outcome
from untilgreen.core.values.state import Best, RunState
from untilgreen.core.values.units import several, show_duration
from untilgreen.engine.store.reading import status
from untilgreen.engine.wiring.workplace import branch_of, in_worktree, workplace
from untilgreen.surfaces.text.current_step import current_step
from untilgreen.surfaces.text.event_lines import DEMO, UNPAID, how_to_answer, pause_words
from untilgreen.surfaces.text.gates_table import gates_by_lap
from untilgreen.surfaces.text.questions import choice_lines, text_lines
from untilgreen.surfaces.text.safe_text import folded, inert, short

MOST_NAMED = 5
_CONTINUED = (Outcome.CANCELLED, Outcome.EXHAUSTED)
"""Outcomes that say nothing about the agent: more laps may be all that it needs."""

if TYPE_CHECKING:
    from untilgreen.surfaces.json.lines import Result


def as_json(state: RunState, head: str = "", *, driven: bool = False) -> Result:
    """The result, as `show --json` and the last line of `run --json` print it."""
    from untilgreen.surfaces.json.lap import lap_view
    from untilgreen.surfaces.json.lines import Result

    return Result(
        run=state.run,
        status=status(state, driven=driven),
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
        best=state.best,
        final_snapshot=state.final_snapshot,
        workspace=state.plan.workspace.get("mode", IN_PLACE),
        branch=branch_of(state),
        commit=state.commit,
        commits=state.commits,
        dirty=list(workplace(state.plan).dirty),
        verdicts=dict(state.last.verdicts) if state.last else {},
        baseline=health_by_gate(state.plan, state.baseline.verdicts) if state.baseline else {},
        flaky=flakes(state),
        question=state.open_question,
        laps=len(state.laps),
        progress=progress(state),
        history=[lap_view(lap) for lap in state.laps],
        head=head,
    )


def summary(
    state: RunState,
    *,
    width: int,
    ascii_only: bool,
    flags: str = "",
    wrapped: bool = False,
    seen: bool = False,
    driven: bool = False,
) -> list[str]:
    """What a person wants to know about a run; every command that is named ends with `flags`.

    `seen` says that `show` prints it, so it suggests another command; `driven` that a process drives the run.
    """
    wide = width if wrapped else sys.maxsize
    lines = [gates_by_lap(state, width=width, ascii_only=ascii_only), ""]
    lines += folded(
        f"{status(state, driven=driven)}: {short(headline(why(state, driven=driven)), 400)}", wide
    )
    lines += _question(state, wide)
    if state.outcome is Outcome.CLAIMED:
        lines.append("Nothing checked this: the run had no gates. Add one with --gate next time.")
    spent = f", ${state.spent.cost:.2f}" if state.spent.cost else ""
    spent += f"; {UNPAID}" if DEMO in state.plan.labels else ""
    tokens = f", {state.spent.tokens:,} tokens" if state.spent.tokens else ""
    laps = several(len(state.laps), "lap")
    lines.append(f"{laps} in {show_duration(state.elapsed)}{tokens}{spent}")
    lines += _flaky(state) + _what_is_left(state) + _own_commits(state)
    return lines + _how_to_go_on(state, flags, seen=seen, driven=driven)


def _question(state: RunState, width: int) -> list[str]:
    """What follows the first line of an open question: its evidence, its choices and its default."""
    evidence, choices = text_lines(state, width - 2, skip=1), choice_lines(state, width - 2)
    return [f"  {each}" for each in (*evidence, *choices)]


def headline(reason: str) -> str:
    """The first line of a reason: a question may have many."""
    return reason.partition("\n")[0]


def why(state: RunState, *, driven: bool = False) -> str:
    """Why a run ended, what it is waiting for, or what it is doing now."""
    if state.outcome is not None:
        return ending_reason(state)
    if state.halted is not None:
        return state.halted.detail or state.halted.cause
    if state.open_question is not None:
        return state.open_question.question.partition("\n")[0]
    if (gate := gate_waiting_for_people(state)) is not None:
        people = ", ".join(map(str, gate.options.get("people", ()))) or "someone"
        return f"gate {gate.name!r} waits for {people} to approve"
    if state.pause is not None:
        return (
            pause_words(state.pause, time.time(), driven=driven) if state.pause.until else state.pause.reason
        )
    return current_step(state, time.time()) if driven else "the run can continue"


def _flaky(state: RunState) -> list[str]:
    """Gates that can't be trusted, however the run ended."""
    return [
        f"Flaky: {inert(name)} was red and green on the same files in lap{'' if len(laps) == 1 else 's'} "
        f"{', '.join(map(str, laps))}. Try `untilgreen check --repeat 5`."
        for name, laps in flakes(state).items()
    ]


def _what_is_left(state: RunState) -> list[str]:
    best = state.best
    if state.outcome is None or not state.laps or best is None or best.snapshot is None:
        return []
    if state.final_snapshot == best.snapshot and not state.outcome.good:
        before = " (before the first turn)" if best.lap == 0 else ""
        tied = _tied(state, best)
        which = f"Laps {tied} tie for the best" if tied else f"Lap {best.lap}{before} is the best"
        return [f"{which}; the files are those of lap {best.lap}."]
    return []


def _tied(state: RunState, best: Best) -> str:
    """The laps that are as good as the best one, as "1–3, 7"; empty if it is the only one."""
    laps = [lap.number for lap in state.baseline_and_laps if lap.rank == best.rank]
    runs: list[list[int]] = []
    for lap in laps:
        if runs and lap == runs[-1][-1] + 1:
            runs[-1].append(lap)
        else:
            runs.append([lap])
    parts = [f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    return ", ".join(parts) if len(laps) > 1 else ""


def _how_to_go_on(state: RunState, flags: str, *, seen: bool, driven: bool) -> list[str]:
    by_hand = state.pause is not None and state.pause.until is None
    go_on = (
        f"Watch it with: untilgreen follow {state.run}{flags}"
        if driven and not by_hand
        else f"Continue with: untilgreen resume {state.run}{flags}"
    )
    if state.outcome is None:
        if gate_waiting_for_people(state) is not None:
            return [f"Answer with: untilgreen answer {state.run} approve{flags}  (approve | reject)", go_on]
        return [how_to_answer(state, flags), go_on] if state.open_question else [go_on]
    verb = "show" if state.outcome.good and not seen else "why"
    return [
        f"Next: untilgreen {verb} {state.run}{flags}",
        f"      untilgreen diff {state.run}{flags}",
        *([f"      untilgreen fork {state.run} --more 10{flags}"] if state.outcome in _CONTINUED else []),
        *_how_to_take_it(state, flags),
    ]


def _own_commits(state: RunState) -> list[str]:
    """Commits that the agent made itself, so that nobody is surprised by them."""
    if not state.commits:
        return []
    count = len(state.commits)
    names = short("; ".join(state.commits[:MOST_NAMED]), 300) + ("; …" if count > MOST_NAMED else "")
    kept = f", kept as refs/untilgreen/{state.run}/commits" if in_worktree(state.plan) else ""
    return [f"The agent made {several(count, 'commit')} itself{kept}: {names}"]


def _how_to_take_it(state: RunState, flags: str) -> list[str]:
    """Where the result of a run in a worktree is, and how to merge it into your own files."""
    if not in_worktree(state.plan):
        return []
    if state.commit is None:
        return ["Nothing was committed: the files are as they were when the run started."]
    return [
        f"The result is commit {state.commit[:12]} on branch {branch_of(state)}.",
        f"Merge it into your files with: untilgreen apply {state.run}{flags}",
    ]


def beginning_lines(state: RunState, flags: str = "") -> list[str]:
    """What a person should know about the files that a run starts from."""
    where = workplace(state.plan)
    begins = [f"The run starts from the files of {inert(where.forked)}."] if where.forked else []
    dirty = where.dirty
    if not dirty:
        return begins
    count = len(dirty) + where.dirty_more
    names = ", ".join(map(inert, dirty[:MOST_NAMED])) + (", …" if count > MOST_NAMED else "")
    said = f"{several(count, 'path')} had uncommitted changes at the start: {names}."
    if in_worktree(state.plan):
        return [*begins, f"{said} They are not in the worktree; commit them if the run needs them."]
    saved = "They are saved" + (", except new files above workspace.max_file" if where.max_file else "")
    if begins:
        return [
            *begins,
            f"{said} {saved}. If the run replaces them, a note at its end says how to restore them.",
        ]
    return [f"{said} {saved}: untilgreen restore {state.run}@0{flags}"]


def restored_lines(run: str, before: str, kept: tuple[str, ...], flags: str = "") -> list[str]:
    """What a restore did not touch, and how to undo it."""
    left = f"Not touched, because they were changed between the agent's turns: {', '.join(map(inert, kept))}"
    back = f"To get your files back: untilgreen restore {run} --snapshot {before[:12]}{flags}"
    return [left, back] if kept else [back]
