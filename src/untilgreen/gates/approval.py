"""People as a gate: the run waits for them, and the core counts their answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from untilgreen.core.values.model import Finding, Verdict
from untilgreen.core.values.option_checks import about
from untilgreen.errors import ConfigError
from untilgreen.ports import CheckContext


@dataclass(frozen=True, kw_only=True)
class ApprovalGate:
    """Passes when enough of the named people approve the files; a single no fails it."""

    people: Annotated[list[str], about("Who may answer; empty: anyone.")] = field(default_factory=list)
    need: Annotated[int, about("How many people have to approve.")] = 1

    def __post_init__(self) -> None:
        """Refuse a number of approvals that can't be reached: the run would wait forever."""
        if self.need < 1:
            raise ConfigError(f"approval: need = {self.need} must be at least 1.")
        if len(set(self.people)) != len(self.people):
            raise ConfigError("approval: `people` lists someone twice.")
        if self.people and self.need > len(self.people):
            raise ConfigError(
                f"approval: need = {self.need} is more than the {len(self.people)} named people."
            )

    async def check(self, workspace: CheckContext) -> Verdict:
        """Only called outside a run, where nobody can answer; in a run the core waits for people."""
        who = ", ".join(self.people) or "someone"
        message = f"{who} must approve this, which works in a run, not in `check`."
        return Verdict(status="skip", findings=(Finding(id="approval", message=message),), excerpt=message)
