"""A person at a real terminal: Esc in a lap, Esc while the gates run, and a question in the middle.

On Esc, Claude Code and GitHub Copilot CLI call no hook, Qwen Code none that mentions it, and Codex a
special one. Claude Code and Qwen Code end a running hook with SIGTERM, Codex with SIGKILL; a person sees no
difference.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from tests.agents_real.bench import Bench, of
from tests.agents_real.terminal import PEOPLE, Terminal, press_esc
from untilgreen.core.values.events import BriefOffered, LapVoided, Paused, RunFinished, TurnEnded

DONE = "<promise>DONE</promise>"
SLOW = {"text": "This takes its time" + " and goes on" * 40, "chunk_delay": 1.0, "chunk": 8}
TOOK_OVER = "is paused: you took over"


pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.timeout(330),
]
EVERYBODY = pytest.mark.parametrize("agent", list(PEOPLE), indirect=True)
ENDING_HOOKS = pytest.mark.parametrize("agent", ["claude", "codex", "qwen"], indirect=True)
"""Agents that end a running hook on Esc."""
Opened = Callable[[Bench], Terminal]


def listed(bench: Bench) -> str:
    """The state of the loop, as another terminal shows it."""
    code, said = bench.cli("session", "list")
    assert code == 0, said
    return said


def heard_in_time(terminal: Terminal) -> bool:
    """Whether the hook for Esc finished within its three seconds; on a busy machine it may not."""
    late = ("ran out of the hook's time", "hook timed out")
    terminal.until(lambda: any(words in terminal.screen() for words in (TOOK_OVER, *late)))
    return TOOK_OVER in terminal.screen()


@EVERYBODY
def test_esc_in_a_lap_and_a_question_from_the_user_use_no_lap(bench: Bench, opened: Opened) -> None:
    person = PEOPLE[bench.agent]
    (bench.project / "untilgreen.toml").write_text("detectors = []\n")
    turns = [{"text": "One."}, SLOW, {"text": "That is a file."}, {"text": f"There.\n\n{DONE}"}]
    with bench.model(turns):
        terminal = opened(bench)
        terminal.says(f"{person.prefix}ralph look at it")
        terminal.until(lambda: "This takes" in terminal.screen())
        assert "lap 2/20" in listed(bench)
        press_esc(terminal, person)
        if person.has_interrupt_hook and heard_in_time(terminal):
            assert TOOK_OVER in listed(bench)

        terminal.says("what is this?")
        terminal.until(lambda: "That is a file." in terminal.screen())
        if person.shows_prompt_messages:
            terminal.until(lambda: TOOK_OVER in terminal.screen())
        assert f"{TOOK_OVER}. Continue with: {person.prefix}untilgreen go" in listed(bench)
        assert len(of(TurnEnded, bench.journal())) == 1

        terminal.says(f"{person.prefix}untilgreen go")
        terminal.until(lambda: bool(of(RunFinished, bench.journal())))
    events = bench.journal()
    assert [event.lap for event in of(LapVoided, events)] == [2]
    assert [event.reason for event in of(Paused, events)] == ["you took over"]
    assert [(event.lap, event.claim) for event in of(TurnEnded, events)] == [(1, False), (2, True)]


@ENDING_HOOKS
def test_esc_while_the_gates_run_ends_them_and_the_loop_waits_for_go(bench: Bench, opened: Opened) -> None:
    person, beside = PEOPLE[bench.agent], bench.project.parent
    twice = "for n in 1 2; do test -f ../red$n || { touch ../red$n; exit 1; }; done"  # also in the clean room
    gate = f"test -f ../ok && exit; {twice}; touch ../begun; sleep 300"
    with bench.model([{"text": "One."}, {"text": f"There.\n\n{DONE}"}]):
        terminal = opened(bench)
        terminal.says(f'{person.prefix}ralph look at it --gate "slow={gate}"')
        terminal.until((beside / "begun").exists)
        press_esc(terminal, person)
        if not person.has_interrupt_hook or heard_in_time(terminal):
            terminal.until(lambda: not bench.processes("sleep 300"))
        terminal.until(lambda: f"Continue with: {person.prefix}untilgreen go" in listed(bench))
        assert [offer.lap for offer in of(BriefOffered, bench.journal())] == [1]

        # Without a change, the gate would be flaky, and the run would ask about it.
        (bench.project / "looked.txt").write_text("at it\n")
        (beside / "ok").touch()
        terminal.key("C-u")  # Qwen Code puts an interrupted prompt back into its input
        terminal.says(f"{person.prefix}untilgreen go")
        terminal.until(lambda: bool(of(RunFinished, bench.journal())))
        assert not bench.processes("sleep 300")
    events = bench.journal()
    assert of(RunFinished, events)[0].outcome == "converged"
    assert [(event.lap, event.claim) for event in of(TurnEnded, events)] == [(1, False), (2, True)]
