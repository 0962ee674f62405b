"""The live view: six calm lines about a run, redrawn in place on a terminal; a line for each lap above."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from rich.console import Console, Group
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType
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
from untilgreen.core.model import Verdict
from untilgreen.core.progress import progress
from untilgreen.core.state import RunState
from untilgreen.ports import Activity
from untilgreen.surfaces.panel import Panel, seconds
from untilgreen.surfaces.render import (
    ASCII_MARKS,
    MARKS,
    agent_words,
    claim_words,
    decision_words,
    how_to_answer,
    line,
)
from untilgreen.surfaces.text import in_ascii, inert, places, short

REFRESHES_PER_SECOND = 4
_NOT_RUN = Verdict(status="skip")


class _Calm(Live):
    """Draws only what differs from what is there, so that a slow line and a tired eye have peace."""

    _drawn: tuple[int, str] | None = None

    def refresh(self) -> None:
        """Leave it as it is where nothing has changed."""
        with self._lock:
            whole = self.get_renderable()
            lines = [str(each) for each in whole.renderables] if isinstance(whole, Group) else []
            now = (self.console.width, "\n".join(lines))
            if now == self._drawn and self.is_started:
                return
            if self._drawn is not None and now[0] < self._drawn[0]:
                self._wipe(self._drawn[1].split("\n"), now[0])
            self._drawn = now
            super().refresh()

    def _wipe(self, lines: list[str], width: int) -> None:
        """Take away lines that a narrower terminal has broken: they fill more rows than were drawn."""
        rows = sum(max(1, -(-places(line) // width)) for line in lines)
        up = [(ControlType.CURSOR_UP, rows - 1)] if rows > 1 else []
        self.console.control(
            Control(ControlType.CARRIAGE_RETURN, *up), Control((ControlType.ERASE_IN_LINE, 2))
        )
        for _ in range(rows - 1):
            self.console.control(
                Control((ControlType.CURSOR_DOWN, 1)), Control((ControlType.ERASE_IN_LINE, 2))
            )
        if rows > 1:
            self.console.control(Control((ControlType.CURSOR_UP, rows - 1)))
        self._live_render._shape = None  # nothing of the old picture is left to move above


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
        self._keys = ""
        self._live = _Calm(
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

    def show_keys(self, text: str) -> None:
        """What can be pressed, or what came of a key; drawn at once, since somebody types."""
        self._keys = short(text, 2 * self._room()) if text else ""
        self._live.refresh()

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
        panel = Panel(width=self._room(), ascii_only=self._ascii)
        lines = [
            panel.title(state),
            panel.numbers(state, known, self._now()),
            panel.gates(state, known),
            panel.history(state),
            Text(f"now    {inert(self._doing)}  {seconds(self._now() - self._since)}"),
            Text(f"note   {self._note}" if self._note else "", style="yellow"),
            *([Text(f"keys   {self._keys}", style="dim")] if self._keys else []),
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
        text.truncate(self._room(), overflow="crop" if self._ascii else "ellipsis")
        return text

    def _room(self) -> int:
        return max(20, self._console.width - 1)


def _note(event: Decided) -> str:
    if event.signals:
        signal = event.signals[0]
        return short(f"{signal.kind}: {signal.evidence}", 200)
    return short(event.decision.reason, 200)
