"""What finished runs taught, in numbers: read from each journal once, and kept when the run is pruned."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct, field

from untilgreen.core.learning.course import Course, course_of
from untilgreen.core.loop.fold import fold
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.values.model import PartSpec
from untilgreen.core.values.state import RunState
from untilgreen.engine.store.atomic_file import put
from untilgreen.engine.store.run_folder import RunFolder
from untilgreen.engine.store.runs import Store
from untilgreen.errors import JournalError
from untilgreen.journal.reader import read

FILE = "lessons.json"
_MODEL = ("model", "command")
"""Options that distinguish agents of the same kind."""


class Taught(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One run: its agent, its directory, and its course."""

    agent: str
    course: Course
    workspace: str = ""


class _Pages(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The file; a run whose entry is null taught nothing, or is to be ignored."""

    version: int = 1
    runs: dict[str, Taught | None] = field(default_factory=dict)


class LessonBook:
    """Everything that the runs of a state directory taught, by run, the oldest first."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.path = store.state_dir / FILE

    def taught(self) -> dict[str, Taught]:
        """Every run that is over and taught something; runs that ended since the last call are read now."""
        known = self._load()
        fresh = [run for run in self._store.runs() if run.id not in known]
        added = {run.id: entry for run in fresh if not isinstance(entry := _lesson(run), _NotOver)}
        if added:
            known |= added
            self._save(known)
        return {run: known[run] for run in sorted(known) if known[run] is not None}  # type: ignore[misc]  # not None

    def by_agent(self) -> dict[str, list[Taught]]:
        """The same, grouped by agent."""
        found: dict[str, list[Taught]] = {}
        for entry in self.taught().values():
            found.setdefault(entry.agent, []).append(entry)
        return found

    def forget(self, agent: str | None = None) -> int:
        """Ignore the runs so far, of one agent or of all; returns how many."""
        taught = self.taught()
        gone = [run for run, entry in taught.items() if agent in (None, entry.agent)]
        known = self._load()
        # Also a run that is not over yet: it began before.
        unread = [] if agent else [run.id for run in self._store.runs() if run.id not in known]
        self._save({**known, **dict.fromkeys([*gone, *unread])})
        return len(gone)

    def _load(self) -> dict[str, Taught | None]:
        """An unreadable file is rebuilt: everything in it comes from the journals."""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=_Pages).runs
        except (OSError, ValueError):
            return {}

    def _save(self, runs: dict[str, Taught | None]) -> None:
        with self._store.explaining_errors():
            self._store.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            put(self.path, msgspec.json.encode(_Pages(runs=runs)))


class _NotOver:
    """The run continues, or its journal can't be read: it is read again next time."""


def _lesson(run: RunFolder) -> Taught | _NotOver | None:
    try:
        events, _ = read(run.journal)
        state = fold(events)
    except JournalError:
        return _NotOver()
    if state is None or state.outcome is None:
        return _NotOver()
    return lesson_of(state)


def lesson_of(state: RunState) -> Taught | None:
    """What a finished run taught; None if it had no lap, or if several agents took turns."""
    if not state.laps or len({lap.agent for lap in state.laps}) > 1:
        return None
    part = next((each for each in state.plan.agents if each.name == state.laps[0].agent), None)
    if part is None:
        return None
    return Taught(
        agent=agent_key(part),
        course=course_of(state, Hybrid(), green=state.laps[-1].green),
        workspace=str(state.plan.workspace.get("start", "")),
    )


def agent_key(part: PartSpec) -> str:
    """An agent and its model, as they are written on the command line: `claude:opus`."""
    use = part.use or part.name
    detail = next((str(part.options[each]) for each in _MODEL if part.options.get(each)), "")
    return f"{'cmd' if use == 'command' else use}:{detail}" if detail else use


def courses(taught: Sequence[Taught]) -> list[Course]:
    """The runs in numbers alone."""
    return [entry.course for entry in taught]
