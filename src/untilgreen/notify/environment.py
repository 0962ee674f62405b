"""What notifiers may use of the environment: they run outside the sandbox, and specs hold no secrets."""

from __future__ import annotations

import os
from pathlib import Path

from untilgreen.core.values.model import NO_SANDBOX, Plan
from untilgreen.errors import UntilgreenError
from untilgreen.process.sandbox.bubblewrap import path_outside, work_tree_top
from untilgreen.regex import regex

VARIABLE = regex(r"\$\{(\w+)\}")


def path_for(plan: Plan) -> str:
    """The PATH for a notifier; if the run has a sandbox, no program in the workspace is found by name."""
    path, start = os.environ.get("PATH", os.defpath), plan.workspace.get("start")
    if plan.sandbox.mode == NO_SANDBOX or start is None:
        return path
    return path_outside(path, [work_tree_top(Path(start))])


def expanded(text: str) -> str:
    """The text with `${NAME}` replaced by the variable; one that is not set is an error."""
    for name in VARIABLE.findall(text):
        if name not in os.environ:
            raise UntilgreenError(f"the variable {name} is not set")
    return VARIABLE.sub(lambda found: os.environ[found[1]], text)
