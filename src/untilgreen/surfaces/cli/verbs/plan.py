"""plan: what a run would do and could cost, before any money is spent."""

from __future__ import annotations

import math
import shlex
import time
from pathlib import Path
from typing import Annotated, Any

import anyio
from cyclopts import Parameter
from msgspec.structs import asdict

from untilgreen.agents.kit.run_cli import find_program
from untilgreen.agents.kit.take_turn import About
from untilgreen.config.effective import DEFAULT
from untilgreen.core.briefing.brief import Brief, compose
from untilgreen.core.exit_codes import GATE, OK
from untilgreen.core.loop.fold import apply
from untilgreen.core.values.events import RunStarted
from untilgreen.core.values.limits import ceiling
from untilgreen.core.values.model import Plan, Verdict
from untilgreen.core.values.units import show_duration
from untilgreen.engine.operations.check import Checked, check_gates
from untilgreen.engine.operations.worst_case import WorstCase, worst_case
from untilgreen.engine.wiring.objects import agents_of, objects_of
from untilgreen.engine.wiring.plan import objects_for, plan_of
from untilgreen.engine.wiring.redaction import secrets_of, without_secrets
from untilgreen.engine.wiring.start_notes import start_notes
from untilgreen.errors import AgentUnavailable
from untilgreen.surfaces.cli.options import HERE, NO_FLAGS, OPTIONS, FleetPlace, Json, SpecFlags, Trust
from untilgreen.surfaces.cli.verbs.config import setting_lines, shown_settings
from untilgreen.surfaces.cli.verbs.trust import allow
from untilgreen.surfaces.json.lines import AgentLine, PastRuns, PlanResult, Setting, VerdictLine
from untilgreen.surfaces.text.event_lines import ASCII_MARKS, MARKS, verdict_words
from untilgreen.surfaces.text.printing import ascii_only, out, out_json, tell, version_line
from untilgreen.surfaces.text.safe_text import inert


def plan(
    task: str | None = None,
    /,
    *,
    spec: SpecFlags = NO_FLAGS,
    place: FleetPlace = HERE,
    trust: Trust = False,
    all_: Annotated[
        bool, Parameter(name="--all", help="Show every setting, defaults included.", group=OPTIONS)
    ] = False,
    json: Json = False,
) -> int:
    """Show what a run would do and what it could cost.

    Takes the options of `run`. Runs the gates once, starts no agent. Exits with 0, or 6 if a gate can't run.

    Parameters
    ----------
    task
        What to do, as for `run`.
    """
    loaded = spec.load(place.start, task)
    allow(loaded, place, spec, trust=trust)
    objects = objects_for(loaded)
    planned = plan_of(loaded, place.start, objects)
    for sentence in start_notes(loaded, objects):
        tell(f"note: {inert(sentence)}")
    agents, worst = _agents(planned, place.start), worst_case(planned)
    say = _Json() if json else _Words(defaults=all_)
    say.spec(shown_settings(loaded))
    say.agents([without_secrets(each, secrets_of(planned)) for each in agents])
    say.baseline()
    kept = place.store().state_dir
    checked = anyio.run(lambda: check_gates(loaded, place.start, say.verdict, state_dir=kept, signals=True))
    code = 128 + checked.signal if checked.signal else GATE if checked.broken else OK
    say.end(without_secrets(planned, secrets_of(planned)), checked, worst, _past(planned, place), code)
    return code


def _past(planned: Plan, place: FleetPlace) -> PastRuns | None:
    """What earlier runs with the first agent took."""
    from untilgreen.engine.store.notes.lesson_book import LessonBook
    from untilgreen.surfaces.learning.gathering import past_runs

    return past_runs(LessonBook(place.store()).by_agent(), planned.agents[0], place.start)


def _agents(planned: Plan, start: Path) -> list[AgentLine]:
    """How each agent would be started, from the adapter itself."""
    state = apply(None, RunStarted(at=time.time(), run="plan", plan=planned))
    brief = compose(state)
    return [
        _agent_line(name, agent, brief, start)
        for name, agent in agents_of(planned, objects_of(planned)).items()
    ]


def _found(argv: list[str], start: Path) -> bool:
    try:
        find_program(argv[0], start, {})
    except AgentUnavailable:
        return False
    return True


