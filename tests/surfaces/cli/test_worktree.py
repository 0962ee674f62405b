"""--worktree: a run gets its own directory and branch, ready for the gates; the user's are not touched."""

import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import Cli, Done, alive, eventually, git, repository, write
from untilgreen.crash_points import CRASH_AT

MENDING = "cat > /dev/null\necho mended > notes.txt\n"
MENDED = "grep -q mended notes.txt"
IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org")


def mended(cli: Cli, *flags: str, agent: str = MENDING, gate: str = MENDED, cwd: Path | None = None) -> Done:
    return cli("run", "Mend it.", "--worktree", "-a", cli.agent(agent), "-g", gate, *flags, cwd=cwd)


def refs(place: Path) -> list[str]:
    return git(place, "for-each-ref", "--format=%(refname)").splitlines()


def worktrees(cli: Cli) -> list[str]:
    folder = cli.runs.parent / "worktrees"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_run_in_a_worktree_ends_as_one_commit_and_touches_nothing_of_the_user(cli: Cli) -> None:
    head, index = git(cli.place, "rev-parse", "HEAD"), (cli.place / ".git" / "index").read_bytes()

    done = mended(cli, "--json")

    run, branch = cli.ids[0], f"untilgreen/{cli.ids[0]}"
    assert (done.code, done.result["outcome"], done.result["branch"]) == (0, "converged", branch)
    assert (cli.place / "notes.txt").read_text() == "start\n"
    assert (git(cli.place, "rev-parse", "HEAD"), (cli.place / ".git" / "index").read_bytes()) == (head, index)
    assert git(cli.place, "status", "--porcelain") == ""
    assert git(cli.place, "rev-list", f"HEAD..{branch}").split() == [done.result["commit"]]
    assert git(cli.place, "rev-parse", f"{branch}^") == head
    assert git(cli.place, "show", f"{branch}:notes.txt") == "mended\n"
    message = git(cli.place, "log", "-1", "--format=%B", branch)
    assert message.startswith("Mend it.\n\nconverged: all required gates pass in lap 1\n")
    assert f"Untilgreen-Run: {run}" in message
    assert git(cli.runs.parent / "worktrees" / run, "status", "--porcelain") == ""
    git(cli.place, "checkout", "--quiet", branch)
    git(cli.place, "fsck", "--strict")


def test_a_run_that_changes_nothing_leaves_no_branch(cli: Cli) -> None:
    done = mended(cli, "--max-iterations", "1", agent="cat > /dev/null\n")

    assert done.code == 3
    assert "Nothing was committed" in done.out
    assert not [ref for ref in refs(cli.place) if ref.startswith("refs/heads/untilgreen")]


def test_the_agents_own_commits_are_kept_besides_the_one_commit(cli: Cli) -> None:
    own = MENDING + "git -c user.name=B -c user.email=b@example.org commit -qam 'by myself'\n"

    done = mended(cli, agent=own + "git checkout -q -b elsewhere\n")

    run = cli.ids[0]
    assert f"The agent made 1 commit itself, kept as refs/untilgreen/{run}/commits: " in done.out
    assert "by myself" in done.out
    assert git(cli.place, "log", "--format=%s", f"HEAD..untilgreen/{run}").split("\n")[:-1] == ["Mend it."]
    assert git(cli.place, "log", "-1", "--format=%s", f"refs/untilgreen/{run}/commits") == "by myself\n"
    assert git(cli.place, "log", "-1", "--format=%s", "elsewhere") == "by myself\n"


def test_two_runs_at_the_same_time_do_not_see_each_other(cli: Cli) -> None:
    agents = [
        f"cat > /dev/null\necho {me} > {me}.txt\nls > {cli.tmp}/seen-{me}\ntouch {cli.tmp}/{me}\n"
        f"while ! test -e {cli.tmp}/{other}; do sleep 0.05; done\nls >> {cli.tmp}/seen-{me}\n"
        for me, other in (("one", "two"), ("two", "one"))
    ]
    runs = [
        cli.start("run", me, "--worktree", "-a", cli.agent(agent, f"{me}.sh"), "-g", f"test -e {me}.txt")
        for me, agent in zip(("one", "two"), agents, strict=True)
    ]

    assert [run.end().code for run in runs] == [0, 0]
    assert (cli.tmp / "seen-one").read_text().split() == ["notes.txt", "one.txt"] * 2
    assert (cli.tmp / "seen-two").read_text().split() == ["notes.txt", "two.txt"] * 2
    results = {git(cli.place, "ls-tree", "--name-only", f"untilgreen/{run}") for run in cli.ids}
    assert results == {"notes.txt\none.txt\n", "notes.txt\ntwo.txt\n"}
    assert git(cli.place, "status", "--porcelain") == ""


