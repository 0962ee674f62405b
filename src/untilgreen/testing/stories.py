"""A run as a line of text: `story("ab a -")` leaves findings a and b, then only a, then none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict, Unpack, assert_never

from untilgreen.core.briefing.brief import compose
from untilgreen.core.briefing.claims import claimed, tag
from untilgreen.core.briefing.excerpt import kept_reply, kept_verdict
from untilgreen.core.defaults import default_detectors, promise_of, tuned_for, with_claim
from untilgreen.core.loop.decide import Policy, decide
from untilgreen.core.loop.fold import apply
from untilgreen.core.loop.step import (
    AwaitAnswer,
    AwaitResume,
    AwaitTurn,
    CheckGates,
    Conclude,
    Decide,
    Halt,
    Restore,
    Step,
    TakeDefault,
    TakeSnapshot,
    TryRemedy,
    Wait,
    Work,
    next_step,
)
from untilgreen.core.scoring.known_verdicts import known_verdict
from untilgreen.core.values.events import (
    BY_DEFAULT,
    Answered,
    Attached,
    BriefOffered,
    Event,
    GateChecked,
    RemedyTried,
    Restored,
    Resumed,
    RunFinished,
    RunStarted,
    SnapshotTaken,
    TurnEnded,
)
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import (
    ErrorClass,
    Finding,
    GateSpec,
    PartSpec,
    Plan,
    Promise,
    Reply,
    Verdict,
)
from untilgreen.core.values.rules import Detector, Strategy
from untilgreen.core.values.state import RunState
from untilgreen.errors import UserError
from untilgreen.regex import regex

GATE = "tests"
_WORD = regex(r"(?P<findings>[a-z]*|-)(?P<marks>[*=!?]*)")
_SYLLABLES = ("ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru")


class Script:
    """What each lap of a story does; the last word repeats when the story runs out."""

    def __init__(self, played: str) -> None:
        """Read `letters` for findings left, `-` for none, then any of `* = ! ?`."""
        words = played.split()
        if not words:
            raise UserError("The story is empty. Write one word for each lap, for example 'ab a -'.")
        self.marks: list[str] = []
        self.findings: list[str] = []
        for word in words:
            match = _WORD.fullmatch(word)
            if match is None:
                raise UserError(
                    f"{word!r} is not a word of a story. Write letters or '-', then any of '*=!?'."
                )
            before = self.findings[-1] if self.findings else "a"
            self.findings.append(match["findings"].replace("-", "") if match["findings"] else before)
            self.marks.append(match["marks"])
        self.most = max(map(len, self.findings))

    def reply(self, lap: int, promise: Promise | None) -> Reply:
        """Answers differ from lap to lap, unless the word says that nothing changed."""
        marks = self._mark(lap)
        spoken = lap
        while "=" in self._mark(spoken) and spoken > 1:
            spoken -= 1
        text = " ".join(_spell(spoken) + syllable for syllable in _SYLLABLES)
        if "*" in marks and promise is not None:
            text += f"\n{tag(promise)}"
        error: ErrorClass | None = "crash" if "!" in marks else "question" if "?" in marks else None
        return Reply(text=text, error=error)

    def verdict(self, lap: int) -> Verdict:
        """What the gate says after that lap."""
        left = sorted(set(self.findings[self._place(lap)]))
        score = 1 - len(left) / self.most if self.most else 1.0
        if not left:
            return Verdict(status="pass", score=1.0)
        return Verdict(status="fail", score=score, findings=tuple(Finding(id=letter) for letter in left))

    def moves(self, lap: int) -> bool:
        """Whether the lap changes the tree."""
        return "=" not in self._mark(lap)

    def _mark(self, lap: int) -> str:
        return self.marks[self._place(lap)]

    def _place(self, lap: int) -> int:
        return min(max(lap, 1), len(self.marks)) - 1


class StoryOptions(TypedDict, total=False):
    """What a story may set besides its words and its strategy."""

    limits: Limits
    detectors: Sequence[Detector]
    remedies: Sequence[str]
    promise: str | None
    agents: Sequence[str]


class Play:
    """A story that can be told from the start, or from wherever it stopped."""

    def __init__(self, played: str, strategy: Strategy, **options: Unpack[StoryOptions]) -> None:
        """The same words as for `story`."""
        self.script = Script(played)
        given = promise_of(strategy, options.get("promise"))
        watching = options["detectors"] if "detectors" in options else default_detectors()
        self.policy = Policy(strategy=strategy, detectors=tuned_for(watching, strategy))
        self.plan = Plan(
            task="make it green",
            gates=with_claim((GateSpec(name=GATE),), given),
            agents=tuple(PartSpec(name=name) for name in options.get("agents", ("agent",))),
            strategy=PartSpec(name=type(strategy).__name__.lower()),
            remedies=tuple(options.get("remedies", ())),
            limits=options.get("limits", Limits()),
            promise=given,
            baseline=False,
        )

    def start(self) -> Iterator[tuple[RunState, Event]]:
        """From the first event to the last."""
        started = RunStarted(at=0.0, run="story", plan=self.plan)
        state = apply(None, started)
        yield state, started
        yield from self.go_on(state)

    def go_on(self, state: RunState) -> Iterator[tuple[RunState, Event]]:
        """Continue as a new driver would, even where a dead one left a turn open."""
        attached = Attached(at=state.now)
        state = apply(state, attached)
        yield state, attached
        while (step := next_step(state)) is not None:
            for event in _happens(step, state, self.script, self.policy):
                state = apply(state, event)
                yield state, event


def story(played: str, strategy: Strategy, **options: Unpack[StoryOptions]) -> RunState:
    """Play a run without I/O and without a baseline, and return its last state."""
    *_, (state, _) = tell(played, strategy, **options)
    return state


def tell(
    played: str, strategy: Strategy, **options: Unpack[StoryOptions]
) -> Iterator[tuple[RunState, Event]]:
    """Like `story`, but event by event, each with the state after it."""
    return Play(played, strategy, **options).start()


def _happens(step: Step, state: RunState, script: Script, policy: Policy) -> Iterator[Event]:  # noqa: C901 - one case per step
    at = state.now + 1
    match step:
        case TakeSnapshot(lap=lap, phase=phase):
            moved = phase == "turn" and script.moves(lap)
            tree = f"tree-{lap}" if moved else state.tree or "tree-0"
            yield SnapshotTaken(at=at, lap=lap, phase=phase, snapshot=tree)
        case Work(lap=lap, agent=agent):
            brief = compose(state)
            yield BriefOffered(at=at, lap=lap, agent=agent)
            reply, promise = script.reply(lap, state.plan.promise), state.plan.promise
            said = promise is not None and claimed(reply.text, brief.text, promise)
            yield TurnEnded(at=at + 1, lap=lap, reply=kept_reply(reply), claim=said)
        case CheckGates(lap=lap, gates=gates):
            for name in gates:
                assert state.open is not None
                clear = known_verdict(state, state.open, state.plan.gate(name))
                yield GateChecked(
                    at=at, lap=lap, gate=name, verdict=clear or kept_verdict(script.verdict(lap))
                )
        case Decide():
            yield decide(state, policy, at)
        case TryRemedy(lap=lap, rung=rung):
            yield RemedyTried(at=at, lap=lap, rung=rung)
        case Restore(lap=lap, snapshot=snapshot, why=why):
            yield Restored(at=at, lap=lap, snapshot=snapshot, before=state.tree or "", why=why)
        case TakeDefault(choice=choice):
            yield Answered(at=at, choice=choice, by=BY_DEFAULT)
        case AwaitAnswer():
            yield Answered(at=at, choice="continue", by="story")
        case Wait(until=until):
            yield Resumed(at=until)
        case AwaitResume():
            yield Resumed(at=at, by="story")
        case AwaitTurn():
            raise UserError("A story has no session; its agent is its script.")
        case Halt(cause=cause):
            raise UserError(f"The story came to a halt: {cause}.")
        case Conclude(outcome=outcome, reason=reason):
            yield RunFinished(at=at, outcome=outcome, reason=reason)
        case _:
            assert_never(step)


def _spell(number: int) -> str:
    """A number in letters, since normalizing removes digits."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))
