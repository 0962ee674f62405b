"""From evidence to what a person can do: what would have to change, and the commands that go on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from msgspec import Struct

from untilgreen.core.decision import Finish
from untilgreen.core.limits import ceiling
from untilgreen.core.model import WORKTREE, Outcome
from untilgreen.core.receive import APPROVE, REJECT, ROLLBACK
from untilgreen.core.receive import SWITCH as AGENT
from untilgreen.core.remedies import SWITCH
from untilgreen.core.rules import Signal
from untilgreen.core.state import RunState
from untilgreen.core.step import undecided
from untilgreen.core.units import show_duration

_FLAG = {
    "iterations": "--max-iterations",
    "time": "--max-time",
    "cost": "--max-cost",
    "tokens": "--max-tokens",
}
_OF_SIGNAL = {
    "cycle": "The laps went round in a circle: the agent needs something that it does not have yet, such as "
    "a note with what you know about the failure, another agent, or a task that says less.",
    "similar": "The agent says the same again and again: a fresh conversation, another agent or another "
    "wording of the task may break that.",
    "stall": "Nothing got better for a while: look at the diff of the best lap, and give the next step "
    "yourself.",
    "claims": "The agent believes that it is done while gates are red: look whether the gates and the task "
    "ask for the same thing.",
    "errors": "The agent itself fails or is not allowed to do what it needs: run it by hand once, in the "
    "same directory.",
    "noop": "The agent's turns change no file: look whether it may write here, and what it answers.",
}


class Way(Struct, frozen=True, kw_only=True):
    """One thing that a person can do now."""

    what: str
    command: str


def changes(state: RunState, signals: tuple[Signal, ...], red: list[str]) -> tuple[str, ...]:
    """What would have to be otherwise, most telling first."""
    found = [_OF_SIGNAL[signal.kind] for signal in signals if signal.kind in _OF_SIGNAL]
    if state.outcome is None or state.outcome in (Outcome.STUCK, Outcome.EXHAUSTED):
        found += _a_better_lap(state, signals)
    if signals and SWITCH in state.plan.remedies and len(state.plan.agents) == 1:
        found.append("With a second --agent, the remedy 'switch' could have been tried, too.")
    if limit := _limit(state):
        found.append(f"The limit {limit!r} ended the run: a higher one lets it go on.")
    if state.outcome is Outcome.BLOCKED and red:
        found.append(f"{_listed(red)} must pass before an agent is worth its money: mend that by hand.")
    if state.halted is not None:
        found.append(f"The agent can't be used: {(state.halted.detail or state.halted.cause).rstrip('.')}.")
    if red and state.outcome is not Outcome.BLOCKED:
        found.append(f"For green, {_listed(red)} {'has' if len(red) == 1 else 'have'} to pass.")
    return tuple(dict.fromkeys(found))


def ways(state: RunState, flags: str) -> tuple[Way, ...]:
    """The commands that make sense now, the most likely first."""
    if state.outcome is not None:
        return _after_the_end(state, flags)
    run = f"{state.run}{flags}"
    go_on = Way(what="go on", command=f"untilgreen resume {run}")
    if undecided(state) is not None:
        return (*(_answer(state, each, flags) for each in (APPROVE, REJECT)), go_on)
    if state.asked is not None:
        return (*(_answer(state, each, flags) for each in state.asked.choices), go_on)
    end = Way(what="end it", command=f"untilgreen cancel {run}")
    if state.halted is not None:
        look = f"untilgreen doctor --agent {shlex.quote(state.agent)}"
        return (Way(what="see what the agent lacks", command=look), go_on, end)
    note = Way(what="tell the agent what you know", command=f"untilgreen steer {state.run} 'NOTE'{flags}")
    return (go_on, note, end)


def _after_the_end(state: RunState, flags: str) -> tuple[Way, ...]:
    run = f"{state.run}{flags}"
    found = [
        Way(what="see what was changed", command=f"untilgreen diff {run}"),
        Way(what="check that it still holds", command=f"untilgreen verify {run}"),
        Way(what="hand it on", command=f"untilgreen report {run} --format html --output report.html"),
    ]
    if state.plan.workspace.get("mode") == WORKTREE:
        found.insert(0, Way(what="bring it into your files", command=f"untilgreen apply {run}"))
    if state.outcome is Outcome.CLAIMED:
        found.insert(0, Way(what="let a gate look at it", command="untilgreen check --gate COMMAND"))
    if state.outcome in (Outcome.CONVERGED, Outcome.ACCEPTED, Outcome.CLAIMED):
        return tuple(found)
    if state.outcome is Outcome.BLOCKED and not state.iterations:
        return tuple(_mended(state))
    return (*_again(state, flags), *found)


def _mended(state: RunState) -> Iterator[Way]:
    """Before the first lap there is nothing to go on from: the gates first, then the same command again."""
    verdicts = state.last.verdicts if state.last else {}
    commands = [
        shlex.quote(run if gate.name == (run := str(gate.options["run"])) else f"{gate.name}={run}")
        for gate in state.plan.gates
        if gate.name in verdicts and verdicts[gate.name].status in ("fail", "error") and "run" in gate.options
    ]
    flags = "".join(f" --gate {each}" for each in commands)
    yield Way(what="run what is red until it is mended, then start again", command=f"untilgreen check{flags}")


def _answer(state: RunState, choice: str, flags: str) -> Way:
    word = shlex.join([choice, *_needed(state, choice)])
    return Way(what=f"answer {choice!r}", command=f"untilgreen answer {state.run} {word}{flags}")


def _needed(state: RunState, choice: str) -> list[str]:
    """What has to stand behind an answer: the best lap, or the first other agent."""
    if choice == ROLLBACK:
        return [str(state.best.lap if state.best else 0)]
    others = [name for name in state.plan.agent_names() if name != state.agent]
    return others[:1] if choice == AGENT else []


def _again(state: RunState, flags: str) -> Iterator[Way]:
    """A new run from the best files, with twice as much of the limit that ended this one."""
    limit, fork = _limit(state), f"untilgreen fork {state.run}"
    if limit in _FLAG:
        more = f"{_FLAG[limit]} {shlex.quote(_twice(state, limit))}"
        yield Way(what=f"go on from its best files with twice the {limit}", command=f"{fork} {more}{flags}")
    yield Way(
        what="try again from its best files, with what you know", command=f"{fork} --note 'NOTE'{flags}"
    )
    if SWITCH in state.plan.remedies and len(state.plan.agents) == 1:
        yield Way(what="let another agent try", command=f"{fork} --agent AGENT{flags}")


def _limit(state: RunState) -> str:
    """The limit that ended the run, where one did."""
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
    """What ends a streak: a new best score, or fewer complaints than ever."""
    if state.best is None or not signals:
        return []
    fewer = f", or with fewer than {state.fewest} complaints" if state.fewest else ""
    return [
        f"A lap with a score above {state.top_score or state.best.score:.2f}{fewer} would end the streak."
    ]


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
