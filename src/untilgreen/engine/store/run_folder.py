"""The folder of one run: where its parts are, and which directory it belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from untilgreen.errors import JournalError
from untilgreen.journal.fsync import open_regular, read_regular

_START = "start"  # the plan's workspace table says under this key where the run was started


class Meta(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The directory that a run belongs to, and its title; also in the journal's first event."""

    workspace: str = ""
    git_root: str = ""
    title: str = ""

    @property
    def roots(self) -> tuple[str, str]:
        """The directories that it belongs to; one may be empty."""
        return self.workspace, self.git_root


@dataclass(frozen=True, eq=False)
class RunFolder:
    """Where the parts of one run are."""

    path: Path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunFolder) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    @property
    def id(self) -> str:
        """The name of the run, for people and on the command line."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """All events of the run: the truth."""
        return self.path / "journal.jsonl"

    @property
    def lock(self) -> Path:
        """Held by the process that drives."""
        return self.path / "lock"

    @property
    def inbox(self) -> Path:
        """Commands for the process that drives."""
        return self.path / "inbox"

    @property
    def code(self) -> Path:
        """Copies of code and files that the agent could reach in the workspace."""
        return self.path / "code"

    @property
    def complete(self) -> bool:
        """Whether the run exists; creating its folder can be interrupted."""
        return self._meta.exists() or self.journal.exists()

    def meta(self) -> Meta:
        """The directory that this run belongs to, and its title."""
        try:
            return msgspec.json.decode(read_regular(self._meta), type=Meta)
        except (OSError, ValueError):
            return self._from_the_journal()

    @property
    def _meta(self) -> Path:
        return self.path / "meta.json"

    def _from_the_journal(self) -> Meta:
        from untilgreen.core.values.events import RunStarted  # noqa: PLC0415 - seldom needed, and slow to load
        from untilgreen.journal.codec import decode  # noqa: PLC0415 - the same

        try:
            with open_regular(self.journal) as file:
                events, _ = decode(file.readline() + file.readline(), name=str(self.journal))
        except (OSError, JournalError):
            return Meta()
        first = events[0] if events else None
        if not isinstance(first, RunStarted):
            return Meta()
        return Meta(workspace=str(first.plan.workspace.get(_START, "")), title=first.plan.title)
