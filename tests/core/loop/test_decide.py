"""What follows from a finished lap, judged in the same order for every strategy."""

from fractions import Fraction
from typing import Any

import pytest

from tests.core.endings import WEAKENED
from tests.core.helpers import BROKEN, PASS, SKIP, TIMED_OUT, Run, Turn, continued, gate, priced, red
from untilgreen.core.briefing.brief import compose
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.detectors.noop import Noop
from untilgreen.core.loop.decide import BACKOFF, Policy, decide
from untilgreen.core.loop.receive import Answer, Resume, Stop
from untilgreen.core.loop.step import (
    AwaitAnswer,
    Conclude,
    Decide,
    Halt,
    TakeDefault,
    TakeSnapshot,
    Wait,
    Work,
)
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.decision import Continue, Decision, Finish
from untilgreen.core.values.events import AgentSwitched, Answered, Decided, Event, Halted, Paused, TurnEnded
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import INTEGRITY_GATE, Outcome, PartSpec, Promise, Reply, Verdict
from untilgreen.core.values.rules import Signal
from untilgreen.core.values.state import RunState
from untilgreen.errors import PluginFailed

DONE = Promise(text="DONE")
RAISED = r"^{} \(\S+test_decide\.py, line \d+\) after lap 1: {}\. That lap was not judged"
TWO_AGENTS = (PartSpec(name="one"), PartSpec(name="two"))


class Says:
    """A strategy that always gives the same answer."""

    def __init__(self, decision: Any) -> None:
        self.decision = decision

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        decision: Decision = self.decision
        return decision


class Raises:
    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        raise KeyError("laps")

    def detect(self, state: RunState) -> Signal | None:
        raise ZeroDivisionError("division by zero")


def test_asking_twice_gives_the_same_answer() -> None:
    run = Run()
    run.until(Decide, Turn(verdicts={"tests": red("a")}))

    assert decide(run.state, run.policy, 50.0) == decide(run.state, run.policy, 50.0)


def test_a_clock_that_goes_back_does_not_date_a_decision_before_its_lap() -> None:
    run = Run()
    run.until(Decide, Turn(verdicts={"tests": red("a")}))

    assert decide(run.state, run.policy, 0.0).at == run.state.now


# 1. Success


def test_all_required_gates_green_is_the_end() -> None:
    run = Run(gate("tests"), gate("style", required=False))
    run.lap(style=red("x"))

    assert run.ending == Finish(outcome=Outcome.CONVERGED, reason="all required gates pass in lap 1")


def test_success_comes_before_every_limit() -> None:
    limits = Limits(iterations=1, time="1s", errors=1, cost="$1", tokens=1)
    run = Run(limits=limits)
    run.lap(Turn(seconds=100, reply=priced(9.0, 9, error="crash")), tests=PASS)

    assert run.ending.outcome is Outcome.CONVERGED


def test_success_comes_before_a_gate_that_must_not_fail() -> None:
    run = Run(gate("tests"), gate("style", required=False, on_fail="stop"))
    run.lap(style=red("x"))

    assert run.ending.outcome is Outcome.CONVERGED


def test_green_with_a_flaky_gate_says_so() -> None:
    run = Run()
    run.lap(tests=Verdict(status="pass", score=1.0, flaky=True))

    assert run.ending.reason == "all required gates pass in lap 1; flaky: tests"


def test_a_claim_that_no_gate_could_object_to_is_reported_as_only_a_claim() -> None:
    run = Run(gate("claim", kind="claim"), promise=DONE)
    run.lap(Turn(claim=True))

    assert run.ending.outcome is Outcome.CLAIMED
    assert run.ending.confidence == 0.95
    assert "no gate checks that" in run.ending.reason


def test_green_without_the_claim_is_not_the_end() -> None:
    run = Run(promise=DONE)
    run.lap(tests=PASS)
    assert run.state.ending is None

    run.lap(Turn(claim=True), tests=PASS)
    assert run.ending.outcome is Outcome.CONVERGED


def test_green_without_the_claim_at_a_limit_is_accepted() -> None:
    run = Run(promise=DONE, limits=Limits(iterations=2))
    run.lap(tests=red("a"))
    run.lap(tests=PASS)

    assert run.ending.outcome is Outcome.ACCEPTED
    assert run.ending.leave == 2
    assert run.ending.metadata == {"limit": "iterations", "instead_of": "exhausted"}
    assert run.ending.reason.startswith(
        "all gates are green, but the agent never gave the promise; limit iterations"
    )


