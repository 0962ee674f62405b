"""bell: rings a terminal, and nothing else."""

import io

import pytest

from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.notify.bell import Bell


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


async def test_it_rings_on_a_terminal_and_is_silent_in_a_file(
    ended: tuple[Event, RunState], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        monkeypatch.setattr("sys.stderr", stream)
        await Bell().notify(*ended)
    await Bell(on=["stuck"]).notify(*ended)

    assert (terminal.getvalue(), file.getvalue()) == ("\a", "")
