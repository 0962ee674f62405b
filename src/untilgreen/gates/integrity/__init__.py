"""Nothing that gates read was weakened: the originals are put back into a copy, and the gates run there.

What was changed is explained in words, but only running the gates decides.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from untilgreen.core.model import Finding, GateSpec, Verdict
from untilgreen.gates.integrity.protect import Protection
from untilgreen.gates.integrity.rerun import Make, repeated
from untilgreen.gates.integrity.tampering import Kept, look
from untilgreen.gates.integrity.trial import Trial
from untilgreen.ports import Site

NO_ORIGINAL = "no-original"


@dataclass(frozen=True, kw_only=True)
class IntegrityGate:
    """Passes when the other gates are green with every protected file as it was before the run."""

    kept: Kept
    gates: Sequence[GateSpec]
    make: Make
    """From the spec of a gate to the gate, so that it can be made for a copy."""
    scratch: Path
    """A directory of its own, outside of the workspace, that is removed after use."""
    protect: Collection[str] = ()
    allow: Collection[str] = ()

    async def check(self, workspace: Site) -> Verdict:
        if workspace.lap == 0:
            return Verdict(status="pass", score=1.0, excerpt="The untouched tree is the original.")
        below = await self._below(workspace)
        protection = Protection(
            protect=self.protect, allow=self.allow, allowed=workspace.allowed, below=below
        )
        if not (workspace.base or await self.kept.first()):
            message = "The untouched tree is not known, so that nothing can be compared with it."
            return Verdict(status="error", findings=(Finding(id=NO_ORIGINAL, message=message),))
        specs = [spec for spec in repeated(self.gates) if workspace.claim or spec.when != "claimed"]
        found = await look(self.kept, workspace, protection, specs)
        if not found:
            return Verdict(status="pass", score=1.0, excerpt="No protected file differs from its original.")
        if workspace.output is not None:
            workspace.output.unlink(missing_ok=True)
        trial = Trial(
            kept=self.kept,
            specs=specs,
            make=self.make,
            scratch=self.scratch,
            site=workspace,
            below=below,
            found=found,
        )
        return await trial.verdict()

    async def _below(self, site: Site) -> str:
        top = await self.kept.top()
        below = site.root.resolve().relative_to(top.resolve()).as_posix()
        return "" if below == "." else f"{below}/"
