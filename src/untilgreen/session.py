"""Loops in an agent's session, for programs: start one, cancel it, read its state.

```python
from untilgreen import session

session.start("id-1", "Fix the types", agent="claude", max_iterations=25, completion_promise="ALL_FIXED")
session.state("id-1").iteration
session.cancel("id-1")
```
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import anyio

from untilgreen.engine import session_loop, session_start
from untilgreen.engine.session_plan import LoopRequest
from untilgreen.engine.store.runs import Store
from untilgreen.engine.store.session_runs import SessionRun, found
from untilgreen.surfaces.hook.session_line import line_of
from untilgreen.surfaces.json.lines import SessionLine as SessionState

__all__ = ["SessionState", "cancel", "is_active", "start", "state"]


def start(
    session: str,
    prompt: str,
    *,
    agent: str,
    max_iterations: int | None = None,
    completion_promise: str | None = None,
    description: str = "",
    gates: Mapping[str, str] | None = None,
    strategy: str | None = None,
    replace: bool = False,
    take: bool = False,
    directory: Path | None = None,
    state_dir: Path | None = None,
) -> str:
    """Start a loop and return the brief for the session; raises `UserError` if it can't start."""
    wish = LoopRequest(
        session=session,
        agent=agent,
        task=prompt,
        directory=(directory or Path()).resolve(),
        max_iterations=None if max_iterations is None else str(max_iterations),
        promise=completion_promise,
        description=description,
        gates={name: {"run": command} for name, command in (gates or {}).items()},
        strategy=strategy,
        replace=replace,
        take=take,
    )

    async def begin() -> SessionRun:
        return await session_start.begin(wish, Store(state_dir))

    brief = anyio.run(begin).brief
    return "" if brief is None else brief.text


def cancel(session: str, *, state_dir: Path | None = None) -> bool:
    """End the loop of a session; False if it has none."""
    return anyio.run(session_loop.cancel, session, Store(state_dir)) is not None


def state(
    session: str | None = None, *, directory: Path | None = None, state_dir: Path | None = None
) -> SessionState | None:
    """The state of a session's loop, or of the loop in this directory; None if there is none."""
    store = Store(state_dir)
    if session is None:
        session_run = anyio.run(session_loop.found_in, store, (directory or Path()).resolve())
    else:
        session_run = found(store, session)
    return None if session_run is None else line_of(session_run)


def is_active(session: str, *, state_dir: Path | None = None) -> bool:
    """Whether a session has a loop that is not over."""
    known = state(session, state_dir=state_dir)
    return known is not None and known.active
