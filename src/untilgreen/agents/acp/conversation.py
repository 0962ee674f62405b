"""One turn of the Agent Client Protocol, version 1: from `initialize` to the end of the prompt.

The conversation is driven by what the agent says: each line that arrives is answered at once, so there is
nothing to wait for here. Neither a file system nor a terminal is offered, so the agent works inside its own
process tree, where time limits, snapshots and the sandbox apply.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from untilgreen.agents.acp.known_agents import KnownAgent
from untilgreen.agents.acp.permissions import CHANGES_FILES, allowed, command_of
from untilgreen.agents.kit.error_classes import cause_of
from untilgreen.agents.kit.gate_commands import simple_commands
from untilgreen.agents.kit.json_lines import JsonObject
from untilgreen.agents.kit.turn import GaveUp, Turn
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Usage, cost_source
from untilgreen.ports import ActivityKind
from untilgreen.process.talk import Talk
from untilgreen.regex import regex

AUTH_REQUIRED, METHOD_NOT_FOUND = -32000, -32601
_FAILURE_STATUS = {"limit": 429, "connection": 500, "service": 500, "auth": 401}
"""The HTTP status for each typed failure."""
_SAYS_FAILED = regex(r"\W*(error|ran into this error|failed|api error|info: .{0,80}error)\b", re.IGNORECASE)
"""The start of an answer that is really a provider's failure."""
_ENDS = frozenset({"refusal", "max_tokens", "max_turn_requests"})
_TYPED_FAILURES = {"jetbrains": {"air": {"version": 1, "capabilities": ["sessionFailure"]}}}


