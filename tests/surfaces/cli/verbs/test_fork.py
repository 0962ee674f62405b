"""fork: a new run from any lap, with the plan of the original run or with changes to it."""

import re
import shlex
import signal
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import COMMAND, Cli, Invoke, eventually, git, write

COUNTING = "cat > {tmp}/brief\necho x >> {tmp}/turns\nwc -l < {tmp}/turns | tr -d ' ' > count.txt\n"
FINISHING = "cat > {tmp}/brief\ncat count.txt > seen.txt\necho done > done.txt\n"


def counted(cli: Cli, *flags: str, cwd: Path | None = None) -> str:
    """Run two laps that leave 1 and 2 in count.txt and stay red; return the run's id."""
    agent = cli.agent(COUNTING.format(tmp=cli.tmp))
    limits = ("--max-iterations", "2", "--set", "leave='last'")
    done = cli("run", "Count.", "-a", agent, "-g", "test -e done.txt", *limits, *flags, cwd=cwd)
    assert done.code == 3, done.err
    return cli.ids[-1]


def finishing(cli: Cli) -> tuple[str, str]:
    return "-a", cli.agent(FINISHING.format(tmp=cli.tmp), "finishing.sh")


def test_a_fork_in_a_worktree_begins_with_a_lap_and_leaves_the_users_files(cli: Cli, invoke: Invoke) -> None:
    run = counted(cli)
    write(cli.place, {"mine.txt": "mine\n"})
    before = sorted(path.name for path in cli.place.iterdir())

    done = cli("fork", f"{run}@1", *finishing(cli), "--worktree", "--json")

    assert (done.code, done.result["outcome"], done.result["laps"]) == (0, "converged", 1)
    assert sorted(path.name for path in cli.place.iterdir()) == before
    assert (cli.place / "count.txt").read_text() == "2\n"
    branch = f"untilgreen/{cli.ids[-1]}"
    names = git(cli.place, "ls-tree", "--name-only", branch).split()
    assert names == ["count.txt", "done.txt", "notes.txt", "seen.txt"]
    assert (git(cli.place, "show", f"{branch}:seen.txt"), git(cli.place, "show", f"{branch}:count.txt")) == (
        "1\n",
        "1\n",
    )
    assert git(cli.place, "rev-parse", f"{branch}^") == git(cli.place, "rev-parse", "HEAD")
    assert "conflict in count.txt" in invoke("apply").out, "the original run went on in place"
    (cli.place / "count.txt").unlink()
    assert (invoke("apply").code, (cli.place / "done.txt").read_text()) == (0, "done\n")


def test_a_fork_in_place_puts_the_lap_into_the_directory_and_says_the_way_back(cli: Cli) -> None:
    run = counted(cli)
    write(cli.place, {"mine.txt": "mine\n"})

    done = cli("fork", f"{run}@1", *finishing(cli))

    assert done.code == 0, done.err
    assert f"The run starts from the files of {run}@1." in done.err
    assert (cli.place / "seen.txt").read_text() == "1\n"
    assert not (cli.place / "mine.txt").exists()
    back = re.search(r"untilgreen (restore \S+ --snapshot [0-9a-f]+)", done.err)
    assert back is not None
    assert cli(*back[1].split()).code == 0
    assert ((cli.place / "mine.txt").read_text(), (cli.place / "count.txt").read_text()) == ("mine\n", "2\n")


def test_task_note_strategy_and_limits_can_be_others_and_the_rest_is_as_it_was(cli: Cli) -> None:
    run = counted(cli, "--set", "labels.team='a'")

    flags = ("--note", "Mind the gap.", "-s", "fixed", "--max-iterations", "1")
    done = cli("fork", run, "Do something else.", "--worktree", "--json", *flags)

    brief = (cli.tmp / "brief").read_text()
    assert (done.code, done.result["laps"], done.result["strategy"]) == (3, 1, "fixed")
    assert (done.result["labels"], done.result["task"]) == ({"team": "a"}, "Do something else.")
    assert "Do something else." in brief
    assert "Mind the gap." in brief
    assert "Count." not in brief
    assert list(done.result["verdicts"]) == ["test -e done.txt"]


def test_a_fork_works_without_git_also_after_its_run_is_gone(cli: Cli) -> None:
    plain = cli.tmp / "plain"
    write(plain, {"notes.txt": "start\n"})
    run = counted(cli, cwd=plain)

    done = cli("fork", f"{run}@1", *finishing(cli), cwd=plain)
    refused = cli("fork", f"{run}@1", "--worktree", cwd=plain)
    pruned = cli("prune", run, cwd=plain)
    restored = cli("restore", f"{cli.ids[-1]}@0", cwd=plain)

    assert (done.code, refused.code, pruned.code, restored.code) == (0, 2, 0, 0)
    assert "Fork it with --in-place" in refused.err
    assert ((plain / "count.txt").read_text(), (plain / "seen.txt").exists()) == ("1\n", False)


