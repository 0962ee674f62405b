"""Going in circles: repetition is a cycle of period one, ping-pong one of period two."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.core.helpers import PASS, Run, Turn, red
from untilgreen.core.detectors.cycle import Cycle, action_and_output, tree
from untilgreen.core.scoring.same_outcome import ENOUGH, SHORT
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.values.fingerprint import sketch
from untilgreen.core.values.model import Finding, Promise, Reply, Verdict
from untilgreen.core.values.rules import Signal, stuck
from untilgreen.core.values.state import Lap
from untilgreen.errors import ConfigError
from untilgreen.testing import story


def fires_at(played: str, detector: Cycle | None = None) -> int | None:
    """The first lap of a story with a stuck signal, or None."""
    run = story(played, Fixed(iterations=len(played.split())), detectors=[detector or Cycle()])
    return next((lap.number for lap in run.laps if stuck(lap.signals)), None)


def seen(run: Run) -> Signal:
    signal = Cycle().detect(run.state)
    assert signal is not None
    return signal


@pytest.mark.parametrize(
    ("played", "lap"),
    [
        ("a a a a", 3),
        ("a a", None),
        ("ab abc ab abd", 3),
        ("ab ac ab ad", None),
        ("ab abcde ab abc", None),
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


def test_a_window_with_an_improvement_in_it_is_not_a_cycle() -> None:
    run = Run()
    for ids in ("abc", "ab", "a"):
        run.lap(Turn(tree="same"), tests=red(*ids))

    assert len({lap.snapshot for lap in run.state.laps}) == 1
    assert Cycle().detect(run.state) is None


def test_an_improvement_by_score_alone_is_not_a_cycle_either() -> None:
    run = Run()
    for score in (0.1, 0.2, 0.3):
        run.lap(tests=red("a", score=score))

    assert Cycle().detect(run.state) is None


def test_how_often_and_how_long_can_be_chosen() -> None:
    assert fires_at("a a a a a", Cycle(repeats=4)) == 4
    assert fires_at("a b a b a b", Cycle(longest_period=1)) is None
    assert fires_at("a b c d a b c d", Cycle(repeats=2, longest_period=4)) == 8


def test_different_failures_in_the_same_file_are_not_a_cycle() -> None:
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

    assert seen(run).evidence == "the same files, 3 times: tests: c"


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
        run.lap(tests=PASS)

    assert Cycle().detect(run.state) is None


def words(count: int, start: int = 0) -> str:
    """`count` different words, without digits."""
    return " ".join(f"w{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}y" for n in range(start, start + count))


def bare(text: str, score: float = 0.0) -> Verdict:
    """A failing verdict with output but no findings."""
    return Verdict(status="fail", excerpt=text, score=score)


def strengths(*laps: tuple[str, Verdict], detector: Cycle | None = None) -> list[str]:
    """Play laps of (answer, verdict); return the strength of the signal after each, `-` for none."""
    run = Run()
    found: list[str] = []
    for text, verdict in laps:
        run.lap(Turn(reply=Reply(text=text)), tests=verdict)
        signal = (detector or Cycle()).detect(run.state)
        found.append(signal.strength if signal else "-")
    return found


ONE, TWO, THREE, FOUR, FIVE = (words(60, start) for start in (0, 100, 200, 300, 400))


def test_a_nudge_comes_one_lap_before_stuck() -> None:
    run = story("b a a a", Fixed(iterations=4), detectors=[Cycle()])

    signals = [[(each.strength, each.laps) for each in lap.signals] for lap in run.laps]

    assert signals == [[], [], [("nudge", (2, 3))], [("stuck", (2, 3, 4))]]
    assert run.laps[2].signals[0].evidence == "the same failures, 2 times: tests: a"
    assert run.laps[2].signals[0].confidence == 0.7


def test_two_repeats_need_no_nudge() -> None:
    assert strengths((ONE, red("a")), (TWO, red("a")), detector=Cycle(repeats=2)) == ["-", "stuck"]


def test_a_short_output_alone_is_no_evidence() -> None:
    assert strengths(*((text, bare("no output")) for text in (ONE, TWO, THREE, FOUR))) == ["-"] * 4
    assert strengths(*((text, bare("")) for text in (ONE, TWO, THREE, FOUR))) == ["-"] * 4


def test_a_long_output_is_evidence_by_itself() -> None:
    assert strengths(*((text, bare(FIVE)) for text in (ONE, TWO, THREE))) == ["-", "nudge", "stuck"]


def test_a_short_output_has_to_come_once_more() -> None:
    text = words(24)
    assert SHORT <= len(sketch(text)) < ENOUGH

    assert strengths(*((reply, bare(text)) for reply in (ONE, TWO, THREE, FOUR))) == [
        "-",
        "-",
        "nudge",
        "stuck",
    ]


def test_a_short_output_that_is_the_same_is_called_that() -> None:
    run = Run()
    for reply in (ONE, TWO, THREE, FOUR):
        run.lap(Turn(reply=Reply(text=reply)), tests=bare(words(24)))

    assert seen(run).evidence.startswith("the same output, 4 times: tests: ")


def test_the_last_line_of_an_output_stands_for_it_in_the_evidence() -> None:
    run = Run()
    for text in (ONE, TWO, THREE):
        run.lap(Turn(reply=Reply(text=text)), tests=bare(f"{FIVE}\nSegmentation fault {'x' * 90}\n\n"))

    assert seen(run).evidence == f"the same failures, 3 times: tests: Segmentation fault {'x' * 60}…"


def test_an_empty_output_is_called_that() -> None:
    run = Run()
    for _ in range(3):
        run.lap(Turn(tree="same"), tests=bare(""))

    assert seen(run).evidence == "the same files, 3 times: tests: no output"


def test_long_outputs_that_are_nearly_the_same_have_to_come_once_more() -> None:
    text = words(600)
    other = text.replace("wcay", "another")
    laps = [
        (ONE, bare(words(300, 5000))),
        *((f"{ONE} {n}", bare(text if n % 2 else other)) for n in range(4)),
    ]

    assert strengths(*laps) == ["-", "-", "-", "nudge", "stuck"]


def test_how_alike_outputs_have_to_be_can_be_chosen() -> None:
    text = words(600)
    laps = [(f"{ONE} {n}", bare(text.replace(f"wc{'abcde'[n]}y", "another"))) for n in range(5)]

    assert strengths(*laps)[-1] == "stuck"
    assert strengths(*laps, detector=Cycle(alike=1.0)) == ["-"] * 5


def test_outputs_of_answers_that_have_nothing_in_common_are_not_compared_by_likeness() -> None:
    text = words(600)
    said = [words(60, 1000 + 100 * n) for n in range(5)]
    laps = [(answer, bare(text.replace(f"wc{'abcde'[n]}y", "another"))) for n, answer in enumerate(said)]

    assert strengths(*laps) == ["-"] * 5


def test_most_of_the_same_failures_are_nearly_the_same() -> None:
    laps = [(ONE, red(*"abcd")), (TWO, red(*"abcde")), (THREE, red(*"abcd"))]

    assert strengths(*laps) == ["-", "nudge", "stuck"]
    assert strengths(*laps, detector=Cycle(overlap=1.0)) == ["-"] * 3


def test_evidence_says_when_failures_are_only_nearly_the_same() -> None:
    run = Run()
    for ids in ("abcd", "abcde", "abcd"):
        run.lap(tests=red(*ids))

    assert seen(run).evidence.startswith("nearly the same failures, 3 times: tests: a, ")


def test_a_run_that_is_nearly_there_gets_one_lap_more() -> None:
    laps = [(text, red("a", score=0.95)) for text in (ONE, TWO, THREE, FOUR)]
    before = (FIVE, red("b", "c"))

    assert strengths(before, *laps) == ["-", "-", "-", "nudge", "stuck"]
    assert strengths(before, *laps, detector=Cycle(near=1.0)) == ["-", "-", "nudge", "stuck", "stuck"]


def test_it_gets_that_lap_even_where_no_other_outcome_was_seen() -> None:
    laps = [(text, red("a", score=0.95)) for text in (ONE, TWO, THREE, FOUR)]

    assert strengths(*laps) == ["-", "-", "nudge", "stuck"]


def test_an_answer_and_its_outcome_may_come_back_after_one_other_lap() -> None:
    again, other = (ONE, bare("no")), (TWO, bare("nothing"))

    assert strengths(again, again, other, again) == ["-", "nudge", "-", "stuck"]
    assert strengths(again, other, other, again)[-1] == "-"


def test_an_answer_that_comes_back_after_an_improvement_does_not_count() -> None:
    better = (TWO, bare("nothing", score=0.5))

    assert strengths((ONE, bare("no")), (ONE, bare("no")), better, (ONE, bare("no")))[-1] == "-"


def test_alternating_answers_need_only_two_rounds() -> None:
    one, two, three = (ONE, bare("no")), (TWO, bare("nothing")), (THREE, bare("never"))

    assert strengths(one, two, one, two)[-1] == "stuck"
    assert strengths(one, two, three, one, two, three) == ["-", "-", "-", "-", "-", "stuck"]
    better = (TWO, bare("nothing", score=0.5))
    assert strengths(one, better, one, better)[-1] == "nudge"


def test_laps_that_said_too_little_count_where_nothing_else_was_ever_seen() -> None:
    silent, same = (ONE, bare("reading")), [(text, red("a")) for text in (TWO, THREE)]

    assert strengths(silent, *same) == ["-", "-", "stuck"]
    assert strengths(*same) == ["-", "nudge"]
    assert strengths((FOUR, red("b")), silent, *same)[-1] == "nudge"


def test_evidence_says_that_no_other_failure_was_seen() -> None:
    run = Run()
    for text, verdict in ((ONE, bare("reading")), (TWO, red("a")), (THREE, red("a"))):
        run.lap(Turn(reply=Reply(text=text)), tests=verdict)

    assert seen(run).evidence == "the same failures and no others so far, 2 times: tests: a"
    assert seen(run).laps == (2, 3)


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


def test_a_cycle_of_two_names_all_its_laps_and_what_fails_in_each() -> None:
    run = Run()
    for letter in "xababab":
        run.lap(tests=red(letter))

    assert seen(run).laps == (2, 3, 4, 5, 6, 7)
    assert seen(run).evidence == "the same failures in a cycle of 2 laps, 3 times: tests: a, then tests: b"


def keys(lap: Lap) -> Sequence[object]:
    return [tree(lap), action_and_output(lap)]


def test_what_is_not_known_is_not_compared() -> None:
    assert keys(Lap(number=1)) == [None, None]
    assert action_and_output(Lap(number=1, reply=Reply(digest="d"))) is None
    assert action_and_output(Lap(number=1, verdicts={"t": Verdict(status="fail", digest="v")})) is None


@pytest.mark.parametrize(
    "options", [{"repeats": 1}, {"longest_period": 0}, {"overlap": 0.0}, {"alike": 1.5}, {"near": -1.0}]
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"^cycle: {next(iter(options))} = "):
        Cycle(**options)


@pytest.mark.parametrize("played", ["abcd abc abc", "abcdefghij abcdefghi abcdefghi"])
def test_laps_on_both_sides_of_an_improvement_are_not_a_cycle(played: str) -> None:
    run = story(played, Fixed(iterations=30))

    assert run.outcome == "stuck"
    assert run.laps[-1].signals[0].laps == (2, 3, 4)


def test_a_run_that_is_close_gets_one_more_lap_where_no_other_outcome_was_seen() -> None:
    def laps(score: float) -> list[str]:
        repeats = ((text, bare(FIVE, score=score)) for text in (ONE, TWO, THREE))
        return strengths(("", bare("")), *repeats)

    assert laps(0.5) == ["-", "-", "stuck", "stuck"]
    assert laps(0.95) == ["-", "-", "-", "stuck"]


def test_failures_that_have_names_need_no_such_lap() -> None:
    repeats = ((text, red("a", score=0.95)) for text in (ONE, TWO))

    assert strengths(("", bare("")), *repeats) == ["-", "-", "stuck"]
