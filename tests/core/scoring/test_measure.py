"""How good a lap was: its score, its findings, the best so far, and what counts as better."""

import pytest

from tests.core.helpers import BROKEN, PASS, SKIP, Run, Turn, gate, red
from untilgreen.core.scoring.measure import is_green, judged, lacks_only_the_claim
from untilgreen.core.values.model import Outcome, Plan, Promise, Verdict

DONE = Promise(text="DONE")
TWO = (gate("tests"), gate("lint"))
STAGES = (gate("lint", stage=1), gate("tests", stage=2))


def test_the_score_is_the_mean_over_the_required_gates_that_look_at_the_work() -> None:
    run = Run(*TWO, gate("style", required=False), gate("integrity", kind="integrity", stage=9), promise=DONE)

    run.lap(tests=red("a", score=0.5), lint=PASS, style=red("x"))

    assert run.last.score == pytest.approx(0.75)
    assert run.last.passed == 1
    assert run.last.failing == {"tests: a"}
    assert run.last.count == 1


def test_where_only_the_promise_could_judge_the_score_is_whether_it_was_given() -> None:
    run = Run(gate("claim", kind="claim"), promise=DONE)
    run.lap()
    assert run.last.score == 0.0

    run.lap(Turn(claim=True))
    assert run.last.score == 1.0


def test_a_missing_verdict_is_not_a_pass() -> None:
    plan = Plan(task="t", gates=STAGES)

    assert not is_green(plan, {"lint": PASS})
    assert not is_green(plan, {"lint": PASS, "tests": SKIP})
    assert is_green(plan, {"lint": PASS, "tests": PASS})


def test_a_lap_is_green_where_every_required_gate_ran_and_passed() -> None:
    run = Run(*STAGES)
    run.lap(lint=red("x"))
    run.lap(lint=PASS, tests=red("a"))
    run.lap(lint=PASS, tests=PASS)

    assert [lap.green for lap in run.state.laps] == [False, False, True]
    assert run.ending.outcome is Outcome.CONVERGED


def test_a_gate_that_is_not_required_keeps_nothing_from_being_green() -> None:
    plan = Plan(task="t", gates=(gate("tests"), gate("style", required=False)))

    assert is_green(plan, {"tests": PASS, "style": red("x")})


def test_where_nothing_is_required_nothing_is_ever_green() -> None:
    assert not is_green(Plan(task="t", gates=(gate("style", required=False),)), {"style": PASS})


def test_claim_and_integrity_do_not_look_at_the_work() -> None:
    plan = Plan(
        task="t",
        gates=(
            gate("tests"),
            gate("style", required=False),
            gate("c", kind="claim"),
            gate("i", kind="integrity"),
        ),
    )

    assert [each.name for each in judged(plan)] == ["tests"]


def test_green_but_for_the_claim_is_a_state_of_its_own() -> None:
    run = Run(promise=DONE)
    run.lap(tests=PASS)

    assert run.last.awaiting_claim
    assert not run.last.green
    assert run.last.score == 1.0


def test_red_gates_and_no_claim_is_not_awaiting_a_claim() -> None:
    run = Run(promise=DONE)
    run.lap(tests=red("a"))

    assert not run.last.awaiting_claim


def test_gates_that_wait_for_the_claim_do_not_keep_a_run_from_awaiting_it() -> None:
    run = Run(gate("tests"), gate("review", when="claimed"), promise=DONE)
    run.lap(tests=PASS)

    assert run.last.verdicts["review"].status == "skip"
    assert run.last.awaiting_claim


def test_a_run_without_a_promise_awaits_no_claim() -> None:
    assert not lacks_only_the_claim(Plan(task="t", gates=(gate(),)), {"tests": PASS})


def test_a_claim_that_was_heard_is_not_awaited() -> None:
    run = Run(gate("tests"), gate("integrity", kind="integrity", stage=9), promise=DONE)
    run.lap(Turn(claim=True), integrity=red("weakened"))

    assert not run.last.awaiting_claim
    assert run.last.rejected == 1


def test_better_is_better_than_every_lap_before() -> None:
    run = Run()
    for ids in ("abcd", "ab", "abc", "ab", "a"):
        run.lap(tests=red(*ids))

    assert [lap.improved for lap in run.state.laps] == [False, True, False, False, True]
    assert [lap.fewer for lap in run.state.laps] == [False, True, False, False, True]
    assert [lap.since_best for lap in run.state.laps] == [0, 0, 1, 2, 0]


def test_a_tie_is_not_an_improvement() -> None:
    run = Run()
    run.lap(tests=red("a", score=0.5))
    run.lap(tests=red("b", score=0.5))

    assert not run.last.improved
    assert run.last.gain == 0.0


def test_the_gain_is_measured_against_the_best_score_so_far() -> None:
    run = Run()
    for score in (0.2, 0.6, 0.3, 0.7):
        run.lap(tests=red("a", score=score))

    assert [round(lap.gain, 9) for lap in run.state.laps] == [0.0, 0.4, -0.3, 0.1]
    assert [lap.improved for lap in run.state.laps] == [False, True, False, True]


