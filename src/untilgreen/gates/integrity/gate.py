"""The last gate catches weakened tests: are the others green in a clean room, and with the original files?

What was changed is explained in words, but only running the gates decides.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.values.model import Finding, GateSpec, Verdict
from untilgreen.gates.integrity.trees import Trees
from untilgreen.gates.integrity.trial_rooms.rooms import Rooms
from untilgreen.gates.integrity.trial_rooms.trials import Make, Trials, passed, repeatable
from untilgreen.gates.integrity.trial_rooms.unkept_files import files_outside, git_files, recall, remember
from untilgreen.ports import CheckContext

if TYPE_CHECKING:  # what only a green lap needs is loaded by the first one
    from untilgreen.gates.integrity.protected.protection import Protection
    from untilgreen.gates.integrity.tampering import Tampering

NO_ORIGINAL = "no-original"


class IntegrityGate(Struct, frozen=True, kw_only=True):
    """Passes when the other gates are green in a clean room, also with protected files as they were."""

    trees: Trees
    gates: Sequence[GateSpec]
    make: Make
    """Makes a gate from its spec, for a copy."""
    scratch: Path
    """A directory of its own, outside the workspace, that is removed after use."""
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
    """Commands for the clean room, if what has to be installed changed."""
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
        if self.memory is not None and not self.memory.exists():
            top = _real(await self.trees.top())
            unkept = await self.trees.unkept()
            await to_thread.run_sync(_remember_all, top, unkept, self.memory)

    async def check(self, workspace: CheckContext) -> Verdict:
        if workspace.lap == 0:
            return await self._before_the_first_lap(workspace)
        original = workspace.base or await self.trees.first()
        if not original:
            message = "The untouched tree is unknown, so there is nothing to compare with."
            return Verdict(status="error", findings=(Finding(id=NO_ORIGINAL, message=message),))
        if workspace.output is not None:
            workspace.output.unlink(missing_ok=True)
        return self._accepted(await self._judge(await self._trials(workspace), original))

    async def _before_the_first_lap(self, context: CheckContext) -> Verdict:
        """Nothing can be weakened yet; but can the gates work in a clean room at all?"""
        if not self.clean_room or all(each.status == "pass" for each in context.baseline.values()):
            return passed("The untouched tree is the original.")
        from untilgreen.gates.integrity.early_trial import EarlyTrial  # noqa: PLC0415 - used once in a run

        return self._accepted(
            await EarlyTrial(trials=await self._trials(context), snapshot=context.snapshot).verdict()
        )

    async def _trials(self, context: CheckContext) -> Trials:
        specs = [spec for spec in repeatable(self.gates) if context.claim or spec.when != "claimed"]
        below = await self._below(context)
        contained = context.sandbox is not None and bool(context.sandbox.engine)
        rooms = replace(self.rooms(), at_home=False) if contained else self.rooms()  # made by another process
        return Trials(
            rooms=rooms,
            specs=specs,
            make=self.make,
            context=context,
            below=below,
            lets_through=self._protection(context, below).lets_through,
        )

    def _accepted(self, verdict: Verdict) -> Verdict:
        return _warned(verdict) if verdict.status == "error" and self.unproven == "accept" else verdict

    def rooms(self) -> Rooms:
        """Makes clean rooms for the run's gates."""
        return Rooms(
            trees=self.trees,
            scratch=self.scratch,
            before=recall(self.memory),
            keep=self.keep,
            at_home=self.at_home,
            in_place=self.in_place,
        )

    async def _judge(self, trials: Trials, original: str) -> Verdict:
        """The tree as it is, in a clean room; then with the originals, where something protected changed."""
        from untilgreen.gates.integrity.canary import Canary  # noqa: PLC0415 - as above
        from untilgreen.gates.integrity.clean_room import CleanRoom  # noqa: PLC0415 - as above
        from untilgreen.gates.integrity.comparison import Comparison  # noqa: PLC0415 - as above
        from untilgreen.gates.integrity.tampering import Tampering  # noqa: PLC0415 - as above

        if self.originals:
            found = await self._tampering(trials)
        else:
            changes = await self.trees.changes(original, trials.context.snapshot)
            found = Tampering(original=original, changes=changes)
        clean = passed("")
        if self.clean_room:
            room = CleanRoom(
                trials=trials,
                original=original,
                changes=found.changes,
                setup=self.setup,
                watched=found.known,
                same_tests=self.originals and not (found or found.accepted),
            )
            clean = await room.verdict()
        if clean.status == "fail" or not self.originals:
            return clean
        comparison = Comparison(trials=trials, found=found, clean=self.clean_room)
        if clean.status == "error":
            explained = await comparison.explained() if found else ()
            return msgspec.structs.replace(clean, findings=(*clean.findings, *explained))
        compared = passed("No protected file differs from its original.")
        if found:
            compared = await comparison.verdict()
        if compared.status == "pass":
            canary = Canary(trials=trials, found=found, contents=comparison.put_back(()))
            compared = await canary.verdict() or compared
        return _joined(clean, compared)

    async def _tampering(self, trials: Trials) -> Tampering:
        from untilgreen.gates.integrity.tampering import find_tampering  # noqa: PLC0415 - as above

        protection = self._protection(trials.context, trials.below)
        return await find_tampering(self.trees, trials.context, protection, trials.specs)

    def _protection(self, context: CheckContext, below: str) -> Protection:
        from untilgreen.gates.integrity.protected.protection import Protection  # noqa: PLC0415 - as above

        return Protection(
            protect=self.protect,
            allow=self.allow,
            allowed=context.allowed,
            editable=self.editable,
            below=below,
        )

    async def _below(self, context: CheckContext) -> str:
        top = await self.trees.top()
        below = context.root.resolve().relative_to(top.resolve()).as_posix()
        return "" if below == "." else f"{below}/"


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _remember_all(top: Path, unkept: list[str], into: Path) -> None:
    remember(top, [*unkept, *git_files(top), *files_outside(top)], into)


def _joined(clean: Verdict, compared: Verdict) -> Verdict:
    """One verdict from two; if the originals fail, theirs alone."""
    if compared.status != "pass":
        return compared
    words = f"{compared.excerpt} {clean.excerpt}".strip()
    return msgspec.structs.replace(compared, excerpt=words, flaky=clean.flaky or compared.flaky)


def _warned(verdict: Verdict) -> Verdict:
    """The spec accepts unproved gates; the verdict still says what was not proved."""
    why = " ".join(finding.message for finding in verdict.findings)
    return passed(f"Not proved: {why}")
