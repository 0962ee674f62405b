"""stop, cancel, pause, steer, answer and follow, with and without a driver."""

import signal
from pathlib import Path

import anyio
import pytest

from tests.surfaces.cli.helpers import NO_OP, Cli, Invoke, Started, eventually
from untilgreen.engine.driving.launch import launch
from untilgreen.engine.store import lock
from untilgreen.engine.store.folder_record import FolderRecord

SLOW = """\
cat > {tmp}/brief-$(ls {tmp} | grep -c '^brief-')
touch {tmp}/began
for i in $(seq 1000); do test -f {tmp}/go && break; sleep 0.05; done
"""
"""Saves its brief, and works until the file `go` exists."""
HANGING = "cat > /dev/null\ntouch {tmp}/began\nexec sleep 60\n"


def driven(cli: Cli, body: str, *flags: str) -> tuple[Started, str]:
    """Start a run and wait for its first turn; return the process and the run's id."""
    agent = cli.agent(body.format(tmp=cli.tmp))
    started = cli.start("run", "Mend it.", "--agent", agent, "--gate", "test -f done", *flags)
    eventually((cli.tmp / "began").exists, "the first turn")
    return started, cli.ids[0]


def left_open(cli: Cli) -> str:
    """The id of a run that waits for a person and has no driver."""
    manual = ("--strategy", "manual", "--no-input")
    assert cli("run", "Mend it.", "-a", cli.agent(NO_OP), "-g", "test -f done", *manual).code == 5
    return cli.ids[0]


def briefs(cli: Cli) -> list[str]:
    return [path.read_text() for path in sorted(Path(cli.tmp).glob("brief-*"))]


def test_stop_ends_a_driven_run_after_its_lap(cli: Cli) -> None:
    started, run = driven(cli, SLOW)

    sent = cli("stop", run, "--reason", "time for lunch")
    (cli.tmp / "go").touch()
    done = started.end()

    assert (sent.code, done.code) == (0, 1)
    assert f"Run {run} will stop after this lap." in sent.out
    assert "cancelled: time for lunch" in done.out
    assert "1 lap in" in done.out


def test_stop_ends_a_run_that_nobody_drives_and_says_so(cli: Cli) -> None:
    run = left_open(cli)

    assert f"Run {run} has ended." in cli("stop", run).out
    assert "cancelled" in cli("list").out


def test_cancel_ends_a_driven_run_in_the_middle_of_a_turn(cli: Cli) -> None:
    started, run = driven(cli, HANGING)

    sent = cli("cancel", run)
    done = started.end()

    assert (sent.code, done.code) == (0, 1)
    assert "cancelled: requested with `untilgreen cancel`" in done.out


def test_a_note_reaches_the_agent_with_its_next_brief(cli: Cli) -> None:
    started, run = driven(cli, SLOW, "--max-iterations", "2")

    sent = cli("steer", run, "The clock is in UTC.")
    (cli.tmp / "go").touch()
    started.end()

    assert sent.code == 0
    first, second = briefs(cli)
    assert "The clock is in UTC." not in first
    assert "The clock is in UTC." in second


def test_a_paused_run_starts_no_further_turn_and_resume_lets_it_continue(cli: Cli) -> None:
    started, run = driven(cli, SLOW, "--max-iterations", "2")

    sent = cli("pause", run)
    (cli.tmp / "go").touch()
    left = started.end()

    assert (sent.code, left.code) == (0, 5)
    assert "paused: requested with `untilgreen pause`" in left.out
    assert len(briefs(cli)) == 1

    done = cli("resume", run)

    assert done.code == 3
    assert len(briefs(cli)) == 2


@pytest.mark.parametrize("verb", ["stop", "cancel"])
def test_a_run_that_nobody_drives_ends_with_the_command(cli: Cli, verb: str) -> None:
    run = left_open(cli)

    sent = cli(verb, run, "--reason", "no longer needed")

    assert sent.code == 0
    shown = cli("show", run, "--json").result
    assert (shown["outcome"], shown["reason"]) == ("cancelled", "no longer needed")
    assert cli("resume", run).code == 1, "the run is over"


