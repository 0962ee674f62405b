"""All runs of one state directory, outside the workspace and out of the agent's reach."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from untilgreen import __version__
from untilgreen.crash_points import passing
from untilgreen.engine.store import run_ids
from untilgreen.engine.store.atomic_file import put
from untilgreen.engine.store.catalog import Catalog, directories_listed_in
from untilgreen.engine.store.run_folder import Meta, RunFolder
from untilgreen.errors import JournalError, UnknownRun, UserError
from untilgreen.journal.fsync import sync_folder
from untilgreen.state_dir import state_dir

if TYPE_CHECKING:  # a list of runs reads no journal
    from untilgreen.core.values.model import Plan
    from untilgreen.core.values.run_row import RunRow
    from untilgreen.engine.store.folder_record import FolderRecord
    from untilgreen.ports import Prepare

LAST = "@last"
"""Stands for the newest run of the current directory."""

_SHOWN = 10
_GONE = ".gone-"


class Store:
    """All runs of one state directory."""

    def __init__(self, state_dir: Path | None = None) -> None:
        """The default directory is `UNTILGREEN_STATE_DIR`, or this system's usual place."""
        self.state_dir = state_dir.absolute() if state_dir else default_state_dir()
        self._runs = self.state_dir / run_ids.RUNS

    def create(
        self, now: float, *, workspace: Path, git_root: Path | None = None, title: str = ""
    ) -> FolderRecord:
        """Create the folder of a new run, under a name that no other run has."""
        meta = Meta(
            workspace=str(workspace.resolve()),
            git_root=str(git_root.resolve()) if git_root else "",
            title=title,
        )
        with self.explaining_errors():
            for folder in (self.state_dir, self._runs):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            run = self._claim(now)
            for name in ("activity", "output", "inbox", "code", "trees"):
                (run.path / name).mkdir(mode=0o700)
            put(run.path / "meta.json", msgspec.json.encode(meta))
            sync_folder(self._runs)
        return self.record(run.id)

    async def begin(
        self,
        plan: Plan,
        at: float,
        *,
        code: Mapping[str, Path],
        prepare: Prepare,
        git_root: Path | None = None,
    ) -> FolderRecord:
        """Create a run with its first event and copies of code; if `prepare` raises, nothing is left."""
        import shutil  # noqa: PLC0415 - a list of runs begins none

        from untilgreen.core.values.events import RunStarted  # noqa: PLC0415 - the same
        from untilgreen.engine.wiring.plugin_copies import copy_files  # noqa: PLC0415 - the same
        from untilgreen.engine.wiring.workplace import start_of  # noqa: PLC0415 - the same
        from untilgreen.journal.codec import End  # noqa: PLC0415 - the same
        from untilgreen.journal.file import FileJournal  # noqa: PLC0415 - the same

        record = self.create(at, workspace=start_of(plan), git_root=git_root, title=plan.title)
        try:
            await prepare(record)
            copy_files(code, record.code)
        except BaseException:  # also after Ctrl-C: never leave half a run
            shutil.rmtree(record.path)
            raise
        started = RunStarted(at=at, run=record.id, plan=plan, version=__version__)
        await FileJournal(record.journal, End()).append(started)
        return record

    async def open(self, text: str, workspace: Path) -> FolderRecord:
        """The same as `find`, for callers that may be given a fleet instead."""
        return self.find(text, workspace)

    async def rows(self, workspace: Path | None = None) -> AsyncIterator[tuple[str, RunRow]]:
        """The row of every run; one whose journal can't be read is left out."""
        for run in self.runs(workspace):
            with suppress(JournalError):
                yield run.id, self.catalog.row(run)
        self.catalog.save()

    async def remove(self, run: str) -> None:
        """Remove the folder of a run."""
        self.forget(self.record(run))

    @cached_property
    def catalog(self) -> Catalog:
        """The cache of all runs."""
        return Catalog(self.state_dir)

    def runs(self, workspace: Path | None = None) -> list[RunFolder]:
        """Every run, or those of a workspace, newest first."""
        found, known = [], self.catalog
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
        roots = directories_listed_in(workspace.resolve())
        return [run for run in found if not roots.isdisjoint(known.meta(run).roots)]

    def _names(self) -> list[tuple[str, int]]:
        """Names that look like runs, newest first, with the inodes of their folders."""
        with self.explaining_errors():
            if not self._runs.exists():
                return []
            with os.scandir(self._runs) as entries:
                found = [(each.name, each.inode()) for each in entries if run_ids.is_one(each.name)]
        return sorted(found, reverse=True)

    def forget(self, run: RunFolder) -> None:
        """Remove a run's folder; it is renamed first, so that nobody sees half of it."""
        from untilgreen.workspace.rmtree import remove_tree  # noqa: PLC0415 - a list of runs removes none

        with self.explaining_errors():
            gone = run.path.with_name(f"{_GONE}{run.id}")
            run.path.replace(gone)
            passing("forget", "after", "rename")
            sync_folder(self._runs)
            remove_tree(gone)

    def sweep(self) -> None:
        """Remove what interrupted removals left behind."""
        from untilgreen.workspace.rmtree import remove_tree  # noqa: PLC0415 - the same

        with self.explaining_errors():
            for path in self._runs.glob(f"{_GONE}*"):
                remove_tree(path)

    def record(self, run: str) -> FolderRecord:
        """The record of the run with exactly that id."""
        from untilgreen.engine.store.folder_record import FolderRecord  # noqa: PLC0415 - a list reads no journal

        return FolderRecord(self._runs / run)

    def find(self, text: str, workspace: Path) -> FolderRecord:
        """The run with that id, or with that unique prefix, or `@last`."""
        return self.record(self._found(text, workspace).id)

    def _found(self, text: str, workspace: Path) -> RunFolder:
        if text == LAST:
            return self._last(workspace.resolve())
        wanted = run_ids.as_meant(text)
        names = [name for name, _ in self._names() if wanted and name.startswith(wanted)]
        fitting = [run for name in names if (run := RunFolder(self._runs / name)).complete]
        exact = [run for run in fitting if run.id == wanted]
        if len(fitting) == 1 or exact:
            return (exact or fitting)[0]
        if fitting:
            raise UserError(_ambiguous(text, fitting))
        raise UnknownRun(self._unknown(text, wanted))

    def _claim(self, now: float) -> RunFolder:
        """Creating the folder decides who gets the name; the loser takes a later one."""
        while True:
            run = RunFolder(self._runs / run_ids.new(now))
            try:
                run.path.mkdir(mode=0o700)
            except FileExistsError:
                now += run_ids.TICK_SECONDS
            else:
                return run

    def _last(self, here: Path) -> RunFolder:
        """Runs that were started right here come before others of the same repository."""
        near = self.runs(here)
        exact = [run for run in near if self.catalog.meta(run).workspace == str(here)]
        if not near:
            raise UserError(
                f"No run was started in {here} yet. Start one with `untilgreen run`, "
                "or see the others with `untilgreen list --all`."
            )
        return (exact or near)[0]

    def _unknown(self, text: str, wanted: str) -> str:
        import difflib  # noqa: PLC0415 - only a wrong name needs it

        close = difflib.get_close_matches(wanted, [name for name, _ in self._names()], n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        return f"There is no run {text!r}.{guess} `untilgreen list --all` shows all runs."

    @contextmanager
    def explaining_errors(self) -> Iterator[None]:
        """Turn errors about the directory into a sentence."""
        try:
            yield
        except OSError as error:
            raise UserError(
                f"The state directory {self.state_dir} can't be used: {error.strerror}. "
                "Choose another one with `--state-dir`."
            ) from error


def default_state_dir() -> Path:
    """Where runs are stored by default."""
    return Path(state_dir()).absolute()


def _ambiguous(text: str, fitting: list[RunFolder]) -> str:
    shown = "; ".join(f"{run.id} ({run.meta().title})" for run in fitting[:_SHOWN])
    more = f"; and {len(fitting) - _SHOWN} more" if len(fitting) > _SHOWN else ""
    return f"{text!r} matches {len(fitting)} runs: {shown}{more}. Type more of the id."
