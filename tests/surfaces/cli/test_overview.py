"""`untilgreen` alone: what it sees here, and what to do next."""

from tests.surfaces.cli.helpers import NO_OP, Cli, Say, script, write


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


def test_with_a_spec_the_next_command_is_a_run(cli: Cli, said: Say) -> None:
    write(
        cli.place, {"untilgreen.toml": 'task = "Count."\nagent = "cmd:./count"\n\n[gates.t]\nrun = "true"\n'}
    )

    told = said().out

    assert "Next: untilgreen run\n" in told
    assert "gates      t\n" in told
    assert "agents     cmd:./count\n" in told


def test_a_run_that_waits_comes_first(cli: Cli, said: Say) -> None:
    manual = ("--strategy", "manual", "--no-input")
    assert cli("run", "Fix it.", "-a", cli.agent(NO_OP), "-g", "test -f done", *manual).code == 5

    told = said().out

    assert "1 run; the last one: waiting" in told
    assert "Next: untilgreen answer, which shows the question\n" in told


def test_a_broken_spec_is_no_reason_to_fail(cli: Cli, said: Say) -> None:
    write(cli.place, {"untilgreen.toml": "limts = 3\n"})

    done = said()

    assert (done.code, "spec       broken: " in done.out) == (0, True)
