"""The live view: lines that fit the terminal, and one line for each lap above them."""

import io
import threading
from collections.abc import Iterable
from itertools import islice

import pytest
from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from tests.core.helpers import PASS, Run, Turn, gate, priced, red
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.loop.fold import apply
from untilgreen.core.loop.receive import Answer
from untilgreen.core.loop.step import CheckGates
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.events import Answered, GateChecked, Paused, Resumed, Steered
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Reply, Verdict
from untilgreen.ports import Activity
from untilgreen.surfaces.live.keys import HELP
from untilgreen.surfaces.live.live_view import LiveView
from untilgreen.surfaces.text.event_lines import DEMO
from untilgreen.surfaces.text.safe_text import columns_of

HOSTILE = "\x1b]0;owned\x07\x1b[2J洞窟" * 40


class Screen:
    """A terminal of a given width, and the view on it."""

    def __init__(self, width: int, height: int = 60, *, ascii_only: bool = False) -> None:
        self.file = io.StringIO()
        self.console = Console(file=self.file, width=width, height=height, color_system=None, highlight=False)
        self.time = 0.0
        self.view = LiveView(self.console, lambda: self.time, ascii_only=ascii_only, flags=" --state-dir d")

    def play(self, run: Run) -> None:
        """Send the view every event, with the state after it."""
        state = None
        for event in run.events:
            state = apply(state, event)
            self.view.on_event(event, state)

    def said(self) -> list[str]:
        """The lines that stay on the terminal."""
        return [line.rstrip() for line in self.file.getvalue().splitlines()]

    def struck(self) -> list[str]:
        """The words of the picture that are struck out."""
        segments = self.console.render(self.view)
        return [each.text for each in segments if each.style is not None and each.style.strike]

    def drawn(self) -> list[str]:
        """The picture as it is now."""
        self.file.truncate(0)
        self.file.seek(0)
        self.console.print(self.view)
        return self.said()


def stuck() -> Run:
    run = Run(gate("tests"), gate("style"), detectors=[Cycle()], remedies=("hint",), task="make it green")
    for _ in range(3):
        run.lap(Turn(seconds=61), tests=red("a", "b"))
    return run


def test_seven_lines_say_how_a_run_is_doing() -> None:
    screen, run = Screen(80), stuck()
    run.offer()
    screen.play(run)
    screen.view.on_activity(Activity(kind="edit", text="cart.py"))

    title, numbers, gates, history, findings, now, last = screen.drawn()

    assert title == "r1  make it green" + " " * 48 + "agent · hybrid"
    assert numbers == "lap 4 of 20   ██████░░░░░░ score 0.50 →  time 3m21s of 4h"
    assert gates == "gates  ✕ tests: 2 failing  ✓ style"
    assert history == "score  ▅▅▅   tests ✕✕✕"
    assert findings == "red    a  b"
    assert now == "now    edit: cart.py  0s"
    assert last.startswith("last   lap 3: cycle: the same failures")


def test_findings_are_struck_out_as_they_fall_also_while_gates_still_run() -> None:
    screen, run = Screen(80), Run(gate("tests"), gate("style"))
    run.lap(tests=red("a", "b"), style=red("long line"))
    run.lap(tests=red("b"), style=red("long line"))
    screen.play(run)

    assert screen.drawn()[4] == "red    b  long line  ✓ a"
    assert screen.struck() == ["a"]

    run.offer()
    while not isinstance(run.step, CheckGates):
        assert run.step is not None
        run.perform(run.step, Turn())
    run.record(GateChecked(at=run.state.now, lap=3, gate="tests", verdict=PASS))
    screen.play(run)

    assert screen.drawn()[4] == "red    long line  ✓ b"


def test_laps_are_counted_by_the_strategy_where_it_allows_fewer_than_the_limit() -> None:
    screen, run = Screen(80), Run(gate("tests"), limits=Limits(iterations=20), strategy_laps=6)
    run.lap(tests=red("a"))
    screen.play(run)

    assert screen.drawn()[1].startswith("lap 2 of 6 ")


