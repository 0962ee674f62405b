"""What a run is doing right now, from its state: the same after a restart and in another process."""

import time

import pytest

from tests.core.helpers import Run, Turn, gate, red
from untilgreen.core.loop.fold import fold
from untilgreen.core.loop.receive import Pause, Stop
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.events import Attached, Halted
from untilgreen.core.values.model import Reply
from untilgreen.core.values.state import RunState
from untilgreen.surfaces.text.current_step import current_step


def waiting() -> Run:
    """A run whose agent is rate-limited until second 400."""
    run = Run(gate("tests"))
    run.lap(Turn(reply=Reply(error="rate_limited", retry_at=400.0)), tests=red("a"))
    return run


def again(run: Run) -> RunState:
    """The state after another process has attached itself to the run."""
    state = fold([*run.events, Attached(at=run.state.now, seat="terminal")])
    assert state is not None
    return state


@pytest.mark.parametrize("resumed", [False, True])
def test_a_rate_limit_says_when_the_run_resumes_also_after_a_restart(resumed: bool) -> None:
    run = waiting()
    state = again(run) if resumed else run.state
    assert state.pause is not None
    assert state.pause.until is not None
    at = time.strftime("%H:%M:%S", time.localtime(state.pause.until))

    assert current_step(state, state.pause.until - 40) == f"rate-limited; resuming at {at} (in 40s)"


def test_a_gate_is_said_to_run_only_while_gates_run() -> None:
    run, seen = Run(gate("tests"), gate("lint", stage=2)), []
    for _ in range(40):
        if run.step is None or len(run.state.laps) == 1:
            break
        seen.append((type(run.step).__name__, current_step(run.state, run.state.now)))
        run.perform(run.step, Turn())

    assert {step for step, text in seen if text.startswith("running gate")} == {"CheckGates"}
    assert ("CheckGates", "running gate tests") in seen
    assert ("Work", "agent is working on lap 1") in seen


def test_what_was_asked_for_during_a_turn_is_added_to_what_happens() -> None:
    run = Run(gate("tests"))
    run.offer()
    run.arrive(Pause(at=run.state.now))
    assert current_step(run.state, run.state.now) == "agent is working on lap 1; pausing after this turn"
    run.arrive(Stop(at=run.state.now))
    assert current_step(run.state, run.state.now) == "agent is working on lap 1; stopping after this lap"


def test_a_pause_a_halt_a_question_and_the_end() -> None:
    paused = Run(gate("tests"))
    paused.lap(tests=red("a"))
    paused.arrive(Pause(at=paused.state.now, reason="lunch"))
    halted = Run(gate("tests"))
    halted.offer()
    halted.record(Halted(at=halted.state.now, cause="auth", detail="log in"))
    asks = Run(gate("tests"), strategy=Manual(), answers=True)
    asks.lap(tests=red("a"))
    over = Run(gate("tests"))
    over.lap()
    over.end()

    assert [current_step(run.state, run.state.now, " -D d") for run in (paused, halted, asks, over)] == [
        "paused; continue with: untilgreen resume r1 -D d (lunch)",
        "stopped: log in",
        "waiting for your answer",
        "finished: converged",
    ]
