"""untilgreen as an agent in an editor: a real process that gets the messages of an editor."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.surfaces.acp.editor import Editor

WAITS = "echo x >> lines; exec sleep 5432"


def sleeping(seconds: str) -> bool:
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return f"sleep {seconds}" in running


def wait_for(happened: Callable[[], bool], seconds: float = 120) -> bool:
    deadline = time.monotonic() + seconds
    while not happened() and time.monotonic() < deadline:
        time.sleep(0.1)
    return happened()


def test_a_prompt_is_a_run_with_laps_and_gates_as_tool_calls(editor: Editor) -> None:
    editor.spec()

    answer = editor.prompt(editor.session())

    assert answer["result"] == {"stopReason": "end_turn"}
    assert "**converged**: all required gates pass in lap 3" in editor.text()
    calls = {each["toolCallId"].partition("-")[2]: each for each in editor.updates("tool_call")}
    assert {"lap-1", "lap-2", "lap-3", "gate-3-three"} <= set(calls)
    assert (calls["gate-1-three"]["status"], calls["gate-3-three"]["status"]) == ("failed", "completed")
    done = [each for each in editor.updates("tool_call_update") if each["toolCallId"].endswith("lap-3")]
    assert "I wrote a line" in done[-1]["content"][0]["content"]["text"]
    before, *_, after = [
        [(each["content"], each["status"]) for each in plan["entries"]] for plan in editor.updates("plan")
    ]
    assert ("three", "pending") in before
    assert ("three", "completed") in after
    assert editor.close() == 0


def test_a_lap_shows_what_it_changed_as_diffs(editor: Editor) -> None:
    (editor.project / "old name").write_text("one\ntwo\n")
    (editor.project / "gone").write_text("bye\n")
    editor.spec(turn="echo three | tee -a old*; rm gone; printf 1 > tür", gate="test -e tür")

    editor.prompt(editor.session())

    (shown,) = [each for each in editor.updates("tool_call_update") if "locations" in each]
    assert shown["toolCallId"] == f"{editor.run}-lap-1"
    diffs = {Path(each["path"]).name: each for each in shown["content"] if each["type"] == "diff"}
    assert (diffs["old name"]["oldText"], diffs["old name"]["newText"]) == ("one\ntwo\n", "one\ntwo\nthree\n")
    assert (diffs["tür"]["oldText"], diffs["tür"]["newText"]) == (None, "1")
    assert (diffs["gone"]["oldText"], diffs["gone"]["newText"]) == ("bye\n", "")
    assert {each["path"] for each in shown["locations"]} == {
        str(editor.project / name) for name in ("old name", "tür", "gone")
    }


def test_two_prompts_of_a_session_are_two_runs_with_their_own_calls(editor: Editor) -> None:
    editor.spec()
    session = editor.session()
    editor.prompt(session)
    (editor.project / "lines").unlink()
    editor.prompt(session, "Once more.")

    laps = [each["toolCallId"] for each in editor.updates("tool_call") if "-lap-" in each["toolCallId"]]
    assert len(laps) == len(set(laps)) == 6


def test_mentioned_files_are_part_of_the_task(editor: Editor) -> None:
    editor.spec(turn="echo done > lines", gate="test -e lines")
    session = editor.session()

    editor.ask(
        "session/prompt",
        sessionId=session,
        prompt=[
            {"type": "text", "text": "Fix "},
            {"type": "resource_link", "uri": "file:///p/a%20b.py#L3:9", "name": "a b.py"},
            {"type": "text", "text": " as in "},
            {"type": "resource", "resource": {"uri": "file:///p/c.py", "text": "x = 1"}},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        ],
    )

    editor.ask("session/load", sessionId=editor.run, cwd=str(editor.project), mcpServers=[])
    (asked,) = editor.updates("user_message_chunk")
    assert asked["content"]["text"] == "Fix /p/a b.py (L3:9) as in \n\n/p/c.py:\n```\nx = 1\n```"


def test_a_question_is_a_permission_request(editor: Editor) -> None:
    editor.spec(strategy='"manual"', gate="false")
    editor.answers = {"outcome": "selected", "optionId": "stop"}

    answer = editor.prompt(editor.session())

    (asked,) = [each for each in editor.heard if each.get("method") == "session/request_permission"]
    kinds = {each["optionId"]: each["kind"] for each in asked["params"]["options"]}
    assert (kinds["continue"], kinds["stop"]) == ("allow_once", "reject_once")
    assert answer["result"] == {"stopReason": "end_turn"}
    assert "**cancelled**: " in editor.text()


@pytest.mark.parametrize("answer", [{"outcome": "cancelled"}, {"outcome": "selected", "optionId": "fly"}])
def test_a_closed_request_is_not_an_answer_and_the_run_waits_for_one(
    editor: Editor, answer: dict[str, str]
) -> None:
    editor.spec(strategy='"manual"', gate="false")
    editor.answers = answer
    number = editor.begin_prompt(editor.session())
    editor.until(lambda heard: "That was not an answer" in json.dumps(heard))

    code, said = editor.untilgreen("answer", editor.run, "stop")

    assert code == 0, said
    assert editor.wait(number)["result"] == {"stopReason": "end_turn"}
    assert '"choice":"continue"' not in (editor.state / "runs" / editor.run / "journal.jsonl").read_text()


def test_a_question_that_is_answered_elsewhere_makes_way_for_the_next(editor: Editor) -> None:
    editor.spec(strategy='"manual"', gate="false")
    editor.answers = None
    number = editor.begin_prompt(editor.session())
    asks = "session/request_permission"
    first = editor.until(lambda heard: heard.get("method") == asks)
    assert editor.untilgreen("answer", editor.run, "continue")[0] == 0

    editor.answers = {"outcome": "selected", "optionId": "stop"}
    second = editor.until(lambda heard: heard.get("method") == asks)

    assert first["params"]["toolCall"]["toolCallId"] != second["params"]["toolCall"]["toolCallId"]
    assert editor.wait(number)["result"] == {"stopReason": "end_turn"}


def test_cancel_ends_the_turn_at_once_and_leaves_nothing_running(editor: Editor) -> None:
    editor.spec(turn=WAITS)
    session = editor.session()
    number = editor.begin_prompt(session, "Go.")
    editor.until(editor.begins_lap(1))
    editor.send(method="session/cancel", params={"sessionId": session})

    assert editor.wait(number)["result"] == {"stopReason": "cancelled"}
    assert not sleeping("5432")


def test_an_editor_that_does_not_read_can_still_cancel(editor: Editor) -> None:
    editor.spec(turn="seq -f %0200g 2000; exec sleep 5434")  # more than a pipe holds
    session = editor.session()
    number = editor.begin_prompt(session, "Go.")
    assert wait_for(lambda: sleeping("5434"))
    editor.send(method="session/cancel", params={"sessionId": session})

    assert wait_for(lambda: not sleeping("5434"))
    assert editor.wait(number)["result"] == {"stopReason": "cancelled"}


@pytest.mark.parametrize("how", ["closed", "SIGTERM"])
def test_an_editor_that_leaves_saves_its_run(editor: Editor, how: str) -> None:
    editor.spec(turn="echo x >> lines; test -e quick || exec sleep 5433")
    editor.begin_prompt(editor.session())
    editor.until(editor.begins_lap(1))
    run = editor.run
    if how == "SIGTERM":
        editor.process.send_signal(signal.SIGTERM)
        assert editor.process.wait(40) == 0
    assert editor.close() == 0
    assert not sleeping("5433")

    (editor.project / "quick").touch()
    code, said = editor.untilgreen("resume", run, "--no-input")

    assert code == 0, said
    assert (editor.project / "lines").read_text().count("x") >= 3


def test_an_agent_that_can_not_be_used_is_reported(editor: Editor) -> None:
    script = editor.state.parent / "script.json"
    script.write_text('[[{"fail": {"code": -32000, "message": "Authentication required"}}]]')
    editor.spec(agent=f"acp:{sys.executable} -m untilgreen.testing.acp_agent {script}")

    answer = editor.prompt(editor.session())

    assert answer["result"] == {"stopReason": "end_turn"}
    assert f"When it is fixed: `untilgreen resume {editor.run}`" in editor.text()


def test_a_spec_that_nobody_trusts_is_not_run(editor: Editor) -> None:
    editor.spec(trust=False)

    answer = editor.prompt(editor.session())

    assert "untilgreen trust" in answer["error"]["message"]
    assert not (editor.project / "lines").exists()


def test_a_session_shows_its_runs_again_in_a_new_process(editor: Editor) -> None:
    editor.spec()
    session = editor.session()
    editor.prompt(session)
    (editor.project / "lines").unlink()
    editor.prompt(session, "Once more.")
    assert editor.close() == 0

    again = Editor(editor.project, editor.state)
    answer = again.ask("session/load", sessionId=session, cwd=str(editor.project), mcpServers=[])

    assert answer["result"] == {}
    asked = [each["content"]["text"] for each in again.updates("user_message_chunk")]
    assert asked == ["Write three lines.", "Once more."]
    assert again.text() == editor.text()
    for kind in ("tool_call", "plan"):
        assert again.updates(kind) == editor.updates(kind)
    diffs = [each for each in editor.updates("tool_call_update") if "locations" in each]
    assert [each for each in again.updates("tool_call_update") if "locations" in each] == diffs
    assert len(diffs) == 6
    assert again.close() == 0


def test_a_run_is_shown_again_by_its_id_and_an_unknown_id_is_reported(editor: Editor) -> None:
    editor.spec()
    editor.prompt(editor.session())
    run = editor.run
    editor.heard.clear()

    answer = editor.ask("session/load", sessionId=run, cwd=str(editor.project), mcpServers=[])
    unknown = editor.ask("session/load", sessionId="nope", cwd=str(editor.project), mcpServers=[])

    assert answer["result"] == {}
    assert "**converged**" in editor.text()
    assert "There is no run 'nope'" in unknown["error"]["message"]


def test_nonsense_gets_an_error_and_ends_nothing(editor: Editor) -> None:
    assert editor.process.stdin is not None
    session = editor.session()
    editor.process.stdin.write("{broken\n[1]\n\n")
    editor.process.stdin.write("x" * 100_000_000 + "\n")
    editor.process.stdin.write('{"jsonrpc":"2.0","id":"nobody","result":{}}\n{"id":7,"result":3}\n')
    editor.process.stdin.flush()

    assert editor.ask("session/fly")["error"]["code"] == -32601
    assert editor.ask("session/new", cwd="nowhere")["error"]["code"] == -32602
    assert editor.ask("session/prompt", sessionId="none", prompt=[])["error"]["code"] == -32602
    assert "empty" in editor.ask("session/prompt", sessionId=session, prompt=[7])["error"]["message"]
    assert [each["error"]["code"] for each in editor.heard if "error" in each] == [-32700] * 3
    assert editor.close() == 0
