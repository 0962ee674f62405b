"""check: the gates alone, once or several times, before any money is spent."""

from __future__ import annotations

import os
import signal
import textwrap
from dataclasses import replace
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.core.exits import GATE, NOT_GREEN, OK
from untilgreen.core.model import Verdict
from untilgreen.core.standing import Tally
from untilgreen.core.units import show_duration
from untilgreen.engine.checking import Checked, check_gates
from untilgreen.errors import UserError
from untilgreen.surfaces import streams
from untilgreen.surfaces.cli.options import HERE, UNSAID, Json, Place, SpecFlags, Trust
from untilgreen.surfaces.cli.say import ascii_only, complain, out, out_json, version_line
from untilgreen.surfaces.cli.trusting import allow
from untilgreen.surfaces.output import CheckResult, VerdictLine
from untilgreen.surfaces.render import ASCII_MARKS, MARKS, verdict_words
from untilgreen.surfaces.text import inert, inert_lines, short

_SHOWN = 10


def check(
    *,
    spec: SpecFlags = UNSAID,
    place: Place = HERE,
    trust: Trust = False,
    repeat: Annotated[
        int, Parameter(help="Run the gates so many times on the same files, to find flaky ones.")
    ] = 1,
    json: Json = False,
) -> int:
    """Run the gates without an agent, and say which are green, red, broken, flaky or slow.

    Exits with 0 when all required gates are green every time, 1 when one is red, 6 when one can't run.
    """
    if repeat < 1:
        raise UserError(f"--repeat {repeat} runs nothing. Write a number from 1 on, for example --repeat 5.")
    loaded = replace(spec, file=None).load(place.start, "check")
    if not loaded.spec.gates:
        raise UserError(
            "There is no gate to check. Add one: --gate 'pytest -q', or [gates.NAME] in the spec."
        )
    allow(loaded, place, spec, trust=trust)
    marks = ASCII_MARKS if ascii_only() else MARKS

    def said(number: int, name: str, verdict: Verdict) -> None:
        if json:
            out_json(VerdictLine(gate=name, verdict=verdict, round=number))
            return
        place = f"{number}/{repeat} " if repeat > 1 else ""
        out(f"{place}{marks[verdict.status]} {inert(name)} {verdict_words(verdict)}")
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


def _concluded(checked: Checked, rounds: int, *, json: bool) -> int:
    code = GATE if checked.broken else OK if checked.green else NOT_GREEN
    if checked.signal:
        code = 128 + checked.signal
        complain(f"interrupted by {signal.Signals(checked.signal).name}")
    if json:
        out_json(CheckResult(green=checked.green, exit_code=code, rounds=rounds, gates=checked.gates))
        return code
    for name, tally in checked.gates.items():
        if rounds > 1 or len(tally.standing) > 1:
            for line in _lines(name, tally, rounds):
                out(line)
    return code


def _lines(name: str, tally: Tally, rounds: int) -> list[str]:
    """How one gate stands after all rounds, and what it complained about only in some."""
    words = " and ".join(tally.standing) or "not run"
    often = f", passed {tally.passed} of {tally.ran}" if rounds > 1 else ""
    lines = [f"{inert(name)} is {words}{often}, at most {show_duration(tally.seconds)}"]
    if "flaky" not in tally.standing:
        return lines
    for told, times in list(tally.findings.items())[:_SHOWN]:
        lines.append(f"  {times} of {tally.ran}: {short(told, 150)}")
    left_out = len(tally.findings) - _SHOWN
    return [*lines, f"  and {left_out} more"] if left_out > 0 else lines
