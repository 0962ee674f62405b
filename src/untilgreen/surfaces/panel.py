"""The lines of the live view about a run: each made to fit, in plain characters where asked."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from untilgreen.core.limits import ceiling
from untilgreen.core.model import GateSpec, Verdict
from untilgreen.core.progress import Overview, Progress
from untilgreen.core.state import RunState
from untilgreen.core.units import show_duration
from untilgreen.surfaces.bars import spark
from untilgreen.surfaces.picture import laps_of
from untilgreen.surfaces.render import ASCII_MARKS, MARKS, agent_words
from untilgreen.surfaces.text import inert, places, short

BAR = 12
MOST_LAPS = 40
FEW_LAPS = 12
"""Laps of a gate beside the scores."""
SHORTEST_TITLE = 16
_ARROWS = {"improving": "↗", "regressing": "↘", "stagnant": "→", "unknown": " "}
_ASCII_ARROWS = {"improving": "/", "regressing": "\\", "stagnant": "-", "unknown": " "}
_COLOURS = {"pass": "green", "fail": "red", "error": "yellow", "skip": "dim"}


class Panel:
    """Draws for a terminal of a certain width."""

    def __init__(self, *, width: int, ascii_only: bool) -> None:
        self._width = width
        self._ascii = ascii_only
        self._marks = ASCII_MARKS if ascii_only else MARKS

    def title(self, state: RunState) -> Text:
        """Run and task on the left; agent and strategy on the right, where there is room for them."""
        who = f"{agent_words(state.agent)} · {inert(state.plan.strategy.name)}"
        room = self._width - places(state.run) - places(who) - 4
        task = short(state.plan.title, max(SHORTEST_TITLE, room))
        title = Text(state.run, style="bold")
        title.append(f"  {task}", style="not bold")
        gap = max(2, self._width - places(title.plain) - places(who))
        title.append(" " * gap + who, style="dim not bold")
        return title

    def numbers(self, state: RunState, known: Overview, now: float) -> Text:
        """How far it is, and what it has used of what it may."""
        limits, score = state.plan.limits, known.overall.score
        lap = state.open.number if state.open else len(state.iterations)
        most = f"/{limits.iterations}" if limits.iterations else ""
        full, empty = ("#", ".") if self._ascii else ("█", "░")
        filled = round(score * BAR)
        arrow = (_ASCII_ARROWS if self._ascii else _ARROWS)[known.overall.trend]
        text = Text(f"lap    {lap}{most}  ")
        text.append(full * filled + empty * (BAR - filled), style="cyan")
        text.append(f" {score:.2f} {arrow}")
        if state.spent.cost or limits.cost:
            most_money = f"/${float(limits.cost):.2f}" if limits.cost else ""
            text.append(f"   ${state.spent.cost:.2f}{most_money}")
        running = 0.0 if state.pause or state.asked else max(0.0, now - state.now)
        text.append(f"   {seconds(state.elapsed + running)}/{_limit(limits.time, show_duration)}")
        if state.spent.tokens:
            most_tokens = f"/{_count(float(limits.tokens))}" if limits.tokens else ""
            text.append(f"   {_count(state.spent.tokens)}{most_tokens} tokens")
        if known.overall.laps_left:
            text.append(f"   about {known.overall.laps_left} to go", style="dim")
        return text

    def gates(self, state: RunState, known: Overview) -> Text:
        """Each gate as it was last seen; dim where that was a lap ago."""
        text = Text("gates ")
        latest = state.open.verdicts if state.open else {}
        last = state.last.verdicts if state.last else {}
        for gate in state.plan.gates:
            verdict = latest.get(gate.name)
            text.append(" ")
            text.append_text(
                self._gate(gate, verdict or last.get(gate.name), known.gates[gate.name], old=verdict is None)
            )
        return text

    def history(self, state: RunState) -> Text:
        """The scores as bars, and lap by lap the gates that are not green yet."""
        laps = laps_of(state)[-MOST_LAPS:]
        text = Text("hist   ")
        text.append(spark([lap.score for lap in laps], ascii_only=self._ascii), style="cyan")
        last = state.last.verdicts if state.last else {}
        for gate in state.plan.gates:
            if gate.name not in last or last[gate.name].status not in ("fail", "error"):
                continue
            text.append(f"   {short(gate.name, 16)} ")
            for lap in laps[-FEW_LAPS:]:
                seen = lap.verdicts.get(gate.name)
                status = seen.status if seen else "skip"
                text.append(self._marks[status][0], style=_COLOURS[status])
        return text

    def _gate(self, gate: GateSpec, verdict: Verdict | None, change: Progress, *, old: bool) -> Text:
        status = verdict.status if verdict else "skip"
        style = f"dim {_COLOURS[status]}" if old else _COLOURS[status]
        said = f"{self._marks[status]} {inert(gate.name)}"
        if verdict and verdict.status == "fail":
            said += f" {verdict.count}"
            said += f" (-{len(change.fixed)})" if change.fixed else ""
            said += f" (+{len(change.new)})" if change.new else ""
        said += " flaky" if verdict and verdict.flaky else ""
        return Text(said + " ", style=style.replace("dim dim", "dim"))


def seconds(passed: float) -> str:
    """Whole seconds: tenths that run by draw the eye for nothing."""
    return show_duration(float(int(max(0.0, passed))))


def _count(number: float) -> str:
    """412k rather than 412,345: digits that run by draw the eye, too."""
    if number < 10_000:
        return f"{number:,.0f}"
    return f"{number / 1000:.0f}k" if number < 1_000_000 else f"{number / 1_000_000:.3g}M"


def _limit(value: float | str | None, show: Callable[[float], str]) -> str:
    return "unlimited" if value is None else show(ceiling(value))