def test_a_fork_is_judged_by_the_code_of_its_run_and_not_by_the_current_files(cli: Cli) -> None:
    rules = "from untilgreen import Continue\nclass Rule:\n    def decide(self, state, signals):\n"
    write(cli.place, {"rules.py": f"{rules}        return Continue(reason='as it was')\n"})
    run = counted(cli, "--set", "strategy='./rules.py:Rule'")
    write(cli.place, {"rules.py": "raise SystemExit('somebody was here')\n"})

    done = cli("fork", f"{run}@0", "--max-iterations", "1", "--worktree", "--json")

    assert done.code == 3, done.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("@last@9",), "has no lap 9; it has 0 to 2"),
        (("@last@0..1",), "A fork starts from one lap"),
        (("@last@1", "--profile", "x"), "Unknown option: --profile"),
        (("@last@1", "-s", "nonsense"), "nonsense"),
    ],
)
def test_a_fork_that_makes_no_sense_is_refused_and_leaves_nothing(
    cli: Cli, invoke: Invoke, arguments: tuple[str, ...], sentence: str
) -> None:
    run = counted(cli)

    done = invoke("fork", *arguments)

    assert (done.code, sentence in done.err, cli.ids) == (2, True, [run])


def test_an_agent_may_fork_into_a_worktree_and_not_into_the_directory(
    cli: Cli, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = counted(cli)
    monkeypatch.setenv("CLAUDECODE", "1")

    refused = invoke("fork", f"{run}@1")
    done = cli("fork", f"{run}@1", *finishing(cli), "--worktree", env={"CLAUDECODE": "1"})

    assert (refused.code, "not for agents" in refused.err) == (2, True)
    assert done.code == 0, done.err


@pytest.mark.parametrize("mode", ["--worktree", "--in-place"])
def test_a_fork_that_is_killed_while_it_begins_continues_with_the_files_of_the_lap(
    cli: Cli, mode: str
) -> None:
    run = counted(cli)
    waiting = f"test -e {cli.tmp}/again || {{ touch {cli.tmp}/began; exec sleep 60; }}\n"
    agent = cli.agent(f"{waiting}{FINISHING.format(tmp=cli.tmp)}", "waiting.sh")
    started = cli.start("fork", f"{run}@1", "-a", agent, mode)
    eventually((cli.tmp / "began").exists)
    started.signal(signal.SIGKILL)
    started.end()
    (cli.tmp / "again").touch()

    done = cli("resume", cli.ids[-1])

    assert done.code == 0, done.err
    place = cli.place if mode == "--in-place" else cli.runs.parent / "worktrees" / cli.ids[-1]
    assert (place / "seen.txt").read_text() == "1\n"
    git(cli.place, "fsck", "--strict")


def test_a_fork_can_be_detached_and_notes_a_secret_in_its_task(cli: Cli) -> None:
    run = counted(cli)
    secret = {"SERVICE_TOKEN": "hunter2-hunter2"}

    done = cli(
        *("fork", f"{run}@1", "Log in with hunter2-hunter2.", *finishing(cli)),
        *("--worktree", "--detach", "--json"),
        env=secret,
    )
    seen = cli("follow", cli.ids[-1])

    assert (done.code, done.lines[-1]["type"]) == (0, "detached")
    assert "note: The task contains a secret" in done.err
    assert "converged: all required gates pass in lap 1" in seen.out
    assert "hunter2-hunter2" not in (cli.runs / cli.ids[-1] / "journal.jsonl").read_text()


def test_a_run_that_is_over_is_not_resumed_but_continued_with_more_laps(cli: Cli) -> None:
    run = counted(cli)

    resumed = cli("resume")
    more = cli("fork", "--more", "1", "--json")

    assert (
        f"Run {run} is over (exhausted); resume can't continue it. Use: untilgreen fork {run} --more 10"
        in (resumed.err)
    )
    plan = more.events[0]["plan"]
    assert plan["workspace"]["forked"].startswith(f"{run}@")
    assert (plan["limits"]["iterations"], more.result["laps"]) == (1, 1)
    (told,) = (event["note"] for event in more.events if event["type"] == "Steered")
    assert told.startswith(f"Run {run} worked on this before you and ended as exhausted: ")
    assert "- lap 1 changed " in told


def test_more_laps_and_a_maximum_of_laps_exclude_each_other(cli: Cli, invoke: Invoke) -> None:
    counted(cli)

    for flags in (("--more", "0"), ("--more", "2", "--max-iterations", "3")):
        assert "--more N is the number of laps" in invoke("fork", *flags).err


def test_more_laps_continue_from_the_files_that_a_stopped_run_left(cli: Cli) -> None:
    body = (
        f"cat > /dev/null\necho more >> notes.txt\n{shlex.join(COMMAND)} stop --state-dir {cli.runs.parent}\n"
    )
    stopped = cli("run", "Write on.", "-a", cli.agent(body), "-g", "false", "--max-iterations", "5")
    run = cli.ids[-1]

    more = cli("fork", "--more", "1", "--json")

    assert "cancelled: requested with `untilgreen stop`\n1 lap in" in stopped.out
    assert f"      untilgreen fork {run} --more 10" in stopped.out
    assert more.events[0]["plan"]["workspace"]["forked"] == f"{run}@1"
    assert f"untilgreen fork {run} --more 10" in cli("why", run).out
