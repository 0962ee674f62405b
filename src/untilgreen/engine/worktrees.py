"""Where a run works: in place, or in a worktree that is made ready before the first turn.

Everything here can be cut off anywhere and is done again by the next driver.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.excerpt import sound, trim
from untilgreen.core.limits import ceiling
from untilgreen.core.model import Plan
from untilgreen.core.state import RunState
from untilgreen.core.units import show_duration
from untilgreen.engine import wiring
from untilgreen.engine.files import Watcher
from untilgreen.engine.places import BELOW, COMMIT, DIRTY, FORKED, MORE, REPOSITORY, TREE, in_worktree
from untilgreen.engine.store import RunFolder, put
from untilgreen.engine.walls import enclosure
from untilgreen.errors import WorkspaceNotReady
from untilgreen.ports import Activity, Walls
from untilgreen.process.run import run
from untilgreen.process.start import INSIDE, shell
from untilgreen.workspace.beginning import Beginning, look
from untilgreen.workspace.open import git_root, open_workspace
from untilgreen.workspace.plumbing import shown
from untilgreen.workspace.refs import Refs
from untilgreen.workspace.remove import remove_tree
from untilgreen.workspace.seed import submodules
from untilgreen.workspace.worktree import Worktree

MOST_DIRTY = 50
LAST_WORDS = 600
_NO_GIT = "A worktree needs a git repository, and {start!r} is not in one. Run `git init` and commit there, "
_NO_COMMIT = "A worktree needs a commit to begin with, and there is none yet. Commit what is there, "
_INSTEAD = "or work in place with --in-place."


async def with_beginning(plan: Plan) -> Plan:
    """The plan with what the run finds when it begins; refused where its mode can't work there."""
    start = Path(plan.workspace[wiring.START])
    found = await look(start)
    if in_worktree(plan):
        if found is None:
            raise WorkspaceNotReady(_NO_GIT.format(start=str(start)) + _INSTEAD)
        if found.commit is None:
            raise WorkspaceNotReady(_NO_COMMIT + _INSTEAD)
    if found is None:
        return plan
    return replace(plan, workspace={**_facts(found), **plan.workspace})


def _facts(found: Beginning) -> dict[str, Any]:
    return {
        REPOSITORY: str(found.ground.common),
        BELOW: found.ground.below,
        COMMIT: found.commit,
        DIRTY: [sound(path) for path in found.dirty[:MOST_DIRTY]],
        MORE: max(0, len(found.dirty) - MOST_DIRTY),
    }


def worktree_of(plan: Plan, folder: RunFolder) -> Worktree | None:
    """The worktree of a run that has one."""
    if not in_worktree(plan):
        return None
    return Worktree(path=folder.worktree, repository=Path(plan.workspace[REPOSITORY]), run=folder.id)


def root_of(plan: Plan, folder: RunFolder) -> Path:
    """Where agents and gates of the run are started."""
    if not in_worktree(plan):
        return Path(plan.workspace[wiring.START])
    return folder.worktree / str(plan.workspace.get(BELOW, ""))


async def top_of(plan: Plan, folder: RunFolder) -> Path:
    """The directory that only one run at a time may work in."""
    if in_worktree(plan):
        return folder.worktree
    start = Path(plan.workspace[wiring.START])
    return await git_root(start) or start


async def remove(plan: Plan, folder: RunFolder) -> None:
    """Take away the worktree of a run, and the branch as far as nobody worked on it."""
    worktree = worktree_of(plan, folder)
    if worktree is not None:
        await worktree.remove()
        await worktree.drop_branch({plan.workspace[COMMIT]})


class _Note(Struct, frozen=True, kw_only=True):
    """How far the worktree is."""

    ready: bool = False


async def ensure(
    state: RunState, folder: RunFolder, watchers: tuple[Watcher, ...], warn: Callable[[str], None]
) -> None:
    """Make the worktree of a run and what the gates need in it, where that has not been done yet."""
    worktree, note = worktree_of(state.plan, folder), _noted(folder)
    if worktree is None:
        if note is None and TREE in state.plan.workspace:
            await _begin_in_place(state, folder, warn)
            _write(folder, _Note(ready=True))
        return
    if note is None or not worktree.whole:
        await _make(worktree, state, folder, ready=note is not None and note.ready, warn=warn)
        note = _Note()
    if not note.ready:
        await _set_up(worktree, state.plan, folder, watchers)
        await _name_empty_submodules(worktree, warn)
        _write(folder, _Note(ready=True))


async def _make(
    worktree: Worktree, state: RunState, folder: RunFolder, *, ready: bool, warn: Callable[[str], None]
) -> None:
    """From the commit that the run began with, or from where it stood when its directory was lost."""
    if ready and worktree.path.exists():
        aside = _free_name(worktree.path)
        worktree.path.rename(aside)
        warn(f"The worktree was no longer known to its repository. What was in it is in {str(aside)!r}.")
    origin = Path(state.plan.workspace[wiring.START])
    await worktree.make(state.plan.workspace[COMMIT], origin)
    remove_tree(folder.path / "workspace")  # the index and the intents of a directory that is gone
    root = root_of(state.plan, folder)
    root.mkdir(parents=True, exist_ok=True)
    tree = state.tree or state.plan.workspace.get(TREE)
    if tree is not None:
        workspace = await open_workspace(root, run=folder.id, private_dir=folder.path / "workspace")
        await Refs(worktree.git, folder.id).keep(tree, "begun-with")
        await workspace.restore(tree, None)
    _write(folder, _Note())


