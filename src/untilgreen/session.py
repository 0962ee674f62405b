"""Loops inside of an agent's session, for programs: start, cancel, get the state, ask whether one is active.

```python
from untilgreen import session

session.start("id-1", "Fix the types", agent="claude", max_iterations=25, completion_promise="ALL_FIXED")
session.get_state("id-1").iteration
session.cancel("id-1")
```
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import anyio

from untilgreen.engine import inside
from untilgreen.engine.inside import Standing, Wish
from untilgreen.engine.store import Store
from untilgreen.surfaces.output import SessionLine as SessionState
from untilgreen.surfaces.sessions import line_of

__all__ = ["SessionState", "cancel", "get_state", "is_active", "start"]


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
    directory: Path | None = None,
    state_dir: Path | None = None,
) -> str:
    """Start a loop; the result is the brief to hand to the session. What can't be started raises."""
    wish = Wish(
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
    )

    async def begin() -> Standing:
        return await inside.begin(wish, Store(state_dir))

    brief = anyio.run(begin).brief
    return "" if brief is None else brief.text


def cancel(session: str, *, state_dir: Path | None = None) -> bool:
    """End the loop of a session; False where it has none."""
    return anyio.run(inside.cancel, session, Store(state_dir)) is not None


def get_state(session: str, *, state_dir: Path | None = None) -> SessionState | None:
    """How the loop of a session stands; None where it has none."""
    standing = anyio.run(inside.found, Store(state_dir), session)
    return None if standing is None else line_of(standing)


def is_active(session: str, *, state_dir: Path | None = None) -> bool:
    """Whether a session has a loop that is not over."""
    state = get_state(session, state_dir=state_dir)
    return state is not None and state.active
