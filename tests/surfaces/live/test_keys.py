"""Keys of the live view: what each of them does to the run, and what it shows."""

import os
import pty
import signal
import termios
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import anyio
import pytest

from tests.core.helpers import Run, gate, red
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.events import Paused
from untilgreen.core.values.state import RunState
from untilgreen.errors import UserError
from untilgreen.surfaces.live.keys import (
    ALONE_SECONDS,
    HELP,
    NOTE,
    PAUSED,
    QUIET_SECONDS,
    TYPED_AHEAD,
    Keys,
    pressed,
    usable,
)


class Remembers:
    """A run and a screen that record what they are told."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.told: list[tuple[str, str]] = []
        self.shown = ""
        self.refuses = ""

    def show_keys(self, text: str) -> None:
        self.shown = text

    def suspended(self) -> AbstractContextManager[None]:
        return nullcontext()

    def output(self) -> str:
        return "the output"

    def brief(self) -> str:
        return "the brief"

    async def diff(self) -> str:
        return "the diff"

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

    async def add_laps(self, laps: int) -> None:
        await self._take("add_laps", str(laps))

    async def answer(self, choice: str) -> None:
        await self._take("answer", choice)


@pytest.fixture
def run() -> Remembers:
    run = Run(gate("tests"))
    run.lap(tests=red("a"))
    return Remembers(run.state)


async def typed(run: Remembers, text: str) -> Keys:
    keys = Keys(run, run, run)
    for key in text:
        await keys.press(key)
    return keys


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("p", [("pause", "p was pressed")]),
        ("S", []),
        ("sS", [("stop", "s was pressed")]),
        ("xx", [("cancel", "x was pressed")]),
        ("xsx", []),
        ("xss", [("stop", "s was pressed")]),
        ("xnx\r", [("steer", "x")]),
        ("n say p, s and x\r", [("steer", "say p, s and x")]),
        ("nab\x7fc\n", [("steer", "ac")]),
        ("nno\x1bss", [("stop", "s was pressed")]),
        ("n  \r", []),
        ("q1\t\x00ü", []),
    ],
)
async def test_keys_become_commands_to_the_run(
    run: Remembers, text: str, told: list[tuple[str, str]]
) -> None:
    await typed(run, text)

    assert run.told == told


@pytest.mark.parametrize(
    "paused",
    [Paused(at=9.0, reason="lunch"), Paused(at=9.0, until=99.0, cause="rate_limited", reason="rate_limited")],
)
async def test_a_paused_run_continues_with_the_same_key(paused: Paused) -> None:
    driven = Run(gate("tests"))
    driven.lap(tests=red("a"))
    driven.record(paused)
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
    assert run.shown == f"1-4 answer · {HELP}", "a note can be written and the run cancelled, too"
    await typed(run, "92")

    assert run.told == [("answer", "accept")]


async def test_a_refusal_is_shown_and_the_help_comes_back(run: Remembers) -> None:
    run.refuses = "A stop after this lap was already requested."

    keys = await typed(run, "ss")
    refused = run.shown
    keys.rest()

    assert refused == run.refuses
    assert run.shown == HELP


async def test_the_help_does_not_come_back_over_a_note_that_is_being_typed(run: Remembers) -> None:
    keys = await typed(run, "nhalf")
    keys.rest()

    assert run.shown.endswith(": half")


async def test_of_a_long_note_the_end_is_shown(run: Remembers) -> None:
    await typed(run, "n" + "leave it " * 40 + "alone")

    assert run.shown.startswith(f"{NOTE}…")
    assert run.shown.endswith("leave it alone")
    assert len(run.shown) < 160


async def test_a_real_terminal_is_read_key_by_key_and_left_as_it_was(run: Remembers) -> None:
    ours, theirs = pty.openpty()
    try:
        before = termios.tcgetattr(theirs)
        async with pressed(run, run, run, theirs):
            assert not termios.tcgetattr(theirs)[3] & (termios.ICANON | termios.ECHO)
            os.write(ours, b"n")
            await until(lambda: run.shown.startswith(NOTE))
            os.write(ours, "ö\r".encode())
            await until(lambda: bool(run.told))
        assert termios.tcgetattr(theirs) == before
    finally:
        os.close(ours)
        os.close(theirs)

    assert run.told == [("steer", "ö")]


@pytest.mark.parametrize("pieces", [["npm test\n"], ["n", "p", "m", " ", "test\n"], ["\x1b[A"], ["ssh me"]])
async def test_a_command_typed_ahead_for_the_shell_is_neither_a_key_nor_a_note(
    run: Remembers, pieces: list[str]
) -> None:
    ours, theirs = pty.openpty()
    try:
        os.write(ours, b"s\n")  # typed before the run began to listen
        async with pressed(run, run, run, theirs):
            for piece in pieces:
                os.write(ours, piece.encode())
                await anyio.sleep(0.05)
            await until(lambda: run.shown == TYPED_AHEAD)
            await anyio.sleep(QUIET_SECONDS + 0.2)
            assert run.told == []
            os.write(ours, b"p")
            await until(lambda: bool(run.told))
    finally:
        os.close(ours)
        os.close(theirs)

    assert run.told == [("pause", "p was pressed")]


async def test_a_key_pressed_before_the_run_listens_is_discarded(run: Remembers) -> None:
    ours, theirs = pty.openpty()
    try:
        os.write(ours, b"p")
        assert os.read(ours, 1) == b"p", "the echo shows that the key has arrived"
        async with pressed(run, run, run, theirs):
            await anyio.sleep(ALONE_SECONDS + 0.2)
    finally:
        os.close(ours)
        os.close(theirs)

    assert run.told == []


@pytest.mark.parametrize(("first", "second"), [("l", "ss"), ("7", "p")])
async def test_a_slow_typist_gives_no_command_after_a_key_that_means_nothing(
    run: Remembers, first: str, second: str
) -> None:
    ours, theirs = pty.openpty()
    try:
        async with pressed(run, run, run, theirs):
            os.write(ours, first.encode())
            await until(lambda: run.shown == TYPED_AHEAD)
            os.write(ours, second.encode())
            await anyio.sleep(QUIET_SECONDS + 0.2)
    finally:
        os.close(ours)
        os.close(theirs)

    assert run.told == []


@pytest.mark.parametrize("pieces", [["xx"], ["x", "x"]])
async def test_a_key_is_pressed_twice_quickly_or_slowly(run: Remembers, pieces: list[str]) -> None:
    ours, theirs = pty.openpty()
    try:
        async with pressed(run, run, run, theirs):
            for piece in pieces:
                os.write(ours, piece.encode())
                await until(lambda: bool(run.told) or "again" in run.shown)
            await until(lambda: bool(run.told))
    finally:
        os.close(ours)
        os.close(theirs)

    assert run.told == [("cancel", "x was pressed")]


async def test_ctrl_c_in_the_pager_is_the_pagers(
    run: Remembers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pager = tmp_path / "pager.sh"
    pager.write_text(f"#!/bin/sh\nkill -INT $PPID\ncat > {tmp_path}/paged\n")
    pager.chmod(0o755)
    monkeypatch.setenv("PAGER", str(pager))
    before = signal.getsignal(signal.SIGINT)

    await typed(run, "d")

    assert (tmp_path / "paged").read_text() == "the diff\n"
    assert signal.getsignal(signal.SIGINT) is before, "afterwards Ctrl-C ends the run again"


async def test_a_pager_that_is_open_when_the_run_ends_may_tidy_up_the_screen(
    run: Remembers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pager = tmp_path / "pager.sh"
    pager.write_text(
        f"#!/bin/sh\ntrap 'echo tidy > {tmp_path}/tidy; exit' TERM\n"
        f"cat > /dev/null\ntouch {tmp_path}/open\nwhile :; do sleep 0.05; done\n"
    )
    pager.chmod(0o755)
    monkeypatch.setenv("PAGER", str(pager))

    async with anyio.create_task_group() as group:
        group.start_soon(typed, run, "d")
        await until((tmp_path / "open").exists)
        group.cancel_scope.cancel()

    assert (tmp_path / "tidy").read_text() == "tidy\n"


@pytest.mark.parametrize(("key", "text"), [("o", "the output"), ("b", "the brief"), ("d", "the diff")])
async def test_long_texts_open_in_the_pager(
    run: Remembers, key: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", f"tee {tmp_path}/paged")

    await typed(run, key)

    assert (tmp_path / "paged").read_text() == f"{text}\n"
    assert run.shown == HELP


async def test_the_help_explains_every_key(
    run: Remembers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", f"tee {tmp_path}/paged")

    await typed(run, "?")

    listed = [part.split()[0] for part in HELP.split(" · ")]
    explained = [line.split()[0] for line in (tmp_path / "paged").read_text().splitlines() if line]
    assert set(listed) <= set(explained)


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(30):
        while not true():  # noqa: ASYNC110 - keys arrive at any time
            await anyio.sleep(0.01)


def test_keys_are_left_alone_where_the_terminal_is_not_ours(tmp_path: object) -> None:
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


@pytest.mark.anyio
async def test_plus_adds_laps_and_stop_says_what_continues_the_run(run: Remembers) -> None:
    keys = Keys(run, run, run)
    await keys.press("+")
    assert run.shown == "5 laps added"
    await keys.press("s")
    assert run.shown == "press s again to stop after this lap"
    await keys.press("s")

    assert run.told == [("add_laps", "5"), ("stop", "s was pressed")]
    assert run.shown == "stopping after this lap; resume won't continue it, untilgreen fork --more 10 will"
    assert "+ laps" in HELP
    assert "+ laps" in PAUSED
