"""Run folders: all that is kept about a run, outside of the workspace and out of the agent's way."""

from __future__ import annotations

import difflib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

import msgspec

from untilgreen.crash import passing
from untilgreen.engine import ids
from untilgreen.engine.catalogue import Catalogue, Meta, reach
from untilgreen.errors import JournalError, UserError
from untilgreen.home import state_dir
from untilgreen.journal.durable import sync_folder
from untilgreen.workspace.remove import remove_tree

LAST = "@last"
"""The newest run of the directory one is in."""

_START = "start"  # the plan's workspace table says under this key where the run was started
_SHOWN = 10
_GONE = ".gone-"


@dataclass(frozen=True)
class RunFolder:
    """Where the parts of one run are."""

    path: Path

    @property
    def id(self) -> str:
        """The name of the run, for people and on the command line."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """The truth."""
        return self.path / "journal.jsonl"

    @property
    def lock(self) -> Path:
        """Held by the process that drives."""
        return self.path / "lock"

    @property
    def worktree(self) -> Path:
        """Where a run with a worktree of its own works: not beside its journal, out of the agent's way."""
        return self.path.parent.parent / "worktrees" / self.id

    @property
    def inbox(self) -> Path:
        """Commands for the process that drives."""
        return self.path / "inbox"

    @property
    def code(self) -> Path:
        """Copies of code and files that the agent could reach in the workspace."""
        return self.path / "code"

    @property
    def notes(self) -> Path:
        """What is under way, for the driver that comes after a crash."""
        return self.path / "trees"

    def tree(self, what: str) -> Path:
        """The processes of a turn or of a gate."""
        return self.notes / f"{_safe(what)}.json"

    def trees(self) -> list[Path]:
        """All such notes."""
        return sorted(self.notes.glob("*.json"))

    def activity(self, lap: int, attempt: int = 1) -> Path:
        """What the agent showed while it worked; each attempt at a lap has its own."""
        return self.path / "activity" / f"{_numbered(lap, attempt)}.jsonl"

    def brief(self, lap: int, attempt: int = 1) -> Path:
        """What the agent was told."""
        return self.path / "activity" / f"{_numbered(lap, attempt)}-brief.md"

    def output(self, lap: int, gate: str) -> Path:
        """All that a gate printed."""
        return self.path / "output" / f"{lap:03d}-{_safe(gate)}.txt"

    def pointer(self, path: Path) -> str:
        """A path in this folder as events name it."""
        return path.relative_to(self.path).as_posix()

    @property
    def complete(self) -> bool:
        """Whether a run came of it; creating a folder can be cut short."""
        return self._meta.exists() or self.journal.exists()

    def meta(self) -> Meta:
        """Whose run this is."""
        try:
            return msgspec.json.decode(self._meta.read_bytes(), type=Meta)
        except (OSError, ValueError):
            return self._from_the_journal()

    @property
    def _meta(self) -> Path:
        return self.path / "meta.json"

    def _from_the_journal(self) -> Meta:
        from untilgreen.core.events import RunStarted  # noqa: PLC0415 - seldom needed, and slow to load
        from untilgreen.journal.codec import decode  # noqa: PLC0415 - the same

        try:
            with self.journal.open("rb") as file:
                events, _ = decode(file.readline() + file.readline(), name=str(self.journal))
        except (OSError, JournalError):
            return Meta()
        first = events[0] if events else None
        if not isinstance(first, RunStarted):
            return Meta()
        return Meta(workspace=str(first.plan.workspace.get(_START, "")), title=first.plan.title)


