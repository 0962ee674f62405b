"""Draws docs/pictures/demo.svg from a real run of the demo: `make picture`."""

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
from rich.text import Text

from untilgreen.core.events import Event
from untilgreen.core.fold import apply
from untilgreen.core.state import RunState
from untilgreen.journal.file import FileJournal
from untilgreen.surfaces.render import line
from untilgreen.surfaces.result import summary

PICTURE = Path(__file__).with_name("demo.svg")
WIDTH = 96
COLOURS = (
    (r"✓|converged", "green"),
    (r"✕\d*|claim rejected|fails", "red"),
    (r"^(baseline|(after |before )?lap \d+)", "cyan"),
)


def main() -> None:
    """Run the demo, and draw what a person sees of it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "untilgreen", "demo"]
        subprocess.run(command, env={**os.environ, "TMPDIR": folder}, check=True, stdout=subprocess.DEVNULL)  # noqa: TID251 - a script
        (journal,) = Path(folder).rglob("journal.jsonl")
        events = anyio.run(FileJournal(journal).events)
        lines = ["$ untilgreen demo", *told(list(events))]
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    for said in lines:
        text = Text(said if len(said) < WIDTH else said[: WIDTH - 1] + "…")
        for pattern, colour in COLOURS:
            text.highlight_regex(pattern, colour)
        console.print(text)
    svg = console.export_svg(title="untilgreen demo")
    PICTURE.write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL), encoding="utf-8")


def told(events: list[Event]) -> list[str]:
    """The lines of the run, and its picture at the end."""
    state: RunState | None = None
    lines = []
    for event in events:
        state = apply(state, event)
        if said := line(event, state):
            lines.append(said)
    assert state is not None
    ending = "\n".join(summary(state, width=WIDTH, ascii_only=False)).splitlines()
    return [*lines[:-1], "", *ending[:-1]]


if __name__ == "__main__":
    main()
