"""Collects what an agent says and does in one turn, and turns it into a reply.

A turn succeeded if the agent reported its end, *and* the exit code is 0, *and* there was no error: each
of the three alone is wrong for some agent.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Collection
from dataclasses import dataclass, field

from msgspec.structs import replace

from untilgreen.agents.kit.error_classes import cause_of, status_in
from untilgreen.agents.kit.retry_times import retry_at
from untilgreen.core.briefing.excerpt import MOST_DENIALS, trim
from untilgreen.core.values.model import ErrorClass, Reply, Usage
from untilgreen.ports import Activity, ActivityKind, TurnContext
from untilgreen.process.run import Ran

LONGEST_SHOWN = 2_000
LONGEST_MESSAGE = 1_000_000
"""Characters kept of a message that comes in pieces; the middle of a longer one is dropped."""
PATIENCE_SECONDS = 30.0
"""How long an agent may wait before it tries again; for longer waits the run is paused instead."""
_MOST_PIECES = 10_000
_LAST_LINES = 20
_SIGNALED = {128 + number for number in (signal.SIGINT, signal.SIGTERM)} | {137}


class GaveUp(Exception):
    """The agent keeps retrying without success, so its turn is ended; the turn knows why."""


@dataclass(kw_only=True)
class Turn:
    """One turn so far; adapters record in it what they read."""

    context: TurnContext
    counted: Usage = field(default_factory=Usage)
    """The session's usage before this turn, for agents that count the whole session."""
    session: str | None = None
    over: bool = False
    """Whether the agent said that its turn is over and went well."""
    usage: Usage = field(default_factory=Usage)
    total: Usage | None = None
    """The usage of the whole session, if the agent reports only that."""
    denied: list[str] = field(default_factory=list)
    failure: str = ""
    """What went wrong, in the agent's words."""
    status: int | None = None
    """The HTTP status of the provider's answer, if known."""
    again: float | None = None
    """When the provider lets the agent try again, if the agent says so."""
    fenced: bool = True
    """Whether the agent is limited to edits and the gates' commands."""
    calls: dict[str, str] = field(default_factory=dict)
    """The agent's tool calls by id, to match results with calls."""
    question: str = ""
    """A question the agent asked, though no one is there to answer."""
    _text: str = ""
    _pieces: list[str] = field(default_factory=list)
    """The pieces of the current message; joined only when it is read."""
    _size: int = 0
    _worded: bool = False
    """Whether the pieces contain more than blanks."""
    _unread: bool = False
    """Whether the pieces contain more than `_text`."""
    _retries: int = 0
    _trouble: tuple[str, int | None] | None = None
    """What the agent retried last, until it makes progress."""

    def show(self, kind: ActivityKind, text: str) -> None:
        """Show one activity in the live view."""
        if text.strip():
            self.context.report(Activity(kind=kind, text=trim(text.strip(), LONGEST_SHOWN)))

    @property
    def text(self) -> str:
        """The last text that the agent itself wrote."""
        if self._unread:
            self.text = self._joined()
        return self._text

    @text.setter
    def text(self, text: str) -> None:
        self._text, self._unread = text, False

    def says(self, text: str) -> None:
        """A whole message of the agent."""
        self._begin_message()
        if text.strip():
            self.text = text
            self.show("text", text)
            self._gets_on()

    def adds(self, piece: str) -> None:
        """A piece of a message; all pieces up to the next action are one message, however they were split."""
        self._pieces.append(piece)
        self._size += len(piece)
        self._worded = self._worded or bool(piece.strip())
        if self._worded:
            self._unread = True
            self._gets_on()
        if self._size > 2 * LONGEST_MESSAGE or len(self._pieces) > _MOST_PIECES:
            self._pieces = [trim(self._joined(), LONGEST_MESSAGE)]
            self._size = len(self._pieces[0])

    def begins_message(self) -> None:
        """What comes next is a new message of the agent."""
        self._show_message()
        self._begin_message()

    def acts(self, kind: ActivityKind, text: str) -> None:
        """The agent uses a tool; what it says next is a new message."""
        self._show_message()
        self._begin_message()
        self.show(kind, text)
        self._gets_on()

    def uses(self, tool: str, *, path: str = "", command: str = "", edits: Collection[str] = ()) -> None:
        """The agent uses a tool: one of its `edits` on a file, a command, or any other."""
        if tool in edits:
            self.acts("edit", path)
        elif command:
            self.acts("command", command)
        else:
            self.acts("tool", f"{tool} {path}".strip())

    def _joined(self) -> str:
        return "".join(self._pieces)

    def _show_message(self) -> None:
        if self._worded:
            self.show("text", self._joined())

    def _begin_message(self) -> None:
        self._text = self.text
        self._pieces, self._size, self._worded, self._unread = [], 0, False, False

    def _gets_on(self) -> None:
        self._retries, self._trouble = 0, None

    def deny(self, what: str) -> None:
        """Record that something was not permitted."""
        if what and what not in self.denied and len(self.denied) < MOST_DENIALS:
            self.denied.append(what)

    def fail(self, failure: str, status: float | None = None) -> None:
        """Record a failure; the first one that names a cause is kept."""
        if failure and (not self.failure or not cause_of(self.failure, self.status)):
            self.failure = failure
            self.status = int(status) if status else status_in(failure)

    def retries(
        self, why: str, status: float | None = None, seconds: float | None = None, *, most: int | None = None
    ) -> None:
        """The agent tries again by itself; it is stopped if that can't help or takes too long."""
        self._retries += 1
        words = why or "the model did not answer"
        self.show(
            "retry", f"{words}; next attempt in {seconds:.0f} s" if seconds else f"{words}; trying again"
        )
        known = int(status) if status else status_in(why)
        hopeless = cause_of(why, known) in ("auth", "quota")
        if hopeless or (seconds or 0) > PATIENCE_SECONDS or (most and self._retries > most):
            self.failure, self.status = words, known
            if seconds and seconds > PATIENCE_SECONDS:
                self.again = time.time() + seconds
            raise GaveUp
        self._trouble = (words, known)

    def reply(self, ran: Ran | None, advice: str = "") -> Reply:
        """The reply for this turn; `ran` is None if we ended it ourselves."""
        self._show_message()
        reply = Reply(
            text=self.text,
            usage=_difference(self.total, self.counted) if self.total else self.usage,
            total=self.total,
            session=self.session,
            denied=tuple(self.denied),
            detail=f"not permitted: {', '.join(self.denied)}. {advice}" if self.denied else "",
        )
        if self.over and not self.failure and (ran is None or ran.ok):
            return replace(reply, error="question", detail=self.question) if self.question else reply
        if ran is not None and ran.stalled and self._trouble is None:
            return replace(reply, error="stalled", detail=f"no output for {self.context.silence:g} seconds")
        if ran is not None and ran.stalled and self._trouble is not None:
            self.failure, self.status = self._trouble
        if ran is not None and ran.ok and self.denied and not self.failure:
            return replace(reply, error="permission")
        return self._failed(reply, ran)

    def _failed(self, reply: Reply, ran: Ran | None) -> Reply:
        words = self.failure or (_last_words(ran) if ran else "")
        ended = _own_end(ran)
        # If someone ended it, its last log lines are not the reason.
        unasked = ended == "interrupted" and not self.failure
        error = None if unasked else cause_of(words, self.status or status_in(words))
        if (
            reply.text.strip() and reply.text.strip() in words
        ):  # some programs print the error as if the agent had said it
            reply = replace(reply, text="")
        if error is None:
            return replace(reply, error=ended, detail=_why(words, ran, over=self.over))
        again = None if error == "auth" else self.again or retry_at(words, time.time())
        return replace(reply, error=error, detail=_why(words, None, over=self.over), retry_at=again)


