"""Output is shown at a speed that people can follow, and the lines left out are counted."""

import re

from untilgreen.agents.kit.throttle import BURST, LINES_PER_SECOND, LONGEST_SHOWN, Throttle
from untilgreen.ports import Activity


class ManualClock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def shown_and_hidden(seen: list[Activity]) -> tuple[int, int]:
    notes = [re.fullmatch(r"([\d,]+) more lines are in the transcript\.", each.text) for each in seen]
    hidden = sum(int(note[1].replace(",", "")) for note in notes if note)
    return sum(each.kind == "output" for each in seen), hidden


def test_lines_are_reported_as_they_come() -> None:
    seen: list[Activity] = []
    shown = Throttle(seen.append)

    for text in ("one", "", "  ", "two"):
        shown.line(text)

    assert seen == [Activity(kind="output", text="one"), Activity(kind="output", text="two")]


def test_a_flood_is_cut_and_every_line_is_accounted_for() -> None:
    seen: list[Activity] = []
    clock = ManualClock()
    shown = Throttle(seen.append, clock=clock)

    for number in range(10_000):
        shown.line(f"line {number}")
    assert shown_and_hidden(seen) == (BURST, 0)

    clock.now += 1.0
    shown.line("later")
    assert seen[-2:] == [
        Activity(kind="note", text=f"{10_000 - BURST:,} more lines are in the transcript."),
        Activity(kind="output", text="later"),
    ]

    for number in range(100):
        shown.line(f"line {number}")
    shown.close()
    shown.close()
    shown_lines, hidden = shown_and_hidden(seen)
    assert shown_lines == BURST + LINES_PER_SECOND
    assert shown_lines + hidden == 10_101


def test_a_long_line_is_shortened() -> None:
    seen: list[Activity] = []

    Throttle(seen.append).line("x" * 10_000)

    assert len(seen[0].text) < LONGEST_SHOWN + 100
    assert "8,000 characters left out" in seen[0].text
