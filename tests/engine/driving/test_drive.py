"""Driving a run on a record, in a place, from a seat."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from tests.engine.driving.helpers import NOON, begun
from untilgreen.core.loop.receive import Answer
from untilgreen.core.values.decision import Ask
from untilgreen.core.values.events import Answered, Attached, Decided, Event, GateChecked
from untilgreen.core.values.model import Outcome
from untilgreen.engine.driving.drive import DriveOptions, drive
from untilgreen.engine.loop.seat import TERMINAL, UNATTENDED
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.engine.worktree.premises import LocalPremises
from untilgreen.errors import ArrivalRefused, JournalTaken
from untilgreen.ports import Hold, Journal
from untilgreen.testing.doubles import FakeClock

pytestmark = pytest.mark.anyio


def premises(record: FolderRecord) -> LocalPremises:
    return LocalPremises(Store(record.scratch.state_dir))


async def test_an_answer_that_waits_in_the_inbox_is_taken_before_the_first_step(tmp_path: Path) -> None:
    """Otherwise a seat that does not wait for people would leave with the answer unread."""
    record = await begun(tmp_path, "manual")
    waiting = await drive(record, premises(record), UNATTENDED)
    letter = await record.send(Answer(at=NOON, by="me", choice="continue"))

    after = await drive(record, premises(record), UNATTENDED)

    assert len(after.laps) == len(waiting.laps) + 1
    assert await record.reply(letter, 5.0) == ""
    events = await record.open_journal().events()
    again = [number for number, event in enumerate(events) if isinstance(event, Attached)][-1]
    assert isinstance(events[again + 1], Answered)


async def test_a_question_that_nobody_at_the_terminal_answers_takes_its_default_after_15_minutes(
    tmp_path: Path,
) -> None:
    gates = {"tests": {"run": "echo FAILED test_a.py::test_x; exit 1"}}
    record = await begun(tmp_path, "hybrid", remedies=["ask"], gates=gates)
    options = DriveOptions(clock=FakeClock(start=time.time()))

    state = await drive(record, premises(record), TERMINAL, options)

    events = await record.open_journal().events()
    (asked,) = [each for each in events if isinstance(each, Decided) and isinstance(each.decision, Ask)]
    (answered,) = [each for each in events if isinstance(each, Answered)]
    assert (state.outcome, answered.choice, answered.by) == (Outcome.STUCK, "end", "default")
    assert answered.at - asked.at == pytest.approx(15 * 60, abs=5)


async def test_what_is_refused_leaves_no_trace(tmp_path: Path) -> None:
    record = await begun(tmp_path, "manual")
    await drive(record, premises(record), UNATTENDED)
    before = (await record.load()).seq
    first = Answer(at=NOON, by="me", choice="dance")

    with pytest.raises(ArrivalRefused, match="is not an answer to"):
        await drive(record, premises(record), UNATTENDED, DriveOptions(first=first))

    assert (await FolderRecord(record.path).load()).seq == before


async def test_a_verdict_names_no_output_of_a_gate_that_printed_nothing(tmp_path: Path) -> None:
    gates = {"silent": {"run": "false"}, "loud": {"run": "echo no; false"}}
    record = await begun(tmp_path, "fixed", gates=gates)

    await drive(record, premises(record), UNATTENDED)

    events = await record.open_journal().events()
    checked = {event.gate: event.verdict.output for event in events if isinstance(event, GateChecked)}
    assert checked["silent"] is None
    assert (checked["loud"] or "").endswith("-loud.txt")


async def test_what_an_event_names_is_kept_before_the_event(tmp_path: Path) -> None:
    record = _Noting((await begun(tmp_path, "fixed")).path)

    await drive(record, premises(record), UNATTENDED)

    events = await record.open_journal().events()
    outputs = {event.verdict.output for event in events if isinstance(event, GateChecked)} - {None}
    assert outputs
    assert outputs <= set(record.noted)
    for name in outputs:
        assert await record.kept(name or "") is not None
    assert any(name.endswith("-brief.md") for name in record.noted)


async def test_a_driver_that_was_overtaken_ends_and_says_so(tmp_path: Path) -> None:
    record = _Overtaken((await begun(tmp_path, "fixed")).path)

    with pytest.raises(JournalTaken, match="is driven elsewhere"):
        await drive(record, premises(record), UNATTENDED)

    state = (await FolderRecord(record.path).load()).state
    assert state.outcome is None


class _Noting(FolderRecord):
    """Notes the names of the files that it is given to keep."""

    noted: ClassVar[list[str]] = []

    async def keep(self, name: str, path: Path) -> None:
        self.noted.append(name)
        await super().keep(name, path)


class _Overtaken(FolderRecord):
    """Refuses the first verdict, as if another driver had taken over the run."""

    @asynccontextmanager
    async def hold(self, driver: object) -> AsyncIterator[Hold]:
        async with super().hold(driver) as hold:  # type: ignore[arg-type]
            yield Hold(journal=_Fenced(hold.journal), run=hold.run)


class _Fenced:
    def __init__(self, inner: Journal) -> None:
        self._inner = inner
        self.events, self.follow = inner.events, inner.follow

    async def append(self, *events: Event) -> None:
        if any(isinstance(event, GateChecked) for event in events):
            raise JournalTaken("The run is driven elsewhere.")
        await self._inner.append(*events)
