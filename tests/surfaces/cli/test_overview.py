"""`untilgreen` without a command: what it finds here, and what to do next."""

from tests.surfaces.cli.helpers import NO_OP, Cli, Invoke, Terminal, eventually, script, write


def test_where_nothing_is_set_up_it_says_what_it_sees_and_the_next_command(calc: Cli) -> None:
    (calc.tmp / "bin").mkdir()
    script(calc.tmp / "bin" / "claude", "true\n")

    done = calc(env={"PATH": f"{calc.tmp}/bin:{calc.env['PATH']}"})

    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert len(lines) <= 12
    assert "gates      tests: python3 -m unittest -q" in lines
    assert any(line.startswith("agents") and "claude" in line for line in lines)
    assert "Next: untilgreen init" in lines
    assert (
        "  or: untilgreen run \"Make the tests pass\" --agent claude --gate 'python3 -m unittest -q'" in lines
    )


def test_with_a_spec_the_next_command_is_a_run(cli: Cli, invoke: Invoke) -> None:
    write(
        cli.place, {"untilgreen.toml": 'task = "Count."\nagent = "cmd:./count"\n\n[gates.t]\nrun = "true"\n'}
    )

    told = invoke().out

    assert "Next: untilgreen run\n" in told
    assert "gates      t\n" in told
    assert "agents     cmd:./count\n" in told


def test_a_run_that_waits_comes_first(cli: Cli, invoke: Invoke) -> None:
    manual = ("--strategy", "manual", "--no-input")
    assert cli("run", "Fix it.", "-a", cli.agent(NO_OP), "-g", "test -f done", *manual).code == 5

    told = invoke().out

    assert "1 run; the last one: waiting" in told
    assert "Next: untilgreen answer, which shows the question\n" in told


def test_a_result_in_a_worktree_is_applied_next_until_it_is(cli: Cli, invoke: Invoke) -> None:
    write(cli.place, {"untilgreen.toml": 'task = "Count."\nagent = "cmd:touch done"\n'})
    assert cli("run", "-g", "test -f done", "--worktree", "--trust").code == 0

    before = invoke().out
    assert cli("apply").code == 0
    after = invoke().out

    assert "Next: untilgreen diff, then: untilgreen apply\n  or: untilgreen run\n" in before
    assert "Next: untilgreen diff\n  or: untilgreen run\n" in after


def test_a_run_that_failed_is_explained_next(cli: Cli, invoke: Invoke) -> None:
    stuck = ("--max-iterations", "1", "--worktree")
    assert cli("run", "Fix it.", "-a", cli.agent("touch other\n"), "-g", "test -f done", *stuck).code == 3

    told = invoke().out

    assert "Next: untilgreen why\n  or: untilgreen init\n" in told
    assert len(told.splitlines()) <= 12


def test_a_rate_limited_run_is_watched_while_a_process_waits_and_resumed_when_none_does(
    cli: Cli, invoke: Invoke
) -> None:
    (cli.tmp / "bin").mkdir()
    script(cli.tmp / "bin" / "claude", "cat > /dev/null\necho '429 rate limit exceeded' >&2\nexit 1\n")
    env = {"PATH": f"{cli.tmp}/bin:{cli.env['PATH']}"}
    driver = cli.start("run", "Fix it.", "--agent", "claude", "-g", "test -f done", env=env)
    eventually(lambda: "the last one: paused, " in invoke().out, "the pause")

    driven, shown = invoke().out, invoke("show").out
    driver.process.kill()
    driver.end()
    left, left_shown = invoke().out, invoke("show").out

    assert "Next: untilgreen follow\n" in driven
    assert "paused: rate-limited; resuming at " in shown
    assert "Next: untilgreen why, then: untilgreen resume\n" in left
    assert "; no process is driving the run\n" in left_shown
    again = cli.start("resume", env=env)
    eventually(lambda: "Next: untilgreen follow\n" in invoke().out, "the pause after the resume")
    assert "paused: rate-limited; resuming at " in invoke("show").out
    again.process.kill()


def test_a_narrow_terminal_breaks_rows_between_words_and_no_command(calc: Cli) -> None:
    told = 'task = "Count."\nagent = "cmd:./count"\n\n[gates]\n'
    gates = "".join(f"gate-number-{number}.run = 'true'\n" for number in range(4))
    write(calc.place, {"untilgreen.toml": told + gates})

    code, seen = Terminal((), calc.place, {**calc.env, "TERM": "xterm"}, size=(24, 40)).end()

    rows = seen.replace("\r", "").splitlines()
    first = rows.index("gates      gate-number-0, gate-number-1,")
    assert (code, rows[first + 1]) == (0, "           gate-number-2, gate-number-3")
    assert rows[:2] == ["untilgreen 0.2.0 keeps a coding agent", "working until its gates are green."]


def test_a_broken_spec_is_no_reason_to_fail(cli: Cli, invoke: Invoke) -> None:
    write(cli.place, {"untilgreen.toml": "limts = 3\n"})

    done = invoke()

    assert (done.code, "spec       broken: " in done.out) == (0, True)
