"""Which view shows a run: live on a terminal, plain lines elsewhere, JSON for programs."""

from __future__ import annotations

import os
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TextIO, cast

import msgspec

from untilgreen.core.values.events import Decided, Event
from untilgreen.core.values.state import RunState
from untilgreen.ports import Activity
from untilgreen.surfaces.text import streams
from untilgreen.surfaces.text.event_lines import how_to_answer, line
from untilgreen.surfaces.text.questions import question_lines
from untilgreen.surfaces.text.safe_text import in_ascii, short


class View(Protocol):
    """Shows a run while it is driven."""

    def on_event(self, event: Event, state: RunState) -> None:
        """Something happened."""

    def on_activity(self, activity: Activity) -> None:
        """The agent shows something."""


class Silent:
    """Shows nothing."""

    def on_event(self, event: Event, state: RunState) -> None:
        """Nothing."""

    def on_activity(self, activity: Activity) -> None:
        """Nothing."""


class Lines:
    """One line with the time for each event, on stderr; with `verbose` also the agent's activity."""

    def __init__(self, *, verbose: bool = False, ascii_only: bool = False, flags: str = "") -> None:
        self._verbose = verbose
        self._ascii = ascii_only
        self._flags = flags

    def on_event(self, event: Event, state: RunState) -> None:
        """Print it, if people need to know."""
        said = line(event, state, ascii_only=self._ascii)
        if said:
            self._say(said, event.at)
        if isinstance(event, Decided) and state.asked is not None and state.answers:
            for each in (*question_lines(state, 10_000), how_to_answer(state, self._flags)):
                self._say(each, event.at)

    def on_activity(self, activity: Activity) -> None:
        """Printed only on request."""
        if self._verbose:
            self._say(f"  {activity.kind}: {short(activity.text, 300)}", time.time())

    def _say(self, text: str, at: float) -> None:
        stamp = time.strftime("%H:%M:%S", time.localtime(at))
        streams.write(sys.stderr, f"{stamp} {in_ascii(text) if self._ascii else text}\n")


class Json:
    """Every event as a line of JSON on stdout."""

    def on_event(self, event: Event, state: RunState) -> None:
        """As it is in the journal, under the key `event`."""
        from untilgreen.surfaces.json.lines import EventLine

        told = msgspec.json.encode(EventLine(run=state.run, event=event))
        streams.write_bytes(sys.stdout, told + b"\n")

    def on_activity(self, activity: Activity) -> None:
        """Not printed: it is in the run's folder."""


def choose_view(
    *,
    json: bool,
    quiet: bool,
    verbose: bool,
    ascii_only: bool,
    flags: str = "",
    plain: bool = False,
) -> AbstractContextManager[View]:
    """The view that fits the options and the terminal; printed commands end with `flags`."""
    if json:
        return nullcontext(Json())
    if quiet:
        return nullcontext(Silent())
    lines = Lines(verbose=verbose, ascii_only=ascii_only, flags=flags)
    if streams.on_actions(os.environ):
        from untilgreen.surfaces.live import github_actions

        return github_actions.view(lines)
    if verbose or plain or os.environ.get("UNTILGREEN_PLAIN") or not sys.stderr.isatty():
        return nullcontext(lines)
    from rich.console import Console

    from untilgreen.surfaces.live.live_view import LiveView

    console = Console(file=cast("TextIO", streams.TolerantStream(sys.stderr)), highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        return nullcontext(lines)
    return LiveView(console, time.time, ascii_only=ascii_only, flags=flags)