def test_without_a_gate_there_is_nothing_green_that_could_be_accepted() -> None:
    run = Run(gate("claim", kind="claim"), promise=DONE, limits=Limits(iterations=1))
    run.lap()

    assert run.ending.outcome is Outcome.EXHAUSTED


def test_a_gate_that_waits_for_the_claim_was_not_green_without_it() -> None:
    run = Run(gate("tests"), gate("e2e", when="claimed"), promise=DONE, limits=Limits(iterations=1))
    run.lap(tests=PASS)

    assert run.last.awaiting_claim
    assert run.ending.outcome is Outcome.EXHAUSTED


def test_green_without_the_claim_when_stuck_is_accepted() -> None:
    stuck = Finish(outcome=Outcome.STUCK, reason="going in circles")
    run = Run(promise=DONE, strategy=Says(stuck))
    run.lap(tests=PASS)

    assert run.ending.outcome is Outcome.ACCEPTED
    assert run.ending.metadata == {"instead_of": "stuck"}


# 2. Gates that must not fail


@pytest.mark.parametrize("verdict", [red("key in a.py"), BROKEN])
def test_a_gate_that_must_not_fail_ends_the_run(verdict: Verdict) -> None:
    run = Run(gate("tests"), gate("secrets", on_fail="stop"))
    run.lap(secrets=verdict)

    assert run.ending.outcome is Outcome.BLOCKED
    assert run.ending.reason == "gate 'secrets' failed, and its on_fail is \"stop\""


def test_a_gate_that_must_not_fail_is_named_before_any_limit() -> None:
    run = Run(gate("secrets", on_fail="stop"), limits=Limits(iterations=1))
    run.lap(secrets=red("key"))

    assert run.ending.outcome is Outcome.BLOCKED


def test_a_gate_that_must_not_fail_and_was_skipped_did_not_fail() -> None:
    run = Run(gate("tests"), gate("secrets", on_fail="stop"))
    run.lap(tests=red("a"), secrets=SKIP)

    assert run.state.ending is None


# 3. Limits and being stuck


def test_stuck_is_named_before_exhausted_when_both_stand() -> None:
    run = Run(detectors=[Cycle()], limits=Limits(iterations=3), remedies=("hint",))
    for _ in range(3):
        run.lap(tests=red("a"))

    assert run.ending.outcome is Outcome.STUCK
    assert run.ending.reason == (
        "limit iterations: 3 of 3 used; cycle in laps 1, 2, 3: the same failures, 3 times: tests: a"
    )
    assert run.ending.confidence == 0.9
    assert run.ending.metadata == {"signal": "cycle", "limit": "iterations"}


class Sees:
    """A detector that reports a loop after every lap, even one whose agent failed."""

    def detect(self, state: RunState) -> Signal | None:
        return Signal(kind="loop", strength="stuck", laps=(1,), evidence="seen")


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        (Limits(iterations=1), ["limit iterations", "loop in laps 1"]),
        (Limits(time=1), ["limit time", "loop in laps 1"]),
        (Limits(errors=1), ["loop in laps 1", "limit errors"]),
        (Limits(cost=1), ["loop in laps 1", "limit cost"]),
        (Limits(tokens=1), ["loop in laps 1", "limit tokens"]),
    ],
    ids=["iterations", "time", "errors", "cost", "tokens"],
)
def test_a_loop_is_named_before_the_errors_and_after_laps_and_time(limits: Limits, named: list[str]) -> None:
    run = Run(detectors=[Sees()], limits=limits)
    run.lap(Turn(seconds=9, reply=priced(2.0, 2, error="crash")), tests=red("a"))

    assert run.ending.outcome is Outcome.STUCK
    assert [part.partition(":")[0] for part in run.ending.reason.split("; ")] == named


def test_a_failed_turn_is_a_lap_and_its_gates_run() -> None:
    run = Run()
    run.lap(Turn(reply=Reply(error="crash")), tests=PASS)

    assert run.ending.outcome is Outcome.CONVERGED
    assert run.last.reply.error == "crash"


# 4. Gates that ask


def asked(**options: Any) -> Run:
    run = Run(gate(on_fail="ask"), answers=True, **options)
    run.lap(tests=red("a", "b"))
    return run


@pytest.mark.parametrize(
    ("verdict", "question"),
    [
        (BROKEN, "Lap 1, 1 finding in all: tests is broken (sh: pytst: not found). Continue?"),
        (Verdict(status="error"), "Lap 1, 1 finding in all: tests is broken. Continue?"),
    ],
)
def test_a_gate_that_could_not_tell_asks_with_the_reason(verdict: Verdict, question: str) -> None:
    run = Run(gate(on_fail="ask"), answers=True)
    run.lap(tests=verdict)

    assert run.asked.question == question


