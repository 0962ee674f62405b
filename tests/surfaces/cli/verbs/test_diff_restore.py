"""diff and restore: what laps changed, and the way back to any of them."""

import re
import signal

import pytest

from tests.surfaces.cli.helpers import Cli, Invoke, eventually, git

COUNTING = "cat > /dev/null\necho x >> {tmp}/turns\nwc -l < {tmp}/turns | tr -d ' ' > count.txt\n"
"""Writes the number of the turn to count.txt."""


def counted(cli: Cli, laps: int = 2) -> str:
    """Run laps that each leave their number in count.txt; return the run's id."""
    flags = ("--max-iterations", str(laps), "--set", "leave='last'")
    done = cli("run", "Count.", "-a", cli.agent(COUNTING.format(tmp=cli.tmp)), "-g", "false", *flags)
    assert done.code == 3
    return cli.ids[-1]


def changed(text: str) -> list[str]:
    """The lines that a diff removes and adds."""
    return [line for line in text.splitlines() if re.match(r"[+-][^+-]", line)]


def test_diff_shows_a_run_a_lap_or_the_way_between_two(cli: Cli, invoke: Invoke) -> None:
    run = counted(cli)

    assert changed(cli("diff", run).out) == ["+2"]
    assert changed(invoke("diff").out) == ["+2"]
    assert changed(invoke("diff", f"{run}@1").out) == ["+1"]
    assert changed(invoke("diff", f"{run}@2").out) == ["-1", "+2"]
    assert changed(invoke("diff", "@last@0..2").out) == ["+2"]
    assert changed(invoke("diff", f"{run}@2..1").out) == ["-2", "+1"]
    assert invoke("diff", f"{run}@0").out == ""


def test_a_diff_can_be_applied(cli: Cli) -> None:
    run = counted(cli, laps=1)
    (cli.place / "count.txt").unlink()

    (cli.tmp / "patch").write_text(cli("diff", run).out)
    git(cli.place, "apply", str(cli.tmp / "patch"))

    assert (cli.place / "count.txt").read_text() == "1\n"


def test_a_diff_of_files_that_are_not_utf_8_can_be_applied_too(cli: Cli) -> None:
    agent = cli.agent("cat > /dev/null\nprintf 'caf\\351\\n' > latin.txt\n")
    assert cli("run", "Write it.", "-a", agent, "-g", "test -e latin.txt").code == 0
    (cli.place / "latin.txt").unlink()

    (cli.tmp / "patch").write_bytes(cli("diff").out.encode(errors="surrogateescape"))
    git(cli.place, "apply", str(cli.tmp / "patch"))

    assert (cli.place / "latin.txt").read_bytes() == b"caf\xe9\n"


def test_an_invalid_lap_is_refused(cli: Cli, invoke: Invoke) -> None:
    run = counted(cli, laps=1)

    for wrong in (f"{run}@7", f"{run}@x", f"{run}@1..", f"{run}@{'9' * 5000}", "@last@"):
        done = invoke("diff", wrong)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ")
    assert "has no lap 7; it has 0 to 1" in invoke("restore", f"{run}@7").err
    assert "Which lap?" in invoke("restore", run).err
    assert "Only one" in invoke("restore", f"{run}@0..1").err


def test_restore_brings_a_lap_back_and_prints_the_way_back(cli: Cli) -> None:
    run = counted(cli)
    count = cli.place / "count.txt"
    count.write_text("mine\n")
    before = git(cli.place, "status", "--porcelain=v2", "--branch")

    done = cli("restore", f"{run}@1")

    assert done.code == 0
    assert "Restored the files of lap 1." in done.out
    assert count.read_text() == "1\n"

    back = re.search(r"untilgreen (restore \S+ --snapshot ([0-9a-f]+))", done.out)
    assert back is not None
    assert len(back[2]) < 40, "too long to type"
    again = cli(*back[1].split())

    assert again.code == 0
    assert count.read_text() == "mine\n"
    assert git(cli.place, "status", "--porcelain=v2", "--branch") == before, "HEAD or the index changed"


