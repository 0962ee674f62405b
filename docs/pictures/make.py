"""Draws docs/pictures/demo.svg from a real run of the demo, as the live view shows it: `make picture`."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio
from rich.console import Console

from untilgreen.core.loop.fold import apply
from untilgreen.core.values.events import BriefOffered, Event
from untilgreen.core.values.state import RunState
from untilgreen.journal.file import FileJournal
from untilgreen.ports import Activity
from untilgreen.surfaces.live.live_view import LiveView
from untilgreen.surfaces.text.summary import summary

PICTURE = Path(__file__).with_name("demo.svg")
WIDTH = 110
SHOWN_LAP = 4
"""The lap in which the view is drawn."""


def main(picture: Path) -> None:
    """Run the demo, and draw what a person sees of it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "untilgreen", "demo"]
        subprocess.run(command, env={**os.environ, "TMPDIR": folder}, check=True, stdout=subprocess.DEVNULL)  # noqa: TID251 - a script
        (journal,) = Path(folder).rglob("journal.jsonl")
        events = anyio.run(FileJournal(journal).events)
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print("$ untilgreen demo")
    draw(console, list(events))
    svg = console.export_svg(title="untilgreen demo")
    picture.write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL), encoding="utf-8")


def draw(console: Console, events: list[Event]) -> None:
    """The rows of the laps, the view in the middle of one, and the end."""
    state: RunState | None = None
    now = 0.0
    view = LiveView(console, lambda: now, ascii_only=False)
    for event in events:
        state, now = apply(state, event), event.at
        view.on_event(event, state)
        if isinstance(event, BriefOffered) and event.lap == SHOWN_LAP:
            view.on_activity(Activity(kind="edit", text="cart.py"))
            console.print()
            console.print(view)
            console.print()
    assert state is not None
    ending = "\n".join(summary(state, width=WIDTH, ascii_only=False)).splitlines()
    console.print()
    for line in ending:
        if line.startswith(("converged", f"{len(state.laps)} laps")):
            console.print(line)


if __name__ == "__main__":
    main(Path(*sys.argv[1:]) if sys.argv[1:] else PICTURE)
