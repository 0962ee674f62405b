"""Faults between a real agent and its model, and what becomes of the run."""

import os
import signal

import psutil
import pytest

from tests.agents_real.bench import RIGHT, WRONG, Bench, of, wait_for
from untilgreen.core.values.events import Halted, Paused, Resumed, TurnEnded
from untilgreen.core.values.model import Outcome

TALKS = {"text": "Now it is right."}
SLOW = {"text": "one two three four five six seven eight nine ten " * 20, "chunk": 10, "chunk_delay": 0.3}
FAULTY = ("claude", "codex", "opencode", "gemini")
LOGIN = {
    "claude": "/login",
    "codex": "codex login",
    "opencode": "opencode auth login",
    "gemini": "GEMINI_API_KEY",
    "qwen": "/auth",
    "copilot": "/login",
    "goose": "goose configure",
    "aider": "OPENAI_API_KEY",
}
TRIES = {"qwen": (28, 4), "copilot": (6, 6), "goose": (4, 4), "aider": (16, 4)}
"""How many requests of each other agent must be refused, or dropped, until it gives up."""
NAMES_NO_TIME = ("opencode", "gemini")
"""Agents that don't say how long the provider makes them wait."""
every = pytest.mark.parametrize("agent", FAULTY, indirect=True)
quick = pytest.mark.parametrize("agent", FAULTY[:2], indirect=True)
"""Agents that start quickly."""
others = pytest.mark.parametrize("agent", TRIES, indirect=True)


@pytest.mark.parametrize("agent", LOGIN, indirect=True)
def test_a_wrong_key_ends_at_once_with_the_command_that_fixes_it(bench: Bench, agent: str) -> None:
    with bench.model([{"error": 401}]) as model:
        code, said = bench.cli(*bench.asked())

    assert code == 4, said
    assert LOGIN[agent] in said
    assert len(model.requests) <= 3
    assert of(Halted, bench.journal())[0].cause == "auth"


@every
def test_a_rate_limit_is_a_pause_and_the_same_lap_continues(bench: Bench, agent: str) -> None:
    patient = agent in NAMES_NO_TIME
    turned_away = {"error": 429, "retry_after": 1 if patient else 45, "repeat": 4 if patient else 3}
    with bench.model([turned_away, RIGHT, TALKS, TALKS]):
        state, events = bench.run()

    assert (state.outcome, len(state.laps)) == (Outcome.CONVERGED, 1), state.reason
    pauses = of(Paused, events)
    assert [pause.cause for pause in pauses] == ["rate_limited"] * len(pauses)
    assert 1 <= len(pauses) == len(of(Resumed, events)) <= 3
    assert pauses[0].until is not None
    assert pauses[0].until - pauses[0].at >= 40
    assert [turn.lap for turn in of(TurnEnded, events)] == [1] * (len(pauses) + 1)


@others
@pytest.mark.parametrize(
    ("which", "fault", "cause"),
    [
        (0, {"error": 429, "retry_after": 1}, "rate_limited"),
        (1, {"text": "This sentence will never be finished because", "chunk": 8, "drop_after": 3}, "network"),
    ],
    ids=["turned away", "dropped"],
)
def test_the_same_lap_continues_after_a_temporary_failure(
    bench: Bench, agent: str, which: int, fault: dict[str, object], cause: str
) -> None:
    with bench.model([{**fault, "repeat": TRIES[agent][which]}, RIGHT, TALKS, TALKS]):
        state, events = bench.run()

    assert (state.outcome, len(state.laps)) == (Outcome.CONVERGED, 1), state.reason
    assert {pause.cause for pause in of(Paused, events)} == {cause}
    assert {turn.lap for turn in of(TurnEnded, events)} == {1}


@every
def test_a_server_that_always_fails_meets_the_limit_of_waits(bench: Bench, agent: str) -> None:
    waits = 1 if agent == "opencode" else 2
    with bench.model([{"error": 500}]):
        state, events = bench.run(limits={"waits": waits})

    assert state.outcome is Outcome.EXHAUSTED
    assert state.reason.startswith(f"limit waits: {waits} in a row")
    assert {turn.reply.error for turn in of(TurnEnded, events)} <= {"network", "rate_limited"}
    assert state.laps == ()


@every
def test_a_dropped_connection_is_a_pause_and_the_same_lap_continues(bench: Bench) -> None:
    cut = {"text": "This sentence will never be finished because", "chunk": 8, "drop_after": 3, "repeat": 4}
    with bench.model([cut, RIGHT, TALKS]):
        state, events = bench.run()

    assert (state.outcome, len(state.laps)) == (Outcome.CONVERGED, 1), state.reason
    assert {pause.cause for pause in of(Paused, events)} <= {"network"}


@every
def test_a_stream_that_stops_is_ended_by_the_watchdog(bench: Bench, agent: str) -> None:
    silence = {"opencode": "40s", "gemini": "20s"}.get(agent, "6s")
    with bench.model([{"text": "I begin, and then", "chunk": 5, "hang": 600}]) as model:
        state, events = bench.run(limits={"silence": silence, "errors": 1})

    assert model.turns == 1
    assert [turn.reply.error for turn in of(TurnEnded, events)] == ["stalled"]
    assert state.outcome is Outcome.EXHAUSTED
    assert "errors: the agent failed 1 time in a row, last: stalled" in state.reason


@quick
def test_a_lap_that_takes_too_long_is_ended_with_its_session_known(bench: Bench) -> None:
    with bench.model([{**SLOW, "chunk_delay": 1}]):
        _, events = bench.run(limits={"lap": "6s", "errors": 1})

    (turn,) = of(TurnEnded, events)
    assert turn.reply.error == "timeout"
    assert turn.reply.session


@every
def test_an_agent_that_is_ended_from_outside_was_interrupted_and_the_run_continues(
    bench: Bench, agent: str
) -> None:
    with bench.model([WRONG, SLOW, RIGHT, TALKS]) as model:
        run = bench.started(*bench.asked())
        assert wait_for(lambda: model.turns == 2)
        tree = psutil.Process(run.pid).children(recursive=True)
        os.kill(tree[0].pid, signal.SIGTERM)
        said, _ = run.communicate(timeout=100)

    assert run.returncode == 0, said
    errors = [turn.reply.error for turn in of(TurnEnded, bench.journal())]
    # Gemini exits silently with code 0.
    assert errors == ["crash" if agent == "gemini" else "interrupted", None], said


@every
def test_what_was_not_permitted_is_named_with_a_narrow_way_to_allow_it(bench: Bench, agent: str) -> None:
    # Codex sometimes doesn't report a command that ends at once.
    pause = "sleep 2; " if agent == "codex" else ""
    reaches = {"calls": [{"shell": f"{pause}curl -sS http://untilgreen.invalid/ || touch /usr/untilgreen"}]}
    with bench.model([reaches, RIGHT, TALKS]):
        code, said = bench.cli(*bench.asked())

    (turn,) = of(TurnEnded, bench.journal())
    assert code == 0, said
    assert turn.reply.denied
    assert "curl" in turn.reply.denied[0]
    assert "not permitted" in said
    assert "Allow " in said
    assert "--yolo" not in said


@every
def test_with_yolo_everything_is_permitted(bench: Bench) -> None:
    outside = bench.home / "outside.txt"
    with bench.model([{"calls": [{"shell": f"echo free > {outside}"}]}, RIGHT, TALKS]):
        code, said = bench.cli(*bench.asked("--yolo"))

    (turn,) = of(TurnEnded, bench.journal())
    assert (code, turn.reply.denied) == (0, ()), said
    assert outside.read_text() == "free\n"