def test_the_baseline_is_a_lap_to_be_better_than() -> None:
    run = Run(baseline=True)
    run.lap(tests=red("a", "b", score=0.5))
    run.lap(tests=red("a", "b", score=0.5))
    assert run.last.since_best == 1

    run.lap(tests=red("a", score=0.5))
    assert run.last.improved
    assert run.last.since_best == 0


def test_without_a_baseline_the_first_lap_is_where_counting_starts() -> None:
    run = Run()
    run.lap(tests=red("a"))

    assert run.last.since_best == 0
    assert not run.last.improved


def test_a_red_early_stage_that_hides_findings_is_not_fewer_findings() -> None:
    run = Run(*STAGES)
    run.lap(lint=PASS, tests=red("a", "b", "c"))
    run.lap(lint=red("x"))

    assert run.last.count == 1
    assert not run.last.fewer
    assert not run.last.improved


def test_reaching_a_later_stage_counts_its_findings_from_scratch() -> None:
    run = Run(*STAGES)
    run.lap(lint=red("x"))
    run.lap(lint=PASS, tests=red(*"abcde"))
    assert run.last.improved  # one more green gate raises the score
    assert not run.last.fewer

    run.lap(lint=PASS, tests=red(*"abcd"))
    assert run.last.fewer


def test_laps_that_only_lack_the_claim_are_not_a_stall() -> None:
    run = Run(promise=DONE)
    run.lap(tests=red("a"))
    for _ in range(3):
        run.lap(tests=PASS)

    assert run.last.since_best == 0


def test_false_claims_are_counted_until_something_improves() -> None:
    run = Run(promise=DONE)
    for claim, ids in ((True, "ab"), (False, "ab"), (True, "ab"), (True, "a"), (True, "a")):
        run.lap(Turn(claim=claim), tests=red(*ids))

    assert [lap.rejected for lap in run.state.laps] == [1, 1, 2, 0, 1]


def test_a_claim_that_came_too_early_is_not_false() -> None:
    run = Run(promise=Promise(text="DONE", min=5))
    run.lap(Turn(claim=True), tests=PASS)

    assert run.last.awaiting_claim
    assert run.last.rejected == 0


@pytest.mark.parametrize(
    ("laps", "best"),
    [
        ([(PASS, red("a")), (red("x", score=0.9), red("a", score=0.9))], 1),
        ([(red("a"), red("b")), (red("a", score=0.4), red("b"))], 2),
        ([(red(*"abc"), red("x")), (red("a"), red("x")), (red("a"), red("x", "y"))], 2),
        ([(red("a"), PASS), (red("b"), PASS)], 2),
        ([(red("a"), PASS), (red("a", "b"), PASS)], 1),
        ([(BROKEN, PASS), (red("a", score=0.1), PASS)], 2),
    ],
    ids=["gates passed", "then score", "then findings", "equals: the latest", "fewer findings", "broken"],
)
def test_the_best_lap(laps: list[tuple[Verdict, Verdict]], best: int) -> None:
    run = Run(*TWO)
    for tests, lint in laps:
        run.lap(tests=tests, lint=lint)

    assert run.state.best is not None
    assert run.state.best.lap == best
    assert run.state.best.snapshot == f"tree-{best}"


@pytest.mark.parametrize(("ids", "best"), [("abc", 0), ("ab", 0), ("a", 1)])
def test_the_untouched_tree_is_the_best_until_a_lap_beats_it(ids: str, best: int) -> None:
    run = Run(baseline=True)
    run.lap(tests=red("a", "b"))
    run.lap(tests=red(*ids))

    assert run.state.best is not None
    assert run.state.best.lap == best


def test_a_lap_that_was_given_up_is_not_measured() -> None:
    run = Run()
    run.offer()
    run.restart()
    run.lap(tests=red("a"))

    assert run.state.laps == ()
    assert run.state.best is None
    assert run.state.red_laps == {}


def test_red_laps_are_counted_for_each_gate() -> None:
    run = Run(gate("tests"), gate("style", required=False), gate("docs"))
    run.lap(tests=red("a"), style=red("s"))
    run.lap(tests=BROKEN, style=PASS, docs=SKIP)

    assert run.state.red_laps == {"tests": 2, "style": 1}


def test_a_lap_whose_tests_were_weakened_is_worth_nothing_and_never_the_best() -> None:
    run = Run(gate(), gate("integrity", kind="integrity", stage=2))

    run.lap(tests=red("a", "b", score=0.5))
    run.lap(tests=PASS, integrity=red("tests/test_a.py"))

    assert [(lap.score, lap.passed) for lap in run.state.laps] == [(0.5, 0), (0.0, 0)]
    assert run.state.best is not None
    assert run.state.best.lap == 1
