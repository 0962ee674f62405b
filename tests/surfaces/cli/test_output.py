"""Output on a terminal, in a pipe and in a file: no foreign escape sequences, drawings only on a terminal."""

import os
import re
import subprocess

import pytest

from tests.surfaces.cli.helpers import COMMAND, NO_OP, PATIENCE_SECONDS, Cli, eventually

HOSTILE = r"printf '\033]0;owned\007\033[2J\033[31mevil\r\n\033[1A\302\233more\n'"
"""Sets the title, clears the screen, sets a color, moves the cursor up, and ends with a one-character CSI."""


def run(cli: Cli, *flags: str) -> tuple[str, ...]:
    """The arguments of a run of one lap whose task, agent and gate try to take over the terminal."""
    agent, gate = cli.agent(f"{NO_OP}{HOSTILE}\n"), f"tests={HOSTILE}; exit 1"
    return ("run", "Mend \x1b[31mit.", "--agent", agent, "--gate", gate, "--max-iterations", "1", *flags)


def test_without_a_terminal_there_is_no_escape_sequence_at_all(cli: Cli) -> None:
    done = cli(*run(cli, "--verbose"))
    looked = [cli("show"), cli("list"), cli("follow"), cli("check", "--gate", f"tests={HOSTILE}; exit 1")]

    assert done.code == 3
    assert "output: evil" in done.err
    for each in (done, *looked):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", each.out + each.err)


def test_on_a_terminal_no_foreign_escape_sequences_arrive(cli: Cli) -> None:
    code, seen = cli.on_a_terminal(*run(cli)).end()

    assert code == 3
    assert "exhausted" in seen
    assert "\x1b]0;" not in seen
    assert "owned" not in seen
    assert "\x1b[2J" not in seen
    assert "\x9b" not in seen


def test_a_gates_name_is_one_line_of_text(cli: Cli) -> None:
    for name in ("\\u001b]0;owned\\u0007", "two\\nlines"):
        done = cli("check", "--set", f'gates."{name}".run="true"')
        assert done.code == 2
        assert "can't be a gate's name" in done.err
        assert "\x1b" not in done.err


def test_no_color_draws_without_colors(cli: Cli) -> None:
    cli.env["NO_COLOR"] = "1"
    code, seen = cli.on_a_terminal(*run(cli)).end()

    assert code == 3
    assert not re.search(r"\x1b\[(?:\d+;)*(?:3|4|9|10)\d(?:;\d+)*m", seen)


def test_a_dumb_terminal_gets_plain_lines(cli: Cli) -> None:
    code, seen = cli.on_a_terminal(*run(cli), term="dumb").end()

    assert code == 3
    assert "\x1b" not in seen
    assert "lap 1: turn done" in seen


def test_on_request_our_own_signs_are_plain_ascii(cli: Cli) -> None:
    long_task = "Mend it, " + "and mend it again, " * 10
    done = cli(
        *("run", long_task, "--agent", cli.agent(NO_OP), "--gate", "false", "--max-iterations", "1"),
        env={"UNTILGREEN_ASCII": "1"},
    )

    assert done.code == 3
    assert (done.out + done.err).isascii()


def test_an_encoding_without_our_signs_is_no_reason_to_fail(cli: Cli) -> None:
    env = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    task = ("run", "Größer machen: 洞窟", "--agent", cli.agent(NO_OP), "--gate", "false")

    done = cli(*task, "--max-iterations", "1", env=env)
    told = cli(*task, "--max-iterations", "1", "--json", env=env)

    assert done.code == 3
    assert "Traceback" not in done.err
    assert told.result["task"] == "Größer machen: 洞窟"


