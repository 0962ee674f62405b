"""What a list shows of each run, remembered, so that ten thousand runs need not be read to be listed.

The journals stay the truth: an entry counts only as long as it fits what lies on the disk, and whatever is
missing, old or damaged is read anew. So there is no lock: whoever learns something writes the whole file, by
a rename, and what another learnt meanwhile is learnt again.
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
from untilgreen.journal.durable import identity

if TYPE_CHECKING:
    from untilgreen.engine.store import RunFolder

NAME = "catalogue"
"""Of the file in the state directory; who removes it loses nothing."""

_BARS = 12
_SETTLED_SECONDS = 2.0  # no file system's clock is coarser
_STALE_SECONDS = 60.0


class Meta(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whose run it is; the journal's first event knows it, too."""

    workspace: str = ""
    git_root: str = ""
    title: str = ""

    @property
    def roots(self) -> tuple[str, str]:
        """The directories that it belongs to; one may be empty."""
        return self.workspace, self.git_root


class Row(Struct, frozen=True, array_like=True):
    """A run as a list shows it."""

    status: str
    outcome: str | None
    laps: int
    score: float
    cost: float
    tokens: int
    title: str
    updated: float
    scores: tuple[float, ...]
    """Of the newest laps."""


class _Entry(Struct, array_like=True):
    folder: int
    """The folder's inode, which tells it from another of the same name."""
    meta: Meta
    seen: tuple[int, int, int] | None = None
    """The journal's inode, size and time when the row was made of it."""
    row: Row | None = None


_entries = msgspec.json.Decoder(dict[str, _Entry])


class Catalogue:
    """The entries of one state directory, as far as anybody learnt them."""

    def __init__(self, state_dir: Path) -> None:
        """A file that is not there, or not as it was written, is as good as empty."""
        self._path = state_dir / NAME
        self._known = _read(self._path)
        self._changed = False

    def knows(self, run: str, folder: int) -> bool:
        """Whether there is an entry about the run in the folder with that inode."""
        entry = self._known.get(run)
        return entry is not None and entry.folder == folder

    def meta(self, run: RunFolder) -> Meta:
        """Whose run it is, for one that `knows` was asked about."""
        entry = self._known.get(run.id)
        return entry.meta if entry else run.meta()

    def learn(self, run: RunFolder, folder: int) -> None:
        """Read whose run it is; what can't be read now is not remembered."""
        meta = run.meta()
        self._known.pop(run.id, None)
        if meta.workspace:
            self._known[run.id] = _Entry(folder, meta)
            self._changed = True

    def row(self, run: RunFolder) -> Row:
        """How the run stands; `JournalError` says why its journal does not tell."""
        entry, seen = self._known.get(run.id), identity(run.journal, _SETTLED_SECONDS)
        if entry is not None and entry.row is not None and entry.seen == seen:
            return entry.row
        row = _row(run)
        if entry is not None and seen is not None:
            entry.seen, entry.row, self._changed = seen, row, True
        return row

    def keep(self, runs: Iterable[str]) -> None:
        """Forget all others."""
        for gone in self._known.keys() - set(runs):
            del self._known[gone]
            self._changed = True

    def save(self) -> None:
        """Write down what was learnt; where that can't be, the next one learns it again."""
        if self._changed:
            with suppress(OSError):
                _write(self._path, msgspec.json.encode(self._known))
            self._changed = False


def reach(directory: Path) -> set[str]:
    """The directories whose runs somebody in that directory calls theirs."""
    return {str(directory), *map(str, directory.parents)}


def _row(run: RunFolder) -> Row:
    from untilgreen.engine.told import status, told  # noqa: PLC0415 - a list of known runs folds none

    state, _ = told(run)
    return Row(
        status=status(state),
        outcome=state.outcome and state.outcome.value,
        laps=len(state.iterations),
        score=state.best.score if state.best else 0.0,
        cost=state.spent.cost,
        tokens=state.spent.tokens,
        title=state.plan.title,
        updated=state.now,
        scores=tuple(lap.score for lap in state.iterations[-_BARS:]),
    )


def _mark(body: bytes) -> bytes:
    """The first line; another version may see a run otherwise, so it begins anew."""
    digest = blake2b(body, digest_size=16).hexdigest()
    return f"untilgreen {__version__} catalogue {digest}\n".encode()


def _read(path: Path) -> dict[str, _Entry]:
    try:
        mark, _, body = path.read_bytes().partition(b"\n")
        return _entries.decode(body) if mark + b"\n" == _mark(body) else {}
    except (OSError, ValueError):
        return {}


def _write(path: Path, body: bytes) -> None:
    """As a whole or not at all; one at a time, and who comes second lets it be.

    Without fsync: what a power cut leaves of it does not fit its mark.
    """
    draft = path.with_name(f".{path.name}.draft")
    with suppress(FileNotFoundError):
        if abs(time.time() - draft.stat().st_mtime) > _STALE_SECONDS:  # its writer was killed
            draft.unlink()
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(_mark(body) + body)
    draft.replace(path)
