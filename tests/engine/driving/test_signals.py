"""Which signals a driver handles."""

import signal
import sys

import pytest

from untilgreen.engine.driving.signals import SIGNALS, handled_signals


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_signal_that_was_ignored_from_the_start_stays_ignored() -> None:
    """`nohup` relies on it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert handled_signals() == tuple(each for each in SIGNALS if each != signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
