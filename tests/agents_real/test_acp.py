"""Real agents driven over the Agent Client Protocol, against the scripted model."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest

from tests.agents_real.bench import GATE, RIGHT, TASK, TWO_LAPS, WRONG, Bench, of, wait_for
from tests.agents_real.clis import speaks_acp
from untilgreen.agents.acp.known_agents import KNOWN
from untilgreen.core.values.events import Halted, Paused, TurnEnded
from untilgreen.core.values.model import Outcome

pytestmark = pytest.mark.parametrize("agent", list(KNOWN), indirect=True)
ENV = {
    "claude": {"CLAUDE_CODE_MAX_RETRIES": "0"},
    "codex": {"CODEX_CONFIG": '{"model":"gpt-5.1"}'},
    "copilot": {"COPILOT_MODEL": "scripted-1"},
}
FORGETS = ("gemini",)
"""Agents whose server can't find a session again; each lap begins a new one."""
HIDES_THE_RESET = ("codex", "qwen")
"""Agents that report a limit without its reset; the run tries again after a minute."""
BESIDE = {"codex": '"suggestion"', "qwen": "[SUGGESTION MODE"}
"""Text in these agents' requests for a suggestion after each turn; these use up no scripted turn."""


def side(agent: str) -> dict[str, Any]:
    """The scripted model's answers to requests that are not part of the work."""
    return {"side": {"containing": BESIDE.get(agent, ""), "text": '{"suggestion": null}'}}


DONE = {"text": "It is done.\n<promise>DONE</promise>"}


@pytest.fixture
def spoken(bench: Bench, agent: str, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The bench of an agent whose ACP server is installed."""
    if not speaks_acp(agent):
        pytest.skip(f"the ACP server of {agent} is not installed: make test-agents AGENTS={agent}")
    for name, value in ENV.get(agent, {}).items():
        monkeypatch.setenv(name, value)
    return bench


def spec(agent: str, **further: Any) -> dict[str, Any]:
    return {"agents": [f"acp:{agent}"], "permissions": "gates", **further}


@pytest.mark.parametrize("session", ["fresh", "continue"])
def test_a_wrong_lap_is_followed_by_a_right_one(spoken: Bench, agent: str, session: str) -> None:
    with spoken.model(TWO_LAPS, **side(agent)):
        state, events = spoken.run(**spec(agent, session=session))

    assert (state.outcome, len(state.laps)) == (Outcome.CONVERGED, 2), state.reason
    assert (spoken.project / "answer.txt").read_text() == "42\n"
    first, second = (turn.reply for turn in of(TurnEnded, events))
    assert ("I wrote it." in first.text, "Now it is right." in second.text) == (True, True)
    assert first.session
    assert (first.session == second.session) == (session == "continue" and agent not in FORGETS)
    assert first.usage.tokens


def test_a_promise_with_red_gates_is_rejected(spoken: Bench, agent: str) -> None:
    with spoken.model([WRONG, DONE, RIGHT, DONE], **side(agent)) as model:
        state, events = spoken.run(**spec(agent, promise="DONE"))

    assert (state.outcome, len(state.laps)) == (Outcome.CONVERGED, 2), state.reason
    assert [turn.claim for turn in of(TurnEnded, events)] == [True, True]
    assert any("Your claim was rejected" in asked.last_user for asked in model.requests)


def test_a_wrong_key_ends_with_exit_code_4(spoken: Bench, agent: str) -> None:
    with spoken.model([{"error": 401}], **side(agent)):
        code, said = spoken.cli("run", TASK, "--gate", GATE, "--agent", f"acp:{agent}", "--no-input")

    assert code == 4, said
    assert of(Halted, spoken.journal())[0].cause == "auth"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("status", [429, 500])
def test_a_temporary_failure_is_a_pause(spoken: Bench, agent: str, status: int) -> None:
    with spoken.model([{"error": status, "retry_after": 1}], **side(agent)):
        state, events = spoken.run(**spec(agent, limits={"waits": 1, "silence": "200s"}))

    assert state.outcome is Outcome.EXHAUSTED
    assert {turn.reply.error for turn in of(TurnEnded, events)} <= {"rate_limited", "network"}
    assert of(Paused, events)


@pytest.mark.timeout(600)
def test_a_rate_limit_that_names_its_reset_is_a_pause_until_then(spoken: Bench, agent: str) -> None:
    limited: dict[str, Any] = {
        "error": 429,
        "message": "Rate limit reached. Please try again in 900 seconds.",
    }
    if agent == "qwen":  # without this header its own retries take minutes
        limited["retry_after"] = 1
    with spoken.model([limited], **side(agent)):
        _, events = spoken.run(**spec(agent, limits={"waits": 1, "silence": "200s"}))

    paused = of(Paused, events)[0]
    assert paused.cause == "rate_limited"
    assert paused.until is not None
    seconds = 60 if agent in HIDES_THE_RESET else 900
    assert 0.8 * seconds < paused.until - paused.at <= seconds, of(TurnEnded, events)[0].reply.detail


def test_a_command_that_is_not_a_gate_is_denied(spoken: Bench, agent: str) -> None:
    if agent == "codex":
        pytest.skip("codex does not ask over ACP: it relies on its own sandbox")
    runs = {"text": "I try.", "calls": [{"shell": "touch denied.txt"}]}
    with spoken.model([runs, {"text": "I could not."}, RIGHT, {"text": "Now it is right."}], **side(agent)):
        _, events = spoken.run(**spec(agent, limits={"iterations": 2}))

    assert not (spoken.project / "denied.txt").exists()
    assert any("denied.txt" in each for each in of(TurnEnded, events)[0].reply.denied)


def test_a_stop_in_the_middle_of_a_command_leaves_nothing_running(spoken: Bench, agent: str) -> None:
    sleeps = {"text": "I wait.", "calls": [{"shell": "python3 -c 'import time; time.sleep(4567)'"}]}
    with spoken.model([sleeps, {"text": "Done."}], **side(agent)):
        arguments = ["run", TASK, "--gate", GATE, "--agent", f"acp:{agent}", "--no-input", "--yolo"]
        process = spoken.started(*arguments)
        assert wait_for(lambda: spoken.processes("time.sleep(4567)"), 60)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)

    assert process.returncode == 130, said
    assert spoken.left_behind() == []


def test_a_killed_driver_is_resumed(spoken: Bench, agent: str) -> None:
    turns = [{**RIGHT, "delay": 8}, {"text": "Now it is right."}, RIGHT, {"text": "Right."}]
    with spoken.model(turns, **side(agent)) as model:
        arguments = ["run", TASK, "--gate", GATE, "--agent", f"acp:{agent}", "--no-input"]
        process = spoken.started(*arguments)
        assert wait_for(lambda: model.requests, 60)
        time.sleep(1)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        code, said = spoken.cli("resume", "--no-input")

    assert code == 0, said
    assert (spoken.project / "answer.txt").read_text() == "42\n"
    assert spoken.left_behind() == []
