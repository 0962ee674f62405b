"""Agents whose hooks differ from Claude Code's: what each sends, omits, and gets as an answer."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import psutil
import pytest

from tests.surfaces.hook.helpers import DONE, Answer, Session
from untilgreen.surfaces.hook.slash_commands import Command, command_of


def stamp() -> str:
    """The current time in the format of transcripts."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Gemini:
    """Gemini's transcript and stop hook; the hook gets all text since the person's last prompt."""

    def __init__(self, session: Session) -> None:
        session.agent = "gemini"
        self.session, self.path = session, session.place.parent / "chat.jsonl"
        self.so_far = ""

    def write(self, *records: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)

    def says(self, text: str, *, active: bool = True) -> Answer:
        self.write(
            {"type": "user", "timestamp": stamp(), "content": [{"text": "the brief"}]},
            {"type": "gemini", "timestamp": stamp(), "content": text},
            {"$set": {"lastUpdated": stamp()}},
        )
        self.so_far += f"{text} \n"
        return self.stop(active=active)

    def stop(self, *, active: bool = True) -> Answer:
        payload = self.session.payload(active=active, transcript_path=str(self.path))
        del payload["last_assistant_message"]
        return self.session.hook("stop", {**payload, "prompt_response": self.so_far})


def test_only_the_last_words_of_gemini_count_though_it_sends_all_of_them(session: Session) -> None:
    gemini = Gemini(session)
    session.start("make it ok", "--gate", "tests=test -f ok")

    assert "ITERATION 2/20" in gemini.says(f"Done.\n{DONE}", active=False).brief
    assert "did not give the completion promise" in gemini.says("Not yet after all.", active=False).brief
    (session.place / "ok").touch()
    assert "complete after 3 laps" in gemini.says(DONE).toast


def test_a_turn_that_was_broken_off_in_gemini_pauses_the_loop_though_its_hook_is_called(
    session: Session,
) -> None:
    gemini = Gemini(session)
    session.start("make it ok", "--gate", "tests=test -f ok")
    gemini.says("One.", active=False)

    gemini.write({"type": "user", "timestamp": stamp(), "content": [{"text": "the brief"}]})
    broken = gemini.stop()
    assert (broken.brief, "is paused: you took over" in broken.toast) == ("", True)
    gemini.write({"$set": {"messages": [{"type": "user", "timestamp": stamp(), "content": "hello"}]}})
    assert gemini.stop().out == ""
    assert session.laps() == 1


def test_words_of_an_earlier_lap_are_not_mistaken_for_those_of_this_one_in_gemini(session: Session) -> None:
    gemini = Gemini(session)
    session.start("make it ok")
    gemini.write({"type": "gemini", "timestamp": stamp(), "content": DONE})
    session.hook("prompt", {"session_id": session.id, "cwd": str(session.place), "prompt": "/untilgreen go"})

    assert "is paused: you took over" in gemini.stop().toast


def test_a_transcript_of_gemini_that_nobody_can_read_leaves_its_last_answer(session: Session) -> None:
    gemini = Gemini(session)
    session.start("make it ok", "--gate", "tests=test -f ok")
    gemini.path.write_text("not JSON\n")
    gemini.so_far = f"First. \n{DONE} \n"

    assert "Your claim was rejected" in gemini.stop(active=False).brief
    gemini.so_far += "Second. \n"
    assert "did not give the completion promise" in gemini.stop().brief


