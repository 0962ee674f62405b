"""The real clock, which may jump while somebody waits."""

import time

import anyio
import pytest

from untilgreen.engine.wiring import clock
from untilgreen.engine.wiring.clock import SystemClock


@pytest.mark.anyio
async def test_a_wait_for_a_moment_ends_when_the_clock_jumps_over_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Timers stop while a machine is suspended; afterwards only the clock shows how much time passed."""
    monkeypatch.setattr(clock, "LONGEST_NAP", 0.01)
    real = time.time
    times = iter([real()])
    monkeypatch.setattr(time, "time", lambda: next(times, real() + 10_000))

    with anyio.move_on_after(5) as scope:
        await SystemClock().sleep_until(real() + 5_000)

    assert not scope.cancelled_caught