def _own_end(ran: Ran | None) -> ErrorClass:
    """`interrupted` if a signal ended it, otherwise `crash`."""
    return "interrupted" if ran and (ran.status < 0 or ran.status in _SIGNALED) else "crash"


def _why(words: str, ran: Ran | None, *, over: bool) -> str:
    if ran is None or (words and ran.status == 0):
        return words
    early = "" if over or ran.status else " before its turn was over"
    return f"{ran.ending}{early}\n{words}".strip()


def _last_words(ran: Ran) -> str:
    """The last lines it printed, without JSON, which tells a person nothing."""
    lines = [line for line in ran.stderr.splitlines() if line.strip()]
    lines = lines or [line for line in ran.stdout.splitlines() if line.strip() and not line.startswith("{")]
    return "\n".join(lines[-_LAST_LINES:])


def _difference(total: Usage, counted: Usage) -> Usage:
    """This turn's share; if the total is smaller than before, the agent has started counting from 0."""
    if total.input_tokens < counted.input_tokens or (total.cost or 0) < (counted.cost or 0):
        return total
    return Usage(
        input_tokens=total.input_tokens - counted.input_tokens,
        output_tokens=max(0, total.output_tokens - counted.output_tokens),
        cached_tokens=max(0, total.cached_tokens - counted.cached_tokens),
        cost=None if total.cost is None else total.cost - (counted.cost or 0),
        source=total.source,
    )