@pytest.mark.parametrize(("width", "rows"), [(40, (3, 3, 2)), (80, (8, 8, 4)), (200, (20,))])
def test_findings_that_do_not_fit_in_three_rows_are_counted(width: int, rows: tuple[int, ...]) -> None:
    screen, run = Screen(width), Run(gate("tests"))
    run.lap(tests=red(*(f"test_{number:02}" for number in range(20))))
    screen.play(run)

    names = iter(f"test_{number:02}" for number in range(20))
    shown = ["  ".join(islice(names, row)) for row in rows]
    if left := len(list(names)):
        shown[-1] += f"  and {left} more"
    drawn = screen.drawn()[4 : 4 + len(rows)]
    assert drawn == [f"{'' if number else 'red':<7}{row}" for number, row in enumerate(shown)]


def test_on_a_narrow_terminal_a_long_name_is_cut_before_the_count_of_the_others_is() -> None:
    screen, run = Screen(40), Run(gate("tests"))
    names = [f"test_{letter}_of_the_shopping_cart_too" for letter in "abcde"]
    run.lap(tests=red(*names))
    screen.play(run)

    assert [line[7:] for line in screen.drawn()[4:7]] == [
        "test_a_of_the_shopping_cart_too",
        "test_b_of_the_shopping_cart_too",
        "test_c_of_the_shopp…  and 2 more",
    ]


def test_what_was_fixed_last_is_shown_also_where_long_names_fill_the_rows() -> None:
    screen, run = Screen(80), Run(gate("tests"))
    names = [f"test_{letter}_{'of_the_shopping_cart' * 2}" for letter in "abcdefg"]
    run.lap(tests=red(*names))
    run.lap(tests=red(*names[1:]))
    screen.play(run)

    assert screen.drawn()[4:8] == [
        f"red    {names[1]}",
        f"       {names[2]}",
        f"       {names[3]}  and 3 more",
        f"       ✓ {names[0]}",
    ]


@pytest.mark.parametrize(("cost", "said"), [(0.25, "$0.25, not paid"), (None, "you paid nothing")])
def test_a_scripted_demo_says_on_a_narrow_terminal_that_nothing_was_paid(
    cost: float | None, said: str
) -> None:
    screen, run = Screen(80), Run(gate("tests"), labels={DEMO: "scripted"})
    run.lap(Turn(reply=priced(cost) if cost else Reply()), tests=red("a"))
    screen.play(run)

    assert screen.drawn()[1].endswith(said)


def test_a_lap_is_one_line_that_stays() -> None:
    screen, run = Screen(100), Run(gate("tests"), gate("style"))
    run.lap(tests=red("a", "b"))
    run.lap(Turn(reply=Reply(error="crash", detail="exit code 3")), tests=red("a"))
    screen.play(run)

    assert screen.said() == [
        "lap  tests  style  score  cost    time    what happened",
        "1    ✕2     ✓      0.50   -       4s      2 findings",
        "lap 2: turn failed: crash: exit code 3",
        "2    ✕1     ✓      0.50   -       4s      fixed 1: b",
    ]


def test_what_happened_in_a_lap_is_below_its_row_where_it_does_not_fit_beside_it() -> None:
    screen, run = Screen(40), Run(gate("tests"), gate("style"))
    run.lap(tests=red("test_of_the_cart", "test_of_the_till"))
    run.lap(tests=red("test_of_the_cart", "test_of_the_till"))
    run.lap(tests=red("test_of_the_cart"))
    screen.play(run)

    assert screen.said() == [
        "lap  tests  style  score  cost    time",
        "1    ✕2     ✓      0.50   -       4s",
        "     2 findings",
        "2    ✕2     ✓      0.50   -       4s",
        "     nothing fixed",
        "3    ✕1     ✓      0.50   -       4s",
        "     fixed 1: test_of_the_till",
    ]


@pytest.mark.parametrize(("width", "heading"), [(30, "lap  tests  style  score"), (20, "lap  tests  style")])
def test_columns_without_room_are_left_out_from_the_right(width: int, heading: str) -> None:
    screen, run = Screen(width), Run(gate("tests"), gate("style"))
    run.lap(tests=red("a"))
    screen.play(run)

    assert screen.said()[0] == heading


