"""check: the state of the gates, and whether they can be trusted, before any money is spent."""

import re

from tests.surfaces.cli.helpers import NO_OP, Cli

EVERY_OTHER = "n=$(cat {0} 2>/dev/null || echo 0); echo $((n + 1)) > {0}; "
"""Counts in a file outside the workspace, so that the files of the workspace don't change."""
FLIPS = "flips=" + EVERY_OTHER + "[ $((n % 2)) = 1 ] || {{ echo 'app.py:3: error: too late'; exit 1; }}"


def flips(cli: Cli) -> str:
    """A gate that fails on its first, third and fifth try."""
    return FLIPS.format(cli.tmp / "count")


def test_a_repeated_check_finds_a_flaky_gate_and_what_it_complains_about(cli: Cli) -> None:
    done = cli("check", "--repeat", "5", "--gate", flips(cli), "--gate", "steady=true")

    assert done.code == 1
    assert "flips is red and flaky, passed 2 of 5" in done.out
    assert "  3 of 5: app.py: error: too late" in done.out
    assert "steady is green, passed 5 of 5" in done.out
    assert "2/5 ✓ flips passed" in done.out


def test_a_gate_that_is_always_red_names_what_fails_only_sometimes(cli: Cli) -> None:
    sometimes = flips(cli).partition("=")[2]
    done = cli("check", "--repeat", "3", "--gate", f"both=({sometimes}); echo 'app.py:1: error: old'; exit 1")

    assert done.code == 1
    assert "both is red, passed 0 of 3" in done.out
    assert "  2 of 3: app.py: error: too late" in done.out
    assert " of 3: app.py: error: old" not in done.out


def test_a_repeated_check_has_its_counts_in_json_too(cli: Cli) -> None:
    done = cli("check", "--repeat", "3", "--gate", flips(cli), "--json")

    verdicts = [line for line in done.lines if line["type"] == "verdict"]
    assert [(line["round"], line["verdict"]["status"]) for line in verdicts] == [
        (1, "fail"),
        (2, "pass"),
        (3, "fail"),
    ]
    assert (done.code, done.result["exit_code"], done.result["green"]) == (1, 1, False)
    tally = done.result["gates"]["flips"]
    assert (tally["health"], tally["ran"], tally["passed"]) == (["red", "flaky"], 3, 1)
    assert tally["findings"] == {"app.py: error: too late": 2}


def test_gates_that_stay_the_same_are_not_flaky(cli: Cli) -> None:
    green = cli("check", "--repeat", "2", "--gate", "true", "--json")
    red = cli("check", "--repeat", "2", "--gate", "no=false", "--json")
    broken = cli("check", "--repeat", "2", "--gate", "no=no-such-program", "--json")

    assert (green.code, green.result["gates"]["true"]["health"]) == (0, ["green"])
    assert (red.code, red.result["gates"]["no"]["health"]) == (1, ["red"])
    assert (broken.code, broken.result["gates"]["no"]["health"]) == (6, ["broken"])


def test_a_gate_that_needs_most_of_its_time_is_called_slow(cli: Cli) -> None:
    slow = ("--gate", "slow=sleep 0.6", "--set", 'gates.slow.timeout="1s"')

    done = cli("check", *slow, "--gate", "quick=true")

    assert done.code == 0
    assert "slow is green and slow" in done.out
    assert "quick is" not in done.out


def test_a_check_that_would_run_nothing_is_refused(cli: Cli) -> None:
    done = cli("check", "--repeat", "0", "--gate", "true")

    assert done.code == 2
    assert "--repeat 5" in done.err


def test_the_baseline_of_a_run_says_how_the_gates_stand(cli: Cli) -> None:
    run = (
        *("run", "Mend it.", "--agent", cli.agent(NO_OP), "--max-iterations", "1"),
        *("--gate", "ok=true", "--gate", "no=false", "--gate", flips(cli), "--set", "gates.flips.retries=1"),
        *("--set", "gates.odd.run='no-such-program'", "--set", "gates.odd.required=false"),
    )

    done = cli(*run, "--json")
    lines = cli(*run)

    decided = next(event for event in done.events if event["type"] == "Decided")
    health = {"ok": ["green"], "no": ["red"], "flips": ["green", "flaky"], "odd": ["broken"]}
    assert decided["decision"]["metadata"]["gates"] == health
    assert done.result["baseline"] == health
    assert "flips: green, flaky; ok: green; no: 1 failing; odd: broken" in lines.err


def test_a_flip_on_the_same_files_is_shown_at_the_end_and_in_the_json(cli: Cli) -> None:
    """The agent does nothing: the gate is red in the baseline and green in lap 1."""
    counts_here = ("--set", "clean_room.enabled=false")
    run = ("run", "Mend it.", "--agent", cli.agent(NO_OP), "--gate", flips(cli), *counts_here)

    done = cli(*run, "--json")
    (cli.tmp / "count").write_text("0")
    shown = cli(*run)

    assert (done.code, done.result["outcome"]) == (5, None)
    assert (
        "flips passed in lap 1 on the same files that failed in lap 0" in done.result["question"]["question"]
    )
    assert done.result["flaky"]["flips"] == [1]
    assert done.result["verdicts"]["flips"]["flaky"] is True
    assert "flips passed (flaky; it failed on the same files: app.py: error: too late)" in shown.err
    assert "Flaky: flips was red and green on the same files in lap 1. Try `untilgreen check" in shown.out


def test_a_green_gate_says_what_it_rests_on(cli: Cli) -> None:
    """A test can end its runner with exit code 0 after a few dots, so dots alone prove nothing."""
    run = ["--gate", "tests=echo '3 passed in 0.01s'", "--gate", "lint=echo 'All checks passed!'"]
    done = cli("check", *run, "--gate", "dots=printf '..'")

    out = re.sub(r" in [\d.]+s(?=,|\n)", "", done.out)  # slow gates show their duration
    assert done.code == 0
    assert "✓ tests passed, 3 tests\n" in out
    assert "✓ lint passed\n" in out
    assert "✓ dots passed, by its exit code alone: its output names no tool and no test\n" in out


def test_a_gate_whose_exit_code_alone_is_believed_says_so(cli: Cli) -> None:
    spec = '[gates.tests]\nrun = "echo \'1 failed, 2 passed in 0.01s\'"\nbelieve = "exit-code"\n'
    (cli.place / "untilgreen.toml").write_text(spec)

    done = cli("check", "--trust")

    assert done.code == 0
    assert re.search(
        '✓ tests passed(?: in [\\d.]+s)?, by its exit code alone, as believe = "exit-code" says\n', done.out
    )
