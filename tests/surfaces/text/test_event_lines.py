"""Events in words: short, inert, and one line each or none."""

import time

import pytest

from tests.core.helpers import Run, Turn, gate, red
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.loop.fold import apply
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.decision import Ask
from untilgreen.core.values.events import (
    AgentSwitched,
    Answered,
    Cancelled,
    Decided,
    Event,
    Halted,
    Interrupted,
    LapVoided,
    Paused,
    RemedyTried,
    Restored,
    Resumed,
    Steered,
    StopRequested,
    TurnEnded,
)
from untilgreen.core.values.model import ErrorClass, Finding, Promise, Reply, Verdict
from untilgreen.surfaces.text.event_lines import (
    agent_words,
    decision_words,
    how_to_answer,
    line,
    verdict_words,
)

HOSTILE = "\x1b]0;owned\x07\x1b[31mx\ny\r"


def lines(run: Run) -> list[str]:
    """A whole journal in words."""
    state, said = None, []
    for event in run.events:
        state = apply(state, event)
        said.append(line(event, state))
    return [each for each in said if each is not None]


def test_a_lap_reads_like_a_log() -> None:
    run = Run(gate("tests"), strategy=Fixed(iterations=2), promise=Promise(text="DONE"))
    run.lap(Turn(reply=Reply(text="<promise>DONE</promise>"), claim=True), tests=red("a", "b"))

    assert lines(run) == [
        "task: make it green",
        "lap 1: agent is working",
        "lap 1: turn done, says it is done",
        "lap 1: no files changed",
        "lap 1: ✕ tests failed: a and 1 more",
        "after lap 1: claim rejected; continues: lap 1 of 2 is done",
    ]


def test_the_state_before_the_first_lap_is_reported_once() -> None:
    run = Run(gate("tests"), baseline=True)
    run.lap(Turn(), tests=red("a", "b"))

    assert lines(run)[-1] == "before the first lap, tests: 2 failing"


@pytest.mark.parametrize(
    ("error", "detail", "said"),
    [
        ("rate_limited", "rate_limit", "rate-limited"),
        ("quota", "resets at 9pm", "out of quota: resets at 9pm"),
        ("crash", "", "crash"),
        ("crash", "exit code 3", "crash: exit code 3"),
    ],
)
def test_why_a_turn_failed_is_shown_in_words(error: ErrorClass, detail: str, said: str) -> None:
    run = Run(gate("tests"))
    event = TurnEnded(at=1, lap=1, reply=Reply(error=error, detail=detail))

    assert line(event, run.state) == f"lap 1: turn failed: {said}"


def test_what_was_not_permitted_is_named_with_its_flag() -> None:
    run = Run(gate("tests"), strategy=Fixed(iterations=2))
    detail = "not permitted: Bash(make). Permit everything with --yolo."
    run.lap(Turn(reply=Reply(text="no", denied=("Bash(make)",), detail=detail)), tests=red("a"))

    assert "lap 1: turn done; not permitted: Bash(make). Permit everything with --yolo." in lines(run)


def test_the_evidence_of_a_detector_is_shown() -> None:
    run = Run(gate("tests"), detectors=[Cycle()])
    for _ in range(3):
        run.lap(tests=red("a"))

    assert "[cycle stuck: " in lines(run)[-1]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (LapVoided(at=1, lap=2, reason="interrupted"), "lap 2: interrupted"),
        (RemedyTried(at=1, lap=2, rung="fresh"), "lap 2: remedy 'fresh'"),
        (
            Restored(at=1, lap=2, snapshot="a", before="b", kept=("n\x1b[1m.txt",), why="best"),
            "restored the files of lap 2 (best); not touched: n.txt",
        ),
        (
            Paused(at=1, reason="rate_limited: overloaded", until=61),
            f"rate-limited; resuming at {time.strftime('%H:%M:%S', time.localtime(61))} (in 1m)",
        ),
        (Paused(at=1, reason=HOSTILE), "paused: x y"),
        (Resumed(at=1, by=HOSTILE), "resumed by x y"),
        (Resumed(at=1), "resumed: the wait is over"),
        (AgentSwitched(at=1, agent="codex", reason="quota"), "codex takes over: quota"),
        (Halted(at=1, cause="auth", detail=""), "stopped: auth"),
        (
            Interrupted(at=1, signal="SIGINT"),
            "saving the run... press Ctrl-C again to kill the agent now",
        ),
        (Steered(at=1, id="1", note=HOSTILE), "note for the agent: x y"),
        (StopRequested(at=1, reason=HOSTILE), "will stop after this lap: x y"),
        (Cancelled(at=1, reason=HOSTILE), "cancelled: x y"),
        (Answered(at=1, choice=HOSTILE, by=HOSTILE), "answered: x y (by x y)"),
    ],
)
def test_what_happens_outside_the_laps_is_one_inert_line(event: Event, words: str) -> None:
    assert line(event, Run().state) == words


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict(status="pass", duration=1.25), "passed in 1.2s"),
        (Verdict(status="pass", flaky=True), "passed (flaky)"),
        (Verdict(status="skip"), "skipped"),
        (Verdict(status="skip", excerpt="nothing claimed"), "skipped: nothing claimed"),
        (Verdict(status="error", excerpt=HOSTILE), "is broken: x y"),
        (Verdict(status="fail", findings=(Finding(id=HOSTILE),), more=7), "failed: x y and 7 more"),
        (Verdict(status="fail"), "failed"),
    ],
)
def test_a_verdict_is_a_few_words(verdict: Verdict, words: str) -> None:
    assert verdict_words(verdict) == words


def test_a_command_agent_is_called_by_its_program() -> None:
    assert agent_words("cmd:/usr/local/bin/fix --all") == "cmd:fix --all"
    assert agent_words("cmd:'../my fixes/fix it' --all") == "cmd:fix it --all"
    assert agent_words("cmd:") == "cmd:"
    assert agent_words("claude") == "claude"
    assert agent_words(f"cmd:./{HOSTILE}").isprintable()


def test_a_question_comes_with_the_command_that_answers_it() -> None:
    run = Run(gate("tests"), strategy=Manual(), answers=True)
    run.lap(tests=red("a"))

    assert how_to_answer(run.state, " --state-dir d") == (
        "Answer with: untilgreen answer r1 continue --state-dir d  (continue | accept | stop | rollback)"
    )


def test_a_question_with_evidence_is_shown_by_its_first_line() -> None:
    ask = Ask(
        question="The run is stuck: cycle\nlap 4: score 0.00\nlap 5: score 0.00",
        choices=("end",),
        default="end",
    )

    assert decision_words(Decided(at=0.0, lap=5, decision=ask)) == "asks: The run is stuck: cycle (end)"
