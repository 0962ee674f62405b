"""An agent's side of the Agent Client Protocol, version 1."""

from __future__ import annotations

import secrets
import signal
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from untilgreen import __version__
from untilgreen.core.loop.fold import apply
from untilgreen.core.values.events import RunStarted, SnapshotTaken
from untilgreen.core.values.state import RunState
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.errors import UntilgreenError, UserError, only
from untilgreen.surfaces.acp.lap_changes import lap_changes
from untilgreen.surfaces.acp.prompt import SESSION, Prompt
from untilgreen.surfaces.acp.prompt_text import prompt_text
from untilgreen.surfaces.acp.updates import Update, updates
from untilgreen.surfaces.acp.wire import Message, Wire
from untilgreen.surfaces.text.safe_text import inert_lines

INVALID, NOT_FOUND, PARAMS, FAILED = -32600, -32601, -32602, -32603
LEAVE_SECONDS = 20.0
"""How long runs may take to be saved when the editor is gone."""


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Server:
    """One editor; its sessions end with it, and runs that are in progress are saved."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._wire = Wire()
        self._roots: dict[str, Path] = {}
        self._prompts: dict[str, Prompt] = {}
        self._plans: dict[str, Update] = {}
        """The latest plan of each session; a plan is sent only when it changes."""
        self._leave = anyio.Event()

    async def serve(self) -> None:
        """Answer until the editor closes our input, or a signal ends us."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._wire.write)
            async with anyio.create_task_group() as hearing:
                hearing.start_soon(self._leave_on_a_signal, hearing)
                hearing.start_soon(self._hear, group, hearing)
            self._leave.set()
            with anyio.move_on_after(LEAVE_SECONDS):
                while self._prompts:  # noqa: ASYNC110 - for a moment at the end
                    await anyio.sleep(0.02)
            await self._wire.close()
            group.cancel_scope.cancel()

    async def _hear(self, group: TaskGroup, hearing: TaskGroup) -> None:
        async for message in self._wire.messages():
            if "id" in message:
                group.start_soon(self._answer, message)
            elif message["method"] == "session/cancel":
                group.start_soon(self._cancel, str(_params(message).get("sessionId")))
        hearing.cancel_scope.cancel()

    async def _leave_on_a_signal(self, hearing: TaskGroup) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            async for _ in signals:
                hearing.cancel_scope.cancel()

    async def _answer(self, message: Message) -> None:
        method, params = str(message["method"]), _params(message)
        known = {
            "initialize": self._initialize,
            "session/new": self._new,
            "session/load": self._load,
            "session/prompt": self._prompt,
        }
        try:
            if method not in known:
                raise Refused(NOT_FOUND, f"There is no method {method!r}.")
            result = await known[method](params)
        except Refused as refused:
            error = {"code": refused.code, "message": str(refused)}
        except (UntilgreenError, BaseExceptionGroup) as trouble:
            cause = only(trouble)
            if not isinstance(cause, UntilgreenError):
                raise
            error = {"code": FAILED, "message": str(cause)}
        else:
            self._wire.send({"id": message["id"], "result": result})
            return
        self._wire.send({"id": message["id"], "error": error})

    async def _initialize(self, params: Message) -> Message:
        return {
            "protocolVersion": 1,
            "agentCapabilities": {"loadSession": True, "promptCapabilities": {"embeddedContext": True}},
            "agentInfo": {"name": "untilgreen", "title": "untilgreen", "version": __version__},
            "authMethods": [],
        }

    async def _new(self, params: Message) -> Message:
        session = secrets.token_hex(8)
        self._roots[session] = _directory(params)
        return {"sessionId": session}

    async def _load(self, params: Message) -> Message:
        """Show the runs of a session again; a run's id is a session, too."""
        root, session = _directory(params), str(params.get("sessionId"))
        found = [self._store.record(run) for run in await self._runs_of(session)]
        if not found and session not in self._roots:
            found = [self._store.find(session, root)]
        self._plans.pop(session, None)
        for record in found:
            async for update in _again(record):
                self._notify(session, update)
        self._roots[session] = root
        return {}

    async def _runs_of(self, session: str) -> list[str]:
        rows = [name async for name, row in self._store.rows() if row.labels.get(SESSION) == session]
        return sorted(rows)

    async def _prompt(self, params: Message) -> Message:
        session = str(params.get("sessionId"))
        if session not in self._roots:
            raise Refused(PARAMS, f"There is no session {session!r}. Create one with session/new.")
        if session in self._prompts:
            raise Refused(INVALID, "A prompt is already running in this session. Cancel it first.")
        task = prompt_text(params.get("prompt"))
        if not task:
            raise UserError("The prompt is empty. Describe what you want done.")
        prompt = Prompt(
            root=self._roots[session],
            session=session,
            store=self._store,
            notify=partial(self._notify, session),
            ask=self._wire.ask,
            leave=self._leave,
        )
        self._prompts[session] = prompt
        try:
            return {"stopReason": await prompt.run(task)}
        finally:
            del self._prompts[session]

    async def _cancel(self, session: str) -> None:
        if session in self._prompts:
            await self._prompts[session].cancel()

    def _notify(self, session: str, update: Update) -> None:
        if update["sessionUpdate"] == "plan":
            if self._plans.get(session) == update:
                return
            self._plans[session] = update
        self._wire.notify("session/update", {"sessionId": session, "update": update})


async def _again(record: FolderRecord) -> AsyncIterator[Update]:
    """Everything that an editor showed of a run, from its task to its end."""
    state: RunState | None = None
    for event in await record.open_journal().events():
        if isinstance(event, RunStarted):
            task = {"type": "text", "text": inert_lines(event.plan.task)}
            yield {"sessionUpdate": "user_message_chunk", "content": task}
        state = apply(state, event)
        for update in updates(event, state):
            yield update
        if isinstance(event, SnapshotTaken) and event.phase == "turn" and state.open is not None:
            changed = await lap_changes(state, record.scratch, state.open)
            if changed is not None:
                yield changed


def _params(message: Message) -> Message:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _directory(params: Message) -> Path:
    place = Path(str(params.get("cwd", "")))
    if not place.is_absolute() or not place.is_dir():
        raise Refused(PARAMS, f"cwd must be the path of a directory, and {str(place)!r} is not.")
    return place
