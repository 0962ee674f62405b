"""Whether two laps had the same outcome."""

import pytest
from msgspec import structs

from tests.core.helpers import Run, Turn, gate, red
from untilgreen.core.scoring.same_outcome import comparable, getting_fewer, likeness, replies_alike, same
from untilgreen.core.values.model import Reply, ToolCount, Verdict
from untilgreen.core.values.state import Lap

TEXT = " ".join(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}y" for n in range(600))
CHANGED = TEXT.replace("wbay", "another")


def lap(text: str = TEXT, answer: str = "worked on it", **verdicts: Verdict) -> Lap:
    """A lap whose gate fails with this output, or one with these verdicts."""
    verdicts = verdicts or {"tests": Verdict(status="fail", excerpt=text)}
    run = Run(*(gate(name) for name in verdicts))
    run.lap(Turn(reply=Reply(text=answer)), **verdicts)
    return run.last


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (lap(tests=red("a")), True),
        (lap(TEXT), True),
        (lap("short and sweet"), False),
        (lap(""), False),
        (lap(tests=Verdict(status="error", excerpt=TEXT)), True),
        (lap(tests=Verdict(status="fail", excerpt="no"), style=red("a")), True),
        (Lap(number=1), False),
    ],
    ids=["findings", "long", "short", "empty", "error", "two gates", "no gates"],
)
def test_a_lap_can_be_compared_where_a_gate_says_enough(seen: Lap, expected: bool) -> None:
    assert comparable(seen) is expected


def test_gates_that_are_not_required_say_nothing_about_the_outcome() -> None:
    run = Run(gate("tests"), gate("style", required=False))
    run.lap(tests=Verdict(status="fail", excerpt="no"), style=red("a"))

    assert not comparable(run.last)


def test_the_same_ids_are_the_same_outcome_and_a_share_of_them_may_be() -> None:
    three, four = lap(tests=red(*"abc")), lap(tests=red(*"abcd"))

    assert same(three, three, 1.0)
    assert same(three, lap(tests=red(*"abd")), 0.5)
    assert not same(three, lap(tests=red(*"abd")), 0.51)
    assert not same(three, four, 1.0)
    assert not same(three, lap(tests=red(*"xyz")), 0.01)


def test_twice_as_many_may_differ_where_one_lap_has_all_failures_of_the_other() -> None:
    three, six, seven = (lap(tests=red(*ids)) for ids in ("abc", "abcdef", "abcdefg"))

    assert same(three, six, 0.75)
    assert same(six, three, 0.75)
    assert not same(three, seven, 0.75)


@pytest.mark.parametrize(("tests", "alike"), [(10, True), (13, False)])
def test_failures_that_came_with_new_tests_may_not(tests: int, alike: bool) -> None:
    before, after = (
        lap(tests=structs.replace(red(*ids), tools=(ToolCount(tool="pytest", total=total),)))
        for ids, total in (("abc", 10), ("abcdef", tests))
    )

    assert same(before, after, 0.75) is alike
    assert same(after, before, 0.75) is alike


def test_likeness_is_a_matter_of_long_outputs_without_findings() -> None:
    assert likeness(lap(TEXT), lap(TEXT)) == 1.0
    assert 0.9 < likeness(lap(TEXT), lap(CHANGED)) < 1.0
    assert likeness(lap(TEXT[:300]), lap(CHANGED[:300])) == 0.0
    assert likeness(lap(TEXT), lap(TEXT[:300])) == 0.0
    assert likeness(lap(TEXT), lap(tests=red("a"))) == 0.0


def test_likeness_needs_the_same_gates_and_related_answers() -> None:
    long = Verdict(status="fail", excerpt=TEXT)
    other = "a wholly different story about birds that sing in the morning"

    assert likeness(lap(tests=long), lap(tests=long, style=long)) == 0.0
    assert likeness(lap(TEXT, other), lap(TEXT)) == 0.0
    assert likeness(lap(TEXT, f"{other} and in the evening"), lap(TEXT, other)) == 1.0


def test_each_gate_has_to_be_alike() -> None:
    one, other = Verdict(status="fail", excerpt=TEXT), Verdict(status="fail", excerpt=TEXT[::-1])

    assert likeness(lap(tests=one, style=one), lap(tests=one, style=other)) < 0.1


def test_answers_are_compared_by_their_words() -> None:
    assert replies_alike(lap(answer="done 1"), lap(answer="done 2")) == 1.0
    assert replies_alike(lap(answer="done"), lap(answer="failed")) == 0.0
    assert replies_alike(lap(answer=""), lap(answer="")) == 0.0
    assert 0.9 < replies_alike(lap(answer=TEXT), lap(answer=CHANGED)) < 1.0


@pytest.mark.parametrize(
    ("outputs", "fewer"),
    [
        (("7 errors left", "6 errors left", "5 errors left"), True),
        (("5 errors left", "7 errors left", "6 errors left"), False),
        (("6 errors left", "6 errors left"), False),
        (("it broke", "5 errors left"), False),
        (("2/7 pass", "3/7 pass", "4/7 pass"), True),
        (("coverage 30%", "coverage 20%", "coverage 10%"), True),
        (("coverage 10%", "coverage 30%", "coverage 20%"), False),
        (("coverage 10%", "coverage 10%"), False),
        (("it broke", "it broke"), False),
        ((), False),
    ],
    ids=[
        "falls",
        "not below all",
        "the same",
        "first count",
        "share rises",
        "share falls",
        "share turns",
        "same share",
        "no count",
        "no laps",
    ],
)
def test_less_and_less_fails_where_a_count_falls_or_a_share_keeps_moving(
    outputs: tuple[str, ...], fewer: bool
) -> None:
    assert getting_fewer([lap(output) for output in outputs]) is fewer
