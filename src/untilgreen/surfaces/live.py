"""The live view: six calm lines about a run, redrawn in place on a terminal; a line for each lap above."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from untilgreen.core.events import (
    BriefOffered,
    Cancelled,
    Decided,
    Event,
    GateChecked,
    Interrupted,
    Paused,
    RunFinished,
    RunStarted,
    SnapshotTaken,
    Steered,
    StopRequested,
    TurnEnded,
)
from untilgreen.core.limits import ceiling
from untilgreen.core.model import Verdict
from untilgreen.core.progress import Overview, progress
from untilgreen.core.state import RunState
from untilgreen.core.units import show_duration
from untilgreen.ports import Activity
from untilgreen.surfaces.picture import laps_of, spark
from untilgreen.surfaces.render import (
    ASCII_MARKS,
    MARKS,
    agent_words,
    claim_words,
    decision_words,
    how_to_answer,
    line,
)
from untilgreen.surfaces.text import in_ascii, inert, short

REFRESHES_PER_SECOND = 4
BAR = 12
_ARROWS = {"improving": "↗", "regressing": "↘", "stagnant": "→", "unknown": " "}
_ASCII_ARROWS = {"improving": "/", "regressing": "\\", "stagnant": "-", "unknown": " "}
_NOT_RUN = Verdict(status="skip")
_COLOURS = {"pass": "green", "fail": "red", "error": "yellow", "skip": "dim"}


class LiveView:
    """Listens to a run and draws it; what happened is also said in lines above the picture."""

    def __init__(
        self, console: Console, now: Callable[[], float], *, ascii_only: bool = False, flags: str = ""
    ) -> None:
        """`now` is the clock that the run's own times are compared with; `flags` end a printed command."""
        self._console = console
        self._now = now
        self._ascii = ascii_only
        self._flags = flags
        self._marks = ASCII_MARKS if ascii_only else MARKS
        self._state: RunState | None = None
        self._doing = "starting"
        self._since = now()
        self._note = ""
        self._live = Live(
            get_renderable=self.__rich__,
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
        """Remember what changed; what matters later is said above."""
        self._state = state
        if doing := self._doing_after(event, state):
            self._now_doing(doing)
        if isinstance(event, Decided):
            self._note = _note(event)
        if said := self._said(event, state):
            self._console.print(self._fitting(Text(said, style="dim")))

    def on_activity(self, activity: Activity) -> None:
        """What the agent shows while it works."""
        if text := short(activity.text, 300):
            self._now_doing(f"{activity.kind}: {text}")

    def __rich__(self) -> Group:
        """The six lines as they are now."""
        state = self._state
        if state is None:
            return Group(Text("starting", style="dim"))
        known = progress(state)
        lines = [
            self._title(state),
            self._numbers(state, known),
            self._gates(state, known),
            self._history(state),
            Text(f"now    {inert(self._doing)}  {_seconds(self._now() - self._since)}"),
            Text(f"note   {self._note}" if self._note else "", style="yellow"),
        ]
        return Group(*map(self._fitting, lines))

    def _doing_after(self, event: Event, state: RunState) -> str:
        """What goes on from now; empty where it goes on as before."""
        if state.asked is not None and state.answer is None and state.answers:
            return how_to_answer(state, self._flags)
        if state.pause is not None and state.pause.until is None and not (state.open and state.open.offered):
            return f"paused. Go on with: untilgreen resume {state.run}{self._flags}"
        match event:
            case BriefOffered():
                return f"{agent_words(event.agent)} works on lap {event.lap}"
            case TurnEnded() | SnapshotTaken():
                return "gates run"
            case GateChecked() | Steered() | StopRequested() | Paused():
                return ""
            case Interrupted() | Cancelled():
                return "what runs is being ended"
            case _:
                return "deciding"

    def _said(self, event: Event, state: RunState) -> str:
        """The line that stays; a lap is one line, with its gates as far as they ran."""
        match event:
            case RunStarted() | RunFinished() | SnapshotTaken() | BriefOffered() | GateChecked():
                return ""
            case TurnEnded(reply=reply) if reply.ok and not reply.denied:
                return ""
            case Decided(lap=lap) if state.last is not None and state.last.number == lap:
                said = claim_words(state, lap) + decision_words(event)
                return f"lap {lap:<3} {self._verdicts(state)}  {said}"
            case _:
                return line(event, state, ascii_only=self._ascii) or ""

    def _verdicts(self, state: RunState) -> str:
        verdicts = state.last.verdicts if state.last else {}
        return " ".join(
            self._marks[verdict.status]
            + (str(verdict.count) if verdict.count else "")
            + ("~" if verdict.flaky else "")
            for verdict in (verdicts.get(gate.name, _NOT_RUN) for gate in state.plan.gates)
        )

    def _now_doing(self, what: str) -> None:
        self._doing, self._since = what, self._now()

    def _fitting(self, text: Text) -> Text:
        """As much as one line of the terminal takes; the last place stays free, where some terminals wrap."""
        if self._ascii:
            text.plain = in_ascii(text.plain)
        text.truncate(max(20, self._console.width - 1), overflow="crop" if self._ascii else "ellipsis")
        return text

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
        text.append(f"   {_seconds(state.elapsed + running)}/{_limit(limits.time, show_duration)}")
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
        said += " flaky" if verdict and verdict.flaky else ""
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


def _seconds(seconds: float) -> str:
    """Whole seconds: tenths that run by draw the eye for nothing."""
    return show_duration(float(int(max(0.0, seconds))))


def _limit(value: float | str | None, show: Callable[[float], str]) -> str:
    return "unlimited" if value is None else show(ceiling(value))
