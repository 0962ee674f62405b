"""The stop hook: what counts as a lap, what does not, and that a person is never trapped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from shutil import which

import anyio
import pytest

from tests.surfaces.hook.helpers import DONE, Session
from untilgreen.engine.driving.drive import drive
from untilgreen.engine.loop.seat import UNATTENDED
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.engine.worktree.premises import LocalPremises
from untilgreen.errors import UserError

OK_GATE = ("--gate", "tests=test -f ok")


def test_a_loop_continues_until_the_gate_is_green_and_the_promise_was_given(session: Session) -> None:
    begun = session.start("make it ok", *OK_GATE, "--max-iterations=5")
    assert begun.out.startswith("[UNTILGREEN LOOP - ITERATION 1/5]")

    kept = session.stop("I looked at it.", active=False)
    assert kept.brief.startswith("[UNTILGREEN LOOP - ITERATION 2/5]")
    assert "did not give the completion promise" in kept.brief
    assert kept.toast.startswith("untilgreen: lap 2 of 5")

    rejected = session.stop(f"It is done.\n{DONE}")
    assert "Your claim was rejected: you said that the task is done, but 1 of 1 gate is red: tests" in (
        rejected.brief
    )

    (session.place / "ok").touch()
    done = session.stop(f"Now it is.\n{DONE}")
    assert (done.code, done.brief) == (0, "")
    assert done.toast.startswith("untilgreen: complete after 3 laps: converged")
    (finished,) = session.events("RunFinished")
    assert finished.outcome == "converged"
    assert session.notes() == []
    assert session.stop("hello", active=False).out == ""


def test_the_last_lap_that_is_allowed_ends_the_loop_with_a_notice(session: Session) -> None:
    session.start("make it ok", *OK_GATE, "--max-iterations", "1")

    last = session.stop(active=False)
    assert last.brief == ""
    assert last.toast.startswith("untilgreen: stopped after 1 lap: exhausted, limit iterations: 1 of 1 used")


def test_another_session_is_never_touched(session: Session) -> None:
    session.start("make it ok", *OK_GATE)
    before = session.journal.read_bytes()
    other = session.other("9f9f9f9f-0000-4000-8000-000000000000")

    assert other.stop(f"my id is not {session.id}").out == ""
    assert other.prompt("how are you?").out == ""
    assert session.journal.read_bytes() == before


def test_a_session_can_only_cancel_its_own_loop(session: Session) -> None:
    session.start("make it ok", *OK_GATE)

    refused = session.call("session", "cancel", "--session", "someone-else")
    assert (refused.code, session.state()["active"]) == (1, True)
    assert "No loop is active in session 'someone-else'" in refused.err
    typed = session.other("someone-else").prompt("/cancel-ralph")
    assert (typed.said["reason"], session.state()["active"]) == ("no loop is active in this session.", True)
    ended = session.call("session", "cancel", "--session", session.id)
    assert ended.code == 0
    assert ended.out.startswith("loop cancelled after 0 laps")
    assert session.notes() == []


def test_a_users_own_turn_is_not_a_lap_and_gets_no_brief(session: Session) -> None:
    session.start("make it ok", *OK_GATE)
    assert session.stop(active=False).brief

    own = session.stop("The answer is 42.", active=False)
    assert own.brief == ""
    assert own.toast.endswith("is paused: you took over. Continue with: /untilgreen go")
    assert session.stop("Once more.", active=False).out == ""
    assert session.laps() == 1

    again = session.prompt("/untilgreen go")
    assert again.context.startswith("[UNTILGREEN LOOP - ITERATION 2/20]")
    assert session.stop(active=False).brief.startswith("[UNTILGREEN LOOP - ITERATION 3/20]")


def test_a_prompt_of_ones_own_in_the_middle_pauses_the_loop(session: Session) -> None:
    session.start("make it ok", *OK_GATE)

    assert "is paused: you took over" in session.prompt("wait, what is this file for?").toast
    assert session.stop("It is for notes.", active=False).out == ""
    assert (session.laps(), session.state()["iteration"]) == (0, 1)


def test_a_stop_with_work_in_the_background_is_allowed_and_ends_no_lap(session: Session) -> None:
    session.start("make it ok", *OK_GATE)
    tasks = [{"id": "b1", "status": "running", "description": "npm run dev"}]

    busy = session.stop(active=False, background_tasks=tasks)
    assert busy.brief == ""
    assert busy.toast == "untilgreen: the lap continues in the background: npm run dev"
    assert session.laps() == 0

    over = [{"id": "b1", "status": "completed", "description": "npm run dev"}]
    assert "ITERATION 2/" in session.stop(active=False, background_tasks=over).brief


def test_of_two_hooks_at_once_one_has_the_brief_and_the_lap(session: Session) -> None:
    """A hook may be registered or called twice; `bench/hooks.py` runs this race 200 times."""
    (session.place / "untilgreen.toml").write_text("detectors = []\n")
    session.start("make it ok", "--max-iterations=50")
    for lap in range(2, 10):
        payload = session.payload(f"try {lap}", active=lap > 2)
        pair = [session.begin("stop", payload) for _ in range(2)]
        briefs = [answer.brief for answer in map(session.end, pair) if answer.out]
        assert [f"ITERATION {lap}/" in brief for brief in briefs] == [True]
    assert session.laps() == 8


def test_a_second_hook_says_nothing_while_the_first_one_runs_its_gates(session: Session) -> None:
    gate = (
        "test -f slow || { touch slow; exit 1; }; touch began; until test -f go; do sleep 0.05; done; exit 1"
    )
    session.start("make it ok", "--gate", f"tests={gate}")
    first = session.begin("stop", session.payload(active=False))
    while not (session.place / "began").exists():
        assert first.poll() is None
        time.sleep(0.05)

    second = session.begin("stop", session.payload(active=False))
    with suppress(subprocess.TimeoutExpired):
        second.wait(2)
    (session.place / "go").touch()

    assert "ITERATION 2/" in session.end(first).brief
    assert session.end(second).out == ""


def test_a_stop_of_a_paused_run_loads_no_event_loop_and_nothing_that_drives(session: Session) -> None:
    session.start("make it ok", *OK_GATE)
    session.prompt("let me look at it")
    assert session.state()["waits"]

    answer, loaded = _loaded(session)
    assert answer == ""
    assert "untilgreen.surfaces.hook.call" in loaded
    driving = ("asyncio", "untilgreen.engine.driving", "untilgreen.gates", "untilgreen.process.run")
    slow = ("threading", "shutil", "secrets")
    assert [name for name in loaded if name.startswith((*driving, *slow))] == []


def _loaded(session: Session) -> tuple[str, list[str]]:
    """The answer to a stop, and the modules that its process loaded."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "untilgreen", "hook", "stop", "--agent", "claude"],
        cwd=session.place,
        env=session.env,
        input=json.dumps(session.payload()),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]


