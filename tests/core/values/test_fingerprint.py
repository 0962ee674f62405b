"""Whether two texts say the same thing: exactly, after normalizing, or nearly, by a sketch."""

import pytest

from untilgreen.core.values.fingerprint import (
    FEWEST_WORDS,
    LONGEST_WORD,
    SKETCH_SIZE,
    Count,
    counts,
    fingerprint,
    marks_alike,
    normalize,
    output_fingerprint,
    similarity,
    sketch,
)

SYLLABLES = ("ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "ti")


def words(count: int, *, offset: int = 0) -> list[str]:
    """`count` different words without digits; the same arguments always give the same words."""
    return [
        SYLLABLES[number % 12] + SYLLABLES[number // 12 % 12] + SYLLABLES[number // 144 % 12]
        for number in range(offset, offset + count)
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("expected 3 but got 4", "expected 17 but got 5"),
        ("took 0.25 of 1,024", "took 0.75 of 2,048"),
        ("FAILED in 1.32s", "FAILED in 0.9s"),
        ("waited 250ms", "waited 3ms"),
        ("at 12:30:59.123 it broke", "at 09:01:00.001 it broke"),
        ("2026-01-31T10:11:12Z broke", "2026-11-02T23:59:59+01:00 broke"),
        ("on 2026-01-31 it broke", "on 2025-12-24 it broke"),
        ("id 6f1c2a34-0b1c-4d2e-8f3a-5b6c7d8e9f00", "id 00000000-1111-2222-3333-444444444444"),
        ("<Foo at 0x7f3a9c>", "<Foo at 0x7f0000>"),
        (
            "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            "commit 8ba1f109551bd432803012645ac136ddd64dba72",
        ),
        ("open /tmp/pytest-of-me/one/a.txt", "open /tmp/pytest-of-you/seven/b.txt"),
        ("open /var/folders/zz/T/x", "open /private/var/folders/aa/T/y"),
        ("error in /home/ann/project/app.py", "error in /srv/build/app.py"),
        ("error in src/deep/app.py", "error in app.py"),
        (r"error in C:\work\app.py", r"error in D:\other\place\app.py"),
        ("\x1b[31mred\x1b[0m words", "red words"),
        ("\x1b]8;;https://example.org\x07link\x1b]8;;\x07 here", "link here"),
        ("spaces   and\n\nlines", "spaces and lines"),
        ("Case DOES not matter", "case does NOT matter"),
    ],
)
def test_noise_makes_no_difference(one: str, other: str) -> None:
    assert normalize(one) == normalize(other)
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("assert left == right", "assert left != right"),
        ("error in app.py", "error in login.py"),
        ("the cafe is closed", "the face is closed"),
        ("name 'faded' is not defined", "name 'decade' is not defined"),
        ("FAILED tests/test_a.py::test_one", "FAILED tests/test_a.py::test_two"),
        (f"{'the same words ' * 9}and then a crash", f"{'the same words ' * 9}and then a timeout"),
    ],
)
def test_what_is_said_makes_a_difference(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize("text", ["", "   \n\t ", "\x1b[0m"])
def test_a_text_that_says_nothing_has_no_fingerprint(text: str) -> None:
    assert fingerprint(text) == ""


def test_a_number_alone_says_something() -> None:
    assert fingerprint("42") == fingerprint("43") != ""


def test_a_very_long_word_loses_its_digits_only() -> None:
    long = "x1" * LONGEST_WORD

    assert normalize(long) == "x" * LONGEST_WORD
    assert normalize("1" * (LONGEST_WORD + 1)) == ""


def test_more_words_than_are_remembered_are_still_normalized() -> None:
    many = [f"{word}{other}" for word in words(260) for other in words(260)]

    assert normalize(" ".join(["took 3 of", *many])) == " ".join(["took <n> of", *many])


def test_more_words_than_are_remembered_still_count() -> None:
    many = [f"{word}{other}" for word in words(260) for other in words(260)]

    found = counts(" ".join(["7 errors left", *many, "6 errors left"]))

    assert [each.number for each in found] == [7, 6]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("7 type errors", [Count("number type error", 7, True)]),
        ("1 error is left", [Count("number error is left", 1, True)]),
        ("2 errors are left", [Count("number error is left", 2, True)]),
        ("errors: 12.", [Count("errors: number", 12, True)]),
        ("(failed=3)", [Count("pair", 3, True)]),
        ("71 % pass", [Count("share % pass", 71, False)]),
        ("only 62.5% pass", [Count("only share pass", 62.5, False)]),
        ("passed 2/7", [Count("passed share", 2, False)]),
        ("% of errors", []),
        ("many % of them", []),
        ("in line 7 errors", []),
        ("took 7 of 9", []),
        ("[… 254 characters left out …]", []),
        ("254 characters left", [Count("number character left", 254, True)]),
        ("3 of 7 tests failed", [Count("number of # test", 3, True)]),
        ("3 out of 7 failed", [Count("number out of #", 3, True)]),
        ("one of 7 tests failed", [Count("one of number test failed", 7, True)]),
        ("of 7 tests failed", [Count("of number test failed", 7, True)]),
        ("out of 7 failed", [Count("out of number failed", 7, True)]),
        ("step 3 of 7 failed", []),
        ("errors = 3", [Count("errors = number", 3, True)]),
        ("failed : 3.", [Count("failed : number", 3, True)]),
        ("# fail 3 # cancelled 0", [Count("# fail number # cancelled #", 3, True)]),
        ("remaining 3", [Count("remaining number", 3, True)]),
        ("error 404", []),
        ("errors = many", []),
        ("nothing remaining", []),
        ("remaining 3 seconds", []),
    ],
)
def test_the_numbers_that_say_how_much_fails_are_counted(text: str, found: list[Count]) -> None:
    assert counts(text) == found


