"""list and show: which runs there are, how to name one, and what `--json` prints about them."""

import itertools
import re
from pathlib import Path

from tests.surfaces.cli.helpers import NO_OP, Cli, Invoke, repository

GATE = ("--gate", "test -f done")


def finished(cli: Cli, task: str = "Mend it.", cwd: Path | None = None) -> str:
    """Run one lap that turns green; return the run's id."""
    before = set(cli.ids)
    cli("run", task, "--agent", cli.agent("touch done\n"), *GATE, cwd=cwd)
    (new,) = set(cli.ids) - before
    return new


def shared(one: str, other: str) -> str:
    """The common prefix of two ids."""
    return "".join(
        a for a, b in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    )


def test_a_run_is_found_by_its_id_the_beginning_of_it_or_as_the_last(cli: Cli, invoke: Invoke) -> None:
    first = finished(cli)
    last = finished(cli)
    short = shared(first, last) + first[len(shared(first, last))]

    names = {name: invoke("show", name, "--json").result["run"] for name in (first, short, "@last")}

    assert names == {first: first, short: first, "@last": last}
    assert invoke("show", "--json").result["run"] == last


def test_an_id_that_matches_none_or_several_is_answered_with_the_ids_that_exist(
    cli: Cli, invoke: Invoke
) -> None:
    first, last = finished(cli, "One."), finished(cli, "Two.")
    wrong = "z" + first[1:]

    unknown, ambiguous = invoke("show", wrong), invoke("show", shared(first, last))

    assert (unknown.code, ambiguous.code) == (2, 2)
    assert f"There is no run '{wrong}'. Did you mean" in unknown.err
    assert f"{first} (One.)" in ambiguous.err
    assert f"{last} (Two.)" in ambiguous.err


def test_list_shows_the_runs_of_this_workspace_and_with_all_the_rest(cli: Cli, invoke: Invoke) -> None:
    there = repository(cli.tmp / "elsewhere", {})
    here_id, there_id = finished(cli), finished(cli, cwd=there)

    here, everywhere = invoke("list"), invoke("list", "--all")

    assert (here.code, everywhere.code) == (0, 0)
    assert here_id in here.out
    assert there_id not in here.out
    assert everywhere.out.index(there_id) < everywhere.out.index(here_id), "the newest comes first"


def test_where_nothing_was_run_list_says_how_to_begin(cli: Cli) -> None:
    listed, last = cli("list"), cli("show")

    assert listed.code == 0
    assert "untilgreen run" in listed.out
    assert last.code == 2
    assert "No run was started in" in last.err


def test_a_damaged_journal_is_shown_as_such_and_hides_no_other_run(cli: Cli, invoke: Invoke) -> None:
    damaged, sound = finished(cli), finished(cli)
    journal = cli.runs / damaged / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:2], b'{"seq":2}\n', *lines[3:]]))

    listed, shown = invoke("list"), invoke("show", damaged)
    rows = {line["run"]: line["status"] for line in invoke("list", "--json").lines if line["type"] == "run"}

    assert listed.code == 0
    assert rows == {damaged: "damaged", sound: "converged"}
    assert f"{damaged} damaged: " in listed.out
    assert shown.code == 70
    assert "Line 3 of" in shown.err
    assert "Traceback" not in shown.err


def test_show_json_has_the_whole_result(cli: Cli) -> None:
    run = finished(cli, "Mend it.")
    version, result = cli("show", run, "--json").lines

    assert version == {"type": "version", "schema": "1.0", "tool": "untilgreen"}
    wanted = {"run": run, "outcome": "converged", "exit_code": 0, "laps": 1, "task": "Mend it."}
    assert {key: result[key] for key in wanted} == wanted
    assert result["verdicts"]["test -f done"]["status"] == "pass"
    (lap,) = result["history"]
    assert lap["number"] == 1
    assert result["elapsed"] >= lap["duration"] > 0
    assert result["head"]


def test_show_json_has_velocity_and_progress_by_gate(cli: Cli) -> None:
    cli("run", "x", "--agent", "cmd:true", "--gate", "tests=false", "--strategy", "fixed", "--no-input")

    progress = cli("show", "--json").lines[-1]["progress"]

    assert {"score", "trend", "velocity"} <= set(progress["overall"])
    assert "tests" in progress["gates"]