def test_gemini_is_answered_in_its_own_format(session: Session) -> None:
    session.agent = "gemini"

    told = session.prompt("/ralph make it ok")
    assert told.said["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"
    assert told.context.startswith("[UNTILGREEN LOOP - ITERATION 1/20]")
    assert "&lt; and &gt;" in told.context


def is_running(pid: int) -> bool:
    """Whether a process is running; a zombie is not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class Copilot:
    """Copilot's transcript, which is written late, and its stop hook, which gets no text."""

    def __init__(self, session: Session) -> None:
        session.agent = "copilot"
        self.session, self.path = session, session.place.parent / "events.jsonl"

    def payload(self, *, active: bool) -> dict[str, Any]:
        return {
            "sessionId": self.session.id,
            "timestamp": int(time.time() * 1000),
            "cwd": str(self.session.place),
            "transcriptPath": str(self.path),
            "stopReason": "end_turn",
            "stop_hook_active": active,
        }

    def records(self, text: str, payload: dict[str, Any]) -> list[dict[str, Any]]:
        helper = {"content": DONE, "parentToolCallId": "call_1"}
        asked = {"content": "", "toolRequests": [{"name": "bash"}]}
        started = {"hookType": "agentStop", "input": payload}
        return [
            {"type": "user.message", "timestamp": stamp(), "data": {"content": DONE}},
            {"type": "assistant.message", "timestamp": stamp(), "data": {"content": f"First.\n{DONE}"}},
            {"type": "assistant.message", "timestamp": stamp(), "data": {"content": text}},
            {"type": "assistant.message", "timestamp": stamp(), "data": helper},
            {"type": "assistant.message", "timestamp": stamp(), "data": asked},
            {"type": "hook.start", "timestamp": stamp(), "data": started},
        ]

    def write(self, text: str, payload: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.writelines(json.dumps(record) + "\n" for record in self.records(text, payload))

    def says(self, text: str, *, active: bool = True) -> Answer:
        time.sleep(0.002)  # a model takes longer; the timestamps must differ
        payload = self.payload(active=active)
        self.write(text, payload)
        return self.session.hook("stop", payload)


def test_the_hook_waits_for_the_transcript_of_copilot_and_reads_it(session: Session) -> None:
    copilot = Copilot(session)
    session.start("make it ok", "--gate", "tests=test -f ok")

    payload = copilot.payload(active=False)
    stopping = session.begin("stop", payload)
    time.sleep(0.5)  # the transcript is written only after the hook has started
    copilot.write("One.", payload)
    assert "did not give the completion promise" in session.end(stopping).brief
    assert "Your claim was rejected" in copilot.says(f"There.\n{DONE}").brief
    (session.place / "ok").touch()
    copilot.says(DONE)
    (finished,) = session.events("RunFinished")
    assert finished.outcome == "converged"


def test_hooks_that_copilot_has_twice_and_calls_one_after_the_other_use_one_lap(session: Session) -> None:
    copilot = Copilot(session)
    session.start("make it ok", "--gate", "tests=test -f ok")
    for lap, active in ((2, False), (3, True)):
        time.sleep(0.002)
        payload = copilot.payload(active=active)
        copilot.write("One.", payload)
        assert f"ITERATION {lap}/20" in session.hook("stop", payload).brief
        assert session.hook("stop", payload).out == ""
    assert session.laps() == 2


def test_codex_is_interrupted_though_its_stop_hook_was_killed_and_no_gate_runs_on(session: Session) -> None:
    session.agent = "codex"
    gate = "test -f slow || { touch slow; exit 1; }; echo $$ > pid; exec sleep 600"
    begun = session.prompt(f'$ralph make it ok --gate "tests={gate}"')
    assert begun.toast.endswith("End it with $cancel-ralph")
    hook = session.begin("stop", session.payload(active=False))
    pid = session.place / "pid"
    while not (pid.exists() and pid.read_text().strip()):
        assert hook.poll() is None
        time.sleep(0.05)

    hook.kill()
    session.end(hook)
    paused = session.hook("interrupt", {"session_id": session.id, "cwd": str(session.place)})
    assert paused.toast.endswith("is paused: you took over. Continue with: $untilgreen go")
    assert not is_running(int(pid.read_text()))
    assert session.state()["waits"].endswith("Continue with: $untilgreen go")
    assert session.prompt("what is this?").out == ""
    (session.place / "slow").unlink()
    assert "ITERATION 2/20" in session.prompt("$untilgreen go").context


def test_a_person_does_not_wait_for_gates_that_run_on_in_gemini(session: Session) -> None:
    session.agent = "gemini"
    gate = (
        "test -f slow || { touch slow; exit 1; }; touch begun; until test -f over; do sleep 0.05; done; false"
    )
    session.start("make it ok", "--gate", f"tests={gate}")
    hook = session.begin("stop", session.payload(active=False))
    while not (session.place / "begun").exists():
        assert hook.poll() is None
        time.sleep(0.05)

    assert "is paused: you took over" in session.prompt("what is this?").toast
    assert hook.poll() is None
    (session.place / "over").touch()
    ended = session.end(hook)
    assert (ended.brief, "is paused: you took over" in ended.toast) == ("", True)
    assert (session.laps(), len(session.events("BriefOffered"))) == (1, 1)


@pytest.mark.parametrize("agent", ["copilot", "qwen"])
def test_a_model_has_to_say_what_its_agent_does_not_show_of_a_hook(session: Session, agent: str) -> None:
    session.agent = agent

    said = session.prompt("/ralph make it ok").said
    told = said.get("hookSpecificOutput", said)["additionalContext"]
    assert told.startswith("[UNTILGREEN LOOP - ITERATION 1/20]")
    assert "Tell the user this, on a line of its own: untilgreen: loop started" in told
    said = session.prompt("what is this?").said
    assert "is paused: you took over" in said.get("hookSpecificOutput", said)["additionalContext"]
    assert session.prompt("/cancel-ralph").said["decision"] == "block"


@pytest.mark.parametrize(
    ("agent", "laps", "sentence"),
    [
        ("qwen", "9", "Qwen Code stops after 8 laps in a row; continue with /untilgreen go"),
        ("qwen", "8", ""),
        ("copilot", "10", "GitHub Copilot CLI stops after 9 laps in a row; continue with"),
        ("claude", "20", ""),
    ],
)
def test_a_start_warns_of_an_agent_that_makes_fewer_laps_in_a_row(
    session: Session, agent: str, laps: str, sentence: str
) -> None:
    session.agent = agent

    told = session.prompt(f"/ralph make it ok --max-iterations={laps}").out
    assert ("laps in a row" in told) == bool(sentence)
    assert sentence in told


@pytest.mark.parametrize(
    ("prompt", "command"),
    [
        (
            "untilgreen: /ralph\nSome words.\n\n/ralph fix $& it\n\nnow",
            Command(name="ralph", rest="fix $& it\n\nnow"),
        ),
        ("untilgreen: /untilgreen\nSome words.", Command(name="untilgreen", rest="")),
        ("<!-- x -->\nuntilgreen: /ralph\nSome words.\n\n/ralph it", Command(name="ralph", rest="it")),
        ("untilgreen: /ralph\nSome words.\n\n/untilgreen go", None),
        (
            'You used "/ralph".\n\n<skill-context name="ralph">\nBase directory: /x\n\n<!-- y -->\n'
            "untilgreen: /ralph\nSome words.\n\n\nARGUMENTS: fix $& it\n</skill-context>",
            Command(name="ralph", rest="fix $& it"),
        ),
        (
            'You used it.\n\n<skill-context name="cancel-ralph">\nBase\n\n'
            "untilgreen: /cancel-ralph\nWords.\n\n</skill-context>",
            Command(name="cancel-ralph", rest=""),
        ),
        ('say\n<skill-context name="other">\nuntilgreen: /ralph\nx\n</skill-context>', None),
    ],
)
def test_a_command_that_its_agent_expanded_is_known_again(prompt: str, command: Command | None) -> None:
    assert command_of(prompt) == command


def test_opencode_is_answered_with_a_brief_a_toast_or_a_refusal(session: Session) -> None:
    session.agent = "opencode"

    refused = session.prompt("/ralph make it ok --max-iteration=3").said
    assert refused["refused"].startswith("There is no flag '--max-iteration'.")
    assert (refused["brief"], refused["toast"]) == ("", "")
    begun = session.prompt("/ralph make it ok").said
    assert begun["brief"].startswith("[UNTILGREEN LOOP - ITERATION 1/20]")
    assert begun["toast"].startswith("loop started, lap 1 of 20")
    assert session.prompt(begun["brief"]).out == ""


def test_plugins_that_opencode_has_twice_use_one_lap_however_late_the_second_is(session: Session) -> None:
    session.agent = "opencode"
    session.prompt("/ralph make it ok")
    idle = {"sessionID": session.id, "cwd": str(session.place), "text": "One."}
    for lap in (2, 3):
        time.sleep(0.002)
        payload = {**idle, "timestamp": int(time.time() * 1000)}
        assert f"ITERATION {lap}/20" in session.hook("idle", payload).said["brief"]
        assert session.hook("idle", payload).out == ""
    assert session.laps() == 2
