"""Whether a command-line agent can be used at all: installed, logged in, and willing to run as this user."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from msgspec import Struct

from untilgreen.agents.kit.run_cli import find_program
from untilgreen.core.values.model import Permissions
from untilgreen.errors import AgentUnavailable
from untilgreen.process.run import run
from untilgreen.process.start import CannotStart

if TYPE_CHECKING:
    from untilgreen.agents.kit.take_turn import About


class Conditions(Struct, frozen=True, kw_only=True):
    """How a run would start its agents."""

    permissions: Permissions
    root: Path | None
    """Where they would work; None for a directory that doesn't exist yet."""
    sandboxed: bool = False


@runtime_checkable
class ChecksItself(Protocol):
    """An agent that can tell before a run begins that it can't be used."""

    async def ready(self, conditions: Conditions) -> None:
        """Raise AgentUnavailable, with what to do, if it can't take a turn; if unsure, don't raise."""


PATIENCE_SECONDS = 15.0
"""How long an agent may take to say whether it is logged in; after that the answer is unknown."""


async def check_ready(about: About, program: str, conditions: Conditions, *, ask: bool = True) -> None:
    """Raise AgentUnavailable if a turn would fail; with `ask`, ask the agent whether it is logged in."""
    found = check_installed(about, program, conditions)
    _check_root(about, program, conditions)
    # An agent that is to run in a sandbox is not started outside it: it would write to the user's home.
    if ask and not conditions.sandboxed and about.status and await logged_out(about, found, conditions.root):
        raise AgentUnavailable(f"{program} is not logged in. {about.login}")


def check_installed(about: About | None, program: str, conditions: Conditions) -> str:
    """Find the program; a relative path can't be checked in a directory that doesn't exist yet."""
    if conditions.root is None and os.sep in program and not Path(program).is_absolute():
        return program
    return find_program(program, conditions.root or Path("/"), {}, about.install if about else "")


async def logged_out(about: About, program: str, root: Path | None) -> bool:
    """Whether the agent itself says that nobody is logged in."""
    argv = [program, *about.status]
    try:
        ran = await run(argv, cwd=root or Path("/"), seconds=PATIENCE_SECONDS, stdin=b"", fence=False)
    except CannotStart:
        return False
    return not ran.ok and re.search(about.logged_out, ran.stdout + ran.stderr, re.MULTILINE) is not None


def _check_root(about: About, program: str, conditions: Conditions) -> None:
    free = conditions.permissions == "all" and not conditions.sandboxed
    is_root = os.name == "posix" and os.geteuid() == 0
    if not about.root_needs or not free or not is_root or os.environ.get(about.root_needs) == "1":
        return
    raise AgentUnavailable(
        f"{program} refuses to run as root with --yolo. In a disposable container, set "
        f"{about.root_needs}=1 and try again. Elsewhere leave out --yolo, or run it as another user."
    )
