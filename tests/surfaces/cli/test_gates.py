"""Gate settings in whole runs: when gates run, what happens when they fail, and each kind of gate."""

import json
import os

import pytest

from tests.gates.test_ci import GH, run
from tests.surfaces.cli.helpers import NO_OP, Cli, Done, git, script, write

APPENDS = "cat > /dev/null\necho more >> notes.txt\n"
COUNTED = "echo x >> {0}/count; {1}"


def driven(cli: Cli, spec: str, agent: str = APPENDS, *flags: str, laps: int = 3) -> Done:
    write(cli.place, {"untilgreen.toml": spec})
    return cli(
        *("run", "Mend it.", "--trust", "--agent", cli.agent(agent), "--json", "--no-input"),
        *("--set", "detectors=[]", "--max-iterations", str(laps), *flags),
    )


def calls(cli: Cli) -> int:
    """How often the gate ran."""
    return len((cli.tmp / "count").read_text().splitlines())


def test_a_gate_that_must_not_fail_blocks_the_run(cli: Cli) -> None:
    secrets = '[gates.secrets]\nrun = "! grep -q more notes.txt"\non_fail = "stop"\n'

    done = driven(cli, f'[gates.tests]\nrun = "test -f done"\n{secrets}')

    assert (done.code, done.result["outcome"], done.result["laps"]) == (1, "blocked", 1)
    assert "gate 'secrets' failed, and its on_fail is " in done.result["reason"]


def test_a_gate_that_asks_stops_no_run_where_nobody_can_answer_and_is_recorded(cli: Cli) -> None:
    done = driven(cli, '[gates.tests]\nrun = "false"\non_fail = "ask"\n', laps=2)

    assert (done.code, done.result["outcome"], done.result["laps"]) == (3, "exhausted", 2)
    decided = [event for event in done.events if event["type"] == "Decided" and event["lap"] == 1]
    assert decided[0]["escalated"] == ["tests"]


def test_a_gate_that_was_red_too_often_asks(cli: Cli) -> None:
    done = driven(cli, '[gates.tests]\nrun = "false"\nmax_attempts = 2\n')

    escalated = [event.get("escalated", []) for event in done.events if event["type"] == "Decided"]
    assert escalated[:3] == [[], [], ["tests"]]


@pytest.mark.parametrize(("when", "ran"), [("always", 4), ("changed", 2)])  # one of them in the clean room
def test_a_gate_may_wait_for_a_change(cli: Cli, when: str, ran: int) -> None:
    gate = COUNTED.format(cli.tmp, "false")

    driven(cli, f'[gates.tests]\nrun = "{gate}"\nwhen = "{when}"\n', NO_OP, laps=2)

    assert calls(cli) == ran


def test_a_gate_may_wait_for_the_claim(cli: Cli) -> None:
    spec = (
        'promise = "DONE"\n[gates.tests]\nrun = "true"\n'
        f'[gates.slow]\nrun = "{COUNTED.format(cli.tmp, "true")}"\nwhen = "claimed"\nstage = 2\n'
    )
    agent = APPENDS + "[ $(wc -l < notes.txt) -lt 3 ] || echo '<promise>DONE</promise>'\n"

    done = driven(cli, spec, agent)

    assert (done.code, done.result["outcome"], done.result["laps"]) == (0, "converged", 2)
    assert calls(cli) == 2, "once in the workspace, and once in the clean room"


def test_a_gate_that_is_not_required_may_be_red(cli: Cli) -> None:
    done = driven(
        cli, '[gates.tests]\nrun = "grep -q more notes.txt"\n[gates.style]\nrun = "false"\nrequired = false\n'
    )

    assert (done.code, done.result["outcome"]) == (0, "converged")
    assert done.result["verdicts"]["style"]["status"] == "fail"


