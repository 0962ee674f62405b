"""The last gate catches weakened tests: are the others green in a clean room, and with the original files?

What was changed is explained in words, but only running the gates decides. Most laps never get that far, so
what this gate needs is imported when it is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from anyio import to_thread
from msgspec import Struct

from untilgreen.core.values.model import GateSpec, Verdict
from untilgreen.gates.integrity.trees import Trees
from untilgreen.ports import CheckContext

if TYPE_CHECKING:
    from untilgreen.gates.integrity.trial_rooms.rooms import Rooms
    from untilgreen.gates.integrity.trial_rooms.trials import Make


class IntegrityGate(Struct, frozen=True, kw_only=True):
    """Passes when the other gates are green in a clean room, also with protected files as they were."""

    trees: Trees
    gates: Sequence[GateSpec]
    make: Make
    """Makes a gate from its spec, for a copy."""
    scratch: Path
    """A private directory outside the workspace, removed after use."""
    protect: Collection[str] = ()
    allow: Collection[str] = ()
    editable: Collection[str] = ()
    """If given, everything that matches none of these patterns is put back."""
    originals: bool = True
    """Whether changed tests are put back; the clean room does not depend on it."""
    clean_room: bool = False
    """Off by default, for plans of runs that began before there was a clean room."""
    keep: Collection[str] = ()
    """Patterns of ignored paths that the clean room shows as they are."""
    setup: Sequence[str] = ()
    """Commands to run in the clean room if the files that say what to install changed."""
    unproven: Literal["ask", "accept"] = "ask"
    """What happens when gates don't work in a room."""
    memory: Path | None = None
    """The file that records what snapshots don't contain, as it was before the first lap."""
    at_home: bool = True
    """Whether gates that run again see the workspace's own path, if the machine supports that."""
    in_place: bool = True
    """Whether they may run in the workspace itself, if it doesn't and there is too much to copy."""

    async def begin(self) -> None:
        """Record the files that snapshots don't contain, before an agent can change them."""
        if self.memory is None or self.memory.exists():
            return
        from untilgreen.gates.integrity.trial_rooms.unkept_files import remember_all  # noqa: PLC0415 - once in a run

        await to_thread.run_sync(remember_all, await self.trees.top(), await self.trees.unkept(), self.memory)

    async def check(self, workspace: CheckContext) -> Verdict:
        from untilgreen.gates.integrity.judging import judged  # noqa: PLC0415 - when the others are green

        return await judged(self, workspace)

    def rooms(self) -> Rooms:
        """Makes clean rooms for the run's gates."""
        from untilgreen.gates.integrity.trial_rooms.rooms import Rooms  # noqa: PLC0415 - the same
        from untilgreen.gates.integrity.trial_rooms.unkept_files import recall  # noqa: PLC0415 - the same

        return Rooms(
            trees=self.trees,
            scratch=self.scratch,
            before=recall(self.memory),
            keep=self.keep,
            at_home=self.at_home,
            in_place=self.in_place,
        )
