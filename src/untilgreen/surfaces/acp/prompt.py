"""One prompt of an editor: a run in its project, with the project's spec."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

from untilgreen.config.load import Request, load
from untilgreen.core.values.decision import Ask
from untilgreen.core.values.events import Event
from untilgreen.core.values.model import Outcome
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.drive import DriveOptions
from untilgreen.engine.driving.handle import Handle, drive_in_background
from untilgreen.engine.driving.start import start
from untilgreen.engine.loop.seat import TERMINAL
from untilgreen.engine.store.notes.trust_book import TrustBook, Untrusted
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.plan import objects_for, plan_of
from untilgreen.engine.worktree.premises import Known, LocalPremises
from untilgreen.errors import UserError
from untilgreen.ports import Activity
from untilgreen.surfaces.acp.updates import Update, message, updates
from untilgreen.surfaces.text.questions import NEEDS_MORE
from untilgreen.surfaces.text.safe_text import inert, inert_lines

Notify = Callable[[Update], None]
Request_ = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


class Prompt:
    """One run, seen from an editor."""

    def __init__(self, root: Path, store: Store, notify: Notify, request: Request_) -> None:
        self._root, self._store = root, store
        self._notify, self._request = notify, request
        self._handle: Handle | None = None
        self._asked: Ask | None = None
        self._news = anyio.Event()
        self.cancelled = False

    async def run(self, task: str) -> str:
        """Start a run and follow it to its end; returns the protocol's stop reason."""
        loaded = load(Request(start=self._root, task=task))
        try:
            TrustBook(self._store).require(loaded)
        except Untrusted as error:
            look = f"untilgreen trust -C {shlex.quote(str(self._root))}"
            raise UserError(f"{error} Read it, then trust it in a terminal: {look}") from None
        known = Known(objects=objects_for(loaded))
        plan = plan_of(loaded, self._root, known.objects)
        record = await start(plan, self._store, known, warn=self._warn)
        self._notify(message(f"Run {record.id}\n\n"))
        options = DriveOptions(
            listeners=(self._hear,), watchers=(self._watch,), warn=self._warn, objects=known.objects
        )
        premises = LocalPremises(self._store, known, warn=self._warn, watchers=(self._watch,))
        async with drive_in_background(record, premises, TERMINAL, options, by="editor") as handle:
            self._handle = handle
            if self.cancelled:
                await handle.cancel("cancelled in the editor")
            async with anyio.create_task_group() as group:
                group.start_soon(self._answer_questions, handle)
                state = await handle.result()
                group.cancel_scope.cancel()
        return "cancelled" if state.outcome is Outcome.CANCELLED else "end_turn"

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
        if state.asked is not self._asked:
            self._asked = state.asked
            self._news.set()
            self._news = anyio.Event()

    def _watch(self, activity: Activity) -> None:
        """Send the agent's activity as thoughts beside the tool call of its lap."""
        text = {"type": "text", "text": f"{inert(activity.text)}\n"}
        self._notify({"sessionUpdate": "agent_thought_chunk", "content": text})

    def _warn(self, sentence: str) -> None:
        self._notify(message(f"note: {sentence}\n"))

    async def _answer_questions(self, handle: Handle) -> None:
        """A question is a permission request; without an answer its default happens."""
        while True:
            asked = self._asked
            if asked is None:
                await self._news.wait()
                continue
            choices = [each for each in asked.choices if each not in NEEDS_MORE]
            answer = await self._request(
                "session/request_permission",
                {
                    "toolCall": {
                        "toolCallId": f"question-{len(handle.state.laps)}",
                        "title": inert_lines(asked.question),
                        "kind": "other",
                        "status": "pending",
                    },
                    "options": [{"optionId": each, "name": each, "kind": "allow_once"} for each in choices],
                },
            )
            chosen = answer.get("outcome", {}).get("optionId")
            if self._asked is asked:
                await handle.answer(chosen if chosen in choices else asked.default)
                self._asked = None if self._asked is asked else self._asked