def test_a_gate_that_asks_asks_where_somebody_can_answer() -> None:
    run = asked()

    assert run.asked.question == "Lap 1, 2 findings in all: tests failed. Continue?"
    assert run.asked.choices == ("continue", "accept", "stop")
    assert run.asked.default == "continue"
    assert run.decided.escalated == ("tests",)
    assert isinstance(run.step, AwaitAnswer)


def test_a_question_about_weakened_tests_says_so_and_names_them() -> None:
    run = Run(gate("tests"), gate("integrity", kind=INTEGRITY_GATE, on_fail="ask"), answers=True)
    run.lap(integrity=WEAKENED)

    assert run.asked.question == (
        "Lap 1, 2 findings in all: integrity failed: tests were weakened (tests/test_a.py). Continue?"
    )


@pytest.mark.parametrize("answers", [True, False])
def test_files_that_were_red_before_never_converge_by_themselves(answers: bool) -> None:
    run = Run(gate(), gate("lint"), answers=answers)
    run.lap(Turn(tree="same"), tests=red("a"))
    run.lap(Turn(tree="same"))

    assert run.asked.question == (
        "tests passed in lap 2 on the same files that failed in lap 1: flaky, or something outside the "
        "files changed. Accept the result?"
    )
    assert run.step == AwaitAnswer(until=None)
    run.arrive(Answer(at=0.0, choice="accept"))
    run.perform(run.until(Decide), Turn())
    assert run.until(Conclude).outcome is Outcome.ACCEPTED


def test_other_files_than_the_red_ones_converge() -> None:
    run = Run(gate())
    run.lap(Turn(tree="one"), tests=red("a"))
    run.lap(Turn(tree="two"))

    assert run.until(Conclude).outcome is Outcome.CONVERGED


def test_a_gate_that_people_answer_may_change_its_mind() -> None:
    run = Run(gate(), gate("review", kind="judge"))
    run.lap(Turn(tree="same"), review=red("a"))
    run.lap(Turn(tree="same"))

    assert run.until(Conclude).outcome is Outcome.CONVERGED


@pytest.mark.parametrize("answers", [True, False])
def test_what_integrity_could_not_prove_waits_for_a_person_and_ends_no_run_as_stuck(answers: bool) -> None:
    guard = gate("integrity", kind=INTEGRITY_GATE, on_fail="ask", stage=2)
    run = Run(gate(), guard, answers=answers, limits=Limits(iterations=1))
    run.lap(integrity=BROKEN)

    assert run.step == AwaitAnswer(until=None)
    assert "sh: pytst: not found" in run.asked.question


@pytest.mark.parametrize(
    ("choice", "outcome", "reason"),
    [("continue", None, ""), ("stop", Outcome.CANCELLED, "stopped before the first lap")],
)
def test_a_gate_that_works_in_no_clean_room_is_asked_about_before_the_first_lap(
    choice: str, outcome: Outcome | None, reason: str
) -> None:
    guard = gate("integrity", kind=INTEGRITY_GATE, on_fail="ask", stage=2)
    run = Run(gate(), guard, answers=True, baseline=True)
    run.lap(tests=red("a"), integrity=BROKEN)

    assert run.step == AwaitAnswer(until=None)
    assert "sh: pytst: not found" in run.asked.question
    run.record(Answered(at=30.0, choice=choice, by="ann"))
    run.perform(Decide(lap=0), Turn())
    if outcome is None:
        assert run.until(Work).lap == 1
    else:
        assert (run.ending.outcome, run.ending.reason) == (outcome, reason)


def test_where_nobody_can_answer_the_run_continues_and_the_failure_is_recorded() -> None:
    run = Run(gate(on_fail="ask"), answers=False)
    event = run.lap(tests=red("a"))

    assert continued(event)
    assert run.decided.escalated == ("tests",)
    assert run.state.asked is None


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize(
    ("choice", "outcome", "reason"),
    [
        ("continue", None, ""),
        ("accept", Outcome.ACCEPTED, "accepted by hand"),
        ("stop", Outcome.CANCELLED, "stopped after lap 1"),
    ],
)
def test_the_answers_to_a_gate_that_asks(
    choice: str, outcome: Outcome | None, reason: str, restarted: bool
) -> None:
    run = asked()
    run.arrive(Answer(at=0.0, choice=choice))
    if restarted:
        run.restart()
    run.perform(run.until(Decide), Turn())

    if outcome is None:
        assert run.until(Work).lap == 2
    else:
        assert run.until(Conclude) == Conclude(outcome=outcome, reason=reason)
    assert run.state.asked is None
    assert len(run.state.laps) == 1


