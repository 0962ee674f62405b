"""A hook that can't do its work lets the session stop and says why; what was written stays as it was."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import COMMAND, PATIENCE_SECONDS
from tests.surfaces.hook.helpers import DONE, Answer, Session
from untilgreen.engine.store.lock import hold, this_process
from untilgreen.engine.store.runs import Store
from untilgreen.surfaces.hook.call import Call, answer

ODD = [
    "$& $1 \\1 {{ITERATION}} {{PROMPT}}",
    "it's \"quoted\" 'twice'",
    "one\n\n  two\n",
    "🙂 ünïcode",
    "x" * 100_000,
]


@pytest.mark.parametrize("task", ODD, ids=["placeholders", "quotes", "lines", "emoji", "100-KB"])
def test_odd_tasks_reach_the_session_intact(session: Session, task: str) -> None:
    begun = session.prompt(f"/ralph {task}" if "x" * 9 in task else f"/ralph -- {task}")

    assert f"Original task:\n{task.strip()}\n\n" in begun.context
    assert f"Original task:\n{task.strip()}\n\n" in session.stop(active=False).brief
    assert session.state()["prompt"] == task.strip()


@pytest.mark.parametrize(
    "payload",
    [b"", b"{}", b"[1, 2]", b"nonsense", b"\xff\xfe", b'{"session_id": 7}', b'{"session_id": null, "x": []}'],
)
def test_a_payload_that_says_nothing_is_answered_with_nothing(session: Session, payload: bytes) -> None:
    session.start()

    answer = session.hook("stop", payload)
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_carriage_returns_and_unknown_fields_do_not_matter(session: Session) -> None:
    session.start()
    payload = json.dumps({**session.payload("no", active=False), "new": {"deep": [1]}}, indent=1)

    assert "ITERATION 2/" in session.hook("stop", payload.replace("\n", "\r\n").encode()).brief
    assert "complete" in session.stop(f"yes\r\n{DONE}\r\n").toast


def test_a_journal_that_can_not_be_written_lets_the_session_stop(session: Session) -> None:
    session.start()
    folder = session.journal.parent
    (folder / "lock").unlink()
    (folder / "lock").mkdir()

    answer = session.stop(active=False)
    assert (answer.code, answer.brief) == (0, "")
    assert answer.toast.startswith("untilgreen: the session may stop, because its loop can't continue")


def test_a_disk_that_takes_nothing_more_lets_the_session_stop_and_nothing_is_lost(session: Session) -> None:
    session.start("make it ok", "--gate", "ok=test -f ok")
    assert "ITERATION 2/" in session.stop(active=False).brief
    before = session.journal.read_bytes()

    full = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"]  # no file can grow, not even for root
    done = subprocess.run(
        [*full, *COMMAND, "hook", "stop", "--agent", "claude"],
        cwd=session.place,
        env=session.env,
        input=json.dumps(session.payload()).encode(),
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    answer = Answer(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert (answer.code, answer.brief) == (0, "")
    assert answer.toast.startswith("untilgreen: the session may stop, because its loop can't continue")
    assert "File too large" in answer.toast
    assert session.journal.read_bytes() == before
    assert "ITERATION 3/" in session.stop().brief


def test_a_damaged_journal_lets_the_session_stop_and_can_be_cancelled(session: Session) -> None:
    session.start()
    lines = session.journal.read_bytes().splitlines(keepends=True)
    session.journal.write_bytes(b"".join([lines[0], lines[1].replace(b"make", b"mak3"), *lines[2:]]))

    answer = session.stop(active=False)
    assert (answer.code, answer.brief) == (0, "")
    assert "Line 2 of " in answer.toast
    assert session.call("session", "cancel", "--session", session.id).code != 0
    assert session.stop(active=False).out == ""


def test_a_state_directory_that_can_not_be_used_starts_nothing(session: Session) -> None:
    Path(session.env["UNTILGREEN_STATE_DIR"]).write_text("a file")

    refused = session.prompt("/ralph make it ok")
    assert refused.said["decision"] == "block"
    assert "can't be used" in refused.said["reason"]
    assert refused.context == ""


def test_a_wrong_flag_of_a_hook_is_reported_and_keeps_no_session(session: Session) -> None:
    session.start()

    for flags in (("--agnt", "x"), ("--deadline", "soon"), ("--agent", "clod")):
        answer = session.hook("stop", session.payload(), *flags)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.startswith("error: ")
    assert session.laps() == 0


def test_a_defect_of_ours_lets_the_session_stop_and_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    def broken(call: Call, payload: object) -> None:
        raise LookupError("nobody thought of this")

    monkeypatch.setattr("untilgreen.surfaces.hook.call._heard", broken)
    call = Call(event="stop", agent="claude", store=Store(tmp_path))

    assert answer(call, b"{}") == 0

    said = json.loads(capsysbinary.readouterr().out)
    assert "LookupError: nobody thought of this" in said["systemMessage"]
    assert "decision" not in said


def test_a_run_that_is_held_longer_than_the_hook_has_time_lets_the_session_stop(session: Session) -> None:
    session.start()
    lock, run = session.journal.parent / "lock", session.journal.parent.name
    with hold(lock, run=run, driver=this_process(0.0)):
        hook = session.begin("stop", session.payload(active=False), "--deadline", "2")
        with suppress(subprocess.TimeoutExpired):
            hook.wait(15)

    answer = session.end(hook)
    assert (answer.code, answer.brief) == (0, "")
    assert f"run {run} ran out of the hook's time" in answer.toast


def test_a_second_run_is_refused_while_a_session_works_in_the_directory(session: Session) -> None:
    session.start()
    run = session.journal.parent.name

    other = session.call("run", "x", "--agent", "cmd:true", "--gate", "false", "--no-input")
    assert other.code == 2
    assert f"Run {run} works in " in other.err
    again = session.call("session", "start", "x", "--session", "another-one", "--agent", "claude")
    assert again.code == 2
    assert f"in the claude session {session.id}" in again.err