def test_the_way_back_from_the_best_lap_is_printed_at_the_end_of_a_run(cli: Cli) -> None:
    agent = cli.agent(COUNTING.format(tmp=cli.tmp))
    gates = ("-g", "never=false", "-g", "small=test -f count.txt && ! grep -q 2 count.txt")
    done = cli("run", "Count.", "-a", agent, *gates, "--max-iterations", "2")
    count = cli.place / "count.txt"
    assert count.read_text() == "1\n"

    back = re.search(r"untilgreen (restore \S+ --snapshot [0-9a-f]+)", done.out)
    assert back is not None
    assert cli(*back[1].split()).code == 0
    assert count.read_text() == "2\n"


def test_a_snapshot_that_the_run_does_not_keep_is_refused(cli: Cli, invoke: Invoke) -> None:
    run = counted(cli, laps=1)

    unknown, ambiguous = invoke("restore", run, "--snapshot", "zzz"), invoke("restore", run, "--snapshot", "")

    assert (unknown.code, ambiguous.code) == (2, 2)
    assert "has no snapshot 'zzz'" in unknown.err


def test_restore_is_refused_while_a_run_works_there(cli: Cli) -> None:
    old = counted(cli, laps=1)
    hanging = cli.agent(f"cat > /dev/null\ntouch {cli.tmp}/began\nexec sleep 60\n", "hanging.sh")
    started = cli.start("run", "Mend it.", "--agent", hanging, "--gate", "false")
    eventually((cli.tmp / "began").exists)

    done = cli("restore", f"{old}@0")
    started.signal(signal.SIGINT)
    started.end()

    assert done.code == 2
    assert f"Run {cli.ids[-1]} is working in" in done.err
    assert (cli.place / "count.txt").read_text() == "1\n"


@pytest.mark.parametrize("mark", ["UNTILGREEN_INSIDE", "CLAUDECODE", "GEMINI_CLI"])
def test_an_agent_may_neither_answer_nor_restore(
    cli: Cli, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    run = counted(cli, laps=1)
    monkeypatch.setenv(mark, "1")

    refused = [invoke("restore", f"{run}@0"), invoke("answer", run, "accept")]

    assert [done.code for done in refused] == [2, 2]
    assert all("not for agents" in done.err for done in refused)
    assert (cli.place / "count.txt").read_text() == "1\n"


def test_a_diff_can_be_a_table_of_files(cli: Cli, invoke: Invoke) -> None:
    run = counted(cli, laps=2)

    assert invoke("diff", run, "--stat").out == " count.txt |    1 +\n 1 file changed, 1 added, 0 removed\n"


def test_on_a_terminal_a_diff_has_colors_and_none_of_what_others_wrote(cli: Cli) -> None:
    run = counted(cli, laps=2)

    _, seen = cli.on_a_terminal("diff", run).end()
    cli.env["NO_COLOR"] = "1"
    _, plain = cli.on_a_terminal("diff", run).end()

    assert "\x1b[32m+2\x1b[0m" in seen
    assert "\x1b[1mdiff --git" in seen
    assert "\x1b[" not in plain


def test_a_long_diff_goes_through_the_pager(cli: Cli) -> None:
    agent = cli.agent("cat > /dev/null\nseq 200 > long.txt\n")
    cli("run", "Count.", "-a", agent, "-g", "false", "--max-iterations", "1", "--set", "leave='last'")
    cli.env["PAGER"] = "sed s/^/paged:/"

    _, seen = cli.on_a_terminal("diff").end()

    assert "paged:" in seen


def test_a_pager_whose_quotes_do_not_close_is_not_used(cli: Cli) -> None:
    agent = cli.agent("cat > /dev/null\nseq 200 > long.txt\n")
    cli("run", "Count.", "-a", agent, "-g", "false", "--max-iterations", "1", "--set", "leave='last'")
    cli.env["PAGER"] = "less '"

    code, seen = cli.on_a_terminal("diff").end()

    assert (code, "+200" in seen) == (0, True)


def test_the_empty_diff_of_a_run_that_was_put_back_says_so(cli: Cli, invoke: Invoke) -> None:
    agent = cli.agent("cat > /dev/null\necho worse >> notes.txt\n")
    gates = ("-g", "red=false", "-g", "same=! grep worse notes.txt")
    assert cli("run", "Try.", "-a", agent, *gates, "--max-iterations", "1").code == 3
    run = cli.ids[-1]

    done = invoke("diff", run)

    assert done.out == ""
    assert f"its changes were undone. See a lap with: untilgreen diff {run}@1" in done.err
    assert "+worse" in invoke("diff", f"{run}@1").out
