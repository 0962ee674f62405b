"""Runs each gate that `init` proposes once, so that a spec starts with gates that work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from untilgreen.config.init.detect import TESTS, Detected
from untilgreen.config.load import Given, Loaded, Request, load
from untilgreen.core.scoring.gate_health import timed_out, unrunnable
from untilgreen.core.values.model import Verdict
from untilgreen.core.values.units import show_duration
from untilgreen.engine.operations.check import check_gates

SECONDS = 300
"""A person is waiting; a gate that takes longer is kept as it is."""


class Tried(Struct, frozen=True, kw_only=True):
    """The result for one proposed gate."""

    gate: Detected
    """The gate to propose; it has another command for the same check if the first one ran no tests."""
    verdict: Verdict | None = None
    """None if somebody interrupted it."""
    passed_over: tuple[Detected, ...] = ()
    """Commands that were tried before it."""
    signal: int = 0

    @property
    def remark(self) -> str:
        """What is wrong with the gate itself, whether its tests fail or not; empty if nothing is."""
        if self.verdict is None:
            return ""
        if timed_out(self.verdict):
            return f"it takes longer than {show_duration(SECONDS)}"
        if unrunnable(self.verdict):
            return self.verdict.findings[0].message if self.verdict.findings else "it can't run"
        if self.gate.role == TESTS and not self.gate.after and not shows_tests(self.verdict):
            return "no test was seen in its output"
        return ""


def shows_tests(verdict: Verdict) -> bool:
    """Whether a test runner was recognized that ran at least one test."""
    return any(count.total or count.uncounted for count in verdict.tools)


async def try_gates(
    gates: Sequence[Detected],
    others: Sequence[Detected],
    root: Path,
    *,
    state_dir: Path,
    said: Callable[[Detected, Verdict], None],
) -> list[Tried]:
    """Run every gate once on the current files; `said` is called with each verdict."""
    tried: list[Tried] = []
    left = [each for each in others if each.role == TESTS]
    for gate in gates:
        spare = left if gate.role == TESTS and not gate.after else []
        tried.append(await _first_that_works(gate, spare, root, state_dir, said))
        if tried[-1].signal:
            break
        left = [each for each in left if each.run != tried[-1].gate.run]
    return tried


async def _first_that_works(
    gate: Detected,
    spare: Sequence[Detected],
    root: Path,
    state_dir: Path,
    said: Callable[[Detected, Verdict], None],
) -> Tried:
    """Try the gate, then the spare ones until one works; if none does, keep the gate."""
    first: Tried | None = None
    for each in (gate, *spare):
        found = await _once(each, root, state_dir)
        if found.verdict is None:
            return found
        said(each, found.verdict)
        first = first or found
        if not found.remark:
            over = (gate,) if each is not gate else ()
            return Tried(gate=_named_like(each, gate), verdict=found.verdict, passed_over=over)
        if timed_out(found.verdict):  # another one would hardly be quicker
            break
    assert first is not None
    return first


async def _once(gate: Detected, root: Path, state_dir: Path) -> Tried:
    verdicts: list[Verdict] = []
    checked = await check_gates(
        _alone(gate, root),
        root,
        lambda _round, name, verdict: verdicts.append(verdict) if name == gate.name else None,
        state_dir=state_dir,
        signals=True,
    )
    if checked.signal or not verdicts:
        return Tried(gate=gate, signal=checked.signal)
    return Tried(gate=gate, verdict=verdicts[-1])


def _alone(gate: Detected, root: Path) -> Loaded:
    """A spec with only this gate, so that no other gate keeps it from running."""
    values = {"gates": {gate.name: {"run": gate.run, "timeout": SECONDS}}}
    given = Given(values=values, name="init", base=root.absolute())
    return load(Request(start=root, taskless=True, search=False, given=given))


def _named_like(gate: Detected, other: Detected) -> Detected:
    return Detected(name=other.name, run=gate.run, role=gate.role, seen=gate.seen, after=gate.after)
