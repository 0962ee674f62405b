"""Whether a run failed only because protected tests were changed; then that is the reason to report."""

from __future__ import annotations

from untilgreen.core.values.model import INTEGRITY_GATE, Verdict
from untilgreen.core.values.state import RunState

_SHOWN = 3


def weakened_tests(state: RunState) -> tuple[str, ...]:
    """The protected files that keep a run from being green although every other required gate passes."""
    if state.last is None or (state.outcome is not None and state.outcome.good):
        return ()
    verdicts = state.last.verdicts
    red = [
        gate
        for gate in state.plan.gates
        if gate.required and gate.name in verdicts and verdicts[gate.name].status in ("fail", "error")
    ]
    if len(red) != 1 or red[0].kind != INTEGRITY_GATE or verdicts[red[0].name].status != "fail":
        return ()
    return weakening_files(verdicts[red[0].name])


def weakening_files(verdict: Verdict) -> tuple[str, ...]:
    """The protected files that a verdict of the integrity gate is about."""
    return tuple(dict.fromkeys(finding.file or finding.id for finding in verdict.findings))


def named(files: tuple[str, ...]) -> str:
    """The first few files, and how many more there are."""
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    return f"{', '.join(files[:_SHOWN])}{more}"


def ending_reason(state: RunState) -> str:
    """Why a run ended; if tests were weakened, a limit is not the whole truth."""
    files = weakened_tests(state)
    if not files or state.outcome is None:
        return state.reason
    return f"tests were weakened: {named(files)} ({state.reason})"