def test_the_answer_to_a_question_does_not_print_its_lap_a_second_time() -> None:
    screen, run = Screen(100), Run(gate("tests"), strategy=Manual(), answers=True)
    run.lap(tests=red("a"))
    run.arrive(Answer(at=run.state.now, choice="stop"))
    run.end()
    screen.play(run)

    assert [line[:3] for line in screen.said()].count("1  ") == 1
    assert screen.said()[-1].startswith("after lap 1: ends as")


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
    assert max(map(columns_of, lines)) < max(width, 21), "some terminals wrap when the last column is used"
    assert "\x1b" not in "".join(lines)
    assert "owned" not in "".join(lines)


def test_in_ascii_our_own_signs_are_plain() -> None:
    screen = Screen(60, ascii_only=True)
    screen.play(stuck())

    assert "".join(screen.said() + screen.drawn()).isascii()


def test_in_ascii_a_long_name_of_a_gate_keeps_its_column() -> None:
    screen, run = Screen(80, ascii_only=True), Run(gate("all_tests_at_once"), gate("style"))
    run.lap(all_tests_at_once=red("a"), style=PASS)
    screen.play(run)

    heading, row, *_ = (line for line in screen.said() if line.startswith(("lap", "1 ")))
    assert heading.index("style") == row.index("ok")


def test_seconds_pass_in_whole_ones() -> None:
    screen, run = Screen(80), stuck()
    run.offer()
    screen.play(run)
    screen.view.on_activity(Activity(kind="text", text="thinking"))
    screen.time += 7.9

    assert screen.drawn()[5] == "now    text: thinking  7s"


def test_a_stuck_question_is_shown_whole_with_a_sentence_for_each_choice_and_its_default() -> None:
    run = Run(gate("tests"), detectors=[Cycle()], remedies=("ask",), answers=True)
    while run.state.asked is None:
        run.lap(tests=red("a"))
    screen = Screen(100)
    screen.play(run)

    asked = screen.drawn()[7:]

    assert asked[0].startswith("ask    The run is stuck: cycle in laps 1, 2, 3")
    assert asked[-6:] == [
        "       1 different approach: one more lap with another approach; say which in a note",
        "       2 review: pause the run so that you can look at the files; continue with `resume`",
        "       3 cancel: end the run and leave the files as they are now",
        "       4 end (default): end the run as stuck with the files of the best lap",
        "       No answer within 15m: end.",
        "       From another terminal: untilgreen answer r1 'different approach' --state-dir d",
    ]
    assert screen.drawn()[5].startswith("now    waiting for your answer; default in ")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 24), (80, 16)])
def test_a_small_screen_cuts_the_evidence_of_a_question_and_keeps_its_choices_and_keys(
    width: int, height: int
) -> None:
    run = Run(gate("tests"), detectors=[Cycle()], remedies=("ask",), answers=True)
    while run.state.asked is None:
        run.lap(tests=red("a"))
    screen = Screen(width, height)
    screen.play(run)
    screen.view.show_keys(HELP)

    drawn = screen.drawn()

    assert len(drawn) <= height
    assert any(line.startswith("ask    The run is stuck") for line in drawn)
    assert all(any(line.startswith(f"       {number} ") for line in drawn) for number in (1, 2, 3, 4))
    assert drawn[-1].endswith("? help")
    whole = "From another terminal: untilgreen answer r1 'different approach' --state-dir d"
    assert whole in " ".join(line.strip() for line in drawn)


def test_a_question_rings_once_and_names_itself_in_the_title_until_it_is_answered() -> None:
    run = Run(gate("tests"), strategy=Manual(), answers=True)
    run.lap(tests=red("a"))
    file = io.StringIO()
    console = Console(file=file, width=100, force_terminal=True, color_system=None, highlight=False)
    with LiveView(console, lambda: run.state.now) as view:
        state = None
        for event in (*run.events, Steered(at=run.state.now, id="1", note="x")):
            state = apply(state, event)
            view.on_event(event, state)
        waiting = file.getvalue()
        answered = Answered(at=run.state.now, choice="continue")
        view.on_event(answered, apply(state, answered))

    assert waiting.count("\x07") == 3, "the bell, and the ends of title and notification"
    assert "\x1b]2;waiting: Lap 1 scored 0.00" in waiting
    assert "\x1b[23;2t" not in waiting
    assert "\x1b[23;2t" in file.getvalue()


