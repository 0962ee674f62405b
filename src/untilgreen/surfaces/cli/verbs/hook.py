"""hook: what an agent's hooks call during a session."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from untilgreen.engine.store.runs import Store
from untilgreen.errors import UserError
from untilgreen.surfaces.hook.call import Call, answer
from untilgreen.surfaces.hook.events import EVENTS
from untilgreen.surfaces.install.targets import TARGETS

if TYPE_CHECKING:  # the type checker can't read choices from a table
    Event = str
    Agent = str
else:
    Event, Agent = Literal[EVENTS], Literal[tuple(TARGETS)]


def hook(
    event: Event,
    /,
    *,
    agent: Annotated[Agent, Parameter(help="The agent that calls.")],
    deadline: Annotated[
        float | None, Parameter(metavar="SECONDS", help="How long the agent waits for the answer.")
    ] = None,
    state_dir: Annotated[Path | None, Parameter(metavar="DIR", help="Where runs are stored.")] = None,
) -> int:
    """Answer an agent's hook; `untilgreen install` sets it up.

    Reads the agent's payload from stdin and prints what the agent should do. While the session has a run that
    is not over, a stop is answered with the next brief.

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
