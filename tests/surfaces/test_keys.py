"""Keys of the live view: what each of them tells the run, and what it shows."""

import os
import pty
import termios

import anyio
import pytest

from tests.core.helpers import Run, gate, red
from untilgreen.core.events import Paused
from untilgreen.core.state import RunState
from untilgreen.core.strategies.manual import Manual
from untilgreen.errors import UserError
from untilgreen.surfaces.keys import HELP, PAUSED, Keys, pressed, usable


class Remembers:
    """A run that keeps what it is told, and a screen that keeps what it shows."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.told: list[tuple[str, str]] = []
        self.shown = ""
        self.refuses = ""

    def show_keys(self, text: str) -> None:
        self.shown = text

    async def _take(self, verb: str, word: str) -> None:
        if self.refuses:
            raise UserError(self.refuses)
        self.told.append((verb, word))

    async def stop(self, reason: str) -> None:
        await self._take("stop", reason)

    async def cancel(self, reason: str) -> None:
        await self._take("cancel", reason)

    async def pause(self, reason: str) -> None:
        await self._take("pause", reason)

    async def go_on(self) -> None:
        await self._take("go_on", "")

    async def steer(self, note: str) -> None:
        await self._take("steer", note)

    async def answer(self, choice: str) -> None:
        await self._take("answer", choice)


@pytest.fixture
def run() -> Remembers:
    run = Run(gate("tests"))
    run.lap(tests=red("a"))
    return Remembers(run.state)


async def typed(run: Remembers, text: str) -> Keys:
    keys = Keys(run, run)
    for key in text:
        await keys.press(key)
    return keys


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("p", [("pause", "paused by a key")]),
        ("S", [("stop", "stopped by a key")]),
        ("xx", [("cancel", "cancelled by a key")]),
        ("xs", [("stop", "stopped by a key")]),
        ("xnx\r", [("steer", "x")]),
        ("n say p, s and x\r", [("steer", "say p, s and x")]),
        ("nab\x7fc\n", [("steer", "ac")]),
        ("nno\x1bs", [("stop", "stopped by a key")]),
        ("n  \r", []),
        ("q1\t\x00ü", []),
    ],
)
async def test_keys_tell_the_run(run: Remembers, text: str, told: list[tuple[str, str]]) -> None:
    await typed(run, text)

    assert run.told == told


async def test_a_paused_run_goes_on_with_the_same_key() -> None:
    driven = Run(gate("tests"))
    driven.lap(tests=red("a"))
    driven.record(Paused(at=driven.state.now, reason="lunch"))
    run = Remembers(driven.state)

    keys = await typed(run, "p")
    keys.rest()

    assert run.told == [("go_on", "")]
    assert run.shown == PAUSED


async def test_a_question_is_answered_by_its_number() -> None:
    driven = Run(gate("tests"), strategy=Manual(), answers=True)
    driven.lap(tests=red("a"))
    run = Remembers(driven.state)

    await typed(run, "")
    assert run.shown.startswith("1 continue · 2 accept · 3 stop")
    await typed(run, "92")

    assert run.told == [("answer", "accept")]


async def test_a_refusal_is_shown_and_the_help_comes_back(run: Remembers) -> None:
    run.refuses = "A stop after this lap was asked for already."

    keys = await typed(run, "s")
    refused = run.shown
    keys.rest()

    assert refused == run.refuses
    assert run.shown == HELP


async def test_the_help_does_not_come_back_over_a_note_that_is_being_typed(run: Remembers) -> None:
    keys = await typed(run, "nhalf")
    keys.rest()

    assert run.shown.endswith(": half")


async def test_a_real_terminal_is_read_key_by_key_and_left_as_it_was(run: Remembers) -> None:
    ours, theirs = pty.openpty()
    try:
        before = termios.tcgetattr(theirs)
        async with pressed(run, run, theirs):
            assert not termios.tcgetattr(theirs)[3] & (termios.ICANON | termios.ECHO)
            os.write(ours, b"\x1b[A")
            await anyio.sleep(0.05)
            os.write(ours, "nö\r".encode())
            with anyio.fail_after(30):
                while not run.told:  # noqa: ASYNC110 - the key arrives on its own time
                    await anyio.sleep(0.01)
        assert termios.tcgetattr(theirs) == before
    finally:
        os.close(ours)
        os.close(theirs)

    assert run.told == [("steer", "ö")]


def test_keys_are_left_alone_where_somebody_else_is_in_front_of_the_terminal(tmp_path: object) -> None:
    ours, theirs = pty.openpty()
    try:
        assert not usable(theirs), "it is not our terminal"
    finally:
        os.close(ours)
        os.close(theirs)
    reading, writing = os.pipe()
    os.close(writing)
    assert not usable(reading)
    os.close(reading)