def _agent_line(name: str, agent: Any, brief: Brief, start: Path) -> AgentLine:
    """An adapter has `command(brief)`, ACP `server(brief)`; a plain command is its own command line."""
    server = getattr(agent, "server", None)
    command = server or getattr(agent, "command", None)
    gates = ", ".join(brief.commands) or "no gate's command"
    if isinstance(command, str):
        placed = "{prompt}" in command or "{prompt_file}" in command
        return AgentLine(
            name=name,
            command=shlex.split(command),
            found=_found(shlex.split(command), start),
            brief="in place of {prompt} or {prompt_file}" if placed else "on stdin",
            permissions="do whatever the command allows; untilgreen adds nothing",
        )
    if not callable(command):
        unsaid = "up to the plugin"
        return AgentLine(name=name, command=[], found=True, brief=unsaid, permissions=unsaid)
    line = command(brief)
    passed = "over ACP" if server else "on stdin" if line.stdin is not None else "as an argument"
    about = getattr(agent, "about", None)
    fenced = (about.fenced if isinstance(about, About) else About.fenced).format(gates=gates)
    argv = ["BRIEF" if word == brief.text else word for word in line.argv]
    return AgentLine(
        name=name,
        command=argv,
        found=_found(argv, start),
        brief=passed,
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

    def end(
        self, planned: Plan, checked: Checked, worst: WorstCase, past: PastRuns | None, code: int
    ) -> None:
        out_json(PlanResult(green=checked.green, exit_code=code, past=past, **asdict(worst)))


class _Words:
    """What matters first: agent, gates, limits and cost; then the settings."""

    def __init__(self, *, defaults: bool) -> None:
        self._defaults = defaults
        self._settings: list[Any] = []
        self._seen: set[str] = set()

    def spec(self, found: list[Any]) -> None:
        self._settings = [each for each in found if self._defaults or each.source != DEFAULT]

    def agents(self, agents: list[AgentLine]) -> None:
        out("Agent" if len(agents) == 1 else "Agents, in fallback order")
        for each in agents:
            shown = inert(shlex.join(each.command)) if each.command else "a plugin"
            out(f"  {inert(each.name)}: {shown}")
            if not each.found:
                out("    not installed; install it, or name another with --agent")
            for name, value in each.env.items():
                out(f"    {inert(name)}={inert(shlex.quote(value))}")
            out(f"    brief: {each.brief}")
            out(f"    may: {inert(each.permissions)}")

    def baseline(self) -> None:
        out("\nGates, on the files as they are")

    def verdict(self, round_: int, gate: str, verdict: Verdict) -> None:
        marks = ASCII_MARKS if ascii_only() else MARKS
        self._seen.add(gate)
        out(f"  {marks[verdict.status]} {inert(gate)} {verdict_words(verdict)}")

    def end(
        self, planned: Plan, checked: Checked, worst: WorstCase, past: PastRuns | None, code: int
    ) -> None:
        later = [
            gate.name for gate in planned.gates if gate.kind == "command" and gate.name not in self._seen
        ]
        if later and not checked.signal:
            mark = (ASCII_MARKS if ascii_only() else MARKS)["skip"]
            out(f"  {mark} {inert(', '.join(later))} not run: a gate of an earlier stage fails")
        for line in _conclusion(planned, checked):
            out(f"  {line}")
        out("\nLimits")
        for line in _worst_lines(planned, worst):
            out(f"  {line}")
        if past is not None:
            from untilgreen.surfaces.learning import text

            out(f"\nBefore: {text.past(past)}")
        out("\nSettings" if self._defaults else "\nSettings (--all shows the defaults, too)")
        for line in setting_lines(self._settings, sources=True):
            out(f"  {line}")


def _conclusion(planned: Plan, checked: Checked) -> list[str]:
    asked = planned.promise is not None or any(gate.kind in ("judge", "approval") for gate in planned.gates)
    if checked.signal:
        return ["interrupted before all gates had run"]
    if checked.broken:
        return ["A gate can't run at all. Fix it first: a run would end at once, with exit code 6."]
    if checked.green and not asked:
        return ["All green: a run would end at once. If there is work left, add --promise DONE."]
    return []


def _worst_lines(planned: Plan, worst: WorstCase) -> list[str]:
    limit = ceiling(planned.limits.time)
    hours = "no limit" if math.isinf(limit) else show_duration(limit)
    most = (
        ""
        if worst.seconds is None
        else f"; up to {show_duration(worst.seconds)} with the gates of the last lap"
    )
    gates = "any time" if worst.gates_seconds is None else show_duration(worst.gates_seconds)
    wait = "any time" if worst.wait_seconds is None else f"up to {show_duration(worst.wait_seconds)}"
    laps = "no limit" if worst.laps is None else str(worst.laps)
    beyond = "plus whatever the last lap overshoots"
    money = f"${worst.cost:.2f} {beyond}" if worst.cost is not None else "no limit; set --max-cost"
    tokens = f"{worst.tokens:,} {beyond}" if worst.tokens is not None else "no limit; set --max-tokens"
    return [
        f"laps    {laps}",
        f"time    {hours}{most}",
        f"gates   up to {gates} in each lap, by their timeouts",
        f"wait    {wait} more for rate limits",
        f"money   {money}",
        f"tokens  {tokens}",
    ]
