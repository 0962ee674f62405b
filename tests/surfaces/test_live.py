"""The live view: six lines that fit the terminal, and one line for each lap above them."""

import io

import pytest
from rich.console import Console

from tests.core.helpers import Run, Turn, gate, priced, red
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.events import Paused, Resumed
from untilgreen.core.fold import apply
from untilgreen.core.limits import Limits
from untilgreen.core.model import Reply, Verdict
from untilgreen.core.strategies.manual import Manual
from untilgreen.ports import Activity
from untilgreen.surfaces.live import LiveView
from untilgreen.surfaces.text import places

HOSTILE = "\x1b]0;owned\x07\x1b[2J洞窟" * 40


class Screen:
    """A terminal of a certain width, and the view on it."""

    def __init__(self, width: int, *, ascii_only: bool = False) -> None:
        self.file = io.StringIO()
        self.console = Console(file=self.file, width=width, color_system=None, highlight=False)
        self.time = 0.0
        self.view = LiveView(self.console, lambda: self.time, ascii_only=ascii_only, flags=" --state-dir d")

    def play(self, run: Run) -> None:
        """Tell the view what happened, each event with the state after it."""
        state = None
        for event in run.events:
            state = apply(state, event)
            self.view.on_event(event, state)

    def said(self) -> list[str]:
        """The lines that stay."""
        return [line.rstrip() for line in self.file.getvalue().splitlines()]

    def drawn(self) -> list[str]:
        """The picture as it is now."""
        self.file.truncate(0)
        self.file.seek(0)
        self.console.print(self.view)
        return self.said()


def stuck() -> Run:
    run = Run(gate("tests"), gate("style"), detectors=[Cycle()], task="make it green")
    for _ in range(3):
        run.lap(Turn(seconds=61), tests=red("a", "b"))
    return run


def test_six_lines_say_where_a_run_stands() -> None:
    screen = Screen(80)
    screen.play(stuck())
    screen.view.on_activity(Activity(kind="edit", text="cart.py"))

    title, numbers, gates, history, now, note = screen.drawn()

    assert title == "r1  make it green" + " " * 48 + "agent · hybrid"
    assert numbers == "lap    3/20  ██████░░░░░░ 0.50 →   3m18s/4h"
    assert gates == "gates  ✕ tests 2  ✓ style"
    assert history == "hist   ▅▅▅   tests ✕✕✕"
    assert now == "now    edit: cart.py  0s"
    assert note.startswith("note   cycle: the same failures")


def test_a_lap_is_one_line_that_stays() -> None:
    screen, run = Screen(100), Run(gate("tests"), gate("style"))
    run.lap(tests=red("a", "b"))
    run.lap(Turn(reply=Reply(error="crash", detail="exit code 3")), tests=red("a"))
    screen.play(run)

    assert screen.said() == [
        "lap 1   ✕2 ✓  goes on, lap 1 of 100 is done",
        "lap 2: turn ended: crash exit code 3",
        "lap 2   ✕1 ✓  goes on, lap 2 of 100 is done",
    ]


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_no_line_is_wider_than_the_terminal_whatever_is_in_it(width: int, ascii_only: bool) -> None:
    screen = Screen(width, ascii_only=ascii_only)
    run = Run(gate("tests" * 20), gate("洞窟" * 20), task=HOSTILE)
    run.lap(Turn(reply=Reply(error="crash", detail=HOSTILE)), **{"tests" * 20: red(HOSTILE)})
    screen.play(run)
    screen.view.on_activity(Activity(kind="text", text=HOSTILE))

    lines = screen.said() + screen.drawn()

    assert len(lines) >= 6
    assert max(map(places, lines)) < max(width, 21), "and some terminals wrap in their last place"
    assert "\x1b" not in "".join(lines)
    assert "owned" not in "".join(lines)


def test_in_ascii_our_own_signs_are_plain() -> None:
    screen = Screen(60, ascii_only=True)
    screen.play(stuck())

    assert "".join(screen.said() + screen.drawn()).isascii()


def test_seconds_pass_in_whole_ones() -> None:
    screen = Screen(80)
    screen.play(stuck())
    screen.view.on_activity(Activity(kind="text", text="thinking"))
    screen.time += 7.9

    assert screen.drawn()[4] == "now    text: thinking  7s"


def test_a_question_shows_the_command_that_answers_it() -> None:
    screen, run = Screen(120), Run(gate("tests"), strategy=Manual(), answers=True)
    run.lap(tests=red("a"))
    screen.play(run)

    assert "now    Answer with: untilgreen answer r1 continue --state-dir d" in screen.drawn()[4]


def test_a_pause_shows_the_command_that_ends_it() -> None:
    screen, run = Screen(120), Run(gate("tests"))
    run.lap(tests=red("a"))
    run.record(Paused(at=run.state.now, reason="lunch"))
    screen.play(run)

    assert "now    paused. Go on with: untilgreen resume r1 --state-dir d" in screen.drawn()[4]

    run.record(Resumed(at=run.state.now + 1))
    screen.play(run)

    assert "paused" not in screen.drawn()[4]


def test_a_flaky_gate_is_marked_and_the_baseline_is_told_in_words() -> None:
    run = Run(gate("tests"), gate("style"), baseline=True)
    run.lap(tests=red("a"), style=Verdict(status="pass", score=1.0, duration=90.0))
    run.lap(tests=red("a"), style=Verdict(status="pass", score=1.0, flaky=True))
    screen = Screen(120)
    screen.play(run)

    said = "\n".join(screen.said())
    assert "style is green and slow (1m30s of its 10m); tests is red" in said
    assert "✕1 ✓~" in said
    assert "✓ style flaky" in "\n".join(screen.drawn())


def test_a_long_task_leaves_room_for_who_works_on_it() -> None:
    screen, run = Screen(60), Run(gate("tests"), task="make everything green " * 5)
    run.lap(tests=red("a"))
    screen.play(run)

    title = screen.drawn()[0]
    assert title.endswith("…  agent · hybrid")
    assert places(title) == 59


def test_tokens_and_money_are_shown_against_their_limits() -> None:
    screen, run = Screen(100), Run(gate("tests"), limits=Limits(cost=5.0, tokens="2M"))
    run.lap(Turn(reply=priced(1.25, 412_345)), tests=red("a"))
    screen.play(run)

    assert "$1.25/$5.00   6s/4h   412k/2M tokens" in screen.drawn()[1]


def test_keys_are_the_last_line_and_what_is_typed_is_inert() -> None:
    screen = Screen(80)
    screen.play(stuck())

    screen.view.show_keys(f"note: {HOSTILE[:40]}")

    assert len(screen.drawn()) == 7
    assert screen.drawn()[6].startswith("keys   note: ")
    assert "\x1b" not in screen.drawn()[6]


def test_what_has_not_changed_is_not_drawn_again_and_a_narrower_terminal_is_wiped() -> None:
    file = io.StringIO()
    console = Console(file=file, width=100, force_terminal=True, color_system=None, highlight=False)
    run = stuck()
    with LiveView(console, lambda: run.state.now) as view:
        state = None
        for event in run.events:
            state = apply(state, event)
            view.on_event(event, state)
        view.show_keys("p pause")
        drawn = len(file.getvalue())
        view.show_keys("p pause")
        assert len(file.getvalue()) == drawn
        broken = [-(-places(str(line)) // 40) or 1 for line in view.__rich__().renderables]
        console.width = 40
        view.show_keys("p pause")

    assert broken[0] == 3, "the title, which was as wide as the terminal"
    assert file.getvalue()[drawn:].startswith(f"\r\x1b[{sum(broken) - 1}A\x1b[2K")
