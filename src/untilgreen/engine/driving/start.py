"""Makes a run from a plan, without driving it yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from untilgreen.core.values.model import Plan, learns
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.notes import session_notes
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.agents import check_agents
from untilgreen.engine.wiring.clock import SystemClock
from untilgreen.engine.wiring.objects import objects_of
from untilgreen.engine.wiring.plugin_copies import files_to_copy
from untilgreen.engine.wiring.redaction import redacted
from untilgreen.engine.wiring.sandbox import check_possible
from untilgreen.engine.wiring.workplace import start_of
from untilgreen.engine.worktree import setup
from untilgreen.engine.worktree.premises import StartFacts, ignore
from untilgreen.ports import Clock, Record
from untilgreen.workspace.directory_lock import DirectoryLock
from untilgreen.workspace.factory import open_workspace


async def start(
    plan: Plan,
    store: Store,
    known: StartFacts | None = None,
    *,
    given_workspace: bool = False,
    clock: Clock | None = None,
    warn: Callable[[str], None] = ignore,
    copies: Mapping[str, Path] | None = None,
    in_session: bool = False,
) -> FolderRecord:
    """Make a run that can be driven; if that fails, nothing is left behind.

    With `given_workspace` a program passes its own workspace object. `copies` replace plugin files of the
    workspace. With `in_session` the agent is already running.
    """
    known = known or StartFacts()
    repository = await known.repositories.find(start_of(plan))
    await check_possible(plan)
    if not in_session:
        await check_agents(plan, known.objects or objects_of(plan, copies))
    if not given_workspace:
        plan = await setup.with_beginning(plan, known.repositories)
    kept, warning = redacted(plan)
    if warning:
        warn(warning)
    return await store.begin(
        taught(kept, store) if learns(kept) else kept,
        (clock or SystemClock()).now(),
        code=files_to_copy(plan, copies),
        prepare=_accept if given_workspace else partial(_try_the_directory, plan, store, known),
        git_root=repository.top if repository else None,
    )


def taught(plan: Plan, store: Store) -> Plan:
    """The plan with what was learned from the runs of this state directory about its agents."""
    from untilgreen.engine.store.notes.lesson_book import LessonBook, agent_key, courses  # noqa: PLC0415 - few learn
    from untilgreen.engine.wiring.learned import with_learned  # noqa: PLC0415 - the same

    known = LessonBook(store).by_agent()
    past = {part.name: courses(known.get(agent_key(part), ())) for part in plan.agents}
    return with_learned(plan, past)


async def _accept(record: Record) -> None:
    """A workspace object passed by a program is not checked."""


async def _try_the_directory(plan: Plan, store: Store, known: StartFacts, record: Record) -> None:
    """Check that nobody else works there and that it is usable; a worktree is created by its driver."""
    scratch, begin = store.record(record.id).scratch, start_of(plan)
    if setup.worktree_of(plan, scratch) is not None:
        return
    top = await setup.top_of(plan, scratch, known.repositories)
    session_notes.check_free(top, store, besides=record.id)
    with DirectoryLock(top, run=record.id, state_dir=store.state_dir):
        opened = await open_workspace(begin, record.id, scratch.private, known.repositories)
        known.workspaces[record.id] = opened
