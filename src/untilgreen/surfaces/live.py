"""The live view: six calm lines about a run, redrawn in place on a terminal."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from untilgreen.core.events import (
    BriefOffered,
    Decided,
    Event,
    GateChecked,
    RunFinished,
    RunStarted,
    SnapshotTaken,
    TurnEnded,
)
from untilgreen.core.limits import ceiling
from untilgreen.core.model import Verdict
from untilgreen.core.progress import Overview, progress
from untilgreen.core.state import RunState
from untilgreen.core.units import show_duration
from untilgreen.ports import Activity
from untilgreen.surfaces.picture import laps_of, spark
from untilgreen.surfaces.render import ASCII_MARKS, MARKS, agent_words, line
from untilgreen.surfaces.text import inert, short

REFRESHES_PER_SECOND = 4
BAR = 12
_ARROWS = {"improving": "↗", "regressing": "↘", "stagnant": "→", "unknown": " "}
_ASCII_ARROWS = {"improving": "/", "regressing": "\\", "stagnant": "-", "unknown": " "}
_COLOURS = {"pass": "green", "fail": "red", "error": "yellow", "skip": "dim"}


class LiveView:
    """Listens to a run and draws it; what happened is also said in lines above the picture."""

    def __init__(self, console: Console, now: Callable[[], float], *, ascii_only: bool = False) -> None:
        """`now` is the clock that the run's own times are compared with."""
        self._console = console
        self._now = now
        self._ascii = ascii_only
        self._marks = ASCII_MARKS if ascii_only else MARKS
        self._state: RunState | None = None
        self._doing = "starting"
        self._since = now()
        self._note = ""
        self._live = Live(
            get_renderable=self._draw,
            console=console,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> LiveView:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def on_event(self, event: Event, state: RunState) -> None:
        """Remember what changed; the lines that matter scroll by above."""
        self._state = state
        match event:
            case BriefOffered():
                self._now_doing(f"{agent_words(event.agent)} works on lap {event.lap}")
            case TurnEnded() | SnapshotTaken():
                self._now_doing("gates run")
            case GateChecked():
                pass
            case _:
                self._now_doing("deciding")
        if isinstance(event, Decided):
            self._note = _note(event)
        if not isinstance(event, RunStarted | SnapshotTaken | BriefOffered | RunFinished):
            said = line(event, state, ascii_only=self._ascii)
            if said:
                self._console.print(Text(short(said, max(20, self._console.width - 1)), style="dim"))

    def on_activity(self, activity: Activity) -> None:
        """What the agent shows while it works."""
        if text := short(activity.text, 300):
            self._now_doing(f"{activity.kind}: {text}")

    def _now_doing(self, what: str) -> None:
        self._doing, self._since = what, self._now()

    def _draw(self) -> Group:
        state = self._state
        if state is None:
            return Group(Text("starting …", style="dim"))
        width = max(20, self._console.width - 1)
        known = progress(state)
        lines = [
            self._title(state),
            self._numbers(state, known),
            self._gates(state, known),
            self._history(state),
            Text(f"now    {inert(self._doing)}  {show_duration(max(0.0, self._now() - self._since))}"),
            Text(f"note   {self._note}" if self._note else "", style="yellow"),
        ]
        for each in lines:
            each.truncate(width, overflow="ellipsis")
        return Group(*lines)

    def _title(self, state: RunState) -> Text:
        title = Text(state.run, style="bold")
        title.append(f"  {inert(state.plan.title)}  ", style="not bold")
        title.append(f"{agent_words(state.agent)} · {inert(state.plan.strategy.name)}", style="dim")
        return title

    def _numbers(self, state: RunState, known: Overview) -> Text:
        limits, score = state.plan.limits, known.overall.score
        lap = state.open.number if state.open else len(state.iterations)
        most = f"/{limits.iterations}" if limits.iterations else ""
        full, empty = ("#", ".") if self._ascii else ("█", "░")
        filled = round(score * BAR)
        arrow = (_ASCII_ARROWS if self._ascii else _ARROWS)[known.overall.trend]
        text = Text(f"lap    {lap}{most}  ")
        text.append(full * filled + empty * (BAR - filled), style="cyan")
        text.append(f" {score:.2f} {arrow}")
        running = 0.0 if state.pause or state.asked else max(0.0, self._now() - state.now)
        text.append(f"   {show_duration(state.elapsed + running)}/{_limit(limits.time, show_duration)}")
        if state.spent.cost or limits.cost:
            most_money = f"/${float(limits.cost):.2f}" if limits.cost else ""
            text.append(f"   ${state.spent.cost:.2f}{most_money}")
        if state.spent.tokens:
            text.append(f"   {state.spent.tokens:,} tokens")
        if known.overall.laps_left:
            text.append(f"   about {known.overall.laps_left} to go", style="dim")
        return text

    def _gates(self, state: RunState, known: Overview) -> Text:
        text = Text("gates ")
        latest = state.open.verdicts if state.open else {}
        last = state.last.verdicts if state.last else {}
        for gate in state.plan.gates:
            verdict = latest.get(gate.name)
            old = verdict is None
            verdict = verdict or last.get(gate.name)
            change = known.gates[gate.name]
            text.append(" ")
            text.append_text(self._gate(gate.name, verdict, len(change.fixed), len(change.new), old=old))
        return text

    def _gate(self, name: str, verdict: Verdict | None, fixed: int, new: int, *, old: bool) -> Text:
        status = verdict.status if verdict else "skip"
        style = f"dim {_COLOURS[status]}" if old else _COLOURS[status]
        said = f"{self._marks[status]} {inert(name)}"
        if verdict and verdict.status == "fail":
            said += f" {verdict.count}"
            said += f" (-{fixed})" if fixed else ""
            said += f" (+{new})" if new else ""
        return Text(said + " ", style=style.replace("dim dim", "dim"))

    def _history(self, state: RunState) -> Text:
        laps = laps_of(state)[-40:]
        text = Text("hist   ")
        text.append(spark([lap.score for lap in laps], ascii_only=self._ascii), style="cyan")
        return text


def _note(event: Decided) -> str:
    if event.signals:
        signal = event.signals[0]
        return short(f"{signal.kind}: {signal.evidence}", 200)
    return short(event.decision.reason, 200)


def _limit(value: float | str | None, show: Callable[[float], str]) -> str:
    return "unlimited" if value is None else show(ceiling(value))
