"""Going in circles: repetition is a cycle of period one, ping-pong one of period two."""

from collections.abc import Sequence

import pytest

from tests.core.helpers import PASS, Run, Turn, red
from untilgreen.core.detectors.cycle import Cycle, action_and_output, failing_set, tree
from untilgreen.core.model import Finding, Promise, Reply, Verdict
from untilgreen.core.rules import Signal
from untilgreen.core.state import Iteration
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.errors import ConfigError
from untilgreen.testing import story
from untilgreen.testing.laws import detector_laws


def fires_at(played: str, detector: Cycle | None = None) -> int | None:
    """The lap in which a story is first called a cycle."""
    run = story(played, Fixed(iterations=len(played.split())), detectors=[detector or Cycle()])
    return next((lap.number for lap in run.iterations if lap.signals), None)


def seen(run: Run) -> Signal:
    signal = Cycle().detect(run.state)
    assert signal is not None
    return signal


@pytest.mark.parametrize(
    ("played", "lap"),
    [
        ("a a a a", 3),
        ("a a", None),
        ("ab abc ab abd", None),
        ("abc ab a", None),
        ("a b a a a", 5),
        ("a b a a", None),
        ("a b a b a b", 6),
        ("a b a b a", None),
        ("a b c a b c a b c", 9),
        ("a b c a b c a b d", None),
        ("a b c d a b c d a b c d", None),
    ],
)
def test_what_repeats_three_times_with_a_period_of_up_to_three(played: str, lap: int | None) -> None:
    assert fires_at(played) == lap


def test_a_window_starts_with_the_lap_that_improved_and_not_before() -> None:
    assert fires_at("abc ab ab ab") == 4
    assert fires_at("abc abc ab ab") is None


def test_a_window_with_an_improvement_in_it_is_no_cycle() -> None:
    run = Run()
    for ids in ("abc", "ab", "a"):
        run.lap(Turn(tree="same"), tests=red(*ids))

    assert len({lap.snapshot for lap in run.state.iterations}) == 1
    assert Cycle().detect(run.state) is None


def test_an_improvement_by_score_alone_is_no_cycle_either() -> None:
    run = Run()
    for score in (0.1, 0.2, 0.3):
        run.lap(tests=red("a", score=score))

    assert Cycle().detect(run.state) is None


def test_how_often_and_how_long_can_be_chosen() -> None:
    assert fires_at("a a a a a", Cycle(repeats=4)) == 4
    assert fires_at("a b a b a b", Cycle(longest_period=1)) is None
    assert fires_at("a b c d a b c d", Cycle(repeats=2, longest_period=4)) == 8


def test_different_failures_in_the_same_file_are_no_cycle() -> None:
    run = Run()
    for line in (10, 20, 30):
        finding = Finding(id=f"app.py: error at check {chr(line + 60)}", file="app.py", line=line)
        run.lap(tests=Verdict(status="fail", findings=(finding,)))

    assert Cycle().detect(run.state) is None


def test_the_same_bare_failure_is_a_cycle_though_its_numbers_differ() -> None:
    run = Run()
    for seconds in (1, 2, 3):
        run.lap(
            tests=Verdict(status="fail", excerpt=f"Segmentation fault after {seconds}.5s at 0x7f{seconds}")
        )

    assert seen(run).laps == (1, 2, 3)


def test_the_same_tree_is_a_cycle_though_findings_differ() -> None:
    run = Run()
    for letter in "abc":
        run.lap(Turn(tree="same"), tests=red(letter))

    assert seen(run).evidence == "the same tree, 3 times: tests: c"


def test_the_same_answer_and_output_is_a_cycle_though_findings_and_tree_differ() -> None:
    run = Run()
    for number, letter in enumerate("abc"):
        verdict = Verdict(status="fail", findings=(Finding(id=letter),), digest="the same output")
        run.lap(Turn(reply=Reply(text=f"I fixed it, attempt {number}.")), tests=verdict)

    assert seen(run).evidence.startswith("the same answer and output, 3 times")


def test_laps_whose_agent_failed_are_passed_over() -> None:
    assert fires_at("a a! a a") == 4
    assert fires_at("a a a!") is None


def test_laps_that_only_lack_the_claim_are_no_evidence() -> None:
    run = Run(promise=Promise())
    for _ in range(5):
        run.lap(Turn(tree="same"), tests=PASS)

    assert Cycle().detect(run.state) is None


def test_before_the_first_lap_nothing_repeats() -> None:
    assert Cycle().detect(Run().state) is None


def test_the_signal_can_be_checked_in_ten_seconds() -> None:
    run = Run()
    for _ in range(3):
        run.lap(tests=red(*"abcdefg"))

    signal = seen(run)

    assert (signal.kind, signal.strength, signal.laps, signal.confidence) == (
        "cycle",
        "stuck",
        (1, 2, 3),
        0.9,
    )
    assert signal.evidence == "the same failures, 3 times: tests: a, tests: b, tests: c and 4 more"
    assert signal.advice.startswith("The last 3 laps repeated the same failures: tests: a, ")


def test_a_cycle_of_two_names_all_its_laps() -> None:
    run = Run()
    for letter in "xababab":
        run.lap(tests=red(letter))

    assert seen(run).laps == (2, 3, 4, 5, 6, 7)
    assert seen(run).evidence == "the same failures in turns of 2, 3 times: tests: b"


def keys(lap: Iteration) -> Sequence[object]:
    return [failing_set(lap), tree(lap), action_and_output(lap)]


def test_what_is_not_known_is_not_compared() -> None:
    assert keys(Iteration(number=1)) == [None, None, None]
    assert action_and_output(Iteration(number=1, reply=Reply(digest="d"))) is None
    assert action_and_output(Iteration(number=1, verdicts={"t": Verdict(status="fail", digest="v")})) is None


@pytest.mark.parametrize("options", [{"repeats": 1}, {"longest_period": 0}])
def test_options_that_make_no_sense_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=rf"^cycle: {next(iter(options))} = "):
        Cycle(**options)


def test_it_keeps_the_laws_of_a_detector() -> None:
    detector_laws(Cycle())
