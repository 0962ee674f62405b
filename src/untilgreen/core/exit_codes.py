"""The exit code for each outcome, and for each way a run can stay open."""

from __future__ import annotations

from untilgreen.core.scoring.gate_health import unrunnable
from untilgreen.core.values.model import Outcome
from untilgreen.core.values.state import RunState

OK, NOT_GREEN, USAGE, EXHAUSTED, AGENT, WAITING, GATE = 0, 1, 2, 3, 4, 5, 6
CRASHED, SIGHUP, SIGINT, SIGTERM = 70, 129, 130, 143

MEANINGS = {
    OK: "converged, accepted or claimed: the run ended well (check: all gates are green)",
    NOT_GREEN: "stuck, blocked or cancelled: the run ended without being green (check: a gate is red)",
    USAGE: "an option, argument, name or spec key is wrong; nothing was started",
    EXHAUSTED: "a limit, or the strategy's own number of laps, ended the run",
    AGENT: "the agent is missing, not logged in or out of quota; the run stays open",
    WAITING: "the run waits for a person; the run stays open",
    GATE: "a gate could not run at all, for example because its command does not exist",
    CRASHED: "a bug in untilgreen or in a plugin",
    SIGHUP: "ended because the terminal was closed (SIGHUP); the run stays open",
    SIGINT: "interrupted with Ctrl-C; the run stays open",
    SIGTERM: "ended by SIGTERM; the run stays open",
}

_OF_OUTCOME = {
    Outcome.CONVERGED: OK,
    Outcome.ACCEPTED: OK,
    Outcome.CLAIMED: OK,
    Outcome.EXHAUSTED: EXHAUSTED,
    Outcome.STUCK: NOT_GREEN,
    Outcome.BLOCKED: NOT_GREEN,
    Outcome.CANCELLED: NOT_GREEN,
    Outcome.CRASHED: CRASHED,
}
_OF_SIGNAL = {"SIGINT": SIGINT, "SIGTERM": SIGTERM, "SIGHUP": SIGHUP}


def exit_code(state: RunState) -> int:
    """The code for a run in this state."""
    if state.outcome is Outcome.BLOCKED and state.last is not None:
        seen = state.last.verdicts
        ours = [gate.name for gate in state.plan.gates if gate.required or gate.on_fail == "stop"]
        return GATE if any(name in seen and unrunnable(seen[name]) for name in ours) else NOT_GREEN
    if state.outcome is not None:
        return _OF_OUTCOME[state.outcome]
    if state.away is not None:
        return _OF_SIGNAL.get(state.away, SIGTERM)
    return AGENT if state.halted is not None else WAITING
