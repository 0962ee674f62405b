"""The agent itself failed: it crashed, was refused, or asked a question nobody answers."""

import pytest

from tests.core.helpers import Run, Turn, red
from untilgreen.core.detectors.errors import Errors
from untilgreen.core.values.model import Reply
from untilgreen.core.values.rules import Signal


def seen(reply: Reply) -> Signal | None:
    run = Run()
    run.lap(Turn(reply=reply), tests=red("a"))
    return Errors().detect(run.state)


@pytest.mark.parametrize(
    ("reply", "evidence"),
    [
        (Reply(error="crash", detail="exit 1"), "crash: exit 1"),
        (Reply(error="timeout"), "timeout"),
        (Reply(error="question", detail="Which database?"), "question: Which database?"),
        (Reply(text="ok", denied=("Bash(curl)", "WebFetch")), "permission; denied: Bash(curl), WebFetch"),
        (Reply(error="permission", detail="no", denied=("Bash",)), "permission: no; denied: Bash"),
    ],
)
def test_a_turn_that_failed_or_was_refused_something_is_a_nudge(reply: Reply, evidence: str) -> None:
    signal = seen(reply)

    assert signal is not None
    assert (signal.kind, signal.strength, signal.laps) == ("errors", "nudge", (1,))
    assert signal.evidence == evidence
    assert signal.confidence == 0.6


def test_a_turn_that_went_well_gives_no_signal() -> None:
    assert seen(Reply(text="fine")) is None


def test_only_the_last_turn_counts() -> None:
    run = Run()
    run.lap(Turn(reply=Reply(error="crash")), tests=red("a"))
    run.lap(tests=red("a"))

    assert Errors().detect(run.state) is None


def test_before_the_first_lap_nothing_failed() -> None:
    assert Errors().detect(Run().state) is None
