"""What holds for all tests: how hypothesis searches, that signals are heard, and what is no garbage."""

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

# What was ignored when a program began stays so in all that it starts, and nohup, or a script's `&`, ignores
# these two: the drivers that tests send them to would not hear them.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The tests and their modules stay to the end: nobody needs to look through them for garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
