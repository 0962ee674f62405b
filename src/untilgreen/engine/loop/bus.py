"""Publishes events: to listeners at once, to notifiers in the background; none of them can stop a run."""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.errors import UntilgreenError
from untilgreen.ports import Notifier

Listener = Callable[[Event, RunState], None]
LAST_WORDS_SECONDS = 15.0
"""How long notifiers may take to send what is still queued at the end."""
_log = logging.getLogger(__name__)


class Bus:
    """Passes each event on, in order, exactly once to each subscriber."""

    def __init__(
        self,
        listeners: Iterable[Listener] = (),
        notifiers: Iterable[Notifier] = (),
        warn: Callable[[str], None] = _log.warning,
    ) -> None:
        """`warn` is called once for each notifier that fails."""
        self._listeners = list(listeners)
        self._warn = warn
        self._warned: set[str] = set()
        self._notifiers = list(notifiers)
        self._queue: MemoryObjectSendStream[tuple[Event, RunState]] | None = None

    def subscribe(self, listener: Listener) -> None:
        """Receive every event from now on."""
        self._listeners.append(listener)

    def publish(self, event: Event, state: RunState) -> None:
        """Call the listeners now, and queue the event for the notifiers; a listener that fails is dropped."""
        for listener in tuple(self._listeners):
            try:
                listener(event, state)
            except Exception:
                _log.exception("A listener failed and is no longer told about run %s.", state.run)
                self._listeners.remove(listener)
        if self._queue is not None:
            self._queue.send_nowait((event, state))

    @asynccontextmanager
    async def notifying(self) -> AsyncIterator[None]:
        """Run the notifiers in the background; at the end they get a while to send what is queued."""
        put, take = anyio.create_memory_object_stream[tuple[Event, RunState]](math.inf)
        async with anyio.create_task_group() as group:
            group.start_soon(self._pump, take)
            self._queue = put
            try:
                yield
            finally:
                self._queue = None
                put.close()
                group.cancel_scope.deadline = anyio.current_time() + LAST_WORDS_SECONDS
        if group.cancel_scope.cancelled_caught:
            self._complain(f"Gave up on the notifiers after {LAST_WORDS_SECONDS:.0f} seconds.")

    async def _pump(self, take: MemoryObjectReceiveStream[tuple[Event, RunState]]) -> None:
        async with take:
            async for event, state in take:
                for notifier in self._notifiers:
                    await self._notify(notifier, event, state)

    async def _notify(self, notifier: Notifier, event: Event, state: RunState) -> None:
        try:
            await notifier.notify(event, state)
        except Exception as error:
            what = str(error) if isinstance(error, UntilgreenError) else f"{type(error).__name__}: {error}"
            self._complain(f"The notifier {type(notifier).__name__} failed: {what}.")

    def _complain(self, sentence: str) -> None:
        if sentence not in self._warned:
            self._warned.add(sentence)
            self._warn(sentence)