def test_a_lap_that_was_accepted_by_hand_is_left() -> None:
    run = asked()
    run.arrive(Answer(at=0.0, choice="continue"))
    run.lap(tests=red(*"abcd"))
    run.lap(tests=red(*"abc"))
    run.arrive(Answer(at=0.0, choice="accept"))
    run.perform(run.until(Decide), Turn())

    assert run.ending.leave == 2
    assert run.end().final_snapshot == "tree-2"


def test_a_question_that_nobody_answers_is_answered_by_its_default() -> None:
    run = asked()
    run.restart(answers=False)
    assert run.step == TakeDefault(choice="continue")

    assert run.until(Work).lap == 2


def test_after_a_gates_question_the_strategy_is_asked_as_well() -> None:
    run = asked(strategy=Manual())
    run.arrive(Answer(at=0.0, choice="continue"))
    run.perform(run.until(Decide), Turn())

    assert run.asked.reason == "manual asks after every lap"
    assert run.state.answer is None


def test_limits_come_before_questions() -> None:
    run = asked(limits=Limits(iterations=1))

    assert run.ending.outcome is Outcome.EXHAUSTED
    assert run.decided.escalated == ()


def test_a_gate_that_was_red_too_often_asks() -> None:
    run = Run(gate(max_attempts=2), answers=True)
    run.lap(tests=red("a"))
    assert not run.decided.escalated
    assert run.state.asked is None

    run.lap(tests=red("b"))
    assert run.decided.escalated == ("tests",)
    assert run.asked.metadata == {"about": "gate", "gates": ["tests"]}


def test_red_laps_are_counted_for_each_gate_apart() -> None:
    run = Run(gate("tests", max_attempts=2), gate("lint"), answers=True)
    run.lap(lint=red("l"))
    run.lap(tests=red("a"), lint=red("l"))

    assert run.state.asked is None


# 5. The strategy


def test_what_detectors_saw_is_recorded_and_reaches_the_strategy() -> None:
    class Listens:
        def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
            return Continue(reason=" ".join(signal.kind for signal in signals))

    run = Run(strategy=Listens(), detectors=[Cycle(repeats=2), Noop()])
    run.lap(Turn(tree="tree-0"), tests=red("a"))

    decision = continued(run.lap(Turn(tree="tree-0"), tests=red("a")))

    assert decision.reason == "cycle noop"
    assert [signal.kind for signal in run.decided.signals] == ["cycle", "noop"]
    assert run.last.signals == run.decided.signals


class Stuck:
    """A detector that reports a stuck signal for laps 1 to 3 after every lap."""

    def detect(self, state: RunState) -> Signal | None:
        return Signal(kind="mine", strength="stuck", laps=(1, 2, 3), evidence="3 laps")


@pytest.mark.parametrize(
    ("left", "strength", "evidence"),
    [((7, 6, 5), "nudge", "3 laps; but the number of failures is falling"), ((7, 6, 7), "stuck", "3 laps")],
)
def test_a_run_in_which_less_and_less_fails_is_not_stuck(
    left: tuple[int, ...], strength: str, evidence: str
) -> None:
    run = Run(strategy=Says(Continue(reason="on")), detectors=[Stuck()])
    for number in left:
        run.lap(tests=Verdict(status="fail", excerpt=f"{number} errors left"))

    (signal,) = run.decided.signals
    assert (signal.strength, signal.evidence) == (strength, evidence)


def test_the_advice_of_a_nudge_joins_the_hint_of_the_strategy() -> None:
    run = Run(strategy=Says(Continue(reason="on", hint="Breathe.")), detectors=[Noop()])

    decision = continued(run.lap(Turn(tree="tree-0"), tests=red("a")))

    assert decision.hint is not None
    assert decision.hint.startswith("Breathe.\nYour last turn changed no file.")
    run.until(Work)
    assert "# Hint\n\nBreathe." in compose(run.state).text


def test_without_advice_there_is_no_hint() -> None:
    assert continued(Run().lap(tests=red("a"))).hint is None


@pytest.mark.parametrize("outcome", [Outcome.CONVERGED, Outcome.CLAIMED])
def test_a_strategy_can_not_declare_success(outcome: Outcome) -> None:
    run = Run(strategy=Says(Finish(outcome=outcome, reason="I feel good")))

    with pytest.raises(PluginFailed, match=rf"^Strategy Says ended the run as {outcome} while gates are red"):
        run.lap(tests=red("a"))


