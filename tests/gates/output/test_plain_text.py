"""Output as people would read it."""

from untilgreen.gates.output.plain_text import LONGEST_LINE, lines_of, plain


def test_colors_and_links_are_taken_out() -> None:
    link = "\x1b]8;;https://example.org\x1b\\docs\x1b]8;;\x1b\\"

    assert plain(f"\x1b[1;31mFAILED\x1b[0m {link} \x1b[38:5:9mx\x1b[K") == "FAILED docs x"


def test_an_unfinished_color_hides_nothing() -> None:
    assert plain("\x1b[31") == "[31"


def test_every_kind_of_line_end_ends_a_line() -> None:
    assert lines_of("a \r\nb\rc\nd") == ["a", "b", "c", "d"]


def test_a_line_without_end_is_cut() -> None:
    assert [len(line) for line in lines_of("x" * 3 * LONGEST_LINE)] == [LONGEST_LINE]


def test_broken_characters_become_writable_ones() -> None:
    assert plain("a\udcffb").encode() == b"a?b"
