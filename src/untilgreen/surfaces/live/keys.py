"""The keys of the live view: pause, stop, cancel, more laps, a note, long texts, answers."""

from __future__ import annotations

import codecs
import os
import termios
import tty
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from typing import Protocol

import anyio

from untilgreen.core.values.state import RunState
from untilgreen.errors import UntilgreenError
from untilgreen.surfaces.live.pager import page
from untilgreen.surfaces.text.questions import choices_of

HELP = "p pause · s stop · n note · o output · b brief · d diff · + laps · x cancel · ? help"
PAUSED = "p resume · s stop · n note · o output · b brief · d diff · + laps · x cancel · ? help"
EXPLAINED = """\
p        pause after the agent's current turn; p again resumes
s        stop after this lap (press it twice);
         `untilgreen fork --more 10` continues from there
x        cancel the run now (press it twice)
+        add 5 laps; press it again for 5 more
n        write a note for the agent's next brief
o        show the agent's output of the current lap
b        show the brief: what the agent was told
d        show the diff of the last lap
1-9      answer the question that is shown
?        this help
Ctrl-C   save the run and leave; `untilgreen resume` continues it

Press one key at a time. Keys that arrive in a burst, such as a command typed
ahead for the shell, are ignored, and so is what follows an unknown key.
Leave this page with q.
"""
COMMANDS = frozenset("psxn+obd?")
ENDINGS = {"s": "stop after this lap", "x": "cancel the run now"}
"""Keys that are pressed twice, and what for."""
TWICE = tuple(key * 2 for key in ENDINGS)
TYPED_AHEAD = "ignored: press one key at a time (? help)"
NOTE = "note for the agent (Enter sends, Esc cancels): "
ADDED_BY_A_KEY = 5
SHOWN_SECONDS = 4.0
"""How long the effect of a key is shown."""
ALONE_SECONDS = 0.25
"""A key is a command if nothing else is typed within this time."""
QUIET_SECONDS = 1.0
"""Typing is over after this much silence."""
ENTER, ESCAPE, RUBOUT = ("\r", "\n"), "\x1b", ("\x7f", "\b")
LONGEST_NOTE = 2000
SHOWN_NOTE = 100
"""How much of a long note is shown: its end, where it is written."""


class ControlledRun(Protocol):
    """The run that keys control."""

    state: RunState

    async def stop(self, reason: str) -> None:
        """End it after the current lap."""

    async def cancel(self, reason: str) -> None:
        """End it now."""

    async def pause(self, reason: str) -> None:
        """Start no further turn."""

    async def go_on(self) -> None:
        """End a pause."""

    async def steer(self, note: str) -> None:
        """Give the agent a note."""

    async def add_laps(self, laps: int) -> None:
        """Allow it more laps."""

    async def answer(self, choice: str) -> None:
        """Answer its question."""


class Texts(Protocol):
    """The long texts that keys open."""

    def output(self) -> str:
        """What the agent printed."""

    def brief(self) -> str:
        """What the agent was told."""

    async def diff(self) -> str:
        """What the last lap changed."""


class Screen(Protocol):
    """Where the keys are listed, with the effect of the last one."""

    def show_keys(self, text: str) -> None:
        """Show this as the last line of the view."""

    def suspended(self) -> AbstractContextManager[None]:
        """Leave the terminal to another program for a while."""