def test_a_reader_that_leaves_early_does_not_disturb_the_run(cli: Cli) -> None:
    command = [
        *COMMAND,
        "run",
        "Mend it.",
        "--agent",
        cli.agent("touch done\n"),
        "--gate",
        "test -f done",
        "--json",
    ]
    process = subprocess.Popen(
        command, cwd=cli.place, env=cli.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None  # noqa: PT018 - they are pipes
    process.stdout.readline()
    process.stdout.close()

    errors = process.stderr.read().decode()
    process.stderr.close()

    assert process.wait(timeout=PATIENCE_SECONDS) == 0
    assert errors == ""
    assert cli("show", "--json").result["outcome"] == "converged"


def test_the_demo_shows_a_converged_run_without_a_key(cli: Cli) -> None:
    cli.env["TMPDIR"] = str(cli.tmp)
    done = cli("demo")

    assert done.code == 0
    assert "converged: all required gates pass in lap 4" in done.out
    assert "claim rejected" in done.err
    shown = re.search(r"untilgreen (show \S+ --state-dir \S+)", done.out)
    assert shown is not None
    assert cli(*shown[1].split()).code == 0


def test_a_reader_of_the_help_that_leaves_is_not_an_error(cli: Cli) -> None:
    help_text = subprocess.Popen(
        [*COMMAND, "--help"], env=cli.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert help_text.stdout is not None
    help_text.stdout.close()
    _, err = help_text.communicate(timeout=PATIENCE_SECONDS)

    assert (help_text.returncode, err) == (0, b"")


def test_keys_pause_steer_and_stop_a_run_on_a_real_terminal(cli: Cli) -> None:
    slow = f"cat > /dev/null\ntouch {cli.tmp}/works\nwhile ! test -f {cli.tmp}/go; do sleep 0.05; done\n"
    terminal = cli.on_a_terminal("run", "Mend it.", "--agent", cli.agent(slow), "--gate", "test -f done")
    eventually((cli.tmp / "works").exists, "the first turn")
    (run,) = cli.ids

    eventually(lambda: "p pause" in terminal.seen, "the keys")
    terminal.type("n")
    eventually(lambda: "note for the agent" in terminal.seen, "the prompt")
    terminal.type("look at the clock\r")
    eventually(lambda: [each for each in cli.journal(run) if each["type"] == "Steered"], "the note")
    terminal.type("ss")
    eventually(lambda: [each for each in cli.journal(run) if each["type"] == "StopRequested"], "the stop")
    (cli.tmp / "go").touch()
    code, text = terminal.end()

    assert code == 1
    assert "cancelled: s was pressed" in text
    steered = next(each for each in cli.journal(run) if each["type"] == "Steered")
    assert steered["note"] == "look at the clock"


@pytest.mark.parametrize("how", ["--plain", "UNTILGREEN_PLAIN", "dumb"])
def test_for_screen_readers_and_dumb_terminals_nothing_is_redrawn(cli: Cli, how: str) -> None:
    evil = r"printf 'evil \033]0;owned\007\033[2J\033[31m\n'; touch done"
    flags = ("--plain",) if how == "--plain" else ()
    if how == "UNTILGREEN_PLAIN":
        cli.env["UNTILGREEN_PLAIN"] = "1"
    terminal = cli.on_a_terminal(
        "run",
        "Mend it.",
        "--agent",
        cli.agent(evil),
        "--gate",
        "test -f done",
        *flags,
        term="dumb" if how == "dumb" else "xterm",
    )

    code, text = terminal.end()

    assert code == 0
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "lap 1:" in text
    assert text.isascii() == (how == "dumb")


def test_on_github_a_run_folds_its_laps_and_leaves_a_summary(cli: Cli) -> None:
    summary = cli.tmp / "summary.md"
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary), "CI": "true"}

    done = cli("run", "Mend it.", "--agent", cli.agent("touch done\n"), "--gate", "test -f done", env=env)

    assert done.code == 0
    assert "::group::lap 1\n" in done.err
    assert "**converged**" in summary.read_text()


@pytest.mark.parametrize(
    "redirected",
    [">&-", "2>&-", ">&- 2>&-", ">&- 2>&- <&-", ">/dev/full", ">/dev/full 2>/dev/full", ">/dev/full --json"],
)
def test_a_run_is_driven_to_its_end_without_anywhere_to_write(redirected: str, cli: Cli) -> None:
    flags = "--agent 'cmd:touch done' --gate 'test -f done' --no-input"
    words = " ".join(COMMAND)
    line = f"{words} run Do. {flags} {redirected}; echo $? >&3"
    done = subprocess.run(
        ["sh", "-c", f"exec 3>&1; {line}"],
        cwd=cli.place,
        env=cli.env,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )

    assert done.stdout.split()[-1:] == ["0"]
    assert "Traceback" not in done.stderr
    assert "converged" in cli("list").out


def test_output_that_can_not_be_written_is_an_error(cli: Cli) -> None:
    words = " ".join(COMMAND)
    done = subprocess.run(
        ["sh", "-c", f"{words} list --json >/dev/full"],
        cwd=cli.place,
        env=cli.env,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )

    assert done.returncode not in (0, 2)
    assert done.stderr == "error: The output can't be written: No space left on device.\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipes_in_place_of_the_files_of_a_run_are_not_waited_for(cli: Cli) -> None:
    assert cli("run", "Do.", "--agent", "cmd:touch done", "--gate", "test -f done", "--no-input").code == 0
    cli("list")
    (run,) = cli.runs.iterdir()
    for file in (cli.runs.parent / "catalog", run / "meta.json", run / "journal.jsonl"):
        file.unlink(missing_ok=True)
        os.mkfifo(file)

    assert cli("list").code in (0, 1)
    shown = cli("show", run.name)
    assert shown.code == 70
    assert "can't be read: it is not a regular file" in shown.err


@pytest.mark.parametrize("gone", [".git", "."])
def test_an_agent_that_deletes_the_repository_leaves_a_clear_error_and_an_open_run(
    gone: str, cli: Cli
) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=cli.place, check=True, env=cli.env)
    (cli.place / "a.txt").write_text("1")
    doomed = (cli.place / gone).resolve()
    flags = ("--gate", "test -f done", "--no-input", "--in-place")
    done = cli("run", "Do.", "--agent", f"cmd:rm -rf {doomed}", *flags)

    assert done.code not in (0, 70)
    assert "defect" not in done.err
    assert str(doomed) in done.err
    assert "untilgreen resume" in done.err
    cli.place.mkdir(exist_ok=True)
    assert "open" in cli("list").out
