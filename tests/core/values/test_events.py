"""What can happen to a run, as lines of its journal."""

from typing import get_args

import pytest
from msgspec import ValidationError, json

from tests.core.helpers import PASS, gate, red
from untilgreen.core.values.decision import Ask, Continue, Finish
from untilgreen.core.values.events import (
    AgentSwitched,
    Allowed,
    Answered,
    Approved,
    Attached,
    BriefOffered,
    Cancelled,
    Decided,
    Event,
    GateChecked,
    Halted,
    Interrupted,
    LapsAdded,
    LapVoided,
    LetGo,
    Paused,
    RemedyTried,
    Restored,
    Resumed,
    RunFinished,
    RunStarted,
    SnapshotTaken,
    Steered,
    StopRequested,
    TurnEnded,
)
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Change, Outcome, PartSpec, Plan, Promise, Reply, Usage
from untilgreen.core.values.rules import Signal

SIGNAL = Signal(
    kind="cycle", strength="stuck", laps=(1, 2, 3), evidence="the same", advice="stop", confidence=0.9
)
EVENTS: list[Event] = [
    RunStarted(
        at=1.5,
        run="r1",
        version="0.1",
        plan=Plan(
            task="fix it",
            gates=(gate("tests", options={"run": "pytest -q"}, timeout=None, max_attempts=2),),
            agents=(PartSpec(name="claude", options={"model": "x"}),),
            remedies=("hint",),
            limits=Limits(cost="$5", iterations="unlimited"),
            promise=Promise(text="DONE", min=2, tokens=True),
            labels={"work": "order"},
            workspace={"mode": "worktree", "copy": [".env"]},
        ),
    ),
    Attached(at=2, seat="session", session="s-1", answers=True, pid=7, host="h", version="0.1"),
    SnapshotTaken(
        at=2, lap=1, phase="turn", snapshot="t", changes=(Change(path="a", status="added"),), more=3
    ),
    BriefOffered(at=2, lap=1, agent="claude", session="s-1", seat="session", digest="d", size=9),
    TurnEnded(
        at=2,
        lap=1,
        claim=True,
        reply=Reply(
            text="héllo 🧪",
            error="rate_limited",
            detail="d",
            usage=Usage(input_tokens=1, output_tokens=2, cached_tokens=3, cost=0.1, source="priced"),
            session="s",
            retry_at=9.5,
            denied=("Bash",),
            size=7,
            digest="d",
            sketch=(1, 2**32 - 1),
        ),
    ),
    GateChecked(at=2, lap=1, gate="tests", verdict=red("a", "b", score=0.5)),
    GateChecked(at=2, lap=1, gate="tests", verdict=PASS),
    Decided(at=2, lap=1, decision=Continue(reason="on", hint="h"), signals=(SIGNAL,), escalated=("tests",)),
    Decided(at=2, lap=1, decision=Finish(outcome=Outcome.STUCK, reason="circles")),
    Decided(at=2, lap=1, decision=Ask(question="Go on?", choices=("yes", "no"), default="no", until=None)),
    LapVoided(at=2, lap=1, reason="interrupted"),
    LetGo(at=2, lap=1, reason="a server runs"),
    RemedyTried(at=2, lap=1, rung="hint"),
    Restored(at=2, lap=1, snapshot="t", before="u", kept=("mine.txt",), why="back"),
    Paused(at=2, reason="429", until=9.0, cause="rate_limited"),
    Resumed(at=2, by="ann"),
    AgentSwitched(at=2, agent="two", reason="quota"),
    LapsAdded(at=2, laps=5, by="ann"),
    Halted(at=2, cause="auth", detail="log in"),
    Interrupted(at=2, signal="SIGINT"),
    Steered(at=2, id="1", note="n", by="ann"),
    StopRequested(at=2, reason="enough", by="ann"),
    Cancelled(at=2, reason="enough", by="ann"),
    Answered(at=2, choice="rollback", argument="1", note="n", by="ann"),
    Allowed(at=2, path="tests/test_a.py", by="ann"),
    Approved(at=2, gate="review", snapshot="t", by="ann", yes=True, note="n"),
    RunFinished(at=2, outcome=Outcome.CONVERGED, reason="r", best=1, best_snapshot="t", final_snapshot="t"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_survives_the_journal(event: Event) -> None:
    assert json.decode(json.encode(event), type=Event) == event


def test_no_kind_of_event_is_left_out_above() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(Event))


def test_an_event_says_on_its_line_what_it_is() -> None:
    assert json.decode(json.encode(Interrupted(at=2.0, signal="SIGINT"))) == {
        "type": "Interrupted",
        "at": 2.0,
        "signal": "SIGINT",
    }


def test_a_line_of_an_unknown_kind_is_not_an_event() -> None:
    with pytest.raises(ValidationError, match="Teleported"):
        json.decode(b'{"type":"Teleported","at":1}', type=Event)


def test_events_have_a_schema_that_can_be_published() -> None:
    schema = json.schema(Event)

    assert {name.rpartition("/")[2] for name in schema["discriminator"]["mapping"].values()} == {
        kind.__name__ for kind in get_args(Event)
    }