class Writes:
    """A plugin that turns the last verdict green."""

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        state.laps[-1].verdicts["tests"] = PASS  # type: ignore[index]  # that is the point
        return Continue(reason="it looks better now")

    def detect(self, state: RunState) -> None:
        state.laps[-1].verdicts["tests"] = PASS  # type: ignore[index]  # the same


def test_a_plugin_can_not_write_into_the_verdicts_it_is_shown() -> None:
    with pytest.raises(PluginFailed, match=r"^Strategy Writes raised TypeError.*item assignment"):
        Run(strategy=Writes()).lap(tests=red("a"))
    with pytest.raises(PluginFailed, match=r"^Detector Writes raised TypeError.*item assignment"):
        Run(detectors=(Writes(),)).lap(tests=red("a"))


@pytest.mark.parametrize("outcome", [Outcome.ACCEPTED, Outcome.BLOCKED, Outcome.CANCELLED])
def test_any_other_end_is_the_strategys_to_choose(outcome: Outcome) -> None:
    run = Run(strategy=Says(Finish(outcome=outcome, reason="my reason")))
    run.lap(tests=red("a"))

    assert run.ending == Finish(outcome=outcome, reason="my reason")


def test_a_strategy_that_raises_is_named() -> None:
    run = Run(strategy=Raises())

    with pytest.raises(PluginFailed, match=RAISED.format("Strategy Raises raised KeyError", "'laps'")):
        run.lap(tests=red("a"))


def test_an_error_in_a_library_is_shown_at_the_line_of_the_plugin_that_called_it() -> None:
    class Parses:
        def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
            return self.parsed("not a number")

        def parsed(self, text: str) -> Decision:
            return Continue(reason=str(Fraction(text)))

    line = Parses.parsed.__code__.co_firstlineno + 1

    with pytest.raises(PluginFailed, match=rf"ValueError \(\S+test_decide\.py, line {line}\) after lap 1: "):
        Run(strategy=Parses()).lap(tests=red("a"))


def test_a_strategy_that_answers_nothing_is_named() -> None:
    with pytest.raises(
        PluginFailed, match=r"^Strategy Says returned None\. It must return Continue, Finish or"
    ):
        Run(strategy=Says(None)).lap(tests=red("a"))


def test_a_detector_that_raises_is_named() -> None:
    run = Run(detectors=[Raises()])

    with pytest.raises(
        PluginFailed, match=RAISED.format("Detector Raises raised ZeroDivisionError", "division by zero")
    ):
        run.lap(tests=red("a"))


@pytest.mark.parametrize("outcome", [Outcome.EXHAUSTED, Outcome.STUCK])
def test_a_strategy_may_soften_an_end_before_it_is_final(outcome: Outcome) -> None:
    class Settles(Says):
        def settle(self, state: RunState, finish: Finish) -> Finish:
            return Finish(outcome=Outcome.ACCEPTED, reason=f"rather than {finish.outcome}")

    run = Run(strategy=Settles(Finish(outcome=outcome, reason="my reason")))
    run.lap(tests=red("a"))

    assert run.ending.reason == f"rather than {outcome}"


@pytest.mark.parametrize("outcome", [Outcome.ACCEPTED, Outcome.BLOCKED, Outcome.CANCELLED])
def test_an_end_that_somebody_chose_is_not_softened(outcome: Outcome) -> None:
    class Meddles(Says):
        def settle(self, state: RunState, finish: Finish) -> Finish:
            return Finish(outcome=Outcome.ACCEPTED, reason="softened")

    run = Run(strategy=Meddles(Finish(outcome=outcome, reason="my reason")))
    run.lap(tests=red("a"))

    assert run.ending == Finish(outcome=outcome, reason="my reason")


def test_a_limit_can_be_softened_too() -> None:
    run = Run(strategy=Hybrid(accept_after=1, accept_floor=0.5), limits=Limits(iterations=1))
    run.lap(tests=red("a", score=0.5))

    assert run.ending.outcome is Outcome.ACCEPTED
    assert run.ending.metadata == {"limit": "iterations", "instead_of": "exhausted"}


def test_where_nothing_is_to_be_decided_asking_is_an_error() -> None:
    run = Run()
    run.lap(tests=PASS)

    with pytest.raises(PluginFailed, match="There is nothing to decide"):
        decide(run.state, run.policy, 99.0)


# The baseline


