"""Who called: a person or an agent."""

from __future__ import annotations

import os
from pathlib import Path

from untilgreen.errors import UserError
from untilgreen.process.table import INSIDE

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
"""Variables that show that an agent started a command: ours, and those that agents set themselves."""


def me() -> str:
    """Who runs this command, for the journal."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):
        return "unknown"


def agent_mark() -> str | None:
    """The variable that shows that an agent started this command, if one did."""
    return next((name for name in AGENT_MARKS if os.environ.get(name)), None)


def refuse_agents(verb: str, state_dir: Path) -> None:
    """A person's decision must not be made by the agent that is being judged."""
    mark = agent_mark()
    why = f"{mark} is set here" if mark is not None else _origin(state_dir)
    if why is not None:
        raise UserError(
            f"`untilgreen {verb}` is for people, not for agents, and {why}. Run it in a terminal of your own."
        )


def _origin(state_dir: Path) -> str | None:
    from untilgreen.engine.operations.calling_run import hidden_ancestry, started_by

    if hidden := hidden_ancestry(state_dir):
        return f"it is unclear what started this command: {hidden}"
    run = started_by(state_dir)
    return f"run {run} started this command" if run is not None else None
