"""What only this machine needs to drive a run: notes of processes, the private index, unfinished files."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import anyio
from msgspec import Struct


class Scratch(Struct, frozen=True, kw_only=True):
    """The scratch files of a run; on the machine of its record they are in the run's folder."""

    run: str
    path: Path
    worktree: Path
    """Where a run with its own worktree works: not next to its journal, which the agent must not reach."""
    state_dir: Path
    """What agents and gates must not see."""

    @property
    def private(self) -> Path:
        """The private index, and the snapshots of a directory without git."""
        return self.path / "workspace"

    @property
    def origin(self) -> Path:
        """The same for the user's own directory, if the run has a worktree."""
        return self.path / "origin"

    @property
    def copies(self) -> Path:
        """Copies of the workspace that gates run in once more."""
        return self.path / "copies"

    @property
    def code(self) -> Path:
        """Copies of code and files that the agent could reach in the workspace."""
        return self.path / "code"

    @property
    def notes(self) -> Path:
        """Notes about what is running, for the driver that comes after a crash."""
        return self.path / "trees"

    def tree(self, what: str) -> Path:
        """The file that notes the processes of a turn, or of gates."""
        return self.notes / f"{_safe(what)}.json"

    def trees(self) -> list[Path]:
        """All such notes."""
        return sorted(self.notes.glob("*.json"))

    def transcript(self, lap: int, attempt: int = 1) -> Path:
        """The agent's raw stream; each attempt at a lap has its own."""
        return self.path / "activity" / f"{numbered(lap, attempt)}.jsonl"

    def brief(self, lap: int, attempt: int = 1) -> Path:
        """The brief that the agent got."""
        return self.path / brief_name(lap, attempt)

    def output(self, lap: int, gate: str) -> Path:
        """Everything that a gate printed."""
        return self.path / "output" / f"{lap:03d}-{_safe(gate)}.txt"

    def pointer(self, path: Path) -> str:
        """A file here as events name it."""
        return path.relative_to(self.path).as_posix()

    async def end_what_runs(self, grace: float) -> None:
        """Kill the processes of a turn and of gates, as noted when they started."""
        from untilgreen.process.tree_note import end_left_behind  # noqa: PLC0415 - only a driver ends processes

        for note in self.trees():
            await end_left_behind(note, grace=grace)

    async def clear_up(self, grace: float) -> None:
        """Kill everything that a dead driver left running, and remove its temporary directories."""
        from untilgreen.process.scratch_directory import remove_left_behind  # noqa: PLC0415 - see above

        await self.end_what_runs(grace)
        await anyio.to_thread.run_sync(remove_left_behind, self.notes)


def numbered(lap: int, attempt: int) -> str:
    """The prefix of the files of an attempt at a lap."""
    return f"{lap:03d}" if attempt == 1 else f"{lap:03d}-{attempt}"


def brief_name(lap: int, attempt: int = 1) -> str:
    """The name of a brief in the run's record."""
    return f"activity/{numbered(lap, attempt)}-brief.md"


@lru_cache(maxsize=1024)
def _safe(name: str) -> str:
    """A gate's name as a part of a file's name; a name that had to be changed gets a hash."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", name.lower())[:40].strip("-.")
    mark = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
    return plain if plain == name else f"{plain}-{mark}"
