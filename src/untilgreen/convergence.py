"""Convergence controllers in their usual terms: build, gate check, feedback, converged.

```python
from untilgreen import convergence

result = await convergence.converge(
    "Fix it", on_build=build, on_gate_check={"tests": check}, max_iterations=5
)
result.status  # "converged"
```

`untilgreen.run` does the work and has more options; `docs/coming-from.md` maps other terms.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Finding, Outcome, Reply, Verdict
from untilgreen.core.values.state import RunState
from untilgreen.engine.api import run
from untilgreen.ports import CheckContext, TurnContext

__all__ = ["Build", "ConvergenceResult", "GateCheck", "converge"]

Build = Callable[[str, Path], Awaitable[str]]
"""Works on the files of a directory; takes the brief, and returns the reply."""
GateCheck = Callable[[Path], Awaitable[bool | str]]
"""Checks the files of a directory: True passes, False or a reason fails."""
Status = Literal["converged", "diverged", "stopped", "error"]

_STATUS: dict[Outcome, Status] = {Outcome.CANCELLED: "stopped", Outcome.CRASHED: "error"}


class ConvergenceResult(Struct, frozen=True, kw_only=True):
    """The result."""

    status: Status
    iterations: int
    gate_results: dict[str, bool]
    reason: str
    final_state: RunState


class _Builder:
    """An agent that is a function."""

    def __init__(self, build: Build) -> None:
        self._build = build

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        """One build."""
        return Reply(text=await self._build(brief.text, context.root))


class _Check:
    """A gate that is a function."""

    def __init__(self, check: GateCheck) -> None:
        self._check = check

    async def check(self, workspace: CheckContext) -> Verdict:
        """Pass on True; the reason is the finding."""
        said = await self._check(workspace.root)
        if said is True:
            return Verdict(status="pass", score=1.0)
        return Verdict(status="fail", findings=(Finding(id=said or "failed"),))


async def converge(
    task: str,
    *,
    on_build: Build,
    on_gate_check: Mapping[str, GateCheck],
    on_feedback: Callable[[RunState, str], str] | None = None,
    strategy: str | Mapping[str, Any] = "hybrid",
    max_iterations: int | str | None = None,
    max_wall_clock: str | None = None,
    directory: Path | None = None,
    state_dir: Path | None = None,
) -> ConvergenceResult:
    """Build and check until every gate passes, the strategy gives up, or a limit is reached."""
    chosen = {"iterations": max_iterations, "time": max_wall_clock}
    state = await run(
        task,
        agent=_Builder(on_build),
        gates={name: _Check(check) for name, check in on_gate_check.items()},
        strategy=strategy,
        limits={key: value for key, value in chosen.items() if value is not None},
        workspace=directory,
        brief=on_feedback,
        state_dir=state_dir,
    )
    return _result(state)


def _result(state: RunState) -> ConvergenceResult:
    outcome, last = state.outcome, state.last
    good = outcome is not None and outcome.good
    status: Status = "converged" if good else _STATUS.get(outcome or Outcome.CRASHED, "diverged")
    verdicts = last.verdicts if last else {}
    return ConvergenceResult(
        status=status,
        iterations=len(state.laps),
        gate_results={name: verdict.status == "pass" for name, verdict in verdicts.items()},
        reason=state.reason,
        final_state=state,
    )
