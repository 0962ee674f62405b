"""plan: what a run would do and could cost, before any money is spent."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Any

import anyio
from msgspec.structs import asdict

from untilgreen.agents.cli import About
from untilgreen.agents.process import find_program
from untilgreen.core.brief import Brief, compose
from untilgreen.core.events import RunStarted
from untilgreen.core.exits import GATE, OK
from untilgreen.core.fold import apply
from untilgreen.core.model import Plan, Verdict
from untilgreen.core.units import show_duration
from untilgreen.engine.checking import Checked, check_gates
from untilgreen.engine.veil import secrets_of, without_secrets
from untilgreen.engine.wiring import agents_of, plan_of
from untilgreen.engine.worst import Worst, worst_case
from untilgreen.errors import AgentUnavailable
from untilgreen.surfaces.cli.config import lines, shown_settings
from untilgreen.surfaces.cli.options import HERE, UNSAID, Json, Place, SpecFlags, Trust
from untilgreen.surfaces.cli.say import ascii_only, out, out_json, version_line
from untilgreen.surfaces.cli.trusting import allow
from untilgreen.surfaces.output import AgentLine, PlanResult, Setting, VerdictLine
from untilgreen.surfaces.render import ASCII_MARKS, MARKS, verdict_words
from untilgreen.surfaces.text import inert


def plan(
    task: str | None = None,
    /,
    *,
    spec: SpecFlags = UNSAID,
    place: Place = HERE,
    trust: Trust = False,
    json: Json = False,
) -> int:
    """Show what a run would do and could cost at worst, and run its gates once; no agent is started.

    Takes the flags of `run`. Exits with 0, or with 6 when a gate can't run at all.

    Parameters
    ----------
    task
        What is wanted, as for `run`.
    """
    loaded = spec.load(place.start, task)
    allow(loaded, place, spec, trust=trust)
    planned = plan_of(loaded, place.start)
    agents, worst = _agents(planned, place.start), worst_case(planned)
    say = _Json() if json else _Words()
    say.spec(shown_settings(loaded))
    say.agents([without_secrets(each, secrets_of(planned)) for each in agents])
    say.baseline()
    kept = place.store().state_dir
    checked = anyio.run(lambda: check_gates(loaded, place.start, say.verdict, state_dir=kept, signals=True))
    code = 128 + checked.signal if checked.signal else GATE if checked.broken else OK
    say.end(planned, checked, worst, code)
    return code


def _agents(planned: Plan, start: Path) -> list[AgentLine]:
    """How each agent would be started, from the adapter itself."""
    state = apply(None, RunStarted(at=time.time(), run="plan", plan=planned))
    brief = compose(state)
    return [_agent_line(name, agent, brief, start) for name, agent in agents_of(planned, {}).items()]


def _found(argv: list[str], start: Path) -> bool:
    try:
        find_program(argv[0], start, {})
    except AgentUnavailable:
        return False
    return True


def _agent_line(name: str, agent: Any, brief: Brief, start: Path) -> AgentLine:
    """An adapter has `command(brief)`; a plain command is its own command line."""
    command = getattr(agent, "command", None)
    gates = ", ".join(brief.commands) or "no gate's command"
    if isinstance(command, str):
        placed = "{prompt}" in command or "{prompt_file}" in command
        return AgentLine(
            name=name,
            command=shlex.split(command),
            found=_found(shlex.split(command), start),
            brief="in place of {prompt} or {prompt_file}" if placed else "on stdin",
            permissions="whatever the command lets its agent do; untilgreen adds nothing",
        )
    if not callable(command):
        unsaid = "as the plugin does it"
        return AgentLine(name=name, command=[], found=True, brief=unsaid, permissions=unsaid)
    line = command(brief)
    told = "on stdin" if line.stdin is not None else "as an argument"
    about = getattr(agent, "about", None)
    fenced = (about.fenced if isinstance(about, About) else About.fenced).format(gates=gates)
    argv = ["BRIEF" if word == brief.text else word for word in line.argv]
    return AgentLine(
        name=name,
        command=argv,
        found=_found(argv, start),
        brief=told,
        permissions="everything (--yolo)" if brief.permissions == "all" else fenced,
        env=dict(line.env),
    )


class _Json:
    def spec(self, found: list[Any]) -> None:
        version_line()
        for each in found:
            out_json(Setting(key=each.key, value=each.value, source=each.source))

    def agents(self, agents: list[AgentLine]) -> None:
        for each in agents:
            out_json(each)

    def baseline(self) -> None:
        """Nothing to announce."""

    def verdict(self, round_: int, gate: str, verdict: Verdict) -> None:
        out_json(VerdictLine(gate=gate, verdict=verdict, round=round_))

    def end(self, planned: Plan, checked: Checked, worst: Worst, code: int) -> None:
        out_json(PlanResult(green=checked.green, exit_code=code, **asdict(worst)))


class _Words:
    def spec(self, found: list[Any]) -> None:
        out("The spec")
        for line in lines(found, sources=True):
            out(f"  {line}")

    def agents(self, agents: list[AgentLine]) -> None:
        out(
            "\nThe agent"
            if len(agents) == 1
            else "\nThe agents, in the order in which they are fallen back to"
        )
        for each in agents:
            shown = (
                inert(shlex.join(each.command)) if each.command else "a plugin, which starts what it wants"
            )
            out(f"  {inert(each.name)}: {shown}")
            if not each.found:
                out("    not found on this machine; install it, or name another with --agent")
            for name, value in each.env.items():
                out(f"    {inert(name)}={inert(shlex.quote(value))}")
            out(f"    brief: {each.brief}")
            out(f"    may: {inert(each.permissions)}")

    def baseline(self) -> None:
        out("\nThe gates, on the files as they are")

    def verdict(self, round_: int, gate: str, verdict: Verdict) -> None:
        marks = ASCII_MARKS if ascii_only() else MARKS
        out(f"  {marks[verdict.status]} {inert(gate)} {verdict_words(verdict)}")

    def end(self, planned: Plan, checked: Checked, worst: Worst, code: int) -> None:
        for line in _conclusion(planned, checked):
            out(f"  {line}")
        out("\nAt worst")
        for line in _worst_lines(planned, worst):
            out(f"  {line}")


def _conclusion(planned: Plan, checked: Checked) -> list[str]:
    asked = planned.promise is not None or any(gate.kind in ("judge", "approval") for gate in planned.gates)
    if checked.signal:
        return ["interrupted; not all gates have spoken"]
    if checked.broken:
        return ["A gate can't run at all. Mend it first: a run would end at once, with exit code 6."]
    if checked.green and not asked:
        return ["All green: a run would end at once. If there is work left, add --promise DONE."]
    return []


def _worst_lines(planned: Plan, worst: Worst) -> list[str]:
    hours = "no limit" if worst.seconds is None else show_duration(worst.seconds)
    gates = "any time" if worst.gates_seconds is None else show_duration(worst.gates_seconds)
    wait = "without end" if worst.wait_seconds is None else f"up to {show_duration(worst.wait_seconds)}"
    laps = "no limit" if worst.laps is None else str(worst.laps)
    beyond = "and what the lap overshoots that reaches it"
    money = f"${worst.cost:.2f} {beyond}" if worst.cost is not None else "no limit; set --max-cost"
    tokens = f"{worst.tokens:,} {beyond}" if worst.tokens is not None else "no limit; set --max-tokens"
    return [
        f"laps    {laps}",
        f"time    {hours}, of which the gates of a lap may take {gates}",
        f"wait    {wait} more for rate limits and the like",
        f"money   {money}",
        f"tokens  {tokens}",
    ]
