"""install and uninstall: our hooks and commands in an agent's own settings."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from untilgreen.core.exits import OK
from untilgreen.core.units import several
from untilgreen.errors import UserError
from untilgreen.surfaces.cli import completing
from untilgreen.surfaces.cli.look import refuse_agents
from untilgreen.surfaces.cli.options import HERE, Place
from untilgreen.surfaces.cli.say import out, tell
from untilgreen.surfaces.installing.agents import Target, target_of
from untilgreen.surfaces.installing.edits import Edit, installed, removed
from untilgreen.surfaces.text import inert_lines

DEADLINE = 600
"""Seconds that a stop may take, gates included."""
SHORTEST = 10

Project = Annotated[bool, Parameter(help="For this project, and everybody who works in it.")]
User = Annotated[bool, Parameter(help="For you, in every project; what is done if neither is said.")]
DryRun = Annotated[bool, Parameter(help="Show what would change, and change nothing.")]


def install(
    agent: Annotated[str, Parameter(completer=completing.installable)],
    /,
    *,
    project: Project = False,
    user: User = False,
    dry_run: DryRun = False,
    deadline: Annotated[int, Parameter(help="Seconds that the gates of a lap may take; 600 if not said.")] = (
        DEADLINE
    ),
    place: Place = HERE,
) -> int:
    """Let an agent's sessions have loops: write our hooks and commands into its settings.

    What stands there already stays. Doing it twice changes nothing more.

    Parameters
    ----------
    agent
        claude, codex, gemini, qwen, copilot or opencode.
    """
    refuse_agents("install", place.store().state_dir)
    if deadline < SHORTEST:
        raise UserError(f"--deadline {deadline} is too short. Give the gates {SHORTEST} seconds or more.")
    target = target_of(agent)
    root = target.root(_project(place, project=project, user=user))
    return _change(installed(target, root, program(shared=project), deadline), target, dry_run=dry_run)


def uninstall(
    agent: Annotated[str, Parameter(completer=completing.installable)],
    /,
    *,
    project: Project = False,
    user: User = False,
    dry_run: DryRun = False,
    place: Place = HERE,
) -> int:
    """Take our hooks and commands out of an agent's settings again; everything else stays.

    Parameters
    ----------
    agent
        claude, codex, gemini, qwen, copilot or opencode.
    """
    refuse_agents("uninstall", place.store().state_dir)
    target = target_of(agent)
    root = target.root(_project(place, project=project, user=user))
    return _change(removed(target, root), None, dry_run=dry_run)


def _project(place: Place, *, project: bool, user: bool) -> Path | None:
    if project and user:
        raise UserError("It is for a project or for a user. Keep one of --project and --user.")
    return place.start if project else None


def program(*, shared: bool) -> str:
    """How an agent finds us; what others use, too, can't have a path of this machine in it."""
    if shared:
        return "untilgreen"
    own = Path(sys.argv[0]).resolve()
    if own.name == "untilgreen" and own.exists():
        return str(own)
    return shutil.which("untilgreen") or "untilgreen"


def _change(edits: list[Edit], target: Target | None, *, dry_run: bool) -> int:
    if not edits:
        out("Nothing has to change.")
        return OK
    for edit in edits:
        out(inert_lines(edit.diff()).rstrip("\n"))
    if dry_run:
        tell("Nothing was changed, since this was a dry run.")
        return OK
    for edit in edits:
        try:
            edit.write()
        except OSError as error:
            raise UserError(
                f"{edit.path} can't be written: {error.strerror}. Mend that and try again."
            ) from error
    tell(f"{several(len(edits), 'file')} changed.")
    if target is not None and target.advice:
        tell(target.advice)
    return OK
