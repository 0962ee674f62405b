"""Replaying a recorded run through the detectors."""

import json

from tests.backtest.helpers import record, run, steps
from untilgreen.backtest.replay import GATE, decide, lap_of
from untilgreen.backtest.trajectories import Step, Trajectory, parse
from untilgreen.core.defaults import default_detectors
from untilgreen.core.detectors.cycle import Cycle

DETECTORS = default_detectors()
PYTEST = (
    "FAILED tests/test_a.py::test_x - no\nFAILED tests/test_a.py::test_y - no\n2 failed, 6 passed in 0.10s\n"
)


def tried(*attempts: tuple[int, str]) -> Trajectory:
    walked = [step for attempt, letters in attempts for step in steps(letters, attempt=attempt)]
    return parse(json.dumps(record(steps=walked)).encode(), 1, "")


def test_the_stop_is_the_third_step_of_a_kind() -> None:
    assert decide(run("abccc"), DETECTORS).stop == 4
    assert decide(run("abcdefgh"), DETECTORS).stop is None


def test_a_run_without_numbered_attempts_has_no_restarts() -> None:
    assert decide(run("aaaa"), DETECTORS).restarts == ()


def test_each_attempt_has_its_own_first_stuck_and_steps_count_over_the_whole_run() -> None:
    decision = decide(tried((0, "abbbb"), (1, "bcd"), (2, "eee")), DETECTORS)

    assert decision.stop == 3
    assert decision.restarts == ((0, 3), (2, 10))


def test_detectors_start_over_with_each_attempt() -> None:
    decision = decide(tried((0, "abb"), (1, "bbc")), DETECTORS)

    assert decision.stop == 3
    assert decision.restarts == ()


def test_the_detectors_that_are_given_decide() -> None:
    assert decide(run("aaaa"), []).stop is None
    assert decide(run("aaaa"), [Cycle(repeats=4)]).stop == 3


def test_a_step_is_a_lap_with_a_reply_and_one_gate() -> None:
    lap = lap_of(Step(action="I did it", observation=PYTEST, reward=0.25), 3)

    assert lap.number == 3
    assert lap.reply is not None
    assert lap.reply.text == "I did it"
    assert (lap.base, lap.snapshot) == (None, None)
    assert lap.verdicts[GATE].score == 0.25
    assert [finding.id for finding in lap.verdicts[GATE].findings] == [
        "tests/test_a.py::test_x",
        "tests/test_a.py::test_y",
    ]


def test_only_a_full_score_is_a_pass_and_without_one_the_output_is_asked() -> None:
    assert lap_of(Step(action="", observation=PYTEST, reward=1.0), 1).verdicts[GATE].status == "pass"
    unsaid = lap_of(Step(action="", observation=PYTEST), 1).verdicts[GATE]
    assert (unsaid.status, unsaid.score) == ("fail", 0.75)
    assert lap_of(Step(action="", observation="hm"), 1).verdicts[GATE].score == 0.0
