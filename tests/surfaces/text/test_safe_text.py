"""Text from outside is shown, and has no other effect."""

import pytest

from untilgreen.surfaces.text.safe_text import columns_of, folded, in_ascii, inert, inert_lines, padded, short


@pytest.mark.parametrize(
    ("hostile", "plain"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(0graphics", "0graphics"),
        ("\x9b31mred", "31mred"),
        ("over\rwritten", "overwritten"),
        ("bell\x07, back\x08, zero\x00", "bell, back, zero"),
        ("two\nlines\tand a tab", "two lines and a tab"),
        ("abc\u202edef", "abc\ufffddef"),
        ("unfinished \x1b[", "unfinished "),
        ("unfinished \x1b", "unfinished "),
        ("Größe 洞窟 ✓", "Größe 洞窟 ✓"),
    ],
)
def test_a_line_cannot_move_the_cursor_or_change_a_color(hostile: str, plain: str) -> None:
    assert inert(hostile) == plain


def test_lines_stay_lines_where_they_may() -> None:
    assert inert_lines("one\n\ttwo\r\n\x1b[2Jthree") == "one\n\ttwo\nthree"


def test_places_are_counted_as_a_terminal_does() -> None:
    assert [columns_of(text) for text in ("abc", "洞窟", "e\u0301", "Größe", "")] == [3, 4, 1, 5, 0]


def test_what_is_too_long_ends_with_an_ellipsis_and_fits() -> None:
    assert short("abc def", 7) == "abc def"
    assert short("abc  def\nghi", 8) == "abc def…"
    assert short("洞窟洞窟", 5) == "洞窟…"
    assert short("洞窟洞窟", 4) == "洞…"
    assert columns_of(short("洞" * 100, 40)) <= 40


def test_padding_lines_up_wide_characters_too() -> None:
    assert [columns_of(padded(text, 8)) for text in ("abc", "洞窟", "far too long")] == [8, 8, 12]


def test_text_is_folded_between_words() -> None:
    assert folded("one two three four", 9) == ["one two", "three", "four"]
    assert folded("a verylongword b", 5) == ["a", "verylongword", "b"]
    assert folded("", 5) == [""]


def test_our_own_signs_have_plain_forms() -> None:
    assert in_ascii("lap 1 · 2 × 3…") == "lap 1 - 2 x 3..."