async def _begin_in_place(state: RunState, folder: RunFolder, warn: Callable[[str], None]) -> None:
    """A run that was forked from a lap of another begins with its files; what was there is kept."""
    where, root, private = state.plan.workspace, root_of(state.plan, folder), folder.path / "workspace"
    if REPOSITORY not in where:  # then the trees are in the folder of the run that made them
        other = folder.path.with_name(where[FORKED].partition("@")[0]) / "workspace" / "git" / "objects"
        await to_thread.run_sync(
            partial(shutil.copytree, other, private / "git" / "objects", dirs_exist_ok=True)
        )
    workspace = await open_workspace(root, run=folder.id, private_dir=private)
    done = await workspace.restore(where[TREE], None)
    if done.before != where[TREE]:
        back = f"untilgreen restore {folder.id} --snapshot {done.before[:12]}"
        warn(f"The files of {where[FORKED]} were put into the directory. To get back what was there: {back}")


async def _set_up(worktree: Worktree, plan: Plan, folder: RunFolder, watchers: tuple[Watcher, ...]) -> None:
    await to_thread.run_sync(_copy_all, plan, worktree)
    await _refuse_what_git_would_keep(worktree, plan)
    walls = (await enclosure(plan, root_of(plan, folder), folder.path.parents[1], worktree)).agents
    for number, command in enumerate(plan.workspace.get("setup", ()), 1):
        for watcher in watchers:
            watcher(Activity(kind="command", text=command))
        await _run_setup(command, number, plan, folder, walls)


async def _run_setup(command: str, number: int, plan: Plan, folder: RunFolder, walls: Walls | None) -> None:
    seconds = ceiling(plan.limits.lap)
    output = folder.output(0, f"setup-{number}")
    with anyio.move_on_after(seconds) as scope:
        ran = await run(
            shell(command),
            cwd=root_of(plan, folder),
            env={INSIDE: folder.id},
            merge=True,
            keep=output,
            note=folder.tree("setup"),
            walls=walls,
        )
        if ran.ok:
            return
    ending = f"ended after {show_duration(seconds)}, its time limit" if scope.cancelled_caught else ran.ending
    words = "" if scope.cancelled_caught else trim(ran.stdout.strip(), LAST_WORDS)
    raise WorkspaceNotReady(
        f"The worktree can't be set up: {command!r} {ending}. Its output is in {str(output)!r}. "
        f"Correct workspace.setup, or what it needs.\n{words}".rstrip()
    )


def _copy_all(plan: Plan, worktree: Worktree) -> None:
    """Files that git does not keep, from the user's directory, to the same place in the worktree."""
    for source, place in _copies(plan):
        target = worktree.path / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)


def _copies(plan: Plan) -> Iterator[tuple[Path, Path]]:
    """Each path that is to be copied, and where it lies seen from the top."""
    start, below = Path(plan.workspace[wiring.START]), Path(plan.workspace.get(BELOW, ""))
    top = start.parents[len(below.parts) - 1] if below.parts else start
    base = wiring.base_of(plan).resolve()
    if not base.is_relative_to(top):
        base = start
    for pattern in plan.workspace.get("copy", ()):
        found = sorted(base.glob(pattern)) if has_magic(pattern) else [base / pattern]
        found = [path for path in found if path.exists()]
        if not found:
            raise WorkspaceNotReady(
                f"workspace.copy names {pattern!r}, and there is no such file in {str(base)!r}. "
                "Make it, or take it out of workspace.copy."
            )
        for path in found:
            yield path, path.relative_to(top)


async def _refuse_what_git_would_keep(worktree: Worktree, plan: Plan) -> None:
    """A copied file that git does not ignore would become part of the result: a key on a branch."""
    git = worktree.inside
    for _, place in _copies(plan):
        asked = ("ls-files", "-z", "--others", "--exclude-standard", "--")
        if await git(*asked, b":(literal)" + os.fsencode(place)):
            raise WorkspaceNotReady(
                f"workspace.copy names {str(place)!r}, which git does not ignore, so that it would become "
                "part of the result. Add it to .gitignore, or commit it."
            )


async def _name_empty_submodules(worktree: Worktree, warn: Callable[[str], None]) -> None:
    empty = [shown(path) for path in await submodules(worktree.inside) if not _filled(worktree.path, path)]
    if empty:
        warn(
            f"Submodules are empty in a worktree: {', '.join(empty)}. "
            "To have them there, add `git submodule update --init` to workspace.setup."
        )


def _filled(top: Path, path: bytes) -> bool:
    with suppress(OSError):
        return any((top / os.fsdecode(path)).iterdir())
    return False


def _free_name(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.old-{number}")).exists():
        number += 1
    return aside


def _noted(folder: RunFolder) -> _Note | None:
    try:
        return msgspec.json.decode((folder.path / "worktree.json").read_bytes(), type=_Note)
    except (OSError, ValueError):
        return None


def _write(folder: RunFolder, note: _Note) -> None:
    put(folder.path / "worktree.json", msgspec.json.encode(note))