LEVELS = """\
[gates.contract]
kind = "levels"
min_level = "L3"
[gates.contract.L0]
required = ["app.sh"]
[gates.contract.L1]
run = ["sh -n app.sh"]
[[gates.contract.L2.cases]]
name = "greets"
run = "sh app.sh"
contains = ["hello"]
[gates.contract.L3]
stray = "fail"
"""
CLIMBS = """\
cat > /dev/null
if [ ! -f app.sh ]; then echo 'echo (' > app.sh
elif ! sh -n app.sh; then echo 'echo bye' > app.sh
elif ! grep -q hello app.sh; then echo 'echo hello' > app.sh; touch app.sh.orig
else rm app.sh.orig
fi
"""


def test_levels_are_climbed_one_after_the_other(cli: Cli) -> None:
    done = driven(cli, LEVELS, CLIMBS, laps=6)

    assert (done.code, done.result["outcome"], done.result["laps"]) == (0, "converged", 4)
    laps = [lap["verdicts"]["contract"] for lap in done.result["history"]]
    assert [lap.get("score", 0) for lap in laps] == [0.25, 0.5, 0.75, 1.0]
    assert [lap["findings"][0]["id"][:2] for lap in laps[:3]] == ["L1", "L2", "L3"]


def test_a_level_that_makes_no_sense_is_an_error_before_anything_runs(cli: Cli) -> None:
    done = driven(cli, LEVELS.replace('contains = ["hello"]', 'contain = ["hello"]'))

    assert done.code == 2
    assert "contain" in done.err
    assert not cli.ids


def checks(cli: Cli, *answers: object) -> dict[str, str]:
    """Put a stand-in for `gh` on the PATH that gives these answers in order; return the environment."""
    programs = cli.tmp / "bin"
    programs.mkdir()
    script(programs / "gh", GH.partition("\n")[2], "/usr/bin/env python3")
    (programs / "answers").write_text(json.dumps(answers))
    cli.env["PATH"] = f"{programs}{os.pathsep}{cli.env['PATH']}"
    git(cli.place, "config", "user.name", "t")
    git(cli.place, "config", "user.email", "t@example.invalid")
    return cli.env


CI = """\
[gates.tests]
run = "grep -q more notes.txt"
[gates.ci]
kind = "ci"
push = "git add -A && git commit -qm wip"
poll = "0.1s"
appear = "1s"
stage = 2
"""


def test_a_run_waits_for_the_checks_of_what_it_pushed(cli: Cli) -> None:
    pending = [run("build", "in_progress", None)]
    checks(
        cli,
        pending,
        pending,
        [run("build", conclusion="failure")],
        [run("build"), run("lint", conclusion="skipped")],
    )

    done = driven(cli, CI)

    assert (done.code, done.result["outcome"], done.result["laps"]) == (0, "converged", 2)
    first = done.result["history"][0]["verdicts"]["ci"]
    assert (first["status"], first["findings"][0]["id"]) == ("fail", "build")


@pytest.mark.parametrize(
    ("answer", "words"),
    [([], "appeared for"), ("please run: gh auth login", "gh auth login")],
)
def test_checks_that_nobody_can_see_never_converge(cli: Cli, answer: object, words: str) -> None:
    checks(cli, answer)

    done = driven(cli, CI, laps=1)

    assert done.result["outcome"] == "exhausted"
    verdict = done.result["verdicts"]["ci"]
    assert verdict["status"] == "error"
    assert words in verdict["findings"][0]["message"]


def test_what_a_gate_leaves_behind_is_not_reported_as_a_persons_work(cli: Cli) -> None:
    """Lap 0 is the best, so its files are restored; the leftover is reported as made between the turns."""
    complains = "sed 's/.*/notes.txt:1: error: &/' notes.txt"
    gate = ("--gate", f"tests=date +%N > left.txt; {complains}; exit 1")

    done = cli("run", "x", *gate, "-a", cli.agent(APPENDS), "--max-iterations", "1", "--no-input")

    assert done.code == 3, done.err
    assert (cli.place / "notes.txt").read_text() == "start\n"
    assert "between the agent's turns: left.txt" in done.out
