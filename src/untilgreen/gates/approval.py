"""People as a gate: the run waits for them, their answers are events, and the core counts them."""

from __future__ import annotations

from dataclasses import dataclass, field

from untilgreen.core.model import Finding, Verdict
from untilgreen.errors import ConfigError
from untilgreen.ports import Site


@dataclass(frozen=True, kw_only=True)
class ApprovalGate:
    """Passes when enough of the named people said yes to what the files hold; one no fails it."""

    people: list[str] = field(default_factory=list)
    """Who may answer; anybody where no one is named."""
    need: int = 1

    def __post_init__(self) -> None:
        """A number of approvals that can't be reached would wait for ever."""
        if self.need < 1:
            raise ConfigError(f"approval: need = {self.need} must be at least 1.")
        if len(set(self.people)) != len(self.people):
            raise ConfigError("approval: somebody is named twice in `people`.")
        if self.people and self.need > len(self.people):
            raise ConfigError(
                f"approval: need = {self.need} is more than the {len(self.people)} named people."
            )

    async def check(self, workspace: Site) -> Verdict:
        """Only asked outside of a run, where nobody can answer; in a run the core waits for people."""
        who = ", ".join(self.people) or "somebody"
        message = f"{who} would have to approve this; that needs a run, not a check."
        return Verdict(status="skip", findings=(Finding(id="approval", message=message),), excerpt=message)
