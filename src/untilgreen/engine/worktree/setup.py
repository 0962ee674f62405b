"""Prepares a worktree for its gates, and puts a forked run's files in place.

Everything here can be interrupted at any point and is repeated by the next driver.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from glob import has_magic
from pathlib import Path, PurePath
from typing import Any

import anyio
import msgspec
from anyio import to_thread
from msgspec import Struct

from untilgreen.core.briefing.excerpt import trim, without_surrogates
from untilgreen.core.values.limits import ceiling
from untilgreen.core.values.model import Plan
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import show_duration
from untilgreen.engine.store.artifacts import Watcher
from untilgreen.engine.store.atomic_file import put
from untilgreen.engine.store.scratch import Scratch
from untilgreen.engine.wiring.sandbox import enclosure
from untilgreen.engine.wiring.workplace import base_of, in_worktree, start_of, with_facts, workplace
from untilgreen.errors import WorkspaceNotReady
from untilgreen.ports import Activity, Sandbox
from untilgreen.process.run import run
from untilgreen.process.start import shell
from untilgreen.process.table import INSIDE
from untilgreen.workspace.factory import open_workspace
from untilgreen.workspace.git.command import path_as_text
from untilgreen.workspace.git.index_seed import submodules
from untilgreen.workspace.git.repository import Repositories
from untilgreen.workspace.git.snapshot_refs import Refs
from untilgreen.workspace.rmtree import remove_tree
from untilgreen.workspace.starting_point import StartingPoint, starting_point
from untilgreen.workspace.worktree import Worktree

MOST_DIRTY = 50
LAST_WORDS = 600
_NO_GIT = "A worktree needs a git repository, and {start!r} is not in one. Run `git init` and commit there, "
_NO_COMMIT = "A worktree needs a commit to start from, and there is none yet. Commit your files, "
_INSTEAD = "or work in place with --in-place."


async def with_beginning(plan: Plan, repositories: Repositories) -> Plan:
    """The plan with the facts about its starting point; raises if its mode can't work there."""
    start = start_of(plan)
    found = await starting_point(start, repositories)
    if in_worktree(plan):
        if found is None:
            raise WorkspaceNotReady(_NO_GIT.format(start=str(start)) + _INSTEAD)
        if found.commit is None:
            raise WorkspaceNotReady(_NO_COMMIT + _INSTEAD)
    if found is None:
        return plan
    return with_facts(plan, _facts(found))


def _facts(found: StartingPoint) -> dict[str, Any]:
    return {
        "repository": str(found.repository.common),
        "below": found.repository.below,
        "commit": found.commit,
        "dirty": [without_surrogates(path) for path in found.dirty[:MOST_DIRTY]],
        "dirty_more": max(0, len(found.dirty) - MOST_DIRTY),
    }


def worktree_of(plan: Plan, scratch: Scratch) -> Worktree | None:
    """The worktree of a run that has one."""
    if not in_worktree(plan):
        return None
    return Worktree(path=scratch.worktree, repository=Path(workplace(plan).repository), run=scratch.run)


def root_of(plan: Plan, scratch: Scratch) -> Path:
    """Where agents and gates of the run are started."""
    below = workplace(plan).below
    return without_links(scratch.worktree / below if in_worktree(plan) else start_of(plan), below)


def without_links(start: Path, below: str) -> Path:
    """The directory; refused if a link is there now, since its files are not those of the workspace."""
    path = start
    for name in reversed(PurePath(below).parts):
        if path.is_symlink() and path.name == name:
            raise WorkspaceNotReady(
                f"{str(path)!r} was a directory when the run began, and is a link now, so an agent may have "
                "made it. Put the directory back, and try again."
            )
        path = path.parent
    return start


async def top_of(plan: Plan, scratch: Scratch, repositories: Repositories | None = None) -> Path:
    """The directory that only one run at a time may work in."""
    if in_worktree(plan):
        return scratch.worktree
    start = start_of(plan)
    repository = await (repositories or Repositories()).find(start)
    return repository.top if repository else start


async def remove(plan: Plan, scratch: Scratch) -> None:
    """Remove the worktree of a run, and its branch unless somebody worked on it."""
    worktree = worktree_of(plan, scratch)
    if worktree is not None:
        await worktree.remove()
        await worktree.drop_branch({workplace(plan).commit or ""})


class _Note(Struct, frozen=True, kw_only=True):
    """How far the setup has come."""

    ready: bool = False


async def ensure(
    state: RunState, scratch: Scratch, watchers: tuple[Watcher, ...], warn: Callable[[str], None]
) -> bool:
    """Create the worktree of a run with what the gates need, unless that has been done.

    Returns whether it was made just now and nobody but git has written in it.
    """
    worktree, note, where = worktree_of(state.plan, scratch), _noted(scratch), workplace(state.plan)
    untouched = False
    if worktree is None:
        if note is None and where.tree:
            await _begin_in_place(state, scratch, warn)
            _write(scratch, _Note(ready=True))
        return False
    if note is None or not worktree.whole:
        await _make(worktree, state, scratch, ready=note is not None and note.ready, warn=warn)
        note, untouched = _Note(), not (state.tree or where.tree or where.copy or where.setup)
    if not note.ready:
        await _set_up(worktree, state.plan, scratch, watchers)
        await _name_empty_submodules(worktree, warn)
        _write(scratch, _Note(ready=True))
    return untouched