def test_pause_and_steer_reach_a_run_that_nobody_drives(cli: Cli, invoke: Invoke) -> None:
    keep = cli.agent(f"cat > {cli.tmp}/brief-1\ntouch done\n", "second.sh")
    run = left_open(cli)
    (cli.tmp / "agent.sh").write_text(Path(keep.removeprefix("cmd:")).read_text())

    assert invoke("steer", run, "Look into the cellar.").code == 0
    assert invoke("answer", run, "continue", "--note", "And into the attic.").code == 0
    assert invoke("pause", run).code == 0
    assert invoke("show", run, "--json").result["status"] in ("waiting", "paused")
    assert cli("resume", run).code == 0
    assert "Look into the cellar." in briefs(cli)[0]
    assert "And into the attic." in briefs(cli)[0]


def test_an_answer_reaches_a_run_that_waits_in_another_process(cli: Cli) -> None:
    run = left_open(cli)

    refused = cli("answer", run, "acept")
    taken = cli("answer", run, "accept")
    done = cli("resume", run)

    assert refused.code == 2
    assert "Did you mean 'accept'?" in refused.err
    assert (taken.code, done.code) == (0, 0)
    assert "accepted: lap 1 was accepted" in done.out


def test_at_a_terminal_a_question_shows_its_command_and_waits_for_an_answer_from_elsewhere(cli: Cli) -> None:
    manual = ("--strategy", "manual")
    run = ("run", "Mend it.", "--agent", cli.agent(NO_OP), "--gate", "test -f done", *manual)
    terminal = cli.on_a_terminal(*run)
    eventually(lambda: cli.ids and f"untilgreen answer {cli.ids[0]} continue" in terminal.seen, "a question")
    eventually(lambda: cli("answer", cli.ids[0], "accept").code == 0, "the answer")
    code, seen = terminal.end()

    assert code == 0
    assert "accepted: lap 1 was accepted" in seen


def test_at_a_terminal_a_paused_run_waits_and_resume_from_elsewhere_lets_it_continue(cli: Cli) -> None:
    slow = cli.agent(SLOW.format(tmp=cli.tmp))
    run = ("run", "Mend it.", "--agent", slow, "--gate", "test -f done", "--max-iterations", "2")
    terminal = cli.on_a_terminal(*run)
    eventually((cli.tmp / "began").exists, "the first turn")
    (name,) = cli.ids
    assert cli("pause", name).code == 0
    (cli.tmp / "go").touch()
    eventually(lambda: f"untilgreen resume {name}" in terminal.seen, "the pause")

    resumed = cli("resume", name)
    code, _ = terminal.end()

    assert resumed.code == 0
    assert f"Run {name} continues in the process that drives it." in resumed.out
    assert code == 3


def test_many_commands_at_once_all_arrive_where_nobody_drives(cli: Cli) -> None:
    run = left_open(cli)

    senders = [cli.start("steer", run, f"Note {number}.") for number in range(4)]

    assert [sender.end().code for sender in senders] == [0, 0, 0, 0]
    notes = [event["note"] for event in cli.journal(run) if event["type"] == "Steered"]
    assert sorted(notes) == [f"Note {number}." for number in range(4)]


def test_what_an_ended_run_cannot_take_is_refused_with_2_and_the_reason(cli: Cli, invoke: Invoke) -> None:
    cli("run", "Mend it.", "-a", cli.agent("touch done\n"), "-g", "test -f done")
    (run,) = cli.ids

    commands = [
        ("stop", run),
        ("cancel", run),
        ("pause", run),
        ("steer", run, "x"),
        ("answer", run, "accept"),
    ]
    refused = [invoke(*command) for command in commands]

    assert [each.code for each in refused] == [2] * 5
    (words,) = {each.err for each in refused}
    fork = f"untilgreen fork {run} --more 10"
    assert words == f"error: Run {run} has ended: converged. To continue from its files: {fork}\n"