class Store:
    """All runs of one state directory."""

    def __init__(self, state_dir: Path | None = None) -> None:
        """Without a directory it is `UNTILGREEN_STATE_DIR`, or where this system keeps such things."""
        self.state_dir = state_dir.absolute() if state_dir else default_state_dir()
        self._runs = self.state_dir / ids.RUNS

    def create(
        self, now: float, *, workspace: Path, git_root: Path | None = None, title: str = ""
    ) -> RunFolder:
        """A folder for a new run, under a name that no other run has."""
        meta = Meta(
            workspace=str(workspace.resolve()),
            git_root=str(git_root.resolve()) if git_root else "",
            title=title,
        )
        with self.used():
            for folder in (self.state_dir, self._runs):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            run = self._claim(now)
            for name in ("activity", "output", "inbox", "code", "trees"):
                (run.path / name).mkdir(mode=0o700)
            put(run.path / "meta.json", msgspec.json.encode(meta))
            sync_folder(self._runs)
        return run

    @cached_property
    def catalogue(self) -> Catalogue:
        """What is remembered about all of them."""
        return Catalogue(self.state_dir)

    def runs(self, workspace: Path | None = None) -> list[RunFolder]:
        """Every run, or those of a workspace, newest first."""
        found, known = [], self.catalogue
        for name, inode in self._names():
            run = RunFolder(self._runs / name)
            if not known.knows(name, inode):
                if not run.complete:
                    continue
                known.learn(run, inode)
            found.append(run)
        known.keep(run.id for run in found)
        known.save()
        if workspace is None:
            return found
        roots = reach(workspace.resolve())
        return [run for run in found if not roots.isdisjoint(known.meta(run).roots)]

    def _names(self) -> list[tuple[str, int]]:
        """What is called like a run, the newest first, with the inode of its folder."""
        with self.used():
            if not self._runs.exists():
                return []
            with os.scandir(self._runs) as entries:
                found = [(each.name, each.inode()) for each in entries if ids.is_one(each.name)]
        return sorted(found, reverse=True)

    def forget(self, run: RunFolder) -> None:
        """Remove a run's folder; by a rename first, so that nobody ever meets half of it."""
        with self.used():
            gone = run.path.with_name(f"{_GONE}{run.id}")
            run.path.replace(gone)
            passing("forget", "after", "rename")
            sync_folder(self._runs)
            remove_tree(gone)

    def sweep(self) -> None:
        """Remove what was left of folders when their removal was cut off."""
        with self.used():
            for path in self._runs.glob(f"{_GONE}*"):
                remove_tree(path)

    def find(self, text: str, workspace: Path) -> RunFolder:
        """The run with that id, or the only one whose id begins so, or `@last`."""
        if text == LAST:
            return self._last(workspace.resolve())
        wanted = ids.meant(text)
        names = [name for name, _ in self._names() if wanted and name.startswith(wanted)]
        fitting = [run for name in names if (run := RunFolder(self._runs / name)).complete]
        exact = [run for run in fitting if run.id == wanted]
        if len(fitting) == 1 or exact:
            return (exact or fitting)[0]
        if fitting:
            raise UserError(_ambiguous(text, fitting))
        raise UserError(self._unknown(text, wanted))

    def _claim(self, now: float) -> RunFolder:
        """Making the folder decides who gets the name; who comes second takes a later one."""
        while True:
            run = RunFolder(self._runs / ids.new(now))
            try:
                run.path.mkdir(mode=0o700)
            except FileExistsError:
                now += ids.TICK_SECONDS
            else:
                return run

    def _last(self, here: Path) -> RunFolder:
        """Runs that were started right here come before others of the same repository."""
        near = self.runs(here)
        exact = [run for run in near if self.catalogue.meta(run).workspace == str(here)]
        if not near:
            raise UserError(
                f"No run was started in {here} yet. Start one with `untilgreen run`, "
                "or see the others with `untilgreen list --all`."
            )
        return (exact or near)[0]

    def _unknown(self, text: str, wanted: str) -> str:
        close = difflib.get_close_matches(wanted, [name for name, _ in self._names()], n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        return f"There is no run {text!r}.{guess} `untilgreen list --all` shows all runs."

    @contextmanager
    def used(self) -> Iterator[None]:
        """Trouble with the directory, inside, becomes a sentence."""
        try:
            yield
        except OSError as error:
            raise UserError(
                f"The state directory {self.state_dir} can't be used: {error.strerror}. "
                "Choose another one with `--state-dir`."
            ) from error


def default_state_dir() -> Path:
    """Where runs are kept when nobody says otherwise."""
    return Path(state_dir()).absolute()


def put(path: Path, data: bytes) -> None:
    """A file that is there as a whole or not at all, for its owner's eyes only."""
    kind = path.name if path.stem.isalpha() else path.parent.name
    passing("put", "before", kind)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)
    passing("put", "after", kind)


def _numbered(lap: int, attempt: int) -> str:
    return f"{lap:03d}" if attempt == 1 else f"{lap:03d}-{attempt}"


def _safe(name: str) -> str:
    """A gate's name as a part of a file's name; a name that had to be changed gets a mark of its own."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", name.lower())[:40].strip("-.")
    mark = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
    return plain if plain == name else f"{plain}-{mark}"


def _ambiguous(text: str, fitting: list[RunFolder]) -> str:
    shown = "; ".join(f"{run.id} ({run.meta().title})" for run in fitting[:_SHOWN])
    more = f"; and {len(fitting) - _SHOWN} more" if len(fitting) > _SHOWN else ""
    return f"{text!r} fits {len(fitting)} runs: {shown}{more}. Write more of the id."
