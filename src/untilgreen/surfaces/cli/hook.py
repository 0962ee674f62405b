"""hook: what an agent calls from inside of its session."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from untilgreen.engine.store import Store
from untilgreen.errors import UserError
from untilgreen.surfaces.hook.call import Call, answer

Event = Literal["stop", "start", "end", "prompt", "interrupt", "idle", "error", "deleted"]
Agent = Literal["claude", "codex", "gemini", "qwen", "copilot", "opencode"]


def hook(
    event: Event,
    /,
    *,
    agent: Annotated[Agent, Parameter(help="Whose hook it is.")],
    deadline: Annotated[float | None, Parameter(help="Seconds that the agent waits for the answer.")] = None,
    state_dir: Annotated[Path | None, Parameter(help="Where runs are kept.")] = None,
) -> int:
    """Answer a hook: the agent's payload on stdin, what it is to do on stdout.

    A stop is answered with the next brief while the session has a run that is not over. `untilgreen install`
    writes these calls into an agent's settings.

    Parameters
    ----------
    event
        What happened in the session.
    """
    if sys.stdin.isatty():
        raise UserError("A hook reads its payload from stdin. Agents call it; see `untilgreen install`.")
    store = Store(state_dir)
    call = Call(event=event, agent=agent, store=store, deadline=deadline, entered=time.time())
    return answer(call, sys.stdin.buffer.read())
