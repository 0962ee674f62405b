"""prune: old runs are removed without a trace, and what someone still needs stays."""

import json
import signal
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import Cli, Invoke, eventually, git, write
from untilgreen.crash_points import CRASH_AT
from untilgreen.engine.operations.prune import Rules, prune
from untilgreen.engine.store.runs import Store

COUNTING = "cat > /dev/null\necho x >> {tmp}/turns\nwc -l < {tmp}/turns | tr -d ' ' > count.txt\n"
IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org")


def counted(cli: Cli, *flags: str, laps: int = 3) -> str:
    """Run laps that each write another number to count.txt; return the run's id."""
    agent = cli.agent(COUNTING.format(tmp=cli.tmp))
    limits = ("--max-iterations", str(laps), "--set", "leave='last'", "--set", "detectors=[]")
    done = cli("run", "Count.", "-a", agent, "-g", "false", *limits, *flags)
    assert done.code == 3, done.err
    return cli.ids[-1]


def refs(place: Path, run: str) -> list[str]:
    listed = git(place, "for-each-ref", "--format=%(refname)").splitlines()
    return [ref for ref in listed if run in ref]


def traces(cli: Cli, run: str) -> list[str]:
    """The paths in the repository and the state directory whose name contains the run's id."""
    places = (cli.place / ".git", cli.runs.parent)
    return [str(path) for place in places for path in place.rglob("*") if run in path.name]


@pytest.mark.parametrize("mode", ["--worktree", "--in-place"])
def test_after_a_prune_nothing_of_the_run_is_left(cli: Cli, invoke: Invoke, mode: str) -> None:
    run = counted(cli, mode)
    left = (cli.place / "count.txt").exists()

    tried = invoke("prune", "--keep", "0d", "--dry-run")
    before = refs(cli.place, run)
    done = invoke("prune", "--keep", "0d")

    assert (tried.code, done.code, bool(before)) == (0, 0, True)
    assert f"{run}  would be removed: ended " in tried.out
    assert f"{run}  removed: ended " in done.out
    assert (refs(cli.place, run), traces(cli, run), cli.ids) == ([], [], [])
    assert not (cli.place / ".git" / "refs" / "untilgreen").exists()
    assert git(cli.place, "worktree", "list").count("\n") == 1
    assert "error" not in git(cli.place, "fsck", "--strict", "--no-dangling")
    assert (cli.place / "count.txt").exists() == left, "the user's own files were touched"


def test_a_young_run_keeps_its_first_best_and_last_files_and_the_newest_keeps_all(
    cli: Cli, invoke: Invoke
) -> None:
    old, new = counted(cli, laps=4), counted(cli, laps=2)
    laps = [line["snapshot"] for line in invoke("show", old, "--json").lines[-1]["history"]]
    assert invoke("restore", f"{old}@0").code == 0
    way_back = len([ref for ref in refs(cli.place, old) if "before-" in ref])
    newest = refs(cli.place, new)

    done = invoke("prune", "--keep", "30d", "--json")

    actions = {line["run"]: line["action"] for line in done.lines[1:]}
    assert actions == {old: "thinned", new: "kept"}
    kept = git(cli.place, "for-each-ref", "--format=%(objectname)", f"refs/untilgreen/{old}").split()
    assert laps[-1] in kept
    assert not set(laps[:-1]) & set(kept)
    assert way_back == 1
    assert len([ref for ref in refs(cli.place, old) if "before-" in ref]) == 1
    assert refs(cli.place, new) == newest
    assert invoke("prune").out == "No run is old enough to be removed.\n"
    assert invoke("restore", f"{old}@4").code == 0


def test_a_run_that_is_driven_or_not_over_or_damaged_is_kept(cli: Cli, invoke: Invoke) -> None:
    damaged = counted(cli, laps=1)
    (cli.runs / damaged / "journal.jsonl").write_text("nonsense\n")
    hanging = cli.agent(f"cat > /dev/null\ntouch {cli.tmp}/began\nexec sleep 60\n", "hanging.sh")
    started = cli.start("run", "Mend it.", "--worktree", "-a", hanging, "-g", "false")
    eventually((cli.tmp / "began").exists)
    running = cli.ids[-1]

    while_driven = invoke("prune", "--keep", "0d", "--json")
    named = invoke("prune", running)
    started.signal(signal.SIGINT)
    started.end()
    left = invoke("prune", "--keep", "0d")

    kept = {line["run"]: line["why"] for line in while_driven.lines[1:]}
    assert kept[running] == "is being driven"
    assert kept[damaged] == f"is damaged; remove it with `untilgreen prune {damaged}`"
    assert (named.code, f"Run {running} is being driven." in named.err) == (2, True)
    assert f"{running}  kept: is not over; end it with `untilgreen cancel {running}`" in left.out
    assert cli.ids == [damaged, running]
    assert invoke("prune", damaged).code == 0
    assert (refs(cli.place, damaged), traces(cli, damaged)) == ([], [])
    assert cli("cancel", running).code == 0
    assert invoke("prune", running).code == 0
    assert (refs(cli.place, running), traces(cli, running), cli.ids) == ([], [], [])


