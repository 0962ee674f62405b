"""Whether an agent can be used here: is it installed, does it answer, does it know the flags that we use."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from anyio import move_on_after
from msgspec import Struct

from untilgreen.agents.cli import About
from untilgreen.agents.command import CommandAgent
from untilgreen.agents.process import find_program
from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Agent
from untilgreen.process.run import Ran, run
from untilgreen.process.start import CannotStart

ANSWER_SECONDS = 20.0
_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")


class Look(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a look at an agent showed; nothing in `trouble` means that it can be used."""

    program: str | None = None
    """Where it is; None where it is not."""
    version: str = ""
    lacks: tuple[str, ...] = ()
    """Flags that we use and that its help does not name."""
    seconds: float = 0.0
    """How long it took to say its version."""
    trouble: str = ""
    """A sentence, with the command that mends it."""


async def look(agent: Agent, root: Path) -> Look | None:
    """Ask the agent's program for its version and its flags; None for agents that are no program."""
    word, about = _program(agent)
    if word is None:
        return None
    try:
        program = find_program(word, root, {})
    except AgentUnavailable as error:
        mend = f" Install it with `{about.install}`." if about else ""
        return Look(trouble=f"{error}{mend}")
    if about is None:
        return Look(program=program)
    said = await _ask([program, *about.version], root)
    if said is None or not said.ok:
        how = "did not answer in time" if said is None else f"failed ({said.ending})"
        return Look(
            program=program,
            trouble=f"`{word} {' '.join(about.version)}` {how}. Install it again with `{about.install}`.",
        )
    found = _VERSION.search(said.stdout + said.stderr)
    version = found[0] if found else ""
    lacks = _lacking(await _ask([program, *about.help], root), about.flags)
    trouble = (
        f"Version {version or 'unknown'} does not know {', '.join(lacks)}. Update it with `{about.install}`."
        if lacks
        else ""
    )
    return Look(program=program, version=version, lacks=lacks, seconds=said.seconds, trouble=trouble)


def _program(agent: Agent) -> tuple[str | None, About | None]:
    if isinstance(agent, CommandAgent):
        return shlex.split(agent.command)[0], None
    program, about = getattr(agent, "program", None), getattr(agent, "about", None)
    return (program, about) if isinstance(program, str) and isinstance(about, About) else (None, None)


async def _ask(argv: list[str], root: Path) -> Ran | None:
    """What it prints, without colours; None where it can't be started or takes too long."""
    with move_on_after(ANSWER_SECONDS):
        try:
            return await run(
                argv, cwd=root, env={"NO_COLOR": "1", "COLUMNS": os.environ.get("COLUMNS", "200")}
            )
        except CannotStart:
            return None
    return None


def _lacking(helped: Ran | None, flags: tuple[str, ...]) -> tuple[str, ...]:
    """A help that can't be had says nothing about flags."""
    if helped is None or not helped.ok:
        return ()
    words = helped.stdout + helped.stderr
    return tuple(flag for flag in flags if not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", words))
