"""install and uninstall: add /ralph and its hooks to an agent's settings, or remove them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from untilgreen.core.exit_codes import OK, USAGE
from untilgreen.core.values.units import several
from untilgreen.errors import UserError
from untilgreen.surfaces.cli import completers
from untilgreen.surfaces.cli.caller import refuse_agents
from untilgreen.surfaces.cli.confirm import can_ask, yes
from untilgreen.surfaces.cli.options import HERE, LocalPlace
from untilgreen.surfaces.install.file_edits import Edit, edits_to_install, edits_to_remove
from untilgreen.surfaces.install.targets import Target, target_of
from untilgreen.surfaces.text.diffs import colored, in_color
from untilgreen.surfaces.text.printing import out, tell
from untilgreen.surfaces.text.safe_text import inert_lines

DEADLINE = 600
"""Seconds that a stop may take, gates included."""
SHORTEST = 10

Project = Annotated[bool, Parameter(help="For this project, and everybody who works on it.")]
User = Annotated[bool, Parameter(help="For you, in every project (default).")]
Yes = Annotated[bool, Parameter(name=["--yes", "-y"], help="Don't ask; for scripts.")]
DryRun = Annotated[bool, Parameter(help="Show what would change; change nothing.")]


def install(
    agent: Annotated[str, Parameter(completer=completers.installable)],
    /,
    *,
    project: Project = False,
    user: User = False,
    dry_run: DryRun = False,
    deadline: Annotated[
        int, Parameter(metavar="SECONDS", help="How long the gates of a lap may take (default: 600).")
    ] = (DEADLINE),
    yes_: Yes = False,
    place: LocalPlace = HERE,
) -> int:
    """Add /ralph and its hooks to an agent.

    Shows the change and asks before it writes. Everything else in the settings stays.

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
    chosen = "" if place.state_dir is None else str(place.state_dir.expanduser().absolute())
    return _change(
        edits_to_install(target, root, program(shared=project), deadline, chosen),
        target,
        dry_run=dry_run,
        sure=yes_,
    )


def uninstall(
    agent: Annotated[str, Parameter(completer=completers.installable)],
    /,
    *,
    project: Project = False,
    user: User = False,
    dry_run: DryRun = False,
    yes_: Yes = False,
    place: LocalPlace = HERE,
) -> int:
    """Remove /ralph and its hooks from an agent.

    Everything else in its settings stays.

    Parameters
    ----------
    agent
        claude, codex, gemini, qwen, copilot or opencode.
    """
    refuse_agents("uninstall", place.store().state_dir)
    target = target_of(agent)
    root = target.root(_project(place, project=project, user=user))
    return _change(edits_to_remove(target, root), None, dry_run=dry_run, sure=yes_)


def _project(place: LocalPlace, *, project: bool, user: bool) -> Path | None:
    if project and user:
        raise UserError("--project and --user can't be combined. Keep one of them.")
    return place.start if project else None


def program(*, shared: bool) -> str:
    """The program that the hooks call; shared settings must not contain a path of this machine."""
    if shared:
        return "untilgreen"
    own = Path(sys.argv[0]).resolve()
    if own.name == "untilgreen" and own.exists():
        return str(own)
    return shutil.which("untilgreen") or "untilgreen"


def _change(edits: list[Edit], target: Target | None, *, dry_run: bool, sure: bool) -> int:
    if not edits:
        out("Nothing to change.")
        return OK
    for edit in edits:
        diff = edit.diff()
        out((in_color(diff) if colored() else inert_lines(diff)).rstrip("\n"))
    if dry_run:
        tell("Dry run: nothing was changed.")
        return OK
    if not sure and not can_ask():
        raise UserError("Nothing was changed. Read the change above, then add --yes.")
    if not sure and not yes(f"Change {several(len(edits), 'file')}?"):
        tell("Nothing was changed.")
        return USAGE
    for edit in edits:
        try:
            edit.write()
        except OSError as error:
            raise UserError(
                f"{edit.path} can't be written: {error.strerror}. Fix that and try again."
            ) from error
    tell(f"{several(len(edits), 'file')} changed.")
    if target is not None:
        tell(target.notes)
        tell(f'Next: type {target.command_mark}ralph "TASK" --gate "pytest -q" in {target.title}')
    return OK
