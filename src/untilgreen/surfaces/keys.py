"""Keys while a run is shown live: p pauses or goes on, s stops, x cancels, n leaves a note, digits answer."""

from __future__ import annotations

import codecs
import os
import termios
import tty
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Protocol

import anyio

from untilgreen.core.state import RunState
from untilgreen.errors import UntilgreenError

HELP = "p pause · s stop after this lap · x cancel · n note"
PAUSED = "p go on · s stop · x cancel · n note"
SHOWN_SECONDS = 4.0
"""How long it is shown what came of a key."""
ENTER, ESCAPE, RUBOUT = ("\r", "\n"), "\x1b", ("\x7f", "\b")
LONGEST_NOTE = 2000


class Told(Protocol):
    """The run that keys are about."""

    state: RunState

    async def stop(self, reason: str) -> None:
        """End it after the lap under way."""

    async def cancel(self, reason: str) -> None:
        """End it now."""

    async def pause(self, reason: str) -> None:
        """Start no further turn."""

    async def go_on(self) -> None:
        """End a pause."""

    async def steer(self, note: str) -> None:
        """Tell the agent something."""

    async def answer(self, choice: str) -> None:
        """Answer its question."""


class Screen(Protocol):
    """Where it is shown what can be pressed, and what came of it."""

    def show_keys(self, text: str) -> None:
        """The line below the picture."""


class Keys:
    """What each key does; pure of any terminal, so that it can be tried without one."""

    def __init__(self, run: Told, screen: Screen) -> None:
        self._run = run
        self._screen = screen
        self._note: str | None = None
        self._sure = False
        self.show()

    def show(self, said: str = "") -> None:
        """Say what can be pressed now, or what came of the last key."""
        self._screen.show_keys(said or self._choices())

    def rest(self) -> None:
        """Nobody pressed anything for a while: what can be pressed is of more use than what was."""
        if self._note is None:
            self._sure = False
            self.show()

    async def press(self, key: str) -> None:
        """One key; a refusal is shown in place of the help."""
        try:
            self.show(await (self._command(key) if self._note is None else self._type(key)))
        except UntilgreenError as error:
            self.show(str(error))

    def _choices(self) -> str:
        state = self._run.state
        if state.asked is not None and state.answer is None and state.answers:
            return " · ".join(
                f"{number} {choice}" for number, choice in enumerate(state.asked.choices[:9], 1)
            )
        return PAUSED if state.pause is not None and state.pause.cause is None else HELP

    async def _command(self, key: str) -> str:
        sure, self._sure = self._sure, False
        state = self._run.state
        match key.lower():
            case "p" if state.pause is not None:
                await self._run.go_on()
                return "goes on"
            case "p":
                await self._run.pause("paused by a key")
                return "starts no further turn; p goes on"
            case "s":
                await self._run.stop("stopped by a key")
                return "will end after this lap"
            case "x" if sure:
                await self._run.cancel("cancelled by a key")
                return "is being cancelled"
            case "x":
                self._sure = True
                return "x once more cancels the run now; any other key does not"
            case "n":
                self._note = ""
                return "note for the agent (Enter sends, Esc drops): "
            case digit if digit.isdecimal() and digit.isascii():
                return await self._answer(int(digit))
            case _:
                return ""

    async def _answer(self, number: int) -> str:
        asked = self._run.state.asked
        if asked is None or not 1 <= number <= len(asked.choices):
            return ""
        await self._run.answer(asked.choices[number - 1])
        return f"answered: {asked.choices[number - 1]}"

    async def _type(self, key: str) -> str:
        note = self._note or ""
        if key in ENTER:
            self._note = None
            if not note.strip():
                return ""
            await self._run.steer(note.strip())
            return "the agent will be told with its next brief"
        if key == ESCAPE:
            self._note = None
            return "the note was dropped"
        if key in RUBOUT:
            note = note[:-1]
        elif key.isprintable() and len(note) < LONGEST_NOTE:
            note += key
        self._note = note
        return f"note for the agent (Enter sends, Esc drops): {note}"


def usable(stream: int) -> bool:
    """Whether keys can be read one by one: a terminal, and we are the program in front of it."""
    with suppress(OSError):
        return os.isatty(stream) and os.tcgetpgrp(stream) == os.getpgrp()
    return False


@asynccontextmanager
async def pressed(run: Told, screen: Screen, stream: int) -> AsyncIterator[None]:
    """Heed the keys for as long as the block lasts; the terminal is left as it was found."""
    with _unbuffered(stream):
        async with anyio.create_task_group() as group:
            group.start_soon(_listen, Keys(run, screen), stream)
            try:
                yield
            finally:
                group.cancel_scope.cancel()


async def _listen(keys: Keys, stream: int) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        with anyio.move_on_after(SHOWN_SECONDS) as waited:
            await anyio.wait_readable(stream)
        if waited.cancelled_caught:
            keys.rest()
            continue
        try:
            data = os.read(stream, 1024)
        except OSError:
            data = b""
        if not data:  # the terminal is gone; the signal that says so is on its way
            return
        text = decoder.decode(data)
        if text.startswith(ESCAPE) and len(text) > 1:  # an arrow key and its like, which mean nothing here
            continue
        for key in text:
            await keys.press(key)


@contextmanager
def _unbuffered(stream: int) -> Iterator[None]:
    """Keys come at once and are not shown; Ctrl-C and Ctrl-Z stay what they are."""
    before = termios.tcgetattr(stream)
    try:
        tty.setcbreak(stream, termios.TCSADRAIN)
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(stream, termios.TCSADRAIN, before)
