"""Whether this machine has what a run needs: its agents' programs, and the secrets that its plan names."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

import msgspec

from untilgreen.core.values.model import Plan
from untilgreen.core.values.secrets import references
from untilgreen.engine.wiring.objects import agents_of, objects_of

_OURS = "built-in"


def lacks(plan: Plan) -> list[str]:
    """What is missing here; a worker that lacks something leaves the run to another one."""
    named = references(msgspec.json.encode((plan.agents, [gate.options for gate in plan.gates])).decode())
    secrets = sorted(set(named) - set(os.environ) - _given(plan))
    return [f"program {each}" for each in _programs(plan)] + [f"variable {each}" for each in secrets]


def _programs(plan: Plan) -> list[str]:
    ours = msgspec.structs.replace(plan, agents=tuple(each for each in plan.agents if each.origin == _OURS))
    found = []
    for spec in ours.agents:
        agent = agents_of(ours, objects_of(ours))[spec.name]
        command = spec.options.get("command") if spec.use == "command" else None
        word = shlex.split(command)[0] if command else getattr(agent, "program", "")
        if word and not _is_here(word):
            found.append(word)
    return found


def _is_here(word: str) -> bool:
    """A relative path is in the repository, which comes with the run."""
    if os.sep not in word:
        return shutil.which(word) is not None
    return not Path(word).is_absolute() or Path(word).is_file()


def _given(plan: Plan) -> set[str]:
    """Variables that a gate sets for itself."""
    return {
        name
        for gate in plan.gates
        for name, value in (gate.options.get("env") or {}).items()
        if name not in references(str(value))
    }
