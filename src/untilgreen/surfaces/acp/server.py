"""An agent's side of the Agent Client Protocol, version 1, over JSON lines on stdin and stdout."""

from __future__ import annotations

import secrets
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup

from untilgreen import __version__
from untilgreen.core.loop.fold import apply
from untilgreen.core.values.state import RunState
from untilgreen.engine.store.runs import Store
from untilgreen.errors import UntilgreenError, UserError
from untilgreen.surfaces.acp.prompt import Prompt
from untilgreen.surfaces.acp.updates import Update, updates

Message = dict[str, Any]
PARSE_ERROR, INVALID, NOT_FOUND, PARAMS, FAILED = -32700, -32600, -32601, -32602, -32603
LONGEST_LINE = 16_000_000


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Server:
    """One editor; its sessions end with it, and runs that are in progress are saved."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._roots: dict[str, Path] = {}
        self._prompts: dict[str, Prompt] = {}
        self._waiting: dict[str, tuple[anyio.Event, list[Message]]] = {}

    async def serve(self) -> None:
        """Answer until the editor closes our input."""
        async with anyio.create_task_group() as group:
            async with anyio.wrap_file(sys.stdin.buffer) as lines:
                async for line in lines:
                    self._take(line, group)
            for prompt in self._prompts.values():
                await prompt.cancel()
            group.cancel_scope.cancel()

    def _take(self, line: bytes, group: TaskGroup) -> None:
        if not line.strip():
            return
        try:
            if len(line) > LONGEST_LINE:
                raise ValueError("too long")
            message = msgspec.json.decode(line, type=Message)
        except (ValueError, RecursionError):
            self._send({"id": None, "error": {"code": PARSE_ERROR, "message": "That is not a JSON object."}})
            return
        if "method" not in message:
            self._hear_answer(message)
        elif "id" in message:
            group.start_soon(self._answer, message)
        elif message["method"] == "session/cancel":
            group.start_soon(self._cancel, str(_params(message).get("sessionId")))

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
        except UntilgreenError as trouble:
            error = {"code": FAILED, "message": str(trouble)}
        else:
            self._send({"id": message["id"], "result": result})
            return
        self._send({"id": message["id"], "error": error})

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
        """Load a run by its id: its events are sent again."""
        root, session = _directory(params), str(params.get("sessionId"))
        record = self._store.find(session, root)
        state: RunState | None = None
        for event in await record.open_journal().events():
            state = apply(state, event)
            for update in updates(event, state):
                self._notify(session, update)
        self._roots[session] = root
        return {}

    async def _prompt(self, params: Message) -> Message:
        session = str(params.get("sessionId"))
        if session not in self._roots:
            raise Refused(PARAMS, f"There is no session {session!r}. Create one with session/new.")
        if session in self._prompts:
            raise Refused(INVALID, "A prompt is already running in this session. Cancel it first.")
        blocks = params.get("prompt")
        words = (
            [str(each.get("text", "")) for each in blocks if isinstance(each, dict)]
            if isinstance(blocks, list)
            else []
        )
        task = "\n".join(each for each in words if each)
        if not task.strip():
            raise UserError("The prompt is empty. Describe what you want done.")
        prompt = Prompt(
            self._roots[session], self._store, partial(self._notify, session), partial(self._request, session)
        )
        self._prompts[session] = prompt
        try:
            return {"stopReason": await prompt.run(task)}
        finally:
            del self._prompts[session]

    async def _cancel(self, session: str) -> None:
        if session in self._prompts:
            await self._prompts[session].cancel()

    async def _request(self, session: str, method: str, params: Message) -> Message:
        """Ask the editor something, and wait for its answer."""
        number = secrets.token_hex(6)
        answered: list[Message] = []
        event = anyio.Event()
        self._waiting[number] = (event, answered)
        self._send({"id": number, "method": method, "params": {"sessionId": session, **params}})
        try:
            await event.wait()
        finally:
            self._waiting.pop(number, None)
        result = answered[0].get("result")
        return result if isinstance(result, dict) else {}

    def _hear_answer(self, message: Message) -> None:
        waiting = self._waiting.get(str(message.get("id")))
        if waiting is not None:
            waiting[1].append(message)
            waiting[0].set()

    def _notify(self, session: str, update: Update) -> None:
        self._send({"method": "session/update", "params": {"sessionId": session, "update": update}})

    def _send(self, message: Message) -> None:
        with suppress(BrokenPipeError):  # an editor that is gone hears nothing
            sys.stdout.buffer.write(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")
            sys.stdout.buffer.flush()


def _params(message: Message) -> Message:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _directory(params: Message) -> Path:
    place = Path(str(params.get("cwd", "")))
    if not place.is_absolute() or not place.is_dir():
        raise Refused(PARAMS, f"cwd must be the path of a directory, and {str(place)!r} is not.")
    return place