def test_what_makes_no_sense_now_is_refused_with_2_and_the_reason(cli: Cli, invoke: Invoke) -> None:
    started, run = driven(cli, SLOW)

    assert "is not asking anything" in invoke("answer", run, "accept").err
    assert "The note is empty." in invoke("steer", run, "  ").err
    assert invoke("stop", run).code == 0
    again = invoke("stop", run)
    (cli.tmp / "go").touch()
    started.end()

    assert again.code == 2
    assert "already requested" in again.err


def test_a_driven_run_is_not_driven_twice(cli: Cli) -> None:
    started, run = driven(cli, HANGING)

    second = cli("resume", run)
    started.signal(signal.SIGINT)
    started.end()

    assert second.code == 2
    assert f"Run {run} is being driven by process {started.process.pid}" in second.err


def test_follow_shows_a_run_of_another_process_and_ends_with_its_exit_code(cli: Cli) -> None:
    started, run = driven(cli, SLOW, "--max-iterations", "1")
    watching = cli.start("follow", run)

    (cli.tmp / "go").touch()
    done, seen = started.end(), watching.end()

    assert (done.code, seen.code) == (3, 3)
    assert "lap 1: turn done" in seen.err
    assert "exhausted: limit iterations" in seen.out


def test_follow_ends_when_the_run_is_left_open(cli: Cli) -> None:
    started, run = driven(cli, HANGING)
    watching = cli.start("follow", run)

    started.signal(signal.SIGINT)
    started.end()
    seen = watching.end()

    assert seen.code == 130
    assert f"Continue with: untilgreen resume {run}" in seen.out


def test_ctrl_c_of_follow_leaves_the_run_alone(cli: Cli) -> None:
    started, run = driven(cli, SLOW, "--max-iterations", "1")
    watching = cli.start("follow", run, "--json")
    assert watching.process.stdout is not None
    assert "version" in watching.process.stdout.readline()
    assert "RunStarted" in watching.process.stdout.readline()

    watching.signal(signal.SIGINT)
    seen = watching.end()
    (cli.tmp / "go").touch()
    done = started.end()

    assert seen.code == 130
    assert "The run continues." in seen.err
    assert done.code == 3


CHATTY = """\
cat > brief.txt
echo 'reading the tests'
touch {tmp}/began
while ! test -e {tmp}/go; do sleep 0.05; done
"""


def test_follow_on_a_terminal_shows_what_the_agent_does_and_its_keys_reach_the_driver(cli: Cli) -> None:
    started, run = driven(cli, CHATTY, "--max-iterations", "3")
    terminal = cli.on_a_terminal("follow", run)
    eventually(lambda: "output: reading the tests" in terminal.seen, "the agent's words")
    eventually(lambda: "p pause" in terminal.seen, "the keys")

    terminal.type("n")
    eventually(lambda: "note for the agent" in terminal.seen, "the prompt")
    terminal.type("leave the API alone\r")
    eventually(lambda: "Steered" in [event["type"] for event in cli.journal(run)], "the note")
    terminal.type("ss")
    eventually(lambda: "stopping after this lap" in terminal.seen, "the stop request")
    (cli.tmp / "go").touch()
    (code, seen), done = terminal.end(), started.end()

    assert (code, done.code) == (1, 1)
    assert "cancelled: s was pressed" in seen


def test_sigterm_ends_follow_and_leaves_run_and_terminal_as_they_were(cli: Cli) -> None:
    started, run = driven(cli, CHATTY, "--max-iterations", "1")
    terminal = cli.on_a_terminal("follow", run)
    eventually(lambda: "p pause" in terminal.seen and not terminal.echoes, "the keys")

    terminal.process.send_signal(signal.SIGTERM)
    eventually(lambda: terminal.process.poll() is not None, "the end")
    assert terminal.echoes
    code, seen = terminal.end()
    (cli.tmp / "go").touch()

    assert code == 143
    assert "The run continues." in seen
    assert started.end().code == 3


