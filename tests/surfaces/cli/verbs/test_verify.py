"""verify: the journal is intact, and the gates give the recorded verdicts again."""

import json
import re
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import GREEN_CALC, NO_OP, RED_CALC, UNITTEST, Cli, git


def green(cli: Cli) -> str:
    fix = cli.agent(f"cat > calc.py <<'END'\n{GREEN_CALC}END\n")
    done = cli("run", "Mend it.", "--agent", fix, "--gate", UNITTEST, "--json")
    assert done.code == 0, done.err
    run: str = done.result["run"]
    return run


def test_a_green_run_is_confirmed_whatever_became_of_the_directory_since(calc: Cli) -> None:
    run = green(calc)
    (calc.place / "calc.py").write_text(RED_CALC)
    (calc.place / "mine.txt").write_text("mine\n")
    before = {path: path.stat().st_mtime_ns for path in calc.place.iterdir()}

    done = calc("verify", run, "--json")

    assert (done.code, done.result["answer"]) == (0, "confirmed")
    rows = [(row["gate"], row["recorded"], row["now"]) for row in done.lines if row["type"] == "verified"]
    assert rows == [("tests", "pass", "pass"), ("integrity", "pass", "pass")]
    assert {path: path.stat().st_mtime_ns for path in calc.place.iterdir()} == before
    assert git(calc.place, "status", "--porcelain") == "?? mine.txt\n"
    assert not (calc.runs / run / "verify").exists()


def test_a_red_run_is_confirmed_as_red_finding_by_finding(calc: Cli) -> None:
    calc("run", "Mend it.", "--agent", calc.agent(NO_OP), "--gate", UNITTEST, "--max-iterations", "1")

    done = calc("verify")

    assert done.code == 0
    assert "✕ tests failed: test_calc.Adding.test_two_numbers" in done.out
    assert "(as recorded)" in done.out


def test_gates_that_say_something_else_now_are_named(cli: Cli) -> None:
    there = cli.tmp / "there"
    there.touch()
    gate = f"test -f done && test -f {there}"
    cli("run", "Mend it.", "--agent", cli.agent("touch done\n"), "--gate", f"both={gate}")
    there.unlink()

    done = cli("verify", "--json")

    assert (done.code, done.result["answer"]) == (1, "differs")
    assert done.result["reason"] == "'both' gave a different verdict from the journal's."


def test_a_gate_that_can_not_run_any_more_confirms_nothing(cli: Cli) -> None:
    tool = cli.tmp / "tool"
    tool.write_text("#!/bin/sh\ntest -f done\n")
    tool.chmod(0o755)
    cli("run", "Mend it.", "--agent", cli.agent("touch done\n"), "--gate", f"tool={tool}")
    tool.unlink()

    done = cli("verify", "--json")

    assert (done.code, done.result["answer"]) == (6, "unknown")


def rewrite(journal: Path, old: str, new: str) -> None:
    text = journal.read_text()
    assert old in text
    journal.write_text(text.replace(old, new, 1))


def test_a_journal_that_was_changed_is_not_confirmed(cli: Cli) -> None:
    run = cli("run", "Mend it.", "--agent", cli.agent("touch done\n"), "--gate", "test -f done", "--json")
    rewrite(cli.runs / run.result["run"] / "journal.jsonl", '"status":"fail"', '"status":"pass"')

    done = cli("verify", "--json")

    assert (done.code, done.result["answer"]) == (1, "differs")
    assert re.search(r"Line \d+ of .* is not what was written", done.result["reason"])


def test_the_head_that_a_report_names_must_be_that_of_the_journal(cli: Cli) -> None:
    run = cli("run", "Mend it.", "--agent", cli.agent("touch done\n"), "--gate", "test -f done", "--json")
    head = run.result["head"]

    same, other = cli("verify", "--head", head), cli("verify", "--head", "0" * len(head))

    assert (same.code, other.code) == (0, 1)
    assert "this is a different journal" in other.out


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_run_that_is_not_over_has_no_result_to_verify(cli: Cli, arguments: tuple[str, ...]) -> None:
    cli("run", "Mend it.", "--agent", "cmd:true", "--gate", "false", "-s", "manual", "--no-input")

    done = cli("verify", *arguments)

    assert done.code == 2
    assert "is not over" in done.err
    assert [json.loads(line)["type"] for line in done.out.splitlines()] == ["version"] * len(arguments)