def test_setup_and_copies_make_the_worktree_ready_and_are_no_part_of_the_result(cli: Cli) -> None:
    write(cli.place, {".gitignore": ".env\nkeys/\n", "lock.txt": "1\n"})
    git(cli.place, "add", "--all")
    git(cli.place, *IDENTITY, "commit", "--quiet", "--message", "more")
    write(cli.place, {".env": "KEY=1\n", "keys/a.pem": "a\n", "keys/b.pem": "b\n", "keys/c.txt": "c\n"})
    write(
        cli.place,
        {
            "untilgreen.toml": 'workspace = { mode = "worktree", copy = [".env", "keys/*.pem"], '
            'setup = ["cat .env keys/*.pem > made.txt", "echo 2 > lock.txt"] }\n'
        },
    )
    there = "grep -q KEY=1 made.txt && grep -q b made.txt && grep -q 2 lock.txt && ! test -e keys/c.txt"
    gate = f"{MENDED} && {there}"

    done = cli("run", "Mend it.", "--trust", "-a", cli.agent(MENDING), "-g", gate)

    assert done.code == 0, done.err
    assert "untilgreen.toml. They are not in the worktree" in done.err
    changed = git(cli.place, "diff", "--name-only", "HEAD", f"untilgreen/{cli.ids[0]}")
    assert changed == "notes.txt\n"


@pytest.mark.parametrize("table", ['copy=["local.cfg"]', 'setup="echo port = 2 > local.cfg"'])
def test_changes_that_setup_makes_to_tracked_files_are_not_in_the_result(cli: Cli, table: str) -> None:
    write(cli.place, {"local.cfg": "port = 1\n"})
    git(cli.place, "add", "--all")
    git(cli.place, *IDENTITY, "commit", "--quiet", "--message", "more")
    write(cli.place, {"local.cfg": "port = 2\n"})

    done = mended(cli, "--set", f"workspace.{table}", gate=f"{MENDED} && grep -q 2 local.cfg")

    assert done.code == 0, done.err
    assert git(cli.place, "diff", "--name-only", "HEAD", f"untilgreen/{cli.ids[0]}") == "notes.txt\n"


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ('setup = "echo what a pity; exit 3"', "'echo what a pity; exit 3' exit code 3."),
        ('copy = [".env"]', "workspace.copy names '.env', and there is no such file in"),
        ('copy = ["secret.txt"]', "workspace.copy names 'secret.txt', which git does not ignore"),
    ],
)
def test_a_worktree_that_cannot_be_made_ready_is_refused_and_leaves_nothing(
    cli: Cli, table: str, sentence: str
) -> None:
    write(
        cli.place,
        {"secret.txt": "key\n", "untilgreen.toml": f'workspace = {{ mode = "worktree", {table} }}\n'},
    )
    before = refs(cli.place)

    done = cli("run", "Mend it.", "--trust", "-a", cli.agent(MENDING), "-g", MENDED)

    assert done.code == 2
    assert sentence in done.err
    assert (refs(cli.place), cli.ids, worktrees(cli)) == (before, [], [])
    assert git(cli.place, "worktree", "list", "--porcelain").count("worktree ") == 1


