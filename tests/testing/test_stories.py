"""What the words and marks of a story mean."""

from __future__ import annotations

import pytest

from untilgreen import Fixed, Manual, Ralph
from untilgreen.errors import UserError
from untilgreen.testing import story


def test_a_word_without_findings_leaves_what_the_lap_before_left() -> None:
    run = story("ab = ! c", Fixed(iterations=4), detectors=())

    assert [sorted(lap.failing) for lap in run.laps] == [
        ["tests: a", "tests: b"],
        ["tests: a", "tests: b"],
        ["tests: a", "tests: b"],
        ["tests: c"],
    ]


def test_a_first_word_without_findings_leaves_a() -> None:
    assert story("!", Fixed(iterations=1)).laps[0].failing == {"tests: a"}


def test_the_score_is_measured_against_the_most_findings_of_any_word() -> None:
    run = story("abcd ab a -", Fixed(iterations=4))

    assert [lap.score for lap in run.laps] == [0.0, 0.5, 0.75, 1.0]


def test_only_an_equals_sign_keeps_tree_and_reply() -> None:
    run = story("a b= c", Fixed(iterations=3), detectors=())
    first, second, third = run.laps

    assert second.snapshot == first.snapshot
    assert second.reply.digest == first.reply.digest
    assert third.snapshot != second.snapshot
    assert third.reply.digest != second.reply.digest


def test_marks_become_a_claim_a_crash_and_a_question() -> None:
    run = story("a* b! c?", Ralph(), detectors=())
    claim, crash, question = run.laps[:3]

    assert claim.claim
    assert crash.reply.error == "crash"
    assert question.reply.error == "question"


def test_manual_is_answered_with_continue() -> None:
    assert story("a -", Manual()).outcome == "converged"


@pytest.mark.parametrize("played", ["", "  ", "A", "a1", "-a", "a--", "a -x"])
def test_an_invalid_story_is_refused_with_a_clear_error(played: str) -> None:
    with pytest.raises(UserError, match=r"lap|word"):
        story(played, Fixed())
