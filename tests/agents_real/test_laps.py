"""With each real agent: a wrong lap, a red gate, a right lap, and what the journal knows about it."""

import os
import subprocess
import sys

import pytest

from tests.agents_real.bench import NO_TOOLS, RIGHT, TWO_LAPS, WRONG, Bench, of
from tests.agents_real.clis import PINS, installed
from untilgreen.core.values.events import AgentSwitched, TurnEnded
from untilgreen.core.values.model import Outcome


@pytest.mark.parametrize("session", ["fresh", "continue"])
def test_a_wrong_lap_is_followed_by_a_right_one(bench: Bench, agent: str, session: str) -> None:
    with bench.model(TWO_LAPS) as model:
        state, events = bench.run(session=session)

    assert (state.outcome, len(state.laps)) == (Outcome.CONVERGED, 2), state.reason
    assert (bench.project / "answer.txt").read_text() == "42\n"
    first, second = (turn.reply for turn in of(TurnEnded, events))
    assert "I wrote it." in first.text
    assert "Now it is right." in second.text
    used, used_then = first.usage.tokens or 0, second.usage.tokens or 0
    assert 0 < used_then < used * 2
    begins = [
        asked
        for asked in model.requests
        if "This is lap" in asked.last_user and asked.messages[-1][0] == "user"
        if asked.tools or agent in NO_TOOLS  # a request for a title has no tools
    ]
    lengths = [len(asked.messages) for asked in begins]
    if session == "fresh" or agent in NO_TOOLS:
        assert lengths[0] == lengths[-1]
    else:
        assert lengths[0] < lengths[-1]
    if agent in NO_TOOLS:
        assert (first.session, second.session) == (None, None)
    else:
        assert first.session
        assert (first.session == second.session) == (session == "continue")


def test_what_it_does_is_in_the_transcript_and_shown(bench: Bench) -> None:
    with bench.model(TWO_LAPS):
        code, said = bench.cli(*bench.asked("--verbose"))

    assert code == 0, said
    assert "Now it is right." in said
    assert "answer.txt" in said
    transcripts = [
        each for each in bench.state.rglob("activity/*.jsonl") if not each.name.endswith(".shown.jsonl")
    ]
    assert len(transcripts) == 2
    assert all(
        "I wrote it." in each.read_text() or "Now it is right." in each.read_text() for each in transcripts
    )


def test_a_promise_with_red_gates_is_rejected(bench: Bench) -> None:
    done = {"text": "It is done.\n<promise>DONE</promise>"}
    with bench.model([WRONG, done, RIGHT, done]) as model:
        state, events = bench.run(promise="DONE")

    assert (state.outcome, len(state.laps)) == (Outcome.CONVERGED, 2), state.reason
    assert [turn.claim for turn in of(TurnEnded, events)] == [True, True]
    assert any("Your claim was rejected" in asked.last_user for asked in model.requests)


def test_doctor_knows_its_version_and_misses_no_flag(bench: Bench, agent: str) -> None:
    with bench.model([{"text": "hello"}]):
        _, said = bench.cli("doctor", "--agent", agent, "--gate", "true")

    (row,) = [line for line in said.splitlines() if f"agent {agent}:" in line]
    assert PINS[agent].shown in row
    assert "does not know" not in row


@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_when_an_agent_is_out_of_quota_the_next_continues_the_same_lap(bench: Bench) -> None:
    if not installed("codex"):
        pytest.skip("codex is not installed: make test-agents AGENTS=codex")
    bench.second = "codex"
    used_up = {"error": 429, "retry_after": 90, "message": "You have hit your usage limit."}
    with bench.model([used_up, RIGHT, {"text": "Now it is right."}]):
        state, events = bench.run()

    assert (state.outcome, len(state.laps)) == (Outcome.CONVERGED, 1), state.reason
    assert [(turn.lap, turn.reply.error) for turn in of(TurnEnded, events)] == [(1, "quota"), (1, None)]
    assert [switched.agent for switched in of(AgentSwitched, events)] == ["codex"]


@pytest.mark.parametrize("agent", ["claude", "codex"], indirect=True)
def test_the_demo_shows_the_real_agent_with_a_scripted_model(bench: Bench, agent: str) -> None:
    with bench.model([{"text": "this model is not asked"}]) as model:
        ran = subprocess.run(
            [sys.executable, "-m", "untilgreen", "demo", "--agent", agent],
            cwd=bench.project,
            env={**os.environ, "TMPDIR": str(bench.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "converged: all required gates pass in lap 4" in ran.stdout
    assert "claim rejected" in ran.stderr
    assert model.requests == []
