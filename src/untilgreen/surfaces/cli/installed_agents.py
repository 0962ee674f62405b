"""The agents that are installed on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from msgspec import Struct

from untilgreen.agents.kit.take_turn import About
from untilgreen.plugins.kinds import BUILT_IN
from untilgreen.plugins.locations import from_module


class AgentProgram(Struct, frozen=True, kw_only=True):
    """An agent with a program of its own, and what its adapter knows about it."""

    name: str
    program: str
    path: str | None
    install: str
    about: About
    version: tuple[str, ...]
    help: tuple[str, ...]
    flags: tuple[str, ...]


def agent_programs() -> Iterator[AgentProgram]:
    """Every built-in agent that has a program."""
    for name, target in BUILT_IN["agent"].items():
        module, _, attribute = target.partition(":")
        adapter = from_module(module, attribute, f"The agent {name!r}")
        program, about = getattr(adapter, "program", None), getattr(adapter, "about", None)
        if isinstance(program, str) and isinstance(about, About):
            yield AgentProgram(
                name=name,
                program=program,
                path=shutil.which(program),
                install=about.install,
                about=about,
                version=about.version,
                help=about.help,
                flags=about.flags,
            )


def installed() -> list[str]:
    """The names of those whose program is found."""
    return [each.name for each in agent_programs() if each.path]
