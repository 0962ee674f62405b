"""gradle says how many tests there are only when one of them fails."""

import pytest

from untilgreen.gates.output.recognize import recognize


@pytest.mark.parametrize(
    ("task", "uncounted"),
    [
        ("> Task :test", True),
        ("> Task :app:integrationTest UP-TO-DATE", True),
        (":test", True),
        ("> Task :test NO-SOURCE", False),
        ("> Task :test SKIPPED", False),
        ("> Task :compileJava", False),
    ],
)
def test_a_green_build_that_ran_its_tests_has_shown_them(task: str, uncounted: bool) -> None:
    seen = recognize(f"> Task :classes\n{task}\n\nBUILD SUCCESSFUL in 1s\n3 actionable tasks: 3 executed\n")

    assert seen is not None
    assert (seen.tool, seen.uncounted, seen.failed, seen.total) == ("gradle", uncounted, 0, 0)


def test_a_build_that_never_says_it_succeeded_has_shown_nothing() -> None:
    seen = recognize("> Task :test\n")

    assert seen is not None
    assert not seen.uncounted
