"""Saying the same again while nothing moves."""

from typing import Any

import pytest

from tests.core.helpers import Run, Turn, red
from untilgreen.core.detectors.similar import Similar
from untilgreen.core.values.model import Reply
from untilgreen.errors import ConfigError

LONG = (
    "I looked at the parser and at the lexer, changed the way in which comments are read, ran the tests "
    "again and saw that the same two of them still fail because the fixture does not know the new syntax. "
    "The next thing that I would try is to teach the fixture what a nested comment looks like, since the "
    "grammar has allowed them since the last release and nobody has told the fixture about it so far. "
)


def said(*texts: str, tree: str | None = "same", error: bool = False) -> Run:
    run = Run()
    for text in texts:
        reply = Reply(text=text, error="crash" if error else None)
        run.lap(Turn(reply=reply, tree=tree), tests=red("a"))
    return run


def test_the_same_words_three_times_while_nothing_moves_are_stuck() -> None:
    signal = Similar().detect(said("I tried.", "I tried.", "I tried.").state)

    assert signal is not None
    assert (signal.kind, signal.strength, signal.laps, signal.confidence) == (
        "similar",
        "stuck",
        (1, 2, 3),
        0.85,
    )
    assert signal.evidence == "replies 100% alike, the same files and findings"
    assert signal.advice == "Your last 3 replies said the same, and nothing improved."


def test_nearly_the_same_words_are_the_same() -> None:
    pieces = ("ba", "de", "fi", "go", "ku", "la")
    text = " ".join(one + other + third for one in pieces for other in pieces for third in pieces)

    assert Similar().detect(said(text, text + " again", text + " and again").state) is not None


@pytest.mark.parametrize(("count", "alike"), [(40, True), (38, False)], ids=["39 of 41", "37 of 39"])
def test_replies_are_similar_from_95_percent_on(count: int, alike: bool) -> None:
    text = [one + other for one in "bdfgklm" for other in ("ab", "ed", "if", "og", "uk", "al")][:count]
    replies = [" ".join([*text[:-1], last]) for last in ("north", "south", "north")]

    signal = Similar(measure="jaccard").detect(said(*replies).state)

    assert (signal is not None) is alike


def test_words_that_differ_in_numbers_only_are_the_same() -> None:
    assert Similar().detect(said("Attempt 1 at it", "Attempt 2 at it", "Attempt 30 at it").state) is not None


@pytest.mark.parametrize(
    "texts",
    [
        ("I tried.", "I failed.", "I tried."),
        (LONG, "Something else entirely, in as many other words as it takes.", LONG),
        ("", "", ""),
    ],
    ids=["short and different", "long and different", "nothing was said"],
)
def test_other_words_are_not(texts: tuple[str, ...]) -> None:
    assert Similar().detect(said(*texts).state) is None


@pytest.mark.parametrize(("words", "alike"), [(39, True), (38, False)])
def test_each_reply_has_to_share_95_percent_of_its_words_with_the_one_before_it(
    words: int, alike: bool
) -> None:
    first = [f"w{chr(97 + number // 26)}{chr(97 + number % 26)}y" for number in range(words)]
    second = ["another", *first[1:]]
    third = ["another", "different", *first[2:]]

    signal = Similar(measure="jaccard").detect(said(*map(" ".join, (first, second, third))).state)

    assert (signal is not None and signal.strength == "stuck") is alike


def test_two_of_three_are_a_nudge() -> None:
    signal = Similar().detect(said("I failed.", "I tried.", "I tried.").state)

    assert signal is not None
    assert (signal.strength, signal.laps, signal.confidence) == ("nudge", (2, 3), 0.7)
    assert signal.advice == "Your last 2 replies said the same, and nothing improved."


def test_the_same_words_while_files_move_are_a_nudge() -> None:
    signal = Similar().detect(said("I tried.", "I tried.", "I tried.", tree=None).state)

    assert signal is not None
    assert (signal.strength, signal.evidence) == ("nudge", "the same reply 3 times")


def test_the_same_words_while_findings_move_are_not_stuck() -> None:
    run = Run()
    for letter in "aab":
        run.lap(Turn(tree="same"), tests=red(letter))

    signal = Similar().detect(run.state)

    assert signal is not None
    assert signal.strength == "nudge"


def test_the_same_words_while_something_improved_are_not_stuck() -> None:
    run = Run()
    for score in (0.1, 0.2, 0.3):
        run.lap(Turn(tree="same"), tests=red("a", score=score))

    assert Similar().detect(run.state) is None


def test_turns_that_failed_say_nothing() -> None:
    assert Similar().detect(said("x y z", "x y z", "x y z", error=True).state) is None


def test_how_alike_and_how_often_can_be_chosen() -> None:
    text = LONG + "This time I also moved the helper to its own module, which changes nothing."

    assert Similar(similarity=0.3, window=2).detect(said(LONG, text).state) is not None
    assert Similar(similarity=1.0, window=2).detect(said(LONG, text).state) is None
    assert Similar(window=2).detect(said(LONG).state) is None
    almost = Similar(window=4).detect(said(LONG, LONG, LONG).state)
    assert almost is not None
    assert almost.strength == "nudge"


def test_before_the_first_lap_nothing_was_said() -> None:
    assert Similar().detect(Run().state) is None


@pytest.mark.parametrize("options", [{"window": 1}, {"similarity": 0.0}, {"similarity": 1.1}])
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"^similar: {next(iter(options))} = "):
        Similar(**options)


def test_a_measure_that_nobody_knows_is_refused_with_those_that_are() -> None:
    with pytest.raises(ConfigError, match=r"^similar: measure can't be 'cosine'\. Known: chunks, jaccard\.$"):
        Similar(measure="cosine")  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("others", [("find . -exec rm {} +", "find . -exec rm {} \\;"), ("a + b", "a - b")])
def test_commands_that_differ_in_operators_are_different(others: tuple[str, str]) -> None:
    one, other = (f"let me run this command for you now {each}" for each in others)

    assert Similar().detect(said(one, other, one).state) is None
    assert Similar().detect(said(one, one, one).state) is not None


def test_one_mark_of_many_makes_no_difference() -> None:
    text = LONG * 10

    assert Similar().detect(said(text, text + "!", text).state) is not None