def baseline(*gates: Any, promise: Promise | None = None, **verdicts: Verdict) -> Run:
    run = Run(*gates, baseline=True, promise=promise)
    run.lap(Turn(), **verdicts)
    return run


def test_a_green_baseline_ends_the_run_at_once_and_names_the_promise() -> None:
    run = baseline()

    state = run.end()

    assert state.outcome is Outcome.CONVERGED
    assert state.reason.startswith("nothing to do: all gates are green before the first lap.")
    assert "--promise" in state.reason
    assert state.laps == ()


def test_a_green_baseline_is_not_the_end_where_a_promise_is_asked_for() -> None:
    run = baseline(promise=DONE)

    assert run.until(Work).lap == 1


@pytest.mark.parametrize("kind", ["judge", "approval"])
def test_a_green_baseline_is_not_the_end_where_a_person_or_judge_has_to_be_asked(kind: str) -> None:
    run = baseline(gate("tests"), gate("somebody", kind=kind, stage=2))

    assert run.until(Work).lap == 1


def test_a_red_baseline_is_where_the_work_starts() -> None:
    run = baseline(tests=red("a", "b", score=0.5))

    decision = continued(run.decided)
    assert decision.reason == "before the first lap, tests: 2 failing"
    assert decision.metadata == {"score": 0.5, "gates": {"tests": ["red"]}}
    assert run.until(Work).lap == 1


def test_a_required_gate_that_can_not_run_is_reported_before_money_is_spent() -> None:
    run = baseline(tests=BROKEN)

    assert run.ending.outcome is Outcome.BLOCKED
    assert run.ending.reason == "gate 'tests' is broken: sh: pytst: not found"


def test_a_gate_that_can_not_run_and_gives_no_finding_is_quoted() -> None:
    run = baseline(tests=Verdict(status="error", excerpt="no such file"))

    assert run.ending.reason == "gate 'tests' is broken: no such file"


def test_a_gate_that_ran_out_of_time_could_run() -> None:
    run = baseline(tests=TIMED_OUT)

    assert run.state.ending is None


def test_a_gate_that_is_not_required_may_be_broken() -> None:
    run = baseline(gate("tests"), gate("style", required=False), tests=red("a"), style=BROKEN)

    assert continued(run.decided).metadata["gates"] == {"tests": ["red"], "style": ["broken"]}
    assert run.state.ending is None


def test_a_green_baseline_with_a_flaky_gate_says_so() -> None:
    run = baseline(tests=Verdict(status="pass", score=1.0, flaky=True))

    assert "before the first lap; tests: green, flaky. If" in run.end().reason


def test_a_gate_that_must_not_fail_and_fails_already_ends_the_run() -> None:
    run = baseline(gate("tests"), gate("secrets", on_fail="stop"), secrets=red("key"))

    assert run.ending.outcome is Outcome.BLOCKED
    assert run.ending.reason == "gate 'secrets' fails before the first lap, and its on_fail is \"stop\""


def test_the_baseline_is_not_among_the_laps() -> None:
    run = baseline(tests=red("a"))

    assert run.state.laps == ()


# Turns that are not laps


def waits(run: Run, error: Any, *, at: float | None = None, retry_at: float | None = None) -> Event:
    """End a turn with this error and decide about it, at the given time."""
    run.until(Decide, Turn(reply=Reply(error=error, detail="try later", retry_at=retry_at)))
    return run.record(decide(run.state, run.policy, run.state.now if at is None else at))


@pytest.mark.parametrize("error", ["rate_limited", "network", "quota"])
def test_a_temporary_error_pauses_the_run_until_the_time_that_the_agent_names(error: str) -> None:
    run = Run()

    event = waits(run, error, at=100.0, retry_at=160.0)

    assert event == Paused(at=100.0, until=160.0, cause=error, reason=f"{error}: try later")
    assert run.step == Wait(until=160.0, reason=f"{error}: try later")


@pytest.mark.parametrize("error", ["rate_limited", "network"])
def test_where_the_agent_does_not_say_how_long_the_wait_doubles_up_to_a_bound(error: str) -> None:
    run = Run(limits=Limits(waits=50, wait="10d"))
    first, longest = BACKOFF[error]
    lengths = []
    for _ in range(12):
        event = waits(run, error)
        assert isinstance(event, Paused)
        assert event.until is not None
        lengths.append(event.until - event.at)

    assert lengths[:3] == [first, 2 * first, 4 * first]
    assert lengths[-1] == longest
    assert lengths == sorted(lengths)


