"""What a person can do now: what has to change, and the commands for it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from msgspec import Struct

from untilgreen.core.loop.receive import APPROVE, REJECT
from untilgreen.core.loop.remedies import SWITCH
from untilgreen.core.loop.step import gate_waiting_for_people
from untilgreen.core.scoring.weakened_tests import weakened_tests
from untilgreen.core.values.decision import ROLLBACK, Finish
from untilgreen.core.values.decision import SWITCH as AGENT
from untilgreen.core.values.limits import ceiling
from untilgreen.core.values.model import WORKTREE, Outcome
from untilgreen.core.values.rules import Signal, stuck
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import show_duration, show_score
from untilgreen.surfaces.text.questions import CHOICES

_FLAG = {
    "iterations": "--max-iterations",
    "time": "--max-time",
    "cost": "--max-cost",
    "tokens": "--max-tokens",
}
_LIMITED = {"iterations": "laps"}
_OF_SIGNAL = {
    "cycle": "The laps are going in circles. Give the agent something new: a note with what you know about "
    "the failure, another agent, or a smaller task.",
    "similar": "The agent keeps repeating itself. Try a fresh conversation, another agent, or another "
    "wording of the task.",
    "stall": "Nothing has improved for a while. Look at the diff of the best lap and tell the agent what to "
    "do next.",
    "claims": "The agent says it is done while gates fail. Check that the task and the gates ask for the "
    "same thing.",
    "errors": "The agent itself keeps failing, or isn't allowed to do what it needs. Run it once by hand in "
    "the same directory.",
    "noop": "The agent's turns change no files. Check that it can write here, and read what it answers.",
}


class Way(Struct, frozen=True, kw_only=True):
    """One thing that a person can do now."""

    what: str
    command: str


def changes(state: RunState, signals: tuple[Signal, ...], red: list[str]) -> tuple[str, ...]:
    """What has to change, the most telling first."""
    found = [_OF_SIGNAL[signal.kind] for signal in signals if signal.kind in _OF_SIGNAL]
    if weakened := weakened_tests(state):
        found.insert(0, _about_weakened_tests(weakened))
    if state.outcome is None or state.outcome in (Outcome.STUCK, Outcome.EXHAUSTED):
        found += _a_better_lap(state, signals)
    if stuck(signals) and SWITCH in state.plan.remedies and len(state.plan.agents) == 1:
        found.append("Add a second --agent, so that the remedy 'switch' can be tried.")
    if limit := _limit(state):
        found.append(f"The limit on {_LIMITED.get(limit, limit)} ended the run. Raise it to continue.")
    if state.outcome is Outcome.BLOCKED and red:
        found.append(f"Fix {_listed(red)} by hand first: the agent doesn't start until then.")
    if state.halted is not None:
        found.append(f"The agent can't be used: {(state.halted.detail or state.halted.cause).rstrip('.')}.")
    if red and state.outcome is not Outcome.BLOCKED:
        found.append(f"{_listed(red)} must pass.")
    return tuple(dict.fromkeys(found))


def ways(state: RunState, flags: str, *, driven: bool = False) -> tuple[Way, ...]:
    """The commands that make sense now, the most likely first."""
    if state.outcome is not None:
        return _after_the_end(state, flags)
    run = f"{state.run}{flags}"
    resume = (
        Way(what="watch it", command=f"untilgreen follow {run}")
        if driven and (state.pause is None or state.pause.until is not None)
        else Way(what="continue", command=f"untilgreen resume {run}")
    )
    if gate_waiting_for_people(state) is not None:
        return (*(_answer(state, each, flags) for each in (APPROVE, REJECT)), resume)
    if state.open_question is not None:
        return (*(_answer(state, each, flags) for each in state.open_question.choices), resume)
    end = Way(what="end it", command=f"untilgreen cancel {run}")
    if state.halted is not None:
        look = f"untilgreen doctor --agent {shlex.quote(state.agent)}"
        return (Way(what="check the agent's setup", command=look), resume, end)
    note = Way(what="tell the agent what you know", command=f"untilgreen steer {state.run} 'NOTE'{flags}")
    return (resume, note, end)


def _after_the_end(state: RunState, flags: str) -> tuple[Way, ...]:
    run = f"{state.run}{flags}"
    found = [
        Way(what="see the changes", command=f"untilgreen diff {run}"),
        Way(what="check that the result still holds", command=f"untilgreen verify {run}"),
        Way(what="share it", command=f"untilgreen report {run} --format html --output report.html"),
    ]
    if state.plan.workspace.get("mode") == WORKTREE:
        found.insert(0, Way(what="apply it to your files", command=f"untilgreen apply {run}"))
    if state.outcome is Outcome.CLAIMED:
        found.insert(0, Way(what="check it with a gate", command="untilgreen check --gate COMMAND"))
    if state.outcome is not None and state.outcome.good:
        return tuple(found)
    if state.outcome is Outcome.BLOCKED and not state.laps:
        return tuple(_fix_gates_first(state))
    return (*_again(state, flags), *found)


def _fix_gates_first(state: RunState) -> Iterator[Way]:
    """Before the first lap there is nothing to continue from: fix the gates, then start again."""
    verdicts = state.last.verdicts if state.last else {}
    commands = [
        shlex.quote(run if gate.name == (run := str(gate.options["run"])) else f"{gate.name}={run}")
        for gate in state.plan.gates
        if gate.name in verdicts and verdicts[gate.name].status in ("fail", "error") and "run" in gate.options
    ]
    flags = "".join(f" --gate {each}" for each in commands)
    what = "run the failing gates until they pass, then start again"
    yield Way(what=what, command=f"untilgreen check{flags}")


def _answer(state: RunState, choice: str, flags: str) -> Way:
    word = shlex.join([choice, *_needed(state, choice)])
    sentence = f": {CHOICES[choice]}" if choice in CHOICES else ""
    return Way(what=f"answer {choice!r}{sentence}", command=f"untilgreen answer {state.run} {word}{flags}")


def _needed(state: RunState, choice: str) -> list[str]:
    """The argument that an answer needs: the best lap, or the first other agent."""
    if choice == ROLLBACK:
        return [str(state.best.lap if state.best else 0)]
    others = [name for name in state.plan.agent_names() if name != state.agent]
    return others[:1] if choice == AGENT else []


def _again(state: RunState, flags: str) -> Iterator[Way]:
    """A new run from the best files, with twice as much of the limit that ended this one."""
    limit, fork = _limit(state), f"untilgreen fork {state.run}"
    if state.outcome is Outcome.CANCELLED and state.laps:
        yield Way(what="continue where it was stopped", command=f"{fork} --more 10{flags}")
    if limit in _FLAG:
        more = f"{_FLAG[limit]} {shlex.quote(_twice(state, limit))}"
        yield Way(
            what=f"continue from its best files with twice the {limit}", command=f"{fork} {more}{flags}"
        )
    yield Way(
        what="try again from its best files, with a note from you", command=f"{fork} --note 'NOTE'{flags}"
    )
    if SWITCH in state.plan.remedies and len(state.plan.agents) == 1:
        yield Way(what="try another agent", command=f"{fork} --agent AGENT{flags}")


def _limit(state: RunState) -> str:
    """The limit that ended the run, if one did."""
    ending = state.ending
    return str(ending.metadata.get("limit", "")) if isinstance(ending, Finish) else ""


def _twice(state: RunState, limit: str) -> str:
    most = 2 * ceiling(getattr(state.plan.limits, limit))
    match limit:
        case "time":
            return show_duration(most)
        case "cost":
            return f"${most:.2f}"
        case _:
            return f"{most:.0f}"


def _a_better_lap(state: RunState, signals: tuple[Signal, ...]) -> list[str]:
    """What counts as progress again: a new best score, or fewer findings than ever."""
    if state.best is None or not signals:
        return []
    fewer = {None: "", 0: "", 1: " or clears the last finding"}.get(
        state.fewest, f" or has fewer than {state.fewest} findings"
    )
    score = show_score(state.top_score or state.best.score)
    return [f"A lap counts as progress when it beats score {score}{fewer}."]


def _about_weakened_tests(files: tuple[str, ...]) -> str:
    return (
        f"The gates pass only because the agent changed protected files: {_listed(list(files))}. Tell it to "
        "fix the code instead. If the change is right, make it yourself and commit it before the next run."
    )


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
