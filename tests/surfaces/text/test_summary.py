"""The last lines of a run, such as which lap's files remain."""

import time

import pytest

from tests.core.helpers import Run, Turn, gate, priced, red
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Reply
from untilgreen.surfaces.text.event_lines import DEMO
from untilgreen.surfaces.text.summary import beginning_lines, summary


@pytest.mark.parametrize(
    ("laps", "sentence"),
    [
        ("ab ab ab", "Laps 1–3 tie for the best; the files are those of lap 3."),
        ("a ab a", "Laps 1, 3 tie for the best; the files are those of lap 3."),
        ("ab a ab", "Lap 2 is the best; the files are those of lap 2."),
    ],
)
def test_laps_that_are_equally_good_are_reported_as_a_tie(laps: str, sentence: str) -> None:
    run = Run(gate("tests"), limits=Limits(iterations=3))
    for number, findings in enumerate(laps.split(), 1):
        run.lap(Turn(tree=f"t{number}"), tests=red(*findings))
    run.end()

    assert sentence in summary(run.state, width=80, ascii_only=False)


@pytest.mark.parametrize(("labels", "said"), [({DEMO: "scripted"}, "$0.25; you paid nothing"), ({}, "$0.25")])
def test_what_a_scripted_demo_cost_was_not_paid(labels: dict[str, str], said: str) -> None:
    run = Run(gate("tests"), labels=labels)
    run.lap(Turn(reply=priced(0.25)), tests=red("a"))

    (costs,) = [line for line in summary(run.state, width=80, ascii_only=False) if "$" in line]
    assert costs.endswith(said)


@pytest.mark.parametrize(
    ("driven", "said"),
    [
        (True, "paused: rate-limited; resuming at {clock} (in "),
        (False, "paused: rate-limited until {clock}; no process is driving the run"),
    ],
)
def test_a_rate_limited_run_says_when_it_resumes_only_if_a_process_will_resume_it(
    driven: bool, said: str
) -> None:
    run = Run(gate("tests"), started=time.time())
    run.lap(Turn(reply=Reply(error="rate_limited", retry_at=time.time() + 40)), tests=red("a"))
    assert run.state.pause is not None
    clock = time.strftime("%H:%M:%S", time.localtime(run.state.pause.until))

    lines = summary(run.state, width=80, ascii_only=False, driven=driven)

    assert any(line.startswith(said.format(clock=clock)) for line in lines)
    verb = "Watch it with: untilgreen follow r1" if driven else "Continue with: untilgreen resume r1"
    assert verb in lines


@pytest.mark.parametrize(
    ("largest", "said"),
    [(0, "They are saved: "), (9, "They are saved, except new files above workspace.max_file: ")],
)
def test_what_a_snapshot_leaves_out_is_not_said_to_be_saved(largest: int, said: str) -> None:
    run = Run(gate("tests"), workspace={"dirty": ["big.bin"], "max_file": largest})

    (line,) = beginning_lines(run.state)

    assert line.partition("big.bin. ")[2].startswith(said)
