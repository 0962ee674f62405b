"""Commits that the agent makes itself are named, and those of a person are not."""

import signal

from tests.surfaces.cli.helpers import Cli, Invoke, eventually, git

COMMIT = "git -c user.name=B -c user.email=b@example.org commit --allow-empty -qm"
IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org")


def head(cli: Cli) -> str:
    return git(cli.place, "rev-parse", "--short", "HEAD").strip()


def test_every_commit_of_a_turn_is_named_in_the_lap_and_at_the_end(cli: Cli, invoke: Invoke) -> None:
    agent = cli.agent(f"cat > /dev/null\n{COMMIT} one\n{COMMIT} 'two \x1b[31m'\necho x >> notes.txt\n")

    done = cli("run", "Mend it.", "-a", agent, "-g", "grep -q x notes.txt")
    told = invoke("show", "--json").lines[-1]

    first = git(cli.place, "rev-parse", "--short", "HEAD~1").strip()
    assert f"lap 1: 1 file changed; committed itself: {head(cli)} two" in done.err
    assert f"The agent made 2 commits itself: {head(cli)} two" in done.out
    assert told["commits"][1] == f"{first} one"
    assert "\x1b" not in done.out + done.err


def test_a_commit_of_a_person_between_two_turns_is_not_the_agents(cli: Cli, invoke: Invoke) -> None:
    agent = cli.agent("cat > /dev/null\necho x >> notes.txt\n")
    flags = ("-s", "manual", "--no-input")
    assert cli("run", "Mend it.", "-a", agent, "-g", "test -e done", *flags).code == 5
    git(cli.place, *IDENTITY, "commit", "--quiet", "--allow-empty", "--message", "mine")
    assert cli("answer", "@last", "continue").code == 0
    assert cli("resume", "--no-input").code == 5

    assert invoke("show", "--json").lines[-1]["commits"] == []
    assert invoke("show", "--json").lines[-1]["laps"] == 2


def test_a_head_that_was_moved_back_and_a_first_commit_are_named(cli: Cli) -> None:
    back = cli.agent("cat > /dev/null\ngit reset -q --soft HEAD~1\necho x >> notes.txt\n", "back.sh")
    git(cli.place, *IDENTITY, "commit", "--quiet", "--allow-empty", "--message", "second")
    was = git(cli.place, "rev-parse", "HEAD")[:12]
    unborn = cli.tmp / "unborn"
    unborn.mkdir()
    git(unborn, "init", "--quiet")
    first = cli.agent(f"cat > /dev/null\necho x > notes.txt\n{COMMIT} first\n", "first.sh")

    moved = cli("run", "Mend it.", "-a", back, "-g", "grep -q x notes.txt")
    made = cli("run", "Mend it.", "-a", first, "-g", "grep -q x notes.txt", cwd=unborn)

    assert f"HEAD was moved there from {was}" in moved.out
    assert (made.code, "The agent made 1 commit itself: " in made.out, " first" in made.out) == (
        0,
        True,
        True,
    )


def test_commits_of_a_turn_whose_driver_was_killed_are_named_too(cli: Cli) -> None:
    waiting = f"test -e {cli.tmp}/again || {{ touch {cli.tmp}/began; exec sleep 60; }}\n"
    agent = cli.agent(f"cat > /dev/null\n{COMMIT} early\n{waiting}echo x >> notes.txt\n")
    started = cli.start("run", "Mend it.", "-a", agent, "-g", "grep -q x notes.txt")
    eventually((cli.tmp / "began").exists)
    started.signal(signal.SIGKILL)
    started.end()
    (cli.tmp / "again").touch()

    done = cli("resume")

    assert done.code == 0, done.err
    assert "The agent made 2 commits itself: " in done.out