def test_lone_surrogates_can_be_fingerprinted_and_sketched() -> None:
    text = "the last character is \ud800 half of a pair"

    assert fingerprint(text)
    assert sketch(text)


def test_a_near_copy_is_at_least_95_percent_alike() -> None:
    before = words(600)
    after = [*before[:300], "another", *before[301:]]

    likeness = similarity(sketch(" ".join(before)), sketch(" ".join(after)))

    assert likeness is not None
    assert 0.95 <= likeness < 1.0


def test_a_copy_that_differs_in_numbers_only_is_the_same() -> None:
    one, other = (f"In lap {n} I fixed {n} tests, then ran all {n} of them." for n in (3, 12))

    assert similarity(sketch(one), sketch(other)) == 1.0


def test_a_half_rewritten_text_is_less_than_70_percent_alike() -> None:
    before, fresh = words(600), words(300, offset=1000)
    after = [*before[:300], *fresh]

    likeness = similarity(sketch(" ".join(before)), sketch(" ".join(after)))

    assert likeness is not None
    assert 0.3 < likeness < 0.7


def test_different_texts_are_not_alike() -> None:
    likeness = similarity(sketch(" ".join(words(200))), sketch(" ".join(words(200, offset=1000))))

    assert likeness is not None
    assert likeness < 0.05


def test_the_same_words_in_another_order_are_not_alike() -> None:
    text = words(600)

    likeness = similarity(sketch(" ".join(text)), sketch(" ".join(reversed(text))))

    assert likeness is not None
    assert likeness < 0.5


def test_moving_a_paragraph_changes_little() -> None:
    text = words(900)
    moved = [*text[300:], *text[:300]]

    likeness = similarity(sketch(" ".join(text)), sketch(" ".join(moved)))

    assert likeness is not None
    assert likeness > 0.95


def test_a_short_text_is_never_called_similar() -> None:
    short, long = sketch(" ".join(words(FEWEST_WORDS - 1))), sketch(" ".join(words(FEWEST_WORDS)))

    assert short == ()
    assert long != ()
    assert similarity(short, short) is None
    assert similarity(short, long) is None
    assert similarity(long, short) is None


def test_a_sketch_stays_small_however_long_the_text() -> None:
    assert len(sketch(" ".join(words(1700) * 5))) <= SKETCH_SIZE
    assert (
        len(sketch("\n".join(f"{word} {other}" for word in words(900) for other in words(3)))) == SKETCH_SIZE
    )


def test_different_short_texts_are_not_alike() -> None:
    one, other = "red green purple yellow pink blue", "gray amber pear plum lime lemon"
    assert similarity(sketch(one), sketch(other)) == 0.0


def test_marks_are_compared_by_how_many_both_have() -> None:
    assert marks_alike("a + (b)", "a + (b)") == 1.0
    assert marks_alike("a + b", "a - b") == 0.0
    assert marks_alike("no marks", "none here") == 1.0
    assert marks_alike("f(x)", "f(x") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("syntax error near 'LIMIT 3 OFFSET 1'", "syntax error near 'LIMIT 3 OFFSET 2'"),
        ("find: '/proc/11/fd/5': No such file", "find: '/proc/32/fd/6': No such file"),
        ("30: def read(self):", "31: def read(self):"),
        ("(810 lines total) (474 more lines above)", "(811 lines total) (476 more lines above)"),
        ("random seed: 58695680", "random seed: 98483465"),
        ("hash randomization: on (PYTHONHASHSEED=3691877193)", "hash randomization: on (PYTHONHASHSEED=30)"),
        ("Using --randomly-seed=71", "Using --randomly-seed=4"),
        ("[… 254 characters left out …]", "[… 195 characters left out …]"),
    ],
)
def test_numbers_that_are_echoed_or_name_a_place_make_no_difference(one: str, other: str) -> None:
    assert output_fingerprint(one) == output_fingerprint(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("expected '3' here", "expected '4' here"),
        ("5 more to go", "4 more to go"),
        ("5 lines differ", "4 lines differ"),
        ("rows: 12", "rows: 11"),
    ],
)
def test_other_numbers_of_an_output_make_a_difference(one: str, other: str) -> None:
    assert output_fingerprint(one) != output_fingerprint(other)
