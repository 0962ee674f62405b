"""One prompt of an editor: a run in its project, with the project's spec."""

from __future__ import annotations

import math
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import time
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from msgspec.structs import replace

from untilgreen.config.load import Request, load
from untilgreen.core.loop.receive import Answer, question_id
from untilgreen.core.values.decision import Ask
from untilgreen.core.values.events import Event, SnapshotTaken
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.drive import DriveOptions
from untilgreen.engine.driving.handle import Handle, drive_in_background
from untilgreen.engine.driving.start import start
from untilgreen.engine.loop.seat import TERMINAL
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.notes.trust_book import TrustBook, Untrusted
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.plan import objects_for, plan_of
from untilgreen.engine.worktree.premises import LocalPremises, StartFacts
from untilgreen.errors import UserError
from untilgreen.ports import Activity
from untilgreen.surfaces.acp.lap_changes import lap_changes
from untilgreen.surfaces.acp.updates import Update, message, updates
from untilgreen.surfaces.text.questions import CHOICES, NEEDS_MORE
from untilgreen.surfaces.text.safe_text import inert, inert_lines

SESSION = "editor_session"
"""The label of a run that names the session it was started in."""
BY = "editor"
_STOPS = frozenset({"stop", "cancel", "end", "reject"})
Notify = Callable[[Update], None]
AskEditor = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


class Prompt:
    """One run, seen from an editor."""

    def __init__(
        self, *, root: Path, session: str, store: Store, notify: Notify, ask: AskEditor, leave: anyio.Event
    ) -> None:
        self._root, self._session, self._store = root, session, store
        self._notify, self._ask = notify, ask
        self._leave = leave
        self._handle: Handle | None = None
        self._asked: Ask | None = None
        self._asking = anyio.CancelScope()
        self._news = anyio.Event()
        self._worked, self._to_show = anyio.create_memory_object_stream[RunState](math.inf)
        """The states in which a turn had just changed files."""
        self.cancelled = False

    async def run(self, task: str) -> str:
        """Start a run and follow it to its end; returns the protocol's stop reason."""
        loaded = load(Request(start=self._root, task=task))
        try:
            TrustBook(self._store).require(loaded)
        except Untrusted as error:
            look = f"untilgreen trust -C {shlex.quote(str(self._root))}"
            raise UserError(f"{error} Read it, then trust it in a terminal: {look}") from None
        known = StartFacts(objects=objects_for(loaded))
        plan = plan_of(loaded, self._root, known.objects)
        plan = replace(plan, labels={**plan.labels, SESSION: self._session})
        record = await start(plan, self._store, known, warn=self._warn)
        for event in await record.open_journal().events():
            self._hear(event, (await record.load()).state)
        options = DriveOptions(
            listeners=(self._hear,),
            watchers=(self._watch,),
            warn=self._warn,
            objects=known.objects,
            leave=self._leave,
        )
        premises = LocalPremises(self._store, known, warn=self._warn, watchers=(self._watch,))
        async with drive_in_background(record, premises, TERMINAL, options, by=BY) as handle:
            self._handle = handle
            if self.cancelled:
                await handle.cancel("cancelled in the editor")
            async with anyio.create_task_group() as group:
                group.start_soon(self._show_changes, self._to_show, record)
                async with anyio.create_task_group() as asking:
                    asking.start_soon(self._answer_questions, handle)
                    await handle.result()
                    asking.cancel_scope.cancel()
                self._worked.close()
                if self.cancelled:
                    group.cancel_scope.cancel()
        return "cancelled" if self.cancelled else "end_turn"

    async def cancel(self) -> None:
        """The editor ends the turn."""
        self.cancelled = True
        if self._handle is not None:
            try:
                await self._handle.cancel("cancelled in the editor")
            except UserError:  # it has just ended
                return

    def _hear(self, event: Event, state: RunState) -> None:
        for update in updates(event, state):
            self._notify(update)
        if isinstance(event, SnapshotTaken) and event.phase == "turn":
            self._worked.send_nowait(state)
        asked = state.open_question
        if asked is not self._asked:
            self._asked = asked
            self._asking.cancel()  # it was answered elsewhere, or its time was up
            self._news.set()
            self._news = anyio.Event()

    def _watch(self, activity: Activity) -> None:
        """Send the agent's activity as thoughts beside the tool call of its lap."""
        text = {"type": "text", "text": f"{inert(activity.text)}\n"}
        self._notify({"sessionUpdate": "agent_thought_chunk", "content": text})

    def _warn(self, sentence: str) -> None:
        self._notify(message(f"note: {sentence}\n\n"))

    async def _show_changes(self, states: MemoryObjectReceiveStream[RunState], record: FolderRecord) -> None:
        """Show what laps changed; the run does not wait for it."""
        async for state in states:
            if state.open is not None and (changed := await lap_changes(state, record.scratch, state.open)):
                self._notify(changed)

    async def _answer_questions(self, handle: Handle) -> None:
        """A question is a permission request; only a choice is an answer, closing the request is none."""
        while True:
            if (asked := self._asked) is not None:
                with anyio.CancelScope() as self._asking:
                    await self._put(asked, handle)
            while self._asked is asked:
                await self._news.wait()

    async def _put(self, asked: Ask, handle: Handle) -> None:
        key = question_id(handle.state)
        choices = [each for each in asked.choices if each not in NEEDS_MORE]
        call = {
            "toolCallId": f"{handle.run}-question-{key}",
            "title": inert_lines(asked.question),
            "kind": "other",
            "status": "pending",
        }
        options = [_option(each) for each in choices]
        given = await self._ask(
            "session/request_permission", {"sessionId": self._session, "toolCall": call, "options": options}
        )
        chosen = _chosen(given)
        if chosen in choices:
            try:
                await handle.send(Answer(at=time(), by=BY, question=key, choice=chosen))
            except UserError as late:
                self._warn(str(late))
        elif not self.cancelled:
            self._warn(f"That was not an answer, so the run is still waiting: untilgreen answer {handle.run}")


def _option(choice: str) -> dict[str, str]:
    about = CHOICES.get(choice, "")
    return {
        "optionId": choice,
        "name": f"{inert(choice)}: {about}" if about else inert(choice),
        "kind": "reject_once" if choice in _STOPS else "allow_once",
    }


def _chosen(answer: dict[str, Any]) -> str:
    """The option that a person chose; empty for anything else that an editor may answer."""
    part: Any = answer
    for name in ("result", "outcome", "optionId"):
        part = part.get(name) if isinstance(part, dict) else None
    return part if isinstance(part, str) else ""