def test_age_counts_from_the_end_of_a_run_and_named_runs_go_at_any_age(cli: Cli, invoke: Invoke) -> None:
    first, second = counted(cli, laps=1), counted(cli, laps=1)

    kept = invoke("prune", "--keep", "1h")
    named = invoke("prune", first)
    wrong = invoke("prune", "--keep", "soon")

    assert (kept.code, named.code, wrong.code) == (0, 0, 2)
    assert cli.ids == [second]
    assert "is not a valid duration" in wrong.err


def test_branches_with_new_commits_and_changed_files_stay(cli: Cli, invoke: Invoke) -> None:
    run = counted(cli, "--worktree", laps=1)
    place, branch = cli.runs.parent / "worktrees" / run, f"untilgreen/{run}"
    write(place, {"mine.txt": "precious\n"})

    refused = invoke("prune", "--keep", "0d")
    still = (place / "mine.txt").read_text()
    (place / "mine.txt").unlink()
    git(cli.place, "checkout", "--quiet", branch)
    git(cli.place, *IDENTITY, "commit", "--quiet", "--allow-empty", "--message", "mine")
    done = invoke("prune", "--keep", "0d")

    assert "that were changed after its end: mine.txt" in refused.out
    assert still == "precious\n"
    assert f"left: branch {branch} at " in done.out
    assert git(cli.place, "log", "-1", "--format=%s", branch) == "mine\n"
    assert refs(cli.place, run) == [f"refs/heads/{branch}"]


def test_runs_of_other_directories_go_only_with_all_even_if_the_directory_is_gone(
    cli: Cli, invoke: Invoke
) -> None:
    run = counted(cli, laps=1)
    elsewhere = cli.tmp / "elsewhere"
    elsewhere.mkdir()

    here = cli("prune", "--keep", "0d", cwd=elsewhere)
    cli.place.rename(cli.tmp / "moved")
    everywhere = cli("prune", "--keep", "0d", "--all", cwd=elsewhere)

    assert (here.code, "No run is old enough" in here.out) == (0, True)
    assert f"{run}  removed" in everywhere.out
    assert cli.ids == []


def test_a_prune_that_is_killed_is_finished_by_the_next(cli: Cli) -> None:
    runs = [counted(cli, "--worktree", laps=2) for _ in range(2)]
    points = (
        "remove:after:tree#1",  # the worktree is gone, but the repository still knows it
        "git:before:update-ref#1",
        "git:after:update-ref#1",
        "forget:after:rename#1",
        "remove:before:tree#1",  # the next prune begins with what the last one renamed
    )
    died = [cli("prune", "--keep", "0d", env={CRASH_AT: point}).code for point in points]

    done = cli("prune", "--keep", "0d", "--json")

    assert died == [-signal.SIGKILL] * len(points)
    assert done.code == 0, done.err
    assert not [path for path in cli.runs.iterdir()]
    for run in runs:
        assert (refs(cli.place, run), traces(cli, run)) == ([], [])
    git(cli.place, "fsck", "--strict")


@pytest.mark.parametrize("dry_run", [False, True])
async def test_a_run_that_another_process_prunes_meanwhile_is_skipped(tmp_path: Path, dry_run: bool) -> None:
    store = Store(tmp_path)
    run = store.create(1_785_000_000.0, workspace=tmp_path)
    store.forget(run)

    done = await prune(run, store, Rules(keep=0.0, now=0.0, dry_run=dry_run), newest=False)

    assert (done.action, done.why, done.shown) == ("kept", "was removed by another process", False)


@pytest.mark.parametrize("mark", ["UNTILGREEN_INSIDE", "CLAUDECODE"])
def test_an_agent_may_not_prune(cli: Cli, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    run = counted(cli, laps=1)
    monkeypatch.setenv(mark, "1")

    done = invoke("prune", "--keep", "0d")

    assert (done.code, "not for agents" in done.err, cli.ids) == (2, True, [run])


def test_pruned_runs_are_listed_as_json_lines(cli: Cli, invoke: Invoke) -> None:
    run = counted(cli, laps=1)

    lines = invoke("prune", "--keep", "0d", "--json").lines

    assert json.dumps(lines[1]).startswith(f'{{"type": "pruned", "run": "{run}", "action": "removed"')