class Keys:
    """What each key does; knows no terminal, so tests need none."""

    def __init__(self, run: ControlledRun, screen: Screen, texts: Texts) -> None:
        self._run = run
        self._screen = screen
        self._texts = texts
        self._note: str | None = None
        self._sure = ""
        self.show()

    def show(self, said: str = "") -> None:
        """List the keys, or say what the last one did."""
        self._screen.show_keys(said or self._choices())

    def rest(self) -> None:
        """No key was pressed for a while: list the keys again."""
        if self._note is None:
            self._sure = ""
            self.show()

    def known(self, key: str) -> bool:
        """Whether a key alone means anything now; one that doesn't is the beginning of something typed."""
        answers = len(choices_of(self._run.state)[:9])
        return len(key) == 1 and (
            key.lower() in COMMANDS or (key.isascii() and key.isdecimal() and 1 <= int(key) <= answers)
        )

    async def press(self, key: str) -> None:
        """One key; a refusal is shown in place of the help."""
        try:
            self.show(await (self._command(key) if self._note is None else self._type(key)))
        except UntilgreenError as error:
            self.show(str(error))

    @property
    def writing(self) -> bool:
        """Whether a note is being written, so that every key is text."""
        return self._note is not None

    def _choices(self) -> str:
        state = self._run.state
        answers = len(choices_of(state)[:9]) if state.answers else 0
        return (f"1-{answers} answer · " if answers else "") + (HELP if state.pause is None else PAUSED)

    async def _command(self, key: str) -> str:
        sure, self._sure = self._sure == key.lower(), ""
        state = self._run.state
        match key.lower():
            case "p" if state.pause is not None:
                await self._run.go_on()
                return "resumed"
            case "p":
                await self._run.pause("p was pressed")
                return "pausing after this turn; p resumes"
            case "s" if sure:
                await self._run.stop("s was pressed")
                return "stopping after this lap; resume won't continue it, untilgreen fork --more 10 will"
            case "s" | "x" as ending if not sure:
                self._sure = ending
                return f"press {ending} again to {ENDINGS[ending]}"
            case "+":
                await self._run.add_laps(ADDED_BY_A_KEY)
                return f"{ADDED_BY_A_KEY} laps added"
            case "x":
                await self._run.cancel("x was pressed")
                return "cancelling"
            case "n":
                self._note = ""
                return NOTE
            case "o" | "b" | "d" | "?" as page:
                return await self._open(await self._text(page))
            case digit if digit.isdecimal() and digit.isascii():
                return await self._answer(int(digit))
            case _:
                return ""

    async def _answer(self, number: int) -> str:
        choices = choices_of(self._run.state)
        if not 1 <= number <= len(choices):
            return ""
        await self._run.answer(choices[number - 1])
        return f"answered: {choices[number - 1]}"

    async def _text(self, page: str) -> str:
        match page:
            case "o":
                return self._texts.output()
            case "b":
                return self._texts.brief()
            case "d":
                return await self._texts.diff()
            case _:
                return EXPLAINED

    async def _open(self, text: str) -> str:
        with self._screen.suspended():
            await page(text)
        return ""

    async def _type(self, key: str) -> str:
        note = self._note or ""
        if key in ENTER:
            self._note = None
            if not note.strip():
                return ""
            await self._run.steer(note.strip())
            return "the agent gets your note with its next brief"
        if key == ESCAPE:
            self._note = None
            return "note dropped"
        if key in RUBOUT:
            note = note[:-1]
        elif key.isprintable() and len(note) < LONGEST_NOTE:
            note += key
        self._note = note
        return f"{NOTE}{note if len(note) <= SHOWN_NOTE else f'…{note[-SHOWN_NOTE:]}'}"


def usable(stream: int) -> bool:
    """Whether keys can be read one by one: a terminal, with us in its foreground."""
    with suppress(OSError):
        return os.isatty(stream) and os.tcgetpgrp(stream) == os.getpgrp()
    return False


@asynccontextmanager
async def pressed(run: ControlledRun, screen: Screen, texts: Texts, stream: int) -> AsyncIterator[None]:
    """Act on keys while the block lasts; the terminal is left as it was found."""
    with _unbuffered(stream):
        async with anyio.create_task_group() as group:
            group.start_soon(_listen, Keys(run, screen, texts), stream)
            try:
                yield
            finally:
                group.cancel_scope.cancel()


async def _listen(keys: Keys, stream: int) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        if not await _readable(stream, SHOWN_SECONDS):
            keys.rest()
            continue
        text = _read(stream, decoder)
        if text is not None and not keys.writing and keys.known(text):
            text = await _twice(text, stream, decoder)
        if text is None:
            return
        if keys.writing or keys.known(text) or text in TWICE:
            for key in _without_escapes(text):
                await keys.press(key)
        elif text:
            keys.show(TYPED_AHEAD)
            while await _readable(stream, QUIET_SECONDS):
                if _read(stream, decoder) is None:
                    return


async def _twice(key: str, stream: int, decoder: codecs.IncrementalDecoder) -> str | None:
    """A key with what is typed right after it: alone, or quickly pressed twice, it is a command."""
    text: str | None = key
    while text and len(text) <= 2 and await _readable(stream, ALONE_SECONDS):
        more = _read(stream, decoder)
        text = None if more is None else text + more
    return text


async def _readable(stream: int, seconds: float) -> bool:
    with anyio.move_on_after(seconds) as waited:
        await anyio.wait_readable(stream)
    return not waited.cancelled_caught


def _read(stream: int, decoder: codecs.IncrementalDecoder) -> str | None:
    """What was typed; None when the terminal is gone, and the signal that says so is on its way."""
    try:
        data = os.read(stream, 1024)
    except OSError:
        return None
    return decoder.decode(data) if data else None


def _without_escapes(text: str) -> str:
    """An arrow key and its like mean nothing in a note; Escape alone drops it."""
    return "" if text.startswith(ESCAPE) and len(text) > 1 else text


@contextmanager
def _unbuffered(stream: int) -> Iterator[None]:
    """Keys come at once and are not echoed; what was typed before is discarded. Ctrl-C still works."""
    before = termios.tcgetattr(stream)
    try:
        tty.setcbreak(stream, termios.TCSAFLUSH)
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(stream, termios.TCSADRAIN, before)
