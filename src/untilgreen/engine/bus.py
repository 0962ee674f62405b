"""Who hears of events: listeners at once, notifiers in the background; none of them can stop a run."""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from untilgreen.core.events import Event
from untilgreen.core.state import RunState
from untilgreen.errors import UntilgreenError
from untilgreen.ports import Notifier

Listener = Callable[[Event, RunState], None]
LAST_WORDS_SECONDS = 15.0
"""How long notifiers may take to tell what is still queued when a run is left."""
_log = logging.getLogger(__name__)


class Bus:
    """Hands each event on, in order, to everybody exactly once."""

    def __init__(
        self,
        listeners: Iterable[Listener] = (),
        notifiers: Iterable[Notifier] = (),
        warn: Callable[[str], None] = _log.warning,
    ) -> None:
        """`warn` hears, once each, what a notifier could not do."""
        self._listeners = list(listeners)
        self._warn = warn
        self._warned: set[str] = set()
        self._notifiers = list(notifiers)
        self._queue: MemoryObjectSendStream[tuple[Event, RunState]] | None = None

    def subscribe(self, listener: Listener) -> None:
        """Hear every event from now on."""
        self._listeners.append(listener)

    def publish(self, event: Event, state: RunState) -> None:
        """Tell the listeners now, queue it for the notifiers; a listener that fails is dropped."""
        for listener in tuple(self._listeners):
            try:
                listener(event, state)
            except Exception:
                _log.exception("A listener failed and hears no more of run %s.", state.run)
                self._listeners.remove(listener)
        if self._queue is not None:
            self._queue.send_nowait((event, state))

    @asynccontextmanager
    async def notifying(self) -> AsyncIterator[None]:
        """Feed the notifiers beside the runner; at the end what is queued is still told, for a while."""
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
            self._complain(f"The notifiers were given up after {LAST_WORDS_SECONDS:.0f} seconds.")

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
