"""Sees a child through: carries its input and output, notices how it ends, and clears up after it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from anyio import CancelScope, create_task_group, current_time, move_on_after

from untilgreen.process.pipes import Pulse, Stream, feed
from untilgreen.process.start import Child
from untilgreen.process.tree import Ended

_DRAIN_SECONDS = 5.0
"""How long to wait for what a dead tree had still written; nobody holds its pipes any more."""


@dataclass(kw_only=True)
class Watch:
    """One child's life, from being let go to the last of its processes."""

    child: Child
    streams: Sequence[Stream]
    pulse: Pulse
    silence: float | None
    seconds: float | None
    grace: float
    linger: float
    finished: bool = False
    """Whether the command came to its own end."""
    stalled: bool = False
    late: bool = False
    ended: Ended = field(default_factory=Ended)

    async def see_through(self, stdin: bytes) -> None:
        """Return when nothing of the tree is left, on every way out."""
        try:
            async with create_task_group() as group:
                self.child.let_go()
                if stdin:
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
                    group.cancel_scope.cancel()
        except BaseExceptionGroup as raised:
            # A listener may raise to end the turn; its caller wants that error, not a group around it.
            if len(raised.exceptions) == 1:
                raise raised.exceptions[0] from None
            raise

    async def _until_over(self) -> None:
        with move_on_after(self.seconds) as limit:
            await self._until_its_end_or_silence()
        self.late = limit.cancelled_caught

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
        if self.finished:
            with move_on_after(self.linger):
                await self._streams_end()
            self.ended = await self.child.tree.kill()
        else:
            self.ended = await self.child.tree.end(self.grace)
        with move_on_after(_DRAIN_SECONDS):
            await self.child.process.wait()
            await self._streams_end()
        for stream in self.streams:
            stream.stop()

    async def _streams_end(self) -> None:
        for stream in self.streams:
            await stream.done.wait()