def test_a_pause_shows_the_command_that_ends_it() -> None:
    screen, run = Screen(120), Run(gate("tests"))
    run.lap(tests=red("a"))
    run.record(Paused(at=run.state.now, reason="lunch"))
    screen.play(run)

    assert "now    paused; continue with: untilgreen resume r1 --state-dir d (lunch)" in screen.drawn()[5]

    run.record(Resumed(at=run.state.now + 1))
    screen.play(run)

    assert "paused" not in screen.drawn()[5]


def test_a_wait_says_how_long_it_takes_and_nothing_else_counts_at_the_same_time() -> None:
    screen, run = Screen(120), Run(gate("tests"))
    run.lap(tests=red("a"))
    run.record(
        Paused(at=run.state.now, until=run.state.now + 40, reason="rate_limited: 429", cause="rate_limited")
    )
    screen.time = run.state.now
    screen.play(run)
    screen.time += 5

    assert screen.drawn()[5].startswith("now    rate-limited; resuming at ")
    assert screen.drawn()[5].endswith("(in 35s)")


def test_another_program_gets_the_terminal_and_what_happened_meanwhile_is_printed_after_it() -> None:
    screen, run = Screen(100), Run(gate("tests"))
    run.lap(tests=red("a"))
    with screen.view.suspended():
        screen.play(run)
        assert screen.said() == []

    assert screen.said()[0].startswith("lap  tests")


def test_a_flaky_gate_is_marked_and_the_baseline_is_shown_in_words() -> None:
    run = Run(gate("tests"), gate("style"), baseline=True)
    run.lap(tests=red("a"), style=Verdict(status="pass", score=1.0, duration=90.0))
    run.lap(tests=red("a"), style=Verdict(status="pass", score=1.0, flaky=True))
    screen = Screen(120)
    screen.play(run)

    said = "\n".join(screen.said())
    assert "style: green, slow (1m30s of its 10m); tests: 1 failing" in said
    assert "1    ✕1     ✓~ " in said
    assert "✓ style flaky" in "\n".join(screen.drawn())


def test_a_long_task_leaves_room_for_who_works_on_it() -> None:
    screen, run = Screen(60), Run(gate("tests"), task="make everything green " * 5)
    run.lap(tests=red("a"))
    screen.play(run)

    title = screen.drawn()[0]
    assert title.endswith("…  agent · hybrid")
    assert columns_of(title) == 59


def test_tokens_and_money_are_shown_against_their_limits() -> None:
    screen, run = Screen(100), Run(gate("tests"), limits=Limits(cost=5.0, tokens="2M"))
    run.lap(Turn(reply=priced(1.25, 412_345)), tests=red("a"))
    screen.play(run)

    assert "time 6s of 4h  cost $1.25 of $5.00  tokens 412k of 2M" in screen.drawn()[1]


def test_keys_are_the_last_line_and_what_is_typed_is_inert() -> None:
    screen = Screen(80)
    screen.play(stuck())

    screen.view.show_keys(f"note: {HOSTILE[:40]}")

    assert len(screen.drawn()) == 8
    assert screen.drawn()[7].startswith("keys   note: ")
    assert "\x1b" not in screen.drawn()[7]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_every_key_is_shown_beside_its_word_at_any_width(width: int) -> None:
    screen = Screen(width)
    screen.play(stuck())

    screen.view.show_keys(HELP)

    shown = [line[7:].rstrip(" ·").split(" · ") for line in screen.drawn()[7:]]
    assert [key for line in shown for key in line] == HELP.split(" · ")
    assert max(map(len, screen.drawn())) < width


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
        broken = [-(-columns_of(str(line)) // 40) or 1 for line in view.__rich__().renderables]
        console.width = 40
        view.show_keys("p pause")

    assert broken[0] == 3, "the title, which was as wide as the terminal"
    assert file.getvalue()[drawn:].startswith(f"\r\x1b[{sum(broken) - 1}A\x1b[2K")


class _SlowToRender:
    """A line; while it is printed, another thread refreshes the view, as the view's timer may."""

    def __init__(self, view: LiveView) -> None:
        self._refresh = threading.Thread(target=view._live.refresh, daemon=True)
        self.waited = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        self._refresh.start()
        self._refresh.join(0.2)
        self.waited = self._refresh.is_alive()
        return ()


def test_no_refresh_comes_between_a_line_that_stays_and_the_picture_below_it() -> None:
    screen = Screen(80)
    line = _SlowToRender(screen.view)
    screen.view._live.print_above(line)

    assert line.waited
