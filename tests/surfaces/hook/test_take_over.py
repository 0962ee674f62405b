"""A dead session never blocks a directory: a refusal offers to take over, and silence counts as leaving."""

import json
import os
import time
from pathlib import Path

from tests.surfaces.hook.helpers import Session

OTHER = "4f0e2b1c-1111-4c6e-9d3b-2f1f6f0c9a22"


def let_time_pass(session: Session, hours: float) -> None:
    """Make it look as if nothing had been heard from the session for that long."""
    past = time.time() - hours * 3600
    notes = Path(session.env["UNTILGREEN_STATE_DIR"]) / "sessions"
    for path in (session.journal, *notes.iterdir()):
        os.utime(path, (past, past))


def test_the_refusal_offers_the_take_over_which_works(session: Session) -> None:
    session.start("make it ok", "--gate", "test -f ok")
    first = session.state()["run"]
    other = session.other(OTHER)

    refused = other.prompt("/ralph something else").said["reason"]
    assert f"Run {first} works in" in refused
    assert "Add --take" in refused
    taken = other.prompt("/ralph something else --take")

    assert "loop started" in taken.toast
    here = json.loads(session.call("session", "state", "--json").out.splitlines()[1])
    assert (here["session_id"], here["prompt"]) == (OTHER, "something else")
    assert f"run {first} is waiting. Continue with: /untilgreen go" in session.stop().toast


def test_a_run_is_taken_from_a_session_that_does_not_answer(session: Session) -> None:
    session.start("make it ok", "--gate", "test -f ok")
    run = session.state()["run"]
    other = session.other(OTHER)

    assert f"/untilgreen resume {run} --take" in other.prompt(f"/untilgreen resume {run}").said["reason"]
    taken = other.prompt(f"/untilgreen resume {run} --take")

    assert "ITERATION 1/" in taken.context
    assert other.state()["run"] == run


def test_a_session_without_a_sign_of_life_counts_as_left(session: Session) -> None:
    session.start("make it ok", "--gate", "test -f ok")
    other = session.other(OTHER)
    let_time_pass(session, 1.9)
    assert "works in" in other.prompt("/ralph something else").said["reason"]

    let_time_pass(session, 2.1)

    assert "loop started" in other.prompt("/ralph something else").toast


def test_a_transcript_that_grows_is_a_sign_of_life_and_one_that_is_gone_is_not(session: Session) -> None:
    transcript = session.place.parent / "transcript.jsonl"
    transcript.write_text("{}\n")
    session.start("make it ok", "--gate", "test -f ok")
    session.stop(transcript_path=str(transcript))
    other = session.other(OTHER)
    let_time_pass(session, 5)
    assert "works in" in other.prompt("/ralph something else").said["reason"]

    transcript.unlink()

    assert "loop started" in other.prompt("/ralph something else").toast


def test_a_run_of_a_session_that_is_gone_is_resumed_without_force(session: Session) -> None:
    session.start("make it ok", "--gate", "test -f ok", "--max-iterations", "1")
    run = session.state()["run"]
    assert "resume" in session.call("resume", run, "--no-input").err
    let_time_pass(session, 3)

    done = session.call("resume", run, "--no-input")

    assert "is in progress in session" not in done.err
    assert len(session.events("LapVoided")) == 1
