"""What is kept of a turn, however much the agent says."""

import tracemalloc
from pathlib import Path

from untilgreen.agents.kit.turn import LONGEST_MESSAGE, Turn
from untilgreen.core.briefing.excerpt import MOST_DENIALS
from untilgreen.ports import Activity, TurnContext


def test_a_message_of_very_many_pieces_is_kept_in_time_with_both_its_ends() -> None:
    turn = Turn(context=TurnContext(root=Path("/nowhere")))
    for number in range(500_000):
        turn.adds(f"line {number}\n")

    assert turn.text.startswith("line 0\nline 1\n")
    assert turn.text.endswith("line 499998\nline 499999\n")
    assert "characters left out" in turn.text
    assert len(turn.text) <= 2 * LONGEST_MESSAGE


def test_pieces_are_one_message_up_to_the_next_act() -> None:
    shown: list[Activity] = []
    turn = Turn(context=TurnContext(root=Path("/nowhere"), report=shown.append))
    for piece in ("\n", "I ", "begin."):
        turn.adds(piece)
    assert turn.text == "\nI begin."

    turn.acts("command", "make")
    assert turn.text == "\nI begin."
    turn.adds(" ")
    assert turn.text == "\nI begin."
    turn.adds("Done.")
    assert turn.text == " Done."

    turn.says("All of it.")
    turn.adds("\n")
    assert turn.reply(None).text == "All of it."
    assert [(each.kind, each.text) for each in shown] == [
        ("text", "I begin."),
        ("command", "make"),
        ("text", "All of it."),
    ]


def test_endless_denials_are_kept_up_to_a_limit() -> None:
    turn = Turn(context=TurnContext(root=Path("/nowhere")))
    for number in range(20_000):
        turn.deny(f"command {number}")

    assert len(turn.denied) == MOST_DENIALS


def test_a_message_in_tiny_pieces_takes_little_memory() -> None:
    turn = Turn(context=TurnContext(root=Path("/nowhere")))
    tracemalloc.start()
    try:
        for number in range(300_000):
            turn.adds(f"{number % 90 + 10}")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert len(turn.text) == 600_000
    assert peak < 8_000_000


def test_a_piece_of_any_size_is_cut() -> None:
    turn = Turn(context=TurnContext(root=Path("/nowhere")))
    turn.adds("x" * 5_000_000)

    assert len(turn.text) < 2 * LONGEST_MESSAGE
    assert "characters left out" in turn.text
