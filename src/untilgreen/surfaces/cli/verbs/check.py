"""check: run the gates without an agent, once or several times."""

from __future__ import annotations

import os
import signal
import textwrap
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.config.checks.gates import COMMAND
from untilgreen.core.exit_codes import GATE, NOT_GREEN, OK
from untilgreen.core.scoring.gate_health import Tally
from untilgreen.core.values.model import Verdict
from untilgreen.core.values.units import several, show_duration
from untilgreen.engine.operations.check import Checked, check_gates
from untilgreen.errors import UserError
from untilgreen.surfaces.cli.options import HERE, NO_GATE_FLAGS, OPTIONS, GateFlags, Json, LocalPlace, Trust
from untilgreen.surfaces.cli.verbs.trust import allow
from untilgreen.surfaces.json.lines import CheckResult, VerdictLine
from untilgreen.surfaces.text import streams
from untilgreen.surfaces.text.event_lines import ASCII_MARKS, MARKS, verdict_words
from untilgreen.surfaces.text.printing import ascii_only, out, out_json, print_problem, version_line
from untilgreen.surfaces.text.safe_text import inert, inert_lines, short

_SHOWN = 10


def check(
    *,
    gates: GateFlags = NO_GATE_FLAGS,
    place: LocalPlace = HERE,
    trust: Trust = False,
    repeat: Annotated[
        int,
        Parameter(
            metavar="N", help="Run the gates N times on the same files, to find flaky ones.", group=OPTIONS
        ),
    ] = 1,
    json: Json = False,
) -> int:
    """Run the gates without an agent.

    Shows which are green, red, broken, flaky or slow. Exits with 0 if all required gates are green every
    time, 1 if one is red, 6 if one can't run.
    """
    if repeat < 1:
        raise UserError(f"--repeat must be at least 1, not {repeat}. For example: --repeat 5.")
    loaded = gates.spec.load(place.start, "check")
    if not loaded.spec.gates:
        raise UserError(
            "There is no gate to check. Add one with --gate 'pytest -q', or as [gates.NAME] in the spec."
        )
    allow(loaded, place, gates.spec, trust=trust)
    marks = ASCII_MARKS if ascii_only() else MARKS
    commands = {gate.name for gate in loaded.spec.gates if gate.kind == COMMAND}

    def said(number: int, name: str, verdict: Verdict) -> None:
        if json:
            out_json(VerdictLine(gate=name, verdict=verdict, round=number))
            return
        place = f"{number}/{repeat} " if repeat > 1 else ""
        basis = _basis(verdict) if name in commands else ""
        out(f"{place}{marks[verdict.status]} {inert(name)} {verdict_words(verdict)}{basis}")
        if verdict.status in ("fail", "error") and verdict.excerpt.strip() and number == 1:
            with streams.no_commands(os.environ):
                out(textwrap.indent(inert_lines(verdict.excerpt.strip()), "    "))

    if json:
        version_line()

    async def look() -> Checked:
        return await check_gates(
            loaded, place.start, said, state_dir=place.store().state_dir, rounds=repeat, signals=True
        )

    return _concluded(anyio.run(look), repeat, json=json)


def _basis(verdict: Verdict) -> str:
    """What a green command rests on: the tests in its output, or its exit code alone."""
    if verdict.status != "pass":
        return ""
    if any(count.failed for count in verdict.tools):
        return ', by its exit code alone, as believe = "exit-code" says'
    tests = sum(count.total for count in verdict.tools)
    if tests:
        return f", {several(tests, 'test')}"
    return "" if verdict.tools else ", by its exit code alone: its output names no tool and no test"


def _concluded(checked: Checked, rounds: int, *, json: bool) -> int:
    code = GATE if checked.broken else OK if checked.green else NOT_GREEN
    if checked.signal:
        code = 128 + checked.signal
        print_problem(f"interrupted by {signal.Signals(checked.signal).name}")
    if json:
        out_json(CheckResult(green=checked.green, exit_code=code, rounds=rounds, gates=checked.gates))
        return code
    for name, tally in checked.gates.items():
        if rounds > 1 or len(tally.health) > 1:
            for line in _lines(name, tally, rounds):
                out(line)
    return code


def _lines(name: str, tally: Tally, rounds: int) -> list[str]:
    """The state of a gate after all rounds, and its findings in only some of them."""
    words = " and ".join(tally.health) or "not run"
    often = f", passed {tally.passed} of {tally.ran}" if rounds > 1 else ""
    lines = [f"{inert(name)} is {words}{often}, at most {show_duration(tally.seconds)}"]
    told = tally.findings if "flaky" in tally.health else _now_and_then(tally)
    for finding, times in list(told.items())[:_SHOWN]:
        lines.append(f"  {times} of {tally.ran}: {short(finding, 150)}")
    left_out = len(told) - _SHOWN
    return [*lines, f"  and {left_out} more"] if left_out > 0 else lines


def _now_and_then(tally: Tally) -> dict[str, int]:
    """Findings of only some rounds: a gate that is always red can hide a flaky test."""
    return {finding: times for finding, times in tally.findings.items() if times < tally.ran}
