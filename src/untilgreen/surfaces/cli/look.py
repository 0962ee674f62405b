"""What several verbs need to say and to know: how a run stands, and who asks."""

from __future__ import annotations

import getpass
import os
import shutil
import sys
from pathlib import Path

from untilgreen.core.state import RunState
from untilgreen.engine.seat import INSIDE
from untilgreen.errors import UserError
from untilgreen.surfaces import result
from untilgreen.surfaces.cli.say import ascii_only, out

AGENT_MARKS = (
    INSIDE,
    "CLAUDECODE",
    "CODEX_THREAD_ID",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "GOOSE_TERMINAL",
    "OPENCODE",
    "QWEN_CODE",
)
"""Variables that tell that a command was started by an agent: set by us, and by agents themselves."""


def summarise(state: RunState, flags: str, *, seen: bool = False) -> None:
    """Print how a run went, or where it stands, as wide as the terminal is; `seen` where `show` does it."""
    lines = result.summary(
        state,
        width=shutil.get_terminal_size().columns,
        ascii_only=ascii_only(),
        flags=flags,
        wrapped=sys.stdout.isatty(),
        seen=seen,
    )
    for line in lines:
        out(line)


def me() -> str:
    """Whose command it is, for the record."""
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):
        return "somebody"


def agent_mark() -> str | None:
    """The variable that shows that an agent started this command, where one did."""
    return next((name for name in AGENT_MARKS if os.environ.get(name)), None)


def refuse_agents(verb: str, state_dir: Path) -> None:
    """What a person decides is not decided by the agent that is judged."""
    mark = agent_mark()
    why = f"{mark} is set here" if mark is not None else _origin(state_dir)
    if why is not None:
        raise UserError(
            f"`untilgreen {verb}` is used by people, not by an agent, and {why}. "
            "Run it in a terminal of your own."
        )


def _origin(state_dir: Path) -> str | None:
    from untilgreen.engine.origin import started_by

    run = started_by(state_dir)
    return f"run {run} has started this" if run is not None else None