class Conversation:
    """The messages of one turn, and its result."""

    def __init__(self, brief: Brief, known: KnownAgent | None, root: str) -> None:
        self.talk = Talk(self._cancel)
        self._brief, self._known, self._root = brief, known, root
        self._commands = frozenset(simple_commands(brief.commands))
        self._answers: dict[int, Callable[[JsonObject, Turn], None]] = {}
        self._refusals: dict[int, Callable[[JsonObject, Turn], None]] = {}
        self._kinds: dict[str, str] = {}
        self._session: str | None = None
        self._message: str | None = None
        self._replaying = self._prompted = self._cancelled = False
        self._failure = JsonObject({})
        self._cost: float | None = None
        self._counted = Usage()
        """Usage from empty messages, for an agent that reports it there."""
        self._ask(
            "initialize",
            {
                "protocolVersion": 1,
                "clientCapabilities": {
                    "fs": {"readTextFile": False, "writeTextFile": False},
                    "terminal": False,
                    "_meta": _TYPED_FAILURES,
                },
            },
            self._initialized,
        )

    def hear(self, message: JsonObject, turn: Turn) -> None:
        """Handle one message from the agent: an answer, a notification, or a question."""
        if self._cancelled:  # we cancelled it, so an error it reports now doesn't count
            return
        method, number = message.text("method"), message.number("id")
        if method and message.has("id"):
            self._serve(method, message, turn)
        elif method == "session/update":
            if not self._replaying:
                self._update(message.part("params", "update"), turn)
        elif not method and number is not None:
            self._answered(int(number), message, turn)

    # The steps of a turn

    def _initialized(self, result: JsonObject, turn: Turn) -> None:
        can = result.part("agentCapabilities")
        place = {"cwd": self._root, "mcpServers": []}

        def begin(_: JsonObject, turn: Turn) -> None:
            self._ask("session/new", place, self._opened)

        resume = "session/resume" if can.has("sessionCapabilities", "resume") else ""
        way = resume or ("session/load" if can.flag("loadSession") else "")
        if self._brief.session and way:
            self._replaying = True  # the whole conversation is sent once more
            params = {"sessionId": self._brief.session, **place}
            self._ask(way, params, self._opened, begin)
        else:
            begin(result, turn)

    def _opened(self, result: JsonObject, turn: Turn) -> None:
        """The session is open: choose the mode that the run's permissions ask for, then send the prompt."""
        self._replaying = False
        self._session = result.text("sessionId") or self._brief.session
        turn.session = self._session
        known = self._known or KnownAgent(argv=(), native="")
        full = self._brief.permissions == "all"
        mode = known.all_mode if full else known.gates_mode
        modes = [each.text("id") for each in result.parts("modes", "availableModes")]
        if mode and (mode in modes or not full):
            params = {"sessionId": self._session, "modeId": mode}
            self._ask("session/set_mode", params, self._prompt, self._prompt if full else None)
        elif full and known.all_option:
            option, value = known.all_option
            params = {"sessionId": self._session, "configId": option, "value": value}
            self._ask("session/set_config_option", params, self._prompt, self._prompt)
        else:
            self._prompt(result, turn)

    def _prompt(self, _: JsonObject, turn: Turn) -> None:
        self._prompted = True
        text = [{"type": "text", "text": self._brief.text}]
        self._ask("session/prompt", {"sessionId": self._session, "prompt": text}, self._finished)

    def _finished(self, result: JsonObject, turn: Turn) -> None:
        self._prompted = False
        self._count(result, turn)
        failure = result.part("_meta", "jetbrains", "air", "sessionFailure") or self._failure
        reason = result.text("stopReason")
        if failure.text("severity") == "error":
            turn.fail(
                failure.text("title") or "the agent failed", _FAILURE_STATUS.get(failure.text("category"))
            )
        elif _SAYS_FAILED.match(turn.text) and cause_of(turn.text):
            turn.fail(turn.text)
        elif reason in _ENDS:
            turn.fail(f"the agent stopped: {reason}")
        elif reason == "cancelled":
            turn.fail("the turn was cancelled")
        else:
            turn.over = True
        raise GaveUp  # the turn is over; what the program does from here on is not part of it

    # What the agent says

    def _update(self, update: JsonObject, turn: Turn) -> None:
        match update.text("sessionUpdate"):
            case "agent_message_chunk":
                self._says(update, turn)
            case "tool_call":
                kind, title = update.text("kind") or "other", update.text("title")
                self._kinds[update.text("toolCallId")] = kind
                turn.acts(_shown_as(kind), title)
            case "tool_call_update":
                if kind := update.text("kind"):
                    self._kinds[update.text("toolCallId")] = kind
                if update.text("status") == "failed" and self._was_refused(update):
                    turn.deny(update.text("title")[:200])
            case "usage_update":
                amount = update.number("cost", "amount")
                self._cost = self._cost if amount is None else amount
            case "session_info_update":
                if failure := update.part("_meta", "jetbrains", "air", "sessionFailure"):
                    self._failure = failure
                    turn.show("retry", failure.text("title"))

    def _was_refused(self, update: JsonObject) -> bool:
        said = " ".join(each.text("content", "text") for each in update.parts("content"))
        return bool(self._known and self._known.refused and re.search(self._known.refused, said))

    def _says(self, update: JsonObject, turn: Turn) -> None:
        used = update.part("_meta", "usage")
        if used:
            self._counted = Usage(
                input_tokens=self._counted.input_tokens + used.count("inputTokens"),
                output_tokens=self._counted.output_tokens + used.count("outputTokens"),
            )
        text, message = update.text("content", "text"), update.text("messageId") or None
        if text and message != self._message:
            turn.begins_message()
            self._message = message
        if text:
            turn.adds(text)

    def _serve(self, method: str, message: JsonObject, turn: Turn) -> None:
        """Answer a request of the agent; permission is all we can give."""
        number = message.raw("id")
        if method != "session/request_permission":
            self._send({"id": number, "error": {"code": METHOD_NOT_FOUND, "message": "not offered"}})
            return
        call = message.part("params", "toolCall")
        title = call.text("title")
        kind = call.text("kind") or self._kinds.get(call.text("toolCallId"), "other")
        if kind == "other" and self._known is not None:
            kind = self._known.tools.get(title, kind)
        if call.text("toolCallId") not in self._kinds:
            turn.acts(_shown_as(kind), title)
        granted = self._brief.permissions == "all" or allowed(call, kind, self._commands, turn.context.root)
        if not granted:
            turn.deny((command_of(call) if kind == "execute" else title or kind)[:200])
        wanted = ("allow_once", "allow_always") if granted else ("reject_once", "reject_always")
        options = {each.text("kind"): each.text("optionId") for each in message.parts("params", "options")}
        chosen = next((options[each] for each in wanted if each in options), None)
        outcome = {"outcome": "selected", "optionId": chosen} if chosen else {"outcome": "cancelled"}
        self._send({"id": number, "result": {"outcome": outcome}})

    def _count(self, result: JsonObject, turn: Turn) -> None:
        usage, quota = result.part("usage"), result.part("_meta", "quota", "token_count")
        if usage:
            found = Usage(
                input_tokens=usage.count("inputTokens"),
                output_tokens=usage.count("outputTokens"),
                cached_tokens=usage.count("cachedReadTokens"),
            )
        elif quota:
            found = Usage(
                input_tokens=quota.count("input_tokens"), output_tokens=quota.count("output_tokens")
            )
        else:
            found = self._counted
        before = turn.counted if self._brief.session == self._session else Usage()
        whole_session = self._known is not None and self._known.counts == "session"
        if self._cost is None and not whole_session:
            turn.usage = found
            return
        turn.counted = before
        turn.total = Usage(
            input_tokens=found.input_tokens + (0 if whole_session else before.input_tokens),
            output_tokens=found.output_tokens + (0 if whole_session else before.output_tokens),
            cached_tokens=found.cached_tokens + (0 if whole_session else before.cached_tokens),
            cost=self._cost,
            source=cost_source(self._cost),
        )

    # The wire

    def _ask(
        self,
        method: str,
        params: Mapping[str, Any],
        then: Callable[[JsonObject, Turn], None],
        otherwise: Callable[[JsonObject, Turn], None] | None = None,
    ) -> None:
        number = len(self._answers) + 1
        self._answers[number] = then
        if otherwise is not None:
            self._refusals[number] = otherwise
        self._send({"id": number, "method": method, "params": params})

    def _answered(self, number: int, message: JsonObject, turn: Turn) -> None:
        then = self._answers.get(number)
        if then is None:
            return
        self._answers[number] = _heard_before
        if not message.has("error"):
            then(message.part("result"), turn)
        elif number in self._refusals:
            self._refusals[number](message.part("error"), turn)
        else:
            self._failed(message.part("error"), turn)

    def _failed(self, error: JsonObject, turn: Turn) -> None:
        code = int(error.number("code") or 0)
        data = msgspec.json.encode(error.raw("data")).decode() if error.has("data") else ""
        words = f"{error.text('message')} {data}".strip()
        status = 401 if code == AUTH_REQUIRED else code if 400 <= code < 600 else None
        turn.fail(words or f"error {code}", status)
        raise GaveUp

    def _send(self, message: Mapping[str, Any]) -> None:
        self.talk.say(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")

    def _cancel(self) -> None:
        """Tell the agent that its turn is cancelled, before its process tree is killed."""
        self._cancelled = True
        if self._prompted:
            self._send({"method": "session/cancel", "params": {"sessionId": self._session}})


def _shown_as(kind: str) -> ActivityKind:
    return "edit" if kind in CHANGES_FILES else "command" if kind == "execute" else "tool"


def _heard_before(_: JsonObject, turn: Turn) -> None:
    """Ignore an answer that came twice."""