def test_a_gate_that_leaves_a_daemon_behind_does_not_keep_the_answer(session: Session) -> None:
    session.start("make it ok", "--gate", "tests=sleep 600 & test -f ok")

    began = time.monotonic()
    assert "ITERATION 2/" in session.stop(active=False).brief
    assert time.monotonic() - began < 60


def test_a_gate_past_the_deadline_is_ended_and_the_session_may_stop(session: Session) -> None:
    session.start("make it ok", "--gate", "tests=test -f fast || { touch fast; exit 1; }; sleep 600")

    late = session.stop("on it", "--deadline", "9", active=False)
    assert late.brief == ""
    assert "is paused: the gates used up the hook's time limit" in late.toast
    (verdict,) = [event.verdict for event in session.events("GateChecked") if event.gate == "tests"][1:]
    assert (verdict.status, verdict.findings[0].id) == ("error", "timeout")


def test_a_hook_that_gets_sigterm_ends_its_gates_and_records_it(session: Session) -> None:
    gate = "test -f slow || { touch slow; exit 1; }; echo $$ > pid; exec sleep 600"
    session.start("make it ok", "--gate", f"tests={gate}")
    hook = session.begin("stop", session.payload(active=False))
    pid = session.place / "pid"
    while not (pid.exists() and pid.read_text().strip()):
        assert hook.poll() is None
        time.sleep(0.05)

    hook.send_signal(signal.SIGTERM)
    assert session.end(hook).brief == ""
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
    assert [event.signal for event in session.events("Interrupted")] == ["SIGTERM"]
    assert session.stop("my own question", active=False).out == ""


def test_the_promise_counts_only_in_the_agents_last_words(session: Session) -> None:
    session.start(f"write {DONE} when it is done")
    echo = f"Right: I will\nwrite {DONE} when it is done"

    assert session.stop(echo, active=False).brief
    assert session.stop("no", prompt=DONE, tool_output=DONE, reasoning=DONE).brief
    assert session.stop(f"```\n{DONE}\n```").brief
    assert session.stop("an earlier lap had it").brief
    assert "complete" in session.stop(f"Here:\n{DONE}").toast


def test_a_promise_of_ones_own_ends_the_loop_and_another_one_does_not(session: Session) -> None:
    session.start("make it ok", "--completion-promise=ALL_FIXED")

    assert "ITERATION 2/" in session.stop(f"Here:\n{DONE}", active=False).brief
    assert "complete after 2 laps" in session.stop("Here:\n<promise>ALL_FIXED</promise>").toast