def test_an_agent_that_follows_a_run_has_no_keys(cli: Cli) -> None:
    started, run = driven(cli, CHATTY, "--max-iterations", "1")
    cli.env["CLAUDECODE"] = "1"
    terminal = cli.on_a_terminal("follow", run)
    eventually(lambda: "reading the tests" in terminal.seen, "the view")

    terminal.type("ss")
    (cli.tmp / "go").touch()
    (code, seen), done = terminal.end(), started.end()

    assert (code, done.code) == (3, 3)
    assert "p pause" not in seen


def test_steer_and_answer_mean_the_last_run_where_none_is_named(cli: Cli, invoke: Invoke) -> None:
    run = left_open(cli)

    noted = invoke("steer", "Look into the cellar.")
    answered = invoke("answer", "stop")

    assert (noted.out, answered.out) == (
        f"Run {run} will pass the note on.\n",
        f"Run {run} received the answer.\n",
    )


def test_a_run_that_was_answered_waits_for_nobody_and_is_resumed(cli: Cli, invoke: Invoke) -> None:
    run = left_open(cli)
    asks = invoke("list").out
    assert invoke("answer", "continue").code == 0

    shown, listed, why = invoke("show", run).out, invoke("list").out, invoke("why", run).out

    assert ("waiting" in asks, "waiting" in listed) == (True, False)
    assert "untilgreen answer" not in shown + why
    assert f"untilgreen resume {run}" in shown
    assert f"untilgreen resume {run}" in why


def test_an_answer_with_an_argument_means_the_last_run_too(cli: Cli, invoke: Invoke) -> None:
    run = left_open(cli)

    assert invoke("answer", "allow", "tests/test_a.py").out == f"Run {run} received the answer.\n"


def test_an_answer_drives_a_served_run_again(cli: Cli) -> None:
    """A served run has no terminal to ask at, so its process ended with the question."""
    waits = cli(
        "run", "Do it.", "-a", cli.agent(NO_OP), "-g", "false", "-s", "manual", "--no-input", "--json"
    )
    assert waits.code == 5
    record = FolderRecord(cli.runs / waits.result["run"])
    anyio.run(launch, record)
    eventually(lambda: lock.owner(record.lock) is None)

    assert cli("answer", record.id, "continue").code == 0

    eventually(lambda: len(FolderRecord(record.path).read().state.laps) == 2)
    eventually(lambda: lock.owner(record.lock) is None)


def test_an_answer_or_a_note_that_is_missing_is_asked_for_with_the_question(cli: Cli, invoke: Invoke) -> None:
    run = left_open(cli)

    unanswered, wrong, noteless = invoke("answer"), invoke("answer", "maybe"), invoke("steer")

    assert (unanswered.code, wrong.code, noteless.code) == (2, 2, 2)
    assert f"There is no answer. Run {run} asks:\n  " in unanswered.err
    assert "\n  1 continue" in unanswered.err
    assert f"for example with: untilgreen answer {run} continue" in unanswered.err
    assert f"'maybe' is not an answer to the question of run {run}. Known: " in wrong.err
    assert "There is no note." in noteless.err
    assert invoke("answer", "stop").code == 0
    assert f"Run {run} is not asking anything." in invoke("answer").err


def test_show_why_and_the_overview_say_what_a_driven_run_does(cli: Cli, invoke: Invoke) -> None:
    started, run = driven(cli, SLOW)

    shown, explained, overview = invoke("show").out, invoke("why").out, invoke().out
    told = invoke("show", "--json").result
    (cli.tmp / "go").touch()
    assert invoke("cancel").code == 0
    started.end()

    assert "\nrunning: cmd:agent.sh is working on lap 1\n" in shown
    assert f"Watch it with: untilgreen follow {run}" in shown
    assert "resume" not in shown + explained + overview
    assert explained.startswith("running: cmd:agent.sh is working on lap 1\n")
    assert f"    untilgreen follow {run}" in explained
    assert "the last one: running, " in overview
    assert "Next: untilgreen follow\n" in overview
    assert told["status"] == "running"
