"""why: on a real run; the command that it suggests works as printed."""

import shlex

from tests.surfaces.cli.helpers import NO_OP, Cli, Invoke


def test_why_gives_programs_the_evidence_and_a_command_that_works(cli: Cli, invoke: Invoke) -> None:
    gate = ("--gate", "done=test -f done")
    cli("run", "Fix it.", "--agent", cli.agent(NO_OP), *gate, "--max-iterations", "1")

    told = invoke("why", "--json").lines[-1]

    assert (told["type"], told["status"], told["decision"]["metadata"]["limit"]) == (
        "why",
        "exhausted",
        "iterations",
    )
    assert [(each["gate"], each["status"]) for each in told["red"]] == [("done", "fail")]
    again = shlex.split(told["ways"][0]["command"])
    assert again[:2] == ["untilgreen", "fork"]
    assert again[-2:] == ["--max-iterations", "2"]
    before = len(cli.ids)
    assert cli(*again[1:]).code == 3
    assert len(cli.ids) == before + 1


def test_why_answers_people_in_a_few_sections(cli: Cli, invoke: Invoke) -> None:
    cli("run", "Fix it.", "--agent", cli.agent("touch done\n"), "--gate", "test -f done")

    told = invoke("why")

    assert told.code == 0
    assert told.out.startswith("converged: all required gates pass in lap 1\n")
    assert f"check that the result still holds:\n    untilgreen verify {cli.ids[0]}" in told.out


def test_why_advises_a_gate_for_an_unchecked_claim_and_lists_no_remedies(cli: Cli, invoke: Invoke) -> None:
    cli("run", "Fix it.", "--agent", cli.agent("echo '<promise>DONE</promise>'\n"), "--promise", "DONE")

    told = invoke("why").out

    assert told.startswith("claimed: ")
    assert "check it with a gate:\n    untilgreen check --gate COMMAND" in told
    assert "noop (nudge) in lap 1: no file changed" in told
    assert "What was tried" not in told