def test_a_deleted_session_clears_its_run(session: Session) -> None:
    session.start("make it ok", *OK_GATE)
    session.agent = "opencode"

    assert session.hook("deleted", {"sessionID": session.id}).code == 0
    (finished,) = session.events("RunFinished")
    assert (finished.outcome, finished.reason) == ("cancelled", "its session was deleted")
    assert session.notes() == []


def test_a_session_that_ended_leaves_its_run_to_the_same_id(session: Session) -> None:
    session.start("make it ok", *OK_GATE)

    assert session.hook("end", {"session_id": session.id, "reason": "other"}).out == ""
    assert session.state()["active"] is True
    greeted = session.hook("start", {"session_id": session.id, "source": "resume"})
    assert greeted.toast.endswith("is paused: its session ended. Continue with: /untilgreen go")
    assert session.prompt("/untilgreen go").context.startswith("[UNTILGREEN LOOP - ITERATION 1/20]")


def test_an_error_uses_no_lap(session: Session) -> None:
    session.start("make it ok", *OK_GATE)
    session.agent = "opencode"
    error = {"sessionID": session.id, "error": {"name": "APIError", "data": {"message": "overloaded"}}}

    session.hook("error", error)
    again = session.prompt("/untilgreen go")
    assert "ITERATION 1/20" in again.said["brief"]
    assert session.laps() == 0
    aborted = session.hook("error", {"sessionID": session.id, "error": {"name": "MessageAbortedError"}})
    assert aborted.said["brief"] == ""
    assert "you took over" in aborted.said["toast"]
    (failed,) = session.events("TurnEnded")
    assert (failed.reply.error, failed.reply.detail) == ("rate_limited", "APIError: overloaded")


def test_an_abort_pauses_the_loop_until_go_or_cancel(session: Session) -> None:
    session.start("make it ok", *OK_GATE)
    session.agent = "opencode"
    abort = {"sessionID": session.id, "error": {"name": "MessageAbortedError"}}

    assert "is paused: you took over" in session.hook("error", abort).said["toast"]
    assert session.state()["active"] is True
    assert "ITERATION 1/20" in session.prompt("/untilgreen go").said["brief"]
    session.hook("error", abort)
    assert "loop cancelled after 0 laps" in session.prompt("/cancel-ralph").out
    assert session.notes() == []


def without_claude(path: str, folder: Path) -> str:
    """A PATH with git in this folder, and without the directories that have a claude."""
    folder.mkdir()
    (folder / "git").symlink_to(which("git") or "")
    others = [each for each in path.split(os.pathsep) if not Path(each, "claude").exists()]
    return os.pathsep.join([str(folder), *others])


def test_a_run_can_be_taken_out_of_its_session_and_back(session: Session, tmp_path: Path) -> None:
    session.env["PATH"] = without_claude(session.env["PATH"], tmp_path / "bin")
    session.start("make it ok", *OK_GATE)
    run = session.journal.parent.name

    refused = session.call("resume", run, "--no-input")
    assert refused.code == 2
    assert f"is in progress in session {session.id}" in refused.err
    taken = session.call("resume", run, "--no-input", "--take")
    assert taken.code == 4  # there is no claude; the run stays open
    assert session.events("LapVoided")[0].reason == "taken out of its session"

    told = session.stop(active=False)
    assert (told.brief, "was moved out of this session" in told.toast) == ("", True)
    assert session.stop(active=False).out == ""

    back = session.prompt(f"/untilgreen resume {run}")
    assert back.context.startswith("[UNTILGREEN LOOP - ITERATION 1/20]")
    assert "ITERATION 2/20" in session.stop(active=False).brief


def test_a_driver_that_looked_too_early_does_not_drive_beside_the_session(session: Session) -> None:
    """Whether a session has the run is checked again once the lock is held."""
    session.start("make it ok", *OK_GATE)
    folder = FolderRecord(session.journal.parent)

    with pytest.raises(UserError, match=f"is in progress in session {session.id}"):
        anyio.run(drive, folder, LocalPremises(Store(folder.path.parents[1])), UNATTENDED)

    assert len(session.events("Attached")) == 1


def test_a_run_that_was_cancelled_elsewhere_lets_its_session_go(session: Session) -> None:
    session.start("make it ok", *OK_GATE)
    assert session.call("cancel", session.journal.parent.name).code == 0

    told = session.stop(active=False)
    assert told.toast.startswith("untilgreen: loop cancelled after 0 laps")
    assert session.notes() == []


def test_a_session_gets_the_brief_that_the_journal_records(session: Session) -> None:
    session.start("make it ok", "--gate", "test -f ok")

    second = session.stop()

    (kept,) = session.journal.parent.glob("activity/002-brief.md")
    digest = blake2b(second.brief.encode(), digest_size=8).hexdigest()
    assert second.brief == kept.read_text()
    assert [event.digest for event in session.events("BriefOffered")][-1] == digest
