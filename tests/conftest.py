"""Settings for all tests: hypothesis profiles, default signal handlers, and garbage collection."""

import gc
import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None, print_blob=True)
# A laptop searches again on every run, CI repeats the same search.
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# Ignored signals are inherited, and nohup or a script's `&` ignores these two. Without this, the drivers to
# which tests send them would ignore them.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from tests and their modules, which live until the end anyway."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
