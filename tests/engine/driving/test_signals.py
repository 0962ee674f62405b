"""Which signals a driver listens to."""

import signal
import sys

import pytest

from untilgreen.engine.driving.signals import SIGNALS, handled_signals


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_a_signal_that_was_ignored_from_the_start_stays_ignored() -> None:
    """As nohup does it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert handled_signals() == tuple(each for each in SIGNALS if each != signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
