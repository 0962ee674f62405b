"""Ctrl-C and similar signals: what they do to a run that is driven, and to other work."""

from __future__ import annotations

import signal

import anyio
from anyio.abc import TaskStatus

from untilgreen.engine.loop.runner import Runner
from untilgreen.engine.store.scratch import Scratch

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that tell a driver to save the run and exit."""
_ATTACHING_SECONDS = 0.02


def handled_signals() -> tuple[signal.Signals, ...]:
    """The signals to handle; one that was ignored when we were started, as by nohup, stays ignored."""
    return tuple(each for each in SIGNALS if signal.getsignal(each) is not signal.SIG_IGN)


async def save_on_a_signal(runner: Runner, scratch: Scratch, *, task_status: TaskStatus[None]) -> None:
    """First signal: end the turn gently, save, exit. Second signal: kill everything at once."""
    with anyio.open_signal_receiver(*handled_signals()) as received:
        task_status.started()
        async for number in received:
            while not runner.attached:  # noqa: ASYNC110 - it is about to be
                await anyio.sleep(_ATTACHING_SECONDS)
            again = runner.state.away is not None
            await runner.interrupt(signal.Signals(number).name)
            if again or runner.seat.session is not None:  # an agent gives its hooks hardly any time
                await scratch.end_what_runs(grace=0.0)


async def leave_on_a_signal(
    work: anyio.CancelScope, heard: list[int], *, task_status: TaskStatus[None]
) -> None:
    """Cancel the work on a signal, and add the signal to `heard`."""
    with anyio.open_signal_receiver(*handled_signals()) as received:
        task_status.started()
        async for number in received:
            heard.append(number)
            work.cancel()