@pytest.mark.parametrize("restarted", [False, True])
def test_after_the_wait_the_same_lap_continues(restarted: bool) -> None:
    run = Run()
    waits(run, "rate_limited")
    if restarted:
        run.restart()
        assert isinstance(run.step, Wait)

    assert run.until(Work) == Work(lap=1, attempt=2, agent="agent")
    run.lap(tests=red("a"))
    assert len(run.state.laps) == 1


def test_the_runs_time_does_not_run_while_it_waits() -> None:
    run = Run(limits=Limits(time="10m"))
    waits(run, "rate_limited", retry_at=7200.0)
    run.until(Work)

    assert run.state.now >= 7200.0
    assert run.state.elapsed < 60.0
    assert run.state.waited > 7100.0
    run.lap(tests=red("a"))
    assert run.state.ending is None


def test_too_many_waits_in_a_row_end_the_run() -> None:
    run = Run(limits=Limits(waits=2))
    assert isinstance(waits(run, "network"), Paused)
    assert isinstance(waits(run, "rate_limited"), Paused)

    waits(run, "network")

    assert run.ending.outcome is Outcome.EXHAUSTED
    assert run.ending.reason == "limit waits: 2 in a row without a completed turn"
    assert run.ending.metadata == {"limit": "waits"}
    assert run.end().outcome is Outcome.EXHAUSTED


def test_a_completed_turn_ends_the_row_of_waits() -> None:
    run = Run(limits=Limits(waits=2))
    for _ in range(3):
        assert isinstance(waits(run, "network"), Paused)
        assert isinstance(waits(run, "network"), Paused)
        run.lap(tests=red("a"))

    assert len(run.state.laps) == 3


def test_waiting_too_long_in_all_ends_the_run() -> None:
    run = Run(limits=Limits(wait="2h"))
    assert isinstance(waits(run, "rate_limited", at=100.0, retry_at=100.0 + 5400), Paused)

    waits(run, "rate_limited", at=6000.0, retry_at=6000.0 + 5400)

    assert run.ending.outcome is Outcome.EXHAUSTED
    assert run.ending.reason.startswith("limit wait: 1h30m waited and 1h30m more would pass 2h")


def test_waiting_that_ends_the_run_in_a_later_lap_leaves_the_best_of_the_earlier_ones() -> None:
    run = Run(limits=Limits(waits=1))
    run.lap(tests=red("a"))
    run.lap(tests=red("a", "b"))
    waits(run, "network")
    waits(run, "network")

    state = run.end()
    assert (state.outcome, state.final_snapshot) == (Outcome.EXHAUSTED, "tree-1")
    assert len(state.laps) == 2


def test_a_time_that_has_passed_already_is_waited_for_no_longer() -> None:
    run = Run(limits=Limits(wait="1m"))

    assert isinstance(waits(run, "rate_limited", at=5000.0, retry_at=10.0), Paused)


def test_a_quota_that_says_no_time_goes_to_the_next_agent() -> None:
    run = Run(agents=TWO_AGENTS)

    event = waits(run, "quota")

    assert isinstance(event, AgentSwitched)
    assert event.agent == "two"
    assert event.reason == "one is out of quota"
    assert run.until(Work) == Work(lap=1, attempt=2, agent="two")


def test_a_quota_that_resets_too_late_goes_to_the_next_agent() -> None:
    run = Run(agents=TWO_AGENTS, limits=Limits(wait="1h"))

    assert isinstance(waits(run, "quota", at=100.0, retry_at=90_000.0), AgentSwitched)


def test_a_quota_without_another_agent_halts_the_run_which_stays_open() -> None:
    run = Run(agents=TWO_AGENTS)
    waits(run, "quota")

    event = waits(run, "quota", at=500.0)

    assert event == Halted(at=500.0, cause="quota", detail="try later")
    assert run.step == Halt(cause="quota")
    assert run.state.outcome is None


def test_an_agent_that_is_not_logged_in_halts_the_run_until_somebody_comes_back() -> None:
    run = Run(agents=TWO_AGENTS)

    event = waits(run, "auth", at=500.0)

    assert event == Halted(at=500.0, cause="auth", detail="try later")
    assert run.step == Halt(cause="auth")
    run.restart()
    assert run.until(Work) == Work(lap=1, attempt=2, agent="one")


def test_waiting_is_not_a_failure_of_the_agent() -> None:
    run = Run(limits=Limits(errors=2))
    run.lap(Turn(reply=Reply(error="crash")), tests=red("a"))
    waits(run, "rate_limited")
    run.arrive(Resume(at=0.0))

    assert run.state.errors == 1
    assert run.state.last_error == "rate_limited: try later"


