"""The last event and the state of a run that has just ended, as notifiers get them."""

import pytest

from tests.core.helpers import Run
from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState


@pytest.fixture
def ended() -> tuple[Event, RunState]:
    run = Run(task="mend it; $(touch owned) `touch owned` \x00'\"")
    run.lap()
    run.end()
    return run.events[-1], run.state
