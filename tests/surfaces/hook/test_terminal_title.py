"""Messages to the person in a session: from the agent or on the terminal, never in what the agent reads."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import subprocess
import termios
from typing import Any

from tests.surfaces.cli.helpers import COMMAND, PATIENCE_SECONDS
from tests.surfaces.hook.helpers import DONE, Answer, Session


def on_a_terminal(session: Session, event: str, payload: dict[str, Any]) -> tuple[Answer, str]:
    """Run a hook on a terminal, with its output going to the agent; its answer, and what the terminal got."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "hook", event, "--agent", session.agent],
        cwd=session.place,
        env=session.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY),  # noqa: PLW1509 - one system call
    )
    out, err = process.communicate(json.dumps(payload).encode(), timeout=PATIENCE_SECONDS)
    shown = os.read(ours, 4096).decode() if select.select([ours], [], [], 0)[0] else ""
    os.close(ours)
    os.close(theirs)
    return Answer(process.returncode, out.decode(), err.decode()), shown


def test_each_thing_that_happens_to_a_loop_is_a_toast(session: Session) -> None:
    none = session.prompt("/cancel-ralph")
    started = session.prompt("/ralph make it ok --max-iterations=2")
    run = session.journal.parent.name
    lap = session.stop(active=False)
    stopped = session.stop("still not")
    session.start()
    cancelled = session.prompt("/cancel-ralph")
    session.start()
    complete = session.stop(DONE, active=False)

    assert none.said["reason"] == "no loop is active in this session."
    assert started.toast == (
        f"untilgreen: loop started, lap 1 of 2, run {run}. "
        "It ends when the agent says 'DONE'; no gate checks that. End it with /cancel-ralph"
    )
    assert lap.toast == f"untilgreen: lap 2 of 2, run {run}"
    assert stopped.toast.startswith("untilgreen: stopped after 2 laps: exhausted, ")
    assert cancelled.said["reason"].startswith("loop cancelled after 0 laps (run ")
    assert complete.toast.startswith("untilgreen: complete after 1 lap: claimed, ")


def test_an_agent_that_shows_no_message_has_it_in_the_title_of_its_terminal(session: Session) -> None:
    session.agent = "copilot"
    session.start("make it ok", "--max-iterations", "2")
    run = session.journal.parent.name

    kept, shown = on_a_terminal(session, "stop", session.payload(active=False))
    assert "ITERATION 2/2" in kept.brief
    assert shown == f"\x1b]2;untilgreen: lap 2 of 2, run {run}\x07"
    ended, shown = on_a_terminal(session, "stop", session.payload())
    assert (ended.brief, ended.err) == ("", "")
    assert shown.startswith("\x1b]2;untilgreen: stopped after 2 laps: exhausted, ")
    assert shown.endswith("\x07\x07")


def test_the_bell_of_the_spec_rings_the_terminal_of_the_session_and_other_notifiers_hear_of_laps(
    session: Session,
) -> None:
    (session.place / "untilgreen.toml").write_text(
        'notify = ["bell", { use = "command", on = ["started", "lap", "finished"], '
        'command = "echo \\"$UNTILGREEN_NEWS_TEXT\\" >> ../told" }]\n'
    )
    assert session.call("trust", "--yes").code == 0
    session.start()

    kept, shown = on_a_terminal(session, "stop", session.payload(active=False))
    assert ("ITERATION 2/20" in kept.brief, shown) == (True, "")
    ended, shown = on_a_terminal(session, "stop", session.payload(DONE))
    assert ("complete" in ended.toast, shown) == (True, "\a")
    *laps, end = (session.place.parent / "told").read_text().splitlines()
    assert laps == ["make it ok: started, lap 1 of 20", "make it ok: lap 2 of 20"]
    assert end.startswith("make it ok: claimed: the agent says that it is done, and no gate checks that")
