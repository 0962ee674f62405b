"""What a list shows of each run, cached, so that ten thousand runs can be listed without reading them.

The journals stay the truth: an entry counts only while it matches the files on disk, and anything missing,
old or damaged is read again. So it needs no lock: a process that adds an entry replaces the whole file by a
rename, and entries lost that way are read again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from untilgreen import __version__
from untilgreen.core.values.run_row import RunRow
from untilgreen.engine.store.run_folder import Meta, RunFolder
from untilgreen.journal.fsync import identity, read_regular

if TYPE_CHECKING:
    from untilgreen.core.values.state import Lap, RunState

NAME = "catalog"
"""Name of the file in the state directory; it can be removed safely."""

_BARS = 12
_SETTLED_SECONDS = 2.0  # no file system's clock is coarser
_STALE_SECONDS = 60.0


class _Entry(Struct, array_like=True):
    folder: int
    """The folder's inode, to tell it from another folder of the same name."""
    meta: Meta
    seen: tuple[int, int, int] | None = None
    """The journal's inode, size and time when the row was made."""
    row: RunRow | None = None


_entries = msgspec.json.Decoder(dict[str, _Entry])


class Catalog:
    """The cached entries of one state directory."""

    def __init__(self, state_dir: Path) -> None:
        """A missing or damaged file counts as empty."""
        self._path = state_dir / NAME
        self._known = _read(self._path)
        self._changed = False

    def knows(self, run: str, folder: int) -> bool:
        """Whether there is an entry about the run in the folder with that inode."""
        entry = self._known.get(run)
        return entry is not None and entry.folder == folder

    def meta(self, run: RunFolder) -> Meta:
        """The run's directories and title; call `knows` first."""
        entry = self._known.get(run.id)
        return entry.meta if entry else run.meta()

    def learn(self, run: RunFolder, folder: int) -> None:
        """Read the run's directories and title, and cache them unless they can't be read now."""
        meta = run.meta()
        self._known.pop(run.id, None)
        if meta.workspace:
            self._known[run.id] = _Entry(folder, meta)
            self._changed = True

    def row(self, run: RunFolder) -> RunRow:
        """The run's row; `JournalError` if its journal can't be read."""
        entry, seen = self._known.get(run.id), identity(run.journal, _SETTLED_SECONDS)
        if entry is not None and entry.row is not None and entry.seen == seen:
            return entry.row
        row = _row(run)
        if entry is not None and seen is not None:
            entry.seen, entry.row, self._changed = seen, row, True
        return row

    def keep(self, runs: Iterable[str]) -> None:
        """Drop the entries of all other runs."""
        for gone in self._known.keys() - set(runs):
            del self._known[gone]
            self._changed = True

    def save(self) -> None:
        """Save the entries; if that fails, the next process reads them again."""
        if self._changed:
            with suppress(OSError):
                _write(self._path, msgspec.json.encode(self._known))
            self._changed = False


def is_driven(run: RunFolder) -> bool:
    """Whether a process is driving the run right now."""
    from untilgreen.engine.store import lock  # noqa: PLC0415 - seldom needed: most runs are over

    return lock.owner(run.lock) is not None


def status_now(run: RunFolder, row: RunRow) -> str:
    """The status of a run in one word; an open one that is driven is running."""
    return "running" if row.status == "open" and is_driven(run) else row.status


def directories_listed_in(directory: Path) -> set[str]:
    """The directories whose runs are listed in that directory."""
    return {str(directory), *map(str, directory.parents)}


def _row(run: RunFolder) -> RunRow:
    from untilgreen.engine.store.folder_record import FolderRecord  # noqa: PLC0415 - a list of known runs reads none

    return row_of(FolderRecord(run.path).read().state)


def row_of(state: RunState) -> RunRow:
    """The row of a run in a list."""
    from untilgreen.core.loop.receive import question_id  # noqa: PLC0415 - a list of known runs folds none
    from untilgreen.core.loop.step import gate_waiting_for_people  # noqa: PLC0415 - a list of known runs folds none
    from untilgreen.engine.store.reading import status  # noqa: PLC0415 - the same

    limits, last, gate = state.plan.limits, state.last, gate_waiting_for_people(state)
    asked = state.open_question
    return RunRow(
        status=status(state),
        outcome=state.outcome and state.outcome.value,
        laps=len(state.laps),
        score=state.best.score if state.best else 0.0,
        cost=state.spent.cost,
        tokens=state.spent.tokens,
        title=state.plan.title,
        updated=state.now,
        scores=tuple(lap.score for lap in state.laps[-_BARS:]),
        agent=state.agent,
        strategy=state.plan.strategy.name,
        started=state.started,
        question=asked.question
        if (asked := state.open_question)
        else f"Approve {gate.name}?"
        if gate
        else "",
        question_id=question_id(state),
        most_laps=_limit(state.plan.most_laps),
        most_cost=_limit(limits.cost),
        most_time=_limit(limits.time),
        elapsed=state.elapsed,
        gates=tuple((each.name, _status(last, each.name)) for each in state.plan.gates),
        labels=state.plan.labels,
        remote=str(state.plan.workspace.get("remote", "")),
    )


def _limit(value: float | str | None) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _status(lap: Lap | None, gate: str) -> str:
    return lap.verdicts[gate].status if lap is not None and gate in lap.verdicts else ""


def _mark(body: bytes) -> bytes:
    """The first line; it names our version, since another may describe runs differently and starts over."""
    digest = blake2b(body, digest_size=16).hexdigest()
    return f"untilgreen {__version__} catalog {digest}\n".encode()


def _read(path: Path) -> dict[str, _Entry]:
    try:
        mark, _, body = read_regular(path).partition(b"\n")
        return _entries.decode(body) if mark + b"\n" == _mark(body) else {}
    except (OSError, ValueError):
        return {}


def _write(path: Path, body: bytes) -> None:
    """Write all of it or nothing; if another process is writing, skip it.

    Without fsync: what a power cut leaves of it won't match its first line.
    """
    draft = path.with_name(f".{path.name}.draft")
    with suppress(FileNotFoundError):
        if abs(time.time() - draft.stat().st_mtime) > _STALE_SECONDS:  # its writer was killed
            draft.unlink()
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(_mark(body) + body)
    draft.replace(path)
