"""A run that waits for people to approve what it did."""

from tests.surfaces.cli.helpers import Cli

GATES = """\
[gates.tests]
run = "test -f done"

[gates.sign-off]
kind = "approval"
people = ["ann", "bob"]
stage = 2
"""


def waiting(cli: Cli) -> str:
    """A run whose only missing gate is the approval; its id."""
    (cli.place / "untilgreen.toml").write_text(GATES)
    done = cli("run", "Make it.", "--trust", "-a", cli.agent("cat > /dev/null\ntouch done\n"), "--no-input")
    assert done.code == 5, done.err
    assert "waits for ann, bob to approve" in done.out
    assert "untilgreen answer" in done.out
    return cli.ids[0]


def test_a_run_waits_for_approval_over_a_restart_and_converges_with_it(cli: Cli) -> None:
    run = waiting(cli)

    assert cli("show", run, "--json").result["status"] == "waiting"
    assert "'eve' can't answer for gate" in cli("answer", run, "approve", "--as", "eve").err
    assert cli("answer", run, "approve", "--as", "ann").code == 0
    done = cli("resume", run, "--no-input")
    assert done.code == 0
    assert "converged" in done.out


def test_a_rejection_fails_the_gate_and_the_agent_continues(cli: Cli) -> None:
    run = waiting(cli)

    assert cli("answer", run, "reject", "--as", "bob", "--note", "the name is wrong").code == 0
    done = cli("resume", run, "--no-input", "--json")
    assert done.code != 0
    first = done.result["history"][0]["verdicts"]["sign-off"]
    assert first["status"] == "fail"
    assert first["findings"][0]["message"] == "bob rejected it: the name is wrong"


def test_one_person_counts_once_and_enough_may_be_two(cli: Cli) -> None:
    (cli.place / "untilgreen.toml").write_text(f"{GATES}need = 2\n")
    agent = cli.agent("cat > /dev/null\ntouch done\n")
    assert cli("run", "Make it.", "--trust", "-a", agent, "--no-input").code == 5
    run = cli.ids[0]

    first, second = (cli("answer", run, "approve", "--as", "ann") for _ in range(2))
    still = cli("resume", run, "--no-input")
    third = cli("answer", run, "approve", "--as", "bob")
    done = cli("resume", run, "--no-input", "--json")

    assert (first.code, second.code, still.code, third.code) == (0, 2, 5, 0), second.err
    assert "ann" in second.err
    assert (done.code, done.result["outcome"]) == (0, "converged")
