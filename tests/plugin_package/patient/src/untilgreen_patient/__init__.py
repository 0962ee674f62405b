"""One plugin of each kind, without base classes or registration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from untilgreen import (
    Brief,
    CheckContext,
    Continue,
    Decision,
    Finding,
    Finish,
    Outcome,
    Reply,
    RunState,
    Signal,
    TurnContext,
    Verdict,
)
from untilgreen.core.values.events import Event


@dataclass(frozen=True)
class Patient:
    """Continues for as long as the failures keep changing.

    Which way they change does not matter to it.
    """

    patience: int = 4

    def __post_init__(self) -> None:
        if self.patience < 1:
            raise ValueError("patience must be at least 1")

    def decide(self, state: RunState, signals: Sequence[Signal]) -> Decision:
        seen = [lap.failing for lap in state.laps[-self.patience :]]
        if len(seen) == self.patience and len(set(seen)) == 1:
            return Finish(outcome=Outcome.STUCK, reason=f"{self.patience} laps with the same failures")
        return Continue(reason="the failures still change")


@dataclass(frozen=True)
class Silence:
    """Notices a reply without text."""

    def detect(self, state: RunState) -> Signal | None:
        last = state.laps[-1] if state.laps else None
        if last is None or last.reply.text:
            return None
        return Signal(kind="silence", strength="nudge", laps=(last.number,), evidence="no word")


@dataclass(frozen=True)
class NoTodos:
    """Fails while a text file contains the word."""

    word: str = "TODO"

    async def check(self, workspace: CheckContext) -> Verdict:
        hits = [path.name for path in sorted(workspace.root.glob("*.txt")) if self.word in path.read_text()]
        findings = tuple(Finding(id=name) for name in hits)
        return Verdict(status="fail" if hits else "pass", findings=findings)


@dataclass(frozen=True)
class _Parrot:
    loud: bool

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        return Reply(text=brief.text.upper() if self.loud else brief.text)


def parrot(*, loud: bool = False) -> _Parrot:
    """Replies with its brief."""
    return _Parrot(loud)


@dataclass(frozen=True)
class Diary:
    """Writes the name of every event to a file."""

    file: Path = Path("diary.txt")

    async def notify(self, event: Event, state: RunState) -> None:
        with self.file.open("a") as diary:
            diary.write(f"{type(event).__name__}\n")