async def _make(
    worktree: Worktree, state: RunState, scratch: Scratch, *, ready: bool, warn: Callable[[str], None]
) -> None:
    """Create it from the run's starting commit, or from its last state if the directory was lost."""
    if ready and worktree.path.exists():
        aside = _free_name(worktree.path)
        worktree.path.rename(aside)
        warn(f"The repository no longer knew the worktree. Its files were moved to {str(aside)!r}.")
    where = workplace(state.plan)
    await worktree.make(where.commit or "", Path(where.start))
    remove_tree(scratch.private)  # the index and the notes of a directory that is gone
    root = root_of(state.plan, scratch)
    root.mkdir(parents=True, exist_ok=True)
    tree = state.tree or where.tree
    if tree:
        workspace = await open_workspace(root, run=scratch.run, private_dir=scratch.private)
        await Refs(worktree.git, scratch.run).keep(tree, "begun-with")
        await workspace.restore(tree, None)
    _write(scratch, _Note())


async def _begin_in_place(state: RunState, scratch: Scratch, warn: Callable[[str], None]) -> None:
    """Put a forked run's files in the directory; what was there is saved."""
    where, root, private = workplace(state.plan), root_of(state.plan, scratch), scratch.private
    if not where.repository:  # then the trees are in the folder of the run that made them
        other = scratch.path.with_name(where.forked.partition("@")[0]) / "workspace" / "git" / "objects"
        await to_thread.run_sync(
            partial(shutil.copytree, other, private / "git" / "objects", dirs_exist_ok=True)
        )
    workspace = await open_workspace(root, run=scratch.run, private_dir=private)
    done = await workspace.restore(where.tree, None)
    if done.before != where.tree:
        back = f"untilgreen restore {scratch.run} --snapshot {done.before[:12]}"
        warn(f"The files of {where.forked} were put in the directory. To undo that: {back}")


async def _set_up(worktree: Worktree, plan: Plan, scratch: Scratch, watchers: tuple[Watcher, ...]) -> None:
    await to_thread.run_sync(_copy_all, plan, worktree)
    await _refuse_what_git_would_keep(worktree, plan)
    sandbox = (await enclosure(plan, root_of(plan, scratch), scratch.state_dir, worktree)).agents
    for number, command in enumerate(workplace(plan).setup, 1):
        for watcher in watchers:
            watcher(Activity(kind="command", text=command))
        await _run_setup(command, number, plan, scratch, sandbox)


async def _run_setup(
    command: str, number: int, plan: Plan, scratch: Scratch, sandbox: Sandbox | None
) -> None:
    seconds = ceiling(plan.limits.lap)
    output = scratch.output(0, f"setup-{number}")
    with anyio.move_on_after(seconds) as scope:
        ran = await run(
            shell(command),
            cwd=root_of(plan, scratch),
            env={INSIDE: scratch.run},
            merge=True,
            keep=output,
            note=scratch.tree("setup"),
            sandbox=sandbox,
        )
        if ran.ok:
            return
    ending = f"ended after {show_duration(seconds)}, its time limit" if scope.cancelled_caught else ran.ending
    words = "" if scope.cancelled_caught else trim(ran.stdout.strip(), LAST_WORDS)
    raise WorkspaceNotReady(
        f"The worktree can't be set up: {command!r} {ending}. Its output is in {str(output)!r}. "
        f"Fix workspace.setup, or what it needs.\n{words}".rstrip()
    )


def _copy_all(plan: Plan, worktree: Worktree) -> None:
    """Copy ignored files from the user's directory to the same place in the worktree."""
    for source, place in _copies(plan):
        target = worktree.path / place
        _refuse_links_out(worktree.path, target)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copy2(source, target)
        except OSError as error:
            raise WorkspaceNotReady(
                f"workspace.copy can't copy {str(place)!r} into the worktree: {error}. "
                "Move what is in its way, or remove it from workspace.copy."
            ) from error


def _refuse_links_out(top: Path, target: Path) -> None:
    """The files of a lap may have an agent's links, and a copy would be written to where they lead."""
    inside = target.rglob("*") if target.is_dir() else ()
    for path in (target, *(each for each in inside if each.is_symlink())):
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(top)):
            raise WorkspaceNotReady(
                f"workspace.copy would write through a link to {os.path.realpath(path)!r}, outside the "
                "worktree. Start from files without that link, or remove the path from workspace.copy."
            )


def _copies(plan: Plan) -> Iterator[tuple[Path, Path]]:
    """Each path to copy, and its place relative to the top."""
    where = workplace(plan)
    start, below = Path(where.start), Path(where.below)
    top = start.parents[len(below.parts) - 1] if below.parts else start
    base = base_of(plan).resolve()
    if not base.is_relative_to(top):
        base = start
    for pattern in where.copy:
        found = sorted(base.glob(pattern)) if has_magic(pattern) else [base / pattern]
        found = [path for path in found if path.exists()]
        if not found:
            raise WorkspaceNotReady(
                f"workspace.copy names {pattern!r}, and there is no such file in {str(base)!r}. "
                "Create it, or remove it from workspace.copy."
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
                f"workspace.copy names {str(place)!r}, which git does not ignore, so it would become "
                "part of the result. Add it to .gitignore, or commit it."
            )


async def _name_empty_submodules(worktree: Worktree, warn: Callable[[str], None]) -> None:
    empty = [
        path_as_text(path) for path in await submodules(worktree.inside) if not _filled(worktree.path, path)
    ]
    if empty:
        warn(
            f"Submodules are empty in a worktree: {', '.join(empty)}. "
            "To fill them, add `git submodule update --init` to workspace.setup."
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


def _noted(scratch: Scratch) -> _Note | None:
    try:
        return msgspec.json.decode((scratch.path / "worktree.json").read_bytes(), type=_Note)
    except (OSError, ValueError):
        return None


def _write(scratch: Scratch, note: _Note) -> None:
    put(scratch.path / "worktree.json", msgspec.json.encode(note))