def test_a_turn_with_a_temporary_error_is_judged_by_no_gate() -> None:
    run = Run(gate("secrets", on_fail="stop"))
    run.until(Decide, Turn(reply=Reply(error="network")))

    assert run.state.open is not None
    assert run.state.open.verdicts == {}


# Every decision


@pytest.mark.parametrize(
    "strategy",
    [Fixed(iterations=2), Hybrid(base=2, bonus=1), Manual()],
    ids=lambda strategy: type(strategy).__name__,
)
def test_every_decision_has_a_reason_a_confidence_and_metadata(strategy: Any) -> None:
    run = Run(strategy=strategy, answers=True, baseline=True)
    run.lap(tests=red("a", "b", "c"))
    for ids in ("abc", "ab", "a"):
        if run.state.asked is not None:
            run.record(Answered(at=99.0, choice="continue"))
            run.perform(run.until(Decide), Turn())
        if run.state.ending is None:
            run.lap(tests=red(*ids))

    decisions = [event.decision for event in run.events if isinstance(event, Decided)]

    assert len(decisions) >= 3
    for decision in decisions:
        assert decision.reason.strip()
        assert 0.0 < decision.confidence <= 1.0
        assert isinstance(decision.metadata, dict)


def test_a_decision_can_be_replayed_from_the_journal() -> None:
    run = Run(detectors=[Cycle(), Noop()], strategy=Hybrid(base=2))
    for ids in ("abc", "ab", "ab"):
        run.lap(tests=red(*ids))
    replayed = Run(detectors=[Cycle(), Noop()], strategy=Hybrid(base=2))
    assert replayed.events == run.events[:2]

    for event in run.events[2:]:
        if isinstance(event, Decided):
            assert decide(replayed.state, replayed.policy, event.at) == event
        replayed.record(event)


def test_another_strategy_can_be_tried_on_an_old_journal() -> None:
    run = Run(strategy=Fixed(iterations=5))
    run.until(Decide, Turn(verdicts={"tests": red("a")}))

    other = decide(run.state, Policy(strategy=Fixed(iterations=1)), 50.0)

    assert isinstance(other, Decided)
    assert isinstance(other.decision, Finish)
    assert other.decision.outcome is Outcome.EXHAUSTED
    assert continued(run.lap(tests=red("a")))


@pytest.mark.parametrize("error", ["rate_limited", "network", "quota", "auth"])
def test_a_stop_during_a_turn_that_would_have_to_wait_ends_the_run(error: str) -> None:
    run = Run()
    run.offer()
    run.arrive(Stop(at=0.0, reason="enough"))
    run.record(TurnEnded(at=20.0, lap=1, reply=Reply(error=error)))  # type: ignore[arg-type]
    run.perform(run.until(Decide), Turn())

    assert run.until(Conclude) == Conclude(outcome=Outcome.CANCELLED, reason="enough")


def test_a_stop_during_a_turn_whose_driver_died_ends_the_run_after_its_gates() -> None:
    run = Run()
    run.offer()
    run.arrive(Stop(at=0.0, reason="enough"))
    run.restart()
    run.lap(tests=red("a"))

    assert run.until(Conclude) == Conclude(outcome=Outcome.CANCELLED, reason="enough")


def end_turn(run: Run, reply: Reply) -> None:
    """End a turn with this reply and decide about it."""
    run.perform(run.until(Decide, Turn(reply=reply)), Turn())


def test_green_without_the_claim_is_accepted_when_waiting_ends_the_run() -> None:
    run = Run(promise=DONE, limits=Limits(waits=1))
    run.lap(tests=PASS)
    end_turn(run, Reply(error="network"))
    end_turn(run, Reply(error="network"))

    assert run.ending.outcome is Outcome.ACCEPTED
    assert run.ending.metadata == {"limit": "waits", "instead_of": "exhausted"}


def test_good_enough_is_accepted_when_waiting_ends_the_run() -> None:
    run = Run(strategy=Hybrid(accept_after=1, accept_floor=0.5), limits=Limits(waits=1))
    run.lap(tests=red("a", score=0.8))
    end_turn(run, Reply(error="network"))
    end_turn(run, Reply(error="network"))

    assert run.ending.outcome is Outcome.ACCEPTED


def test_what_the_last_attempt_left_is_kept_when_waiting_ends_the_run() -> None:
    run = Run(limits=Limits(waits=1))
    run.lap(tests=red("a"))
    end_turn(run, Reply(error="network"))
    end_turn(run, Reply(error="network"))

    assert run.step == TakeSnapshot(lap=2, phase="final")
