"""The live view: a few lines about a run, redrawn in place, below one line for each lap."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType
from rich.text import Text

from untilgreen.core.scoring.progress import progress
from untilgreen.core.values.decision import Continue
from untilgreen.core.values.events import (
    BriefOffered,
    Decided,
    Event,
    GateChecked,
    RemedyTried,
    RunFinished,
    RunStarted,
    SnapshotTaken,
    TurnEnded,
)
from untilgreen.core.values.state import RunState
from untilgreen.ports import Activity
from untilgreen.surfaces.live.attention import Attention
from untilgreen.surfaces.live.panel import Panel, changes_words, seconds
from untilgreen.surfaces.text.current_step import current_step
from untilgreen.surfaces.text.event_lines import claim_words, decision_words, line
from untilgreen.surfaces.text.questions import choice_lines, choices_of, text_lines
from untilgreen.surfaces.text.safe_text import columns_of, folded, in_ascii, inert, short

REFRESHES_PER_SECOND = 4


class _QuietLive(Live):
    """Draws only when something has changed, which is easier on slow connections and on the eyes."""

    _drawn: tuple[int, str] | None = None

    def refresh(self) -> None:
        """Do nothing if nothing has changed."""
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

    def print_above(self, text: RenderableType) -> None:
        """Print a line that stays; no refresh comes between, or half of the old picture would stay."""
        with self._lock:
            self.console.print(text)

    def _wipe(self, lines: list[str], width: int) -> None:
        """Erase lines that a narrower terminal has wrapped: they fill more rows than were drawn."""
        rows = sum(max(1, -(-columns_of(line) // width)) for line in lines)
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
    """Listens to a run and draws it; lines about finished laps stay above the view."""

    def __init__(
        self, console: Console, now: Callable[[], float], *, ascii_only: bool = False, flags: str = ""
    ) -> None:
        """`now` reads the clock of the run's events; printed commands end with `flags`."""
        self._console = console
        self._now = now
        self._ascii = ascii_only
        self._flags = flags
        self._state: RunState | None = None
        self._activity = ""
        self._since = now()
        self._last = ""
        self._keys = ""
        self._row = 0
        self._held: list[Text] | None = None
        self._attention = Attention(self._to_terminal)
        self._live = self._new_live()

    def __enter__(self) -> LiveView:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._attention.rest()
        self._live.stop()

    def on_event(self, event: Event, state: RunState) -> None:
        """Update the view, and print above it what stays of interest."""
        before = self._doing()
        self._state = state
        self._activity = "" if not isinstance(event, GateChecked) else self._activity
        if self._doing() != before:
            self._since = self._now()
        if isinstance(event, Decided):
            self._last = _last(event)
        for text in self._lines_about(event, state):
            self._print(Text(text, style="dim"))
        self._ask_for_attention(state)

    def on_activity(self, activity: Activity) -> None:
        """What the agent shows while it works."""
        if text := short(activity.text, 300):
            self._activity, self._since = f"{activity.kind}: {text}", self._now()

    def show_keys(self, text: str) -> None:
        """The keys, or what the last one did; drawn at once, since somebody is typing."""
        self._keys = short(text, 4 * self._room()) if text else ""
        if self._held is None:
            self._live.refresh()

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Leave the terminal to another program; what happens meanwhile is printed afterwards."""
        self._held = []
        self._live.stop()
        try:
            yield
        finally:
            held, self._held = self._held, None
            self._live = self._new_live()
            self._live.start()
            for text in held:
                self._print(text)

    def __rich__(self) -> Group:
        """The lines as they are now."""
        state = self._state
        if state is None:
            return Group(Text("starting", style="dim"))
        known = progress(state)
        panel = Panel(width=self._room(), ascii_only=self._ascii)
        keys = _named("keys", _wrapped(self._keys, self._room() - 7), "dim")
        always = [
            panel.title(state),
            panel.numbers(state, known, self._now()),
            Text(f"now    {inert(self._doing())}{self._for_how_long(state)}"),
        ]
        details = [panel.gates(state, known), panel.history(state), *panel.findings(state)]
        last = [Text(f"last   {self._last}" if self._last else "", style="yellow")]
        asked = self._question(state, self._console.height - len(always) - len(keys))
        if len(always) + len(details) + len(last) + len(asked) + len(keys) > self._console.height:
            details, last = [], []  # a question that waits for an answer needs the room
        lines = [*always[:2], *details, always[2], *last, *_named("ask", asked, "bold"), *keys]
        return Group(*map(self._fitting, lines))

    def _for_how_long(self, state: RunState) -> str:
        """How long it has been doing that; a pause and a question show their own times."""
        waits = (state.pause is not None and state.pause.until is not None) or (
            state.asked is not None and state.answers
        )
        return "" if waits else f"  {seconds(self._now() - self._since)}"

    def _question(self, state: RunState, rows: int) -> list[str]:
        """The question, and the command that answers it; on a small screen its evidence is cut first."""
        choices = choices_of(state) if state.answers else ()
        if not choices:
            return []
        width = self._room() - 7
        command = f"untilgreen answer {state.run} {shlex.quote(inert(choices[0]))}{self._flags}"
        below = [*choice_lines(state, width), *folded(f"From another terminal: {command}", width)]
        text, room = text_lines(state, width), max(2, rows - len(below))
        return [*(text if len(text) <= room else [*text[: room - 1], "…"]), *below]

    def _doing(self) -> str:
        if self._state is None:
            return "starting"
        lap = self._state.open
        if self._activity and lap is not None and lap.offered and lap.reply is None:
            return self._activity
        return current_step(self._state, self._now(), self._flags)

    def _lines_about(self, event: Event, state: RunState) -> list[str]:
        """The lines that stay; a lap is one row under the names of its columns."""
        match event:
            case (
                RunStarted()
                | RunFinished()
                | SnapshotTaken()
                | BriefOffered()
                | GateChecked()
                | RemedyTried()
            ):
                return []
            case TurnEnded(reply=reply) if reply.ok and not reply.denied:
                return []
            case Decided(lap=lap) if lap > self._row and state.laps and state.laps[-1].number == lap:
                return self._lap_lines(event, state)
            case _:
                said = line(event, state, ascii_only=self._ascii)
                return [said] if said else []

    def _lap_lines(self, event: Decided, state: RunState) -> list[str]:
        panel = Panel(width=self._room(), ascii_only=self._ascii)
        last = state.laps[-1]
        what = claim_words(state, event.lap) + changes_words(last, progress(state))
        if not isinstance(event.decision, Continue):
            what += f"; {decision_words(event)}"
        elif event.decision.remedy:
            what += f"; stuck, trying remedy {event.decision.remedy!r}"
        elif event.signals:
            what += f"; noticed: {', '.join(inert(signal.kind) for signal in event.signals)}"
        heading = [] if self._row else [panel.lap_heading(state)]
        self._row = event.lap
        return [*heading, *panel.lap_rows(state, last, what)]

    def _ask_for_attention(self, state: RunState) -> None:
        if state.answers and (asked := text_lines(state, 10_000)):
            self._attention.call(asked[0])
        elif state.halted is not None:
            self._attention.call(state.halted.detail or state.halted.cause)
        else:
            self._attention.rest()

    def _print(self, text: Text) -> None:
        if self._held is not None:
            self._held.append(text)
        else:
            self._live.print_above(self._fitting(text))

    def _to_terminal(self, text: str) -> None:
        if self._console.is_terminal:
            self._console.file.write(text)
            self._console.file.flush()

    def _new_live(self) -> _QuietLive:
        return _QuietLive(
            get_renderable=self.__rich__,
            console=self._console,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def _fitting(self, text: Text) -> Text:
        """Cut to one line of the terminal; the last column stays free, since some terminals wrap there."""
        if self._ascii:
            text.plain = in_ascii(text.plain)
        text.truncate(self._room(), overflow="crop" if self._ascii else "ellipsis")
        return text

    def _room(self) -> int:
        return max(20, self._console.width - 1)


def _named(name: str, lines: list[str], style: str) -> list[Text]:
    """Lines with a name before the first."""
    return [Text(f"{'' if number else name:<7}{each}", style=style) for number, each in enumerate(lines)]


def _wrapped(keys: str, width: int) -> list[str]:
    """The keys on as many lines as they need; a key stays beside its word."""
    lines: list[str] = []
    for item in keys.split(" · ") if keys else ():
        if lines and columns_of(f"{lines[-1]} · {item}") <= width:
            lines[-1] += f" · {item}"
        else:
            lines += folded(item, width)
    return lines


def _last(event: Decided) -> str:
    """What a detector saw, or why the run ends or asks; a plain "another lap" needs no reason."""
    place = f"lap {event.lap}" if event.lap else "baseline"
    if event.signals:
        signal = event.signals[0]
        return short(f"{place}: {signal.kind}: {signal.evidence}", 200)
    return "" if isinstance(event.decision, Continue) else short(f"{place}: {event.decision.reason}", 200)