def test_list_json_has_a_version_and_a_line_for_each_run(cli: Cli) -> None:
    run = finished(cli, "Mend it.")
    version, row = cli("list", "--json").lines

    assert version["type"] == "version"
    assert (row["run"], row["status"], row["laps"], row["task"]) == (run, "converged", 1, "Mend it.")


def test_run_json_prints_nothing_but_json_from_the_version_to_the_result(cli: Cli) -> None:
    limited = ("--max-iterations", "1", "--json")
    done = cli("run", "Mend it.", "--agent", cli.agent("echo working\n"), *GATE, *limited)

    version, *events, result = done.lines
    assert version == {"type": "version", "schema": "1.0", "tool": "untilgreen"}
    assert {line["type"] for line in events} == {"event"}
    assert [events[0]["event"]["type"], events[-1]["event"]["type"]] == ["RunStarted", "RunFinished"]
    assert done.events == cli.journal(result["run"])
    assert (result["type"], result["outcome"], result["exit_code"]) == ("result", "exhausted", done.code)
    assert result["laps"] == 1
    assert result["verdicts"]["test -f done"]["status"] == "fail"


def test_check_json_has_a_verdict_for_each_gate_and_the_result(cli: Cli) -> None:
    done = cli("check", "--gate", "yes=true", "--gate", "no=false", "--json")

    version, *verdicts, result = done.lines
    assert version["type"] == "version"
    assert {line["gate"]: line["verdict"]["status"] for line in verdicts} == {"yes": "pass", "no": "fail"}
    assert (result["type"], result["green"], result["exit_code"]) == ("check_result", False, 1)
    assert {name: gate["passed"] for name, gate in result["gates"].items()} == {"yes": 1, "no": 0}
    assert done.code == 1


def test_progress_goes_to_stderr_and_quiet_keeps_it_away(cli: Cli) -> None:
    run = ("run", "Mend it.", "--agent", cli.agent(NO_OP), *GATE, "--max-iterations", "1")

    loud, quiet = cli(*run), cli(*run, "--quiet")

    assert "lap 1: turn done" in loud.err
    assert "lap 1: turn done" not in loud.out
    assert quiet.err == ""
    assert "exhausted:" in quiet.out


def test_printed_commands_name_the_state_directory_that_was_given(cli: Cli) -> None:
    elsewhere = cli.tmp / "my state"
    flag = ("--state-dir", str(elsewhere))
    left = cli("run", "Mend it.", "--agent", "cmd:true", *GATE, *flag, "-s", "manual", "--no-input")

    (run,) = (path.name for path in (elsewhere / "runs").iterdir())
    assert f"untilgreen answer {run} continue --state-dir '{elsewhere}'" in left.out
    assert cli.ids == []
    assert cli("show", run, *flag).code == 0


def test_on_a_terminal_a_run_takes_one_line_of_the_list_and_the_title_of_show_fits(cli: Cli) -> None:
    task = "Make the login tests pass again, and leave everything else as it was."
    assert cli("run", task, "--agent", "cmd:true", "--gate", "true").code == 0

    _, listed = cli.on_a_terminal("list").end()
    _, shown = cli.on_a_terminal("show").end()

    assert [len(line) for line in listed.splitlines()][1:] == [80]
    assert len(shown.splitlines()[0]) == 80
    assert task in cli("show").out
    assert f"Next: untilgreen why {cli.ids[0]}" in shown


def test_list_shows_when_how_long_who_and_how_it_went(cli: Cli, invoke: Invoke) -> None:
    paid = cli.agent("""echo '{"cost": 1.5}' > "$UNTILGREEN_USAGE_FILE"; touch done\n""")
    cli("run", "Mend it.", "--agent", paid, *GATE)
    (run,) = cli.ids

    header, row = invoke("list").out.splitlines()
    line = invoke("list", "--json").lines[-1]

    assert header.split() == ["run", "started", "age", "outcome", "laps", "time", "cost", "agent", "task"]
    assert re.fullmatch(
        rf"{run} +\d\d-\d\d \d\d:\d\d +\d+s converged +1 +\d+s  \$1\.50 cmd:age… +Mend it\.", row
    ), row
    assert line["agent"].startswith("cmd:")
    assert 0 < line["started"] <= line["updated"]
    assert line["elapsed"] > 0
