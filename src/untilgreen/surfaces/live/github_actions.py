"""The view on GitHub Actions: a fold for each lap, an annotation for each finding, a summary at the end.

GitHub's runner executes lines of output that look like commands. Output of models and tools must never be
executed, so commands are switched off, with a random word, while it may be printed, and on again for our own.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from untilgreen.core.values.events import BriefOffered, Decided, Event, GateChecked, RunFinished
from untilgreen.core.values.model import Finding, Verdict
from untilgreen.core.values.state import RunState
from untilgreen.ports import Activity
from untilgreen.surfaces.live.views import Lines
from untilgreen.surfaces.report.content import gather
from untilgreen.surfaces.report.markdown import summary
from untilgreen.surfaces.text import streams
from untilgreen.surfaces.text.safe_text import inert, short

MOST_ANNOTATIONS = 10
"""GitHub shows no more for one step."""
LARGEST_SUMMARY = 900_000


class Actions:
    """Plain lines, folded by lap; annotations and a summary at the end."""

    def __init__(self, lines: Lines, summary_file: Path | None) -> None:
        self._lines = lines
        self._summary = summary_file
        self._word = ""
        self._folded = False

    def __enter__(self) -> Actions:
        self._hush()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._command(*(["::endgroup::"] if self._folded else []), last=True)

    def on_event(self, event: Event, state: RunState) -> None:
        """A lap is one fold; the end of the run is outside all folds."""
        if isinstance(event, BriefOffered) or (isinstance(event, GateChecked) and not self._folded):
            lap = f"lap {event.lap}" if event.lap else "before lap 1"
            self._command(*(["::endgroup::"] if self._folded else []), f"::group::{lap}")
            self._folded = True
        self._lines.on_event(event, state)
        if isinstance(event, Decided) and self._folded:
            self._command("::endgroup::")
            self._folded = False
        if isinstance(event, RunFinished):
            self._command(*_annotations(state))
            self._summarize(state)

    def on_activity(self, activity: Activity) -> None:
        """As in the plain view."""
        self._lines.on_activity(activity)

    def _hush(self) -> None:
        self._word = secrets.token_hex(16)
        streams.write(sys.stderr, f"::stop-commands::{self._word}\n")

    def _command(self, *commands: str, last: bool = False) -> None:
        streams.write(sys.stderr, "".join(f"{each}\n" for each in (f"::{self._word}::", *commands)))
        if not last:
            self._hush()

    def _summarize(self, state: RunState) -> None:
        if self._summary is None:
            return
        text = "\n".join(summary(gather(state, ""))).encode("utf-8", "replace")[:LARGEST_SUMMARY]
        with suppress(OSError), self._summary.open("ab") as file:  # a missing summary is not worth a failure
            file.write(text + b"\n")


def view(lines: Lines, env: Mapping[str, str] | None = None) -> Actions:
    """The view, with the summary file that the runner names."""
    named = (env if env is not None else os.environ).get("GITHUB_STEP_SUMMARY")
    return Actions(lines, Path(named) if named else None)


def _annotations(state: RunState) -> list[str]:
    """The findings that are left, at their files; those of required gates as errors."""
    found = []
    verdicts = state.last.verdicts if state.last else {}
    for gate in state.plan.gates:
        verdict = verdicts.get(gate.name)
        if verdict is None or verdict.status not in ("fail", "error"):
            continue
        kind = "error" if gate.required else "warning"
        found += [_annotation(kind, gate.name, finding) for finding in verdict.findings or (_bare(verdict),)]
    return found[:MOST_ANNOTATIONS]


def _bare(verdict: Verdict) -> Finding:
    return Finding(id=f"{verdict.status}", message=short(verdict.excerpt, 200))


def _annotation(kind: str, gate: str, finding: Finding) -> str:
    place = {"file": finding.file, "line": str(finding.line) if finding.line else None, "title": gate}
    options = ",".join(f"{key}={_option(value)}" for key, value in place.items() if value)
    return f"::{kind} {options}::{_data(f'{finding.id}: {finding.message}'.rstrip(': '))}"


def _data(text: str) -> str:
    return inert(text).replace("%", "%25")


def _option(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