def test_the_flag_keeps_what_the_spec_says_about_worktrees_and_in_place_drops_it(cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": 'workspace = { mode = "worktree", setup = "touch ready" }\n'})
    gate = f"{MENDED} && test -e ready"

    assert mended(cli, "--trust", gate=gate).code == 0
    in_place = cli("run", "Mend it.", "--trust", "--in-place", "-a", cli.agent(MENDING), "-g", MENDED)
    both = mended(cli, "--in-place")

    assert (in_place.code, (cli.place / "notes.txt").read_text()) == (0, "mended\n")
    assert not (cli.place / "ready").exists()
    assert (both.code, "--worktree and --in-place can't be combined" in both.err) == (2, True)


def test_a_worktree_needs_a_repository_with_a_commit(cli: Cli) -> None:
    plain, unborn = cli.tmp / "plain", cli.tmp / "unborn"
    plain.mkdir()
    unborn.mkdir()
    git(unborn, "init", "--quiet")

    no_git, no_commit = mended(cli, cwd=plain), mended(cli, cwd=unborn)

    assert (no_git.code, no_commit.code, cli.ids) == (2, 2, [])
    assert "A worktree needs a git repository" in no_git.err
    assert "A worktree needs a commit to start from" in no_commit.err
    assert "--in-place" in no_git.err
    assert "--in-place" in no_commit.err


def detached(cli: Cli) -> Path:
    git(cli.place, "checkout", "--quiet", "--detach")
    return cli.place


def spaced(cli: Cli) -> Path:
    return repository(cli.tmp / "a place with 'quotes' and spaces é", {"notes.txt": "start\n"})


def shallow(cli: Cli) -> Path:
    git(cli.place, *IDENTITY, "commit", "--quiet", "--allow-empty", "--message", "second")
    git(cli.tmp, "clone", "--quiet", "--depth=1", cli.place.as_uri(), "shallow")
    return cli.tmp / "shallow"


def linked_to_a_bare_one(cli: Cli) -> Path:
    git(cli.tmp, "clone", "--quiet", "--bare", str(cli.place), "bare.git")
    git(cli.tmp / "bare.git", "worktree", "add", "--quiet", str(cli.tmp / "linked"))
    return cli.tmp / "linked"


def below_the_top(cli: Cli) -> Path:
    place = repository(cli.tmp / "mono", {"part/of it/notes.txt": "start\n", "other/x.txt": "x\n"})
    return place / "part" / "of it"


def sparse(cli: Cli) -> Path:
    place = repository(cli.tmp / "wide", {"notes.txt": "start\n", "in/a.txt": "a\n", "out/b.txt": "b\n"})
    git(place, "sparse-checkout", "set", "in")
    assert not (place / "out").exists()
    return place


def with_a_submodule(cli: Cli) -> Path:
    place = repository(cli.tmp / "outer", {"notes.txt": "start\n"})
    git(place, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(cli.place), "inner")
    git(place, *IDENTITY, "commit", "--quiet", "--message", "with a submodule")
    return place


@pytest.mark.parametrize(
    "made", [detached, spaced, shallow, linked_to_a_bare_one, below_the_top, sparse, with_a_submodule]
)
def test_every_kind_of_repository_can_have_worktrees(cli: Cli, made: Callable[[Cli], Path]) -> None:
    place = made(cli)
    before = git(place, "status", "--porcelain=v2", "--branch")

    done = mended(cli, cwd=place)

    assert done.code == 0, done.err
    assert git(place, "status", "--porcelain=v2", "--branch") == before
    assert (place / "notes.txt").read_text() == "start\n"
    branch = f"untilgreen/{cli.ids[0]}"
    assert git(place, "diff", "--relative", "--name-only", "HEAD", branch) == "notes.txt\n"
    assert git(place, "diff", "--name-only", "HEAD", branch).count("\n") == 1
    assert ("Submodules are empty in a worktree: inner" in done.err) == (made is with_a_submodule)
    git(place, "fsck", "--strict")


def test_the_next_driver_continues_after_one_killed_during_setup(cli: Cli) -> None:
    setup = f"echo $$ >> {cli.tmp}/setups; test -e {cli.tmp}/again || exec sleep 60"
    started = cli.start(
        *("run", "Mend it.", "--worktree", "-a", cli.agent(MENDING), "-g", MENDED),
        *("--set", f'workspace.setup="{setup}"'),
    )
    pid = int(eventually(lambda: (path := cli.tmp / "setups").exists() and path.read_text().strip()))
    started.signal(signal.SIGKILL)
    started.end()
    (cli.tmp / "again").touch()

    done = cli("resume")

    assert done.code == 0, done.err
    assert (cli.tmp / "setups").read_text().count("\n") == 2
    assert not alive(pid)
    assert git(cli.place, "show", f"untilgreen/{cli.ids[0]}:notes.txt") == "mended\n"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_a_driver_stopped_by_a_signal_ends_its_setup_and_says_how_to_resume(
    cli: Cli, number: int, code: int
) -> None:
    setup = f"echo $$ > {cli.tmp}/pid; exec sleep 60"
    started = cli.start(
        *("run", "Mend it.", "--worktree", "-a", cli.agent(MENDING), "-g", MENDED),
        *("--set", f'workspace.setup="{setup}"'),
    )
    pid = int(eventually(lambda: (path := cli.tmp / "pid").exists() and path.read_text().strip()))

    started.signal(number)
    left = started.end()

    assert (left.code, alive(pid)) == (code, False), left.err
    assert f"untilgreen resume {cli.ids[0]}" in left.err


@pytest.mark.parametrize("point", ["git:before:worktree#1", "git:after:worktree#1"])
def test_the_next_driver_continues_after_one_killed_before_it_notes_the_worktree(
    cli: Cli, point: str
) -> None:
    died = cli(
        *("run", "Mend it.", "--worktree", "-a", cli.agent(MENDING), "-g", MENDED), env={CRASH_AT: point}
    )

    done = cli("resume")

    assert (died.code, done.code) == (-signal.SIGKILL, 0), done.err
    assert_only_the_notes_changed(cli)


def test_the_next_driver_continues_after_one_killed_while_git_makes_the_worktree(cli: Cli) -> None:
    """git outlives the driver, and a filter keeps it in the middle of its files until the driver is dead."""
    waiting = f"echo git >> {cli.tmp}/began; until test -e {cli.tmp}/go; do sleep 0.02; done; cat"
    Path(cli.env["HOME"], ".gitconfig").write_text(f'[filter "slow"]\n\tsmudge = "{waiting}"\n')
    write(cli.place, {".gitattributes": "middle.txt filter=slow\n", "early.txt": "1\n", "middle.txt": "2\n"})
    git(cli.place, "add", "--all")
    git(cli.place, *IDENTITY, "commit", "--quiet", "--message", "more")
    started = cli.start("run", "Mend it.", "--worktree", "-a", cli.agent(MENDING), "-g", MENDED)
    eventually((cli.tmp / "began").exists)
    started.signal(signal.SIGKILL)
    started.end()
    (place,) = (cli.runs.parent / "worktrees").glob("*/")
    half = ((place / "early.txt").exists(), (place / "notes.txt").exists())

    following = cli.start("resume")
    time.sleep(1.0)  # it waits for the first git, and starts no second one beside it
    began = (cli.tmp / "began").read_text()
    (cli.tmp / "go").touch()
    done = following.end()

    assert (half, began) == ((True, False), "git\n")
    assert done.code == 0, done.err
    assert_only_the_notes_changed(cli)


def assert_only_the_notes_changed(cli: Cli) -> None:
    """The only run left one worktree, and a branch that differs in one file."""
    assert git(cli.place, "diff", "--name-only", "HEAD", f"untilgreen/{cli.ids[0]}") == "notes.txt\n"
    assert git(cli.place, "worktree", "list").count("\n") == 2
    git(cli.place, "fsck", "--strict")


def test_a_worktree_that_was_lost_is_made_again_as_it_stood(cli: Cli) -> None:
    agent = (
        f"cat > /dev/null\necho x >> {cli.tmp}/turns\n"
        f"test $(wc -l < {cli.tmp}/turns) -gt 1 || {{ echo first > first.txt; exit 0; }}\n"
        f"test -e {cli.tmp}/again || exec sleep 60\necho mended > notes.txt\n"
    )
    started = cli.start("run", "Mend it.", "--worktree", "-a", cli.agent(agent), "-g", MENDED)
    turns = cli.tmp / "turns"
    eventually(lambda: turns.exists() and turns.read_text().count("x") == 2)
    started.signal(signal.SIGINT)
    started.end()
    shutil.rmtree(cli.runs.parent / "worktrees" / cli.ids[0])
    (cli.tmp / "again").touch()

    done = cli("resume")

    assert done.code == 0, done.err
    names = git(cli.place, "ls-tree", "--name-only", f"untilgreen/{cli.ids[0]}")
    assert names.split() == ["first.txt", "notes.txt"]


def test_a_worktree_that_its_repository_forgot_is_put_aside_and_made_again(cli: Cli) -> None:
    waiting = f"test -e {cli.tmp}/again || exec sleep 60"
    agent = f"cat > /dev/null\necho mine > half.txt\n{waiting}\necho mended > notes.txt\n"
    started = cli.start("run", "Mend it.", "--worktree", "-a", cli.agent(agent), "-g", MENDED)
    place = cli.runs.parent / "worktrees"
    eventually(lambda: list(place.glob("*/half.txt")))
    started.signal(signal.SIGINT)
    started.end()
    shutil.rmtree(cli.place / ".git" / "worktrees")
    (cli.tmp / "again").touch()

    done = cli("resume")

    assert done.code == 0, done.err
    assert "The repository no longer knew the worktree" in done.err
    assert (place / f"{cli.ids[0]}.old-1" / "half.txt").read_text() == "mine\n"


def test_an_agent_that_removes_git_from_its_worktree_is_no_danger_to_another_repository(cli: Cli) -> None:
    git(cli.runs.parent.parent, "init", "--quiet")

    done = mended(cli, agent=f"{MENDING}rm .git\n")

    assert done.code == 0, done.err
    assert git(cli.place, "show", f"untilgreen/{cli.ids[0]}:notes.txt") == "mended\n"
    assert refs(cli.runs.parent.parent) == []
