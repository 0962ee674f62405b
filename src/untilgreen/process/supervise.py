"""Follows a child to its end: carries input and output, enforces time limits, and cleans up."""

from __future__ import annotations

import os
from collections.abc import Sequence

from anyio import CancelScope, create_task_group, current_time, move_on_after
from msgspec import Struct, field

from untilgreen.process.disk_watch import DiskWatch
from untilgreen.process.pipes import Conversation, Pulse, Stream, feed
from untilgreen.process.start import Child
from untilgreen.process.talk import Talk
from untilgreen.process.tree import Ended

EXIT_SECONDS = 3.0
"""How long a child that we talk to may take to exit once its input has ended."""
_DRAIN_SECONDS = 5.0
"""How long to wait for the last output of a dead process tree."""


class Supervisor(Struct, kw_only=True):
    """Follows one child from its start to the end of its last process."""

    child: Child
    streams: Sequence[Stream]
    pulse: Pulse
    silence: float | None
    seconds: float | None
    grace: float
    linger: float
    disk: DiskWatch | None = None
    finished: bool = False
    """Whether the command ended by itself."""
    stalled: bool = False
    late: bool = False
    full: bool = False
    """Whether it wrote too much."""
    ended: Ended = field(default_factory=Ended)
    _conversation: Conversation | None = None

    async def run(self, stdin: bytes | Talk) -> None:
        """Return when nothing of the process tree is left, however it ended."""
        try:
            async with create_task_group() as group:
                self.child.let_go()
                if isinstance(stdin, Talk):
                    self._conversation = Conversation(self.child.ours[0], stdin)
                    group.start_soon(self._conversation.pump)
                elif stdin:
                    group.start_soon(feed, self.child.ours[0], stdin)
                else:
                    os.close(self.child.ours[0])
                for stream in self.streams:
                    group.start_soon(stream.pump)
                try:
                    await self._until_over()
                finally:
                    with CancelScope(shield=True):
                        await self._clear_up()
                    if stdin:  # the command may not have read all of it
                        group.cancel_scope.cancel()
        except BaseExceptionGroup as raised:
            # A listener may raise to end the turn; the caller expects that error, not a group around it.
            if len(raised.exceptions) == 1:
                raise raised.exceptions[0] from None
            raise

    async def _until_over(self) -> None:
        with move_on_after(self.seconds) as limit:
            if self.disk is None:
                await self._until_its_end_or_silence()
            else:
                await self._until_its_end_or_too_much(self.disk)
        self.late = limit.cancelled_caught

    async def _until_its_end_or_too_much(self, disk: DiskWatch) -> None:
        async def watch() -> None:
            await disk.until_too_much()
            self.full = True
            group.cancel_scope.cancel()

        async with create_task_group() as group:
            group.start_soon(watch)
            await self._until_its_end_or_silence()
            group.cancel_scope.cancel()

    async def _until_its_end_or_silence(self) -> None:
        if self.silence is None:
            await self.child.process.wait()
            self.finished = True
            return
        while (left := self.pulse.last + self.silence - current_time()) > 0:
            with move_on_after(left):
                await self.child.process.wait()
                self.finished = True
                return
        self.stalled = True

    async def _clear_up(self) -> None:
        if self._conversation is not None:
            await self._ask_to_exit(self._conversation)
        if self.finished:
            await self._streams_end(self.linger)
            self.ended = await self.child.tree.kill()
        else:
            self.ended = await self.child.tree.end(self.grace)
        if not self.finished:
            with move_on_after(_DRAIN_SECONDS):
                await self.child.process.wait()
        await self._streams_end(_DRAIN_SECONDS)
        for stream in self.streams:
            stream.stop()

    async def _ask_to_exit(self, conversation: Conversation) -> None:
        """A child that we talk to is asked to exit before it is killed."""
        if not self.finished:
            conversation.talk.last_message()
            with move_on_after(EXIT_SECONDS):
                await self.child.process.wait()
        conversation.stop()

    async def _streams_end(self, seconds: float) -> None:
        if all(stream.done.is_set() for stream in self.streams):
            return
        with move_on_after(seconds):
            for stream in self.streams:
                await stream.done.wait()
