"""apply: a result is merged into the user's files as they are now, and nothing is lost."""

import signal
import time
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import Cli, Invoke, eventually, git, write
from untilgreen.crash_points import CRASH_AT

LINES = "".join(f"{number}\n" for number in range(20))
MENDING = (
    "cat > /dev/null\nsed -i.bak s/^18$/eighteen/ a.txt && rm a.txt.bak\nrm old.txt\necho new > new.txt\n"
)
MENDED = LINES.replace("18\n", "eighteen\n")
IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org")


@pytest.fixture
def ran(cli: Cli) -> str:
    """The id of a finished run in a worktree that changed one file, removed one and added one."""
    write(cli.place, {"a.txt": LINES, "old.txt": "old\n", ".gitignore": "*.log\n"})
    git(cli.place, "add", "--all")
    git(cli.place, *IDENTITY, "commit", "--quiet", "--message", "more")
    agent = cli.agent(MENDING)
    done = cli("run", "Mend it.", "--worktree", "-a", agent, "-g", "grep -q eighteen a.txt")
    assert done.code == 0, done.err
    return cli.ids[0]


def files(place: Path) -> dict[str, str]:
    return {
        path.relative_to(place).as_posix(): path.read_text()
        for path in sorted(place.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(place).parts
    }


def test_a_result_is_applied_and_taken_back(cli: Cli, invoke: Invoke, ran: str) -> None:
    before, index = files(cli.place), (cli.place / ".git" / "index").read_bytes()
    head = git(cli.place, "rev-parse", "HEAD")

    tried = invoke("apply", "--dry-run")
    untouched = files(cli.place)
    done = invoke("apply")
    applied = files(cli.place)
    again = invoke("apply", ran)
    undone = invoke("apply", ran, "--undo")

    assert (tried.code, untouched) == (0, before)
    assert tried.out.splitlines() == ["M a.txt", "A new.txt", "D old.txt"]
    assert done.out.splitlines() == [
        "M a.txt",
        "A new.txt",
        "D old.txt",
        f"Undo with: untilgreen apply {ran} --undo",
    ]
    assert (applied["a.txt"], applied["new.txt"], "old.txt" in applied) == (MENDED, "new\n", False)
    assert (again.code, "Nothing to do" in again.out) == (0, True)
    assert (undone.code, files(cli.place)) == (0, before)
    assert (git(cli.place, "rev-parse", "HEAD"), (cli.place / ".git" / "index").read_bytes()) == (head, index)
    assert (invoke("apply", ran, "--undo").code, invoke("apply", f"{ran}@0").code) == (2, 0)


def test_what_the_user_changed_meanwhile_stays(cli: Cli, invoke: Invoke, ran: str) -> None:
    write(cli.place, {"a.txt": LINES.replace("2\n", "two\n", 1), "mine.txt": "mine\n", "my.log": "ignored\n"})
    git(cli.place, "add", "a.txt")
    git(cli.place, *IDENTITY, "commit", "--quiet", "--message", "moved on")

    done = invoke("apply")

    assert done.code == 0
    assert files(cli.place) == {
        ".gitignore": "*.log\n",
        "a.txt": MENDED.replace("2\n", "two\n", 1),
        "mine.txt": "mine\n",
        "my.log": "ignored\n",
        "new.txt": "new\n",
        "notes.txt": "start\n",
    }


def test_a_conflict_is_shown_and_nothing_is_written_until_the_markers_are_asked_for(
    cli: Cli, invoke: Invoke, ran: str
) -> None:
    write(cli.place, {"a.txt": LINES.replace("18\n", "mine\n"), "old.txt": "changed\n"})
    before = files(cli.place)

    refused = invoke("apply", ran)
    left = files(cli.place)
    told = invoke("apply", ran, "--json")
    marked = invoke("apply", ran, "--markers")
    both = files(cli.place)
    invoke("apply", ran, "--undo")

    assert (refused.code, told.code, marked.code) == (1, 1, 1)
    assert left == before
    assert "conflict in a.txt: both of you changed the same lines" in refused.out
    assert "conflict in old.txt: you changed it, the run deleted it" in refused.out
    for line in ("<<<<<<< yours", "mine", "eighteen", f">>>>>>> run {ran}", "Nothing was written."):
        assert line in refused.out
    assert f"git merge untilgreen/{ran}" in refused.out
    assert [each["path"] for each in told.lines[-1]["conflicts"]] == ["a.txt", "old.txt"]
    assert told.lines[-1]["written"] is False
    assert both["a.txt"].count("<<<<<<< yours\nmine\n") == 1
    assert (both["old.txt"], both["new.txt"]) == ("changed\n", "new\n")
    assert files(cli.place) == before


def test_a_file_that_git_ignores_here_is_not_overwritten(cli: Cli, invoke: Invoke, ran: str) -> None:
    write(cli.place, {".gitignore": "*.log\nnew.txt\n", "new.txt": "precious\n"})

    refused, marked = invoke("apply", ran), invoke("apply", ran, "--markers")

    assert (refused.code, marked.code) == (1, 1)
    assert "conflict in new.txt: you have 'new.txt', which is in its way" in refused.out
    assert (cli.place / "new.txt").read_text() == "precious\n"
    assert (cli.place / "a.txt").read_text() == MENDED


def test_undo_leaves_alone_what_was_changed_since(cli: Cli, invoke: Invoke, ran: str) -> None:
    invoke("apply", ran)
    write(cli.place, {"a.txt": "all mine\n"})

    undone = invoke("apply", ran, "--undo")

    assert "Not touched, because they have changed since: a.txt" in undone.out
    assert (cli.place / "a.txt").read_text() == "all mine\n"
    assert (cli.place / "old.txt").read_text() == "old\n"


def test_a_run_that_is_not_over_needs_a_lap_and_wrong_laps_are_refused(
    cli: Cli, invoke: Invoke, ran: str
) -> None:
    wrong = [
        invoke("apply", f"{ran}@7"),
        invoke("apply", f"{ran}@0..1"),
        invoke("apply", f"{ran}@1", "--undo"),
    ]
    hanging = cli.agent(f"cat > /dev/null\ntouch {cli.tmp}/began\nexec sleep 60\n", "hanging.sh")
    started = cli.start("run", "Go on.", "--worktree", "-a", hanging, "-g", "false")
    eventually((cli.tmp / "began").exists)
    open_ = invoke("apply", cli.ids[-1])
    started.signal(signal.SIGINT)
    started.end()

    assert [done.code for done in (*wrong, open_)] == [2, 2, 2, 2]
    assert f"Run {cli.ids[-1]} is not over. Name the lap" in open_.err


def test_apply_waits_for_no_run_that_works_in_the_directory(cli: Cli, ran: str) -> None:
    hanging = cli.agent(f"cat > /dev/null\ntouch {cli.tmp}/began\nexec sleep 60\n", "hanging.sh")
    started = cli.start("run", "Go on.", "-a", hanging, "-g", "false")
    eventually((cli.tmp / "began").exists)

    done = cli("apply", ran)
    started.signal(signal.SIGINT)
    started.end()

    assert (done.code, f"Run {cli.ids[-1]} is working in" in done.err) == (2, True)


@pytest.mark.parametrize("mark", ["UNTILGREEN_INSIDE", "CLAUDECODE"])
def test_an_agent_may_not_apply(
    cli: Cli, invoke: Invoke, ran: str, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    monkeypatch.setenv(mark, "1")

    done = invoke("apply", ran)

    assert (done.code, "not for agents" in done.err) == (2, True)
    assert "new.txt" not in files(cli.place)


def test_an_in_place_run_can_be_applied_to_files_that_went_back(cli: Cli, invoke: Invoke) -> None:
    """This works without git, too: the trees are in the run's own folder then."""
    plain = cli.tmp / "plain"
    write(plain, {"notes.txt": "start\n", "b.txt": "b\n"})
    for place in (cli.place, plain):
        agent = cli.agent("cat > /dev/null\necho mended > notes.txt\n")
        assert cli("run", "Mend it.", "-a", agent, "-g", "grep -q mended notes.txt", cwd=place).code == 0
        write(place, {"notes.txt": "start\n", "b.txt": "mine\n"})

        done = cli("apply", cwd=place)

        assert (done.code, files(place)) == (0, {"notes.txt": "mended\n", "b.txt": "mine\n"})


def test_an_apply_that_is_killed_in_the_middle_is_done_again_and_can_still_be_taken_back(cli: Cli) -> None:
    many = {f"many/{number}.txt": f"old {number}\n" * 50 for number in range(400)}
    write(cli.place, many)
    git(cli.place, "add", "--all")
    git(cli.place, *IDENTITY, "commit", "--quiet", "--message", "many")
    agent = cli.agent("cat > /dev/null\nfor each in many/*; do echo new > $each; done\nrm many/7.txt\n")
    assert cli("run", "Mend it.", "--worktree", "-a", agent, "-g", "! test -e many/7.txt").code == 0
    write(cli.place, {"mine.txt": "mine\n"})
    before = files(cli.place)
    intent = cli.runs / cli.ids[0] / "origin" / "restoring.json"
    caught = 0
    for _ in range(3):
        started = cli.start("apply")
        while not intent.exists() and started.process.poll() is None:
            time.sleep(0.001)
        started.signal(signal.SIGKILL)
        started.end()
        caught += intent.exists()

    done = cli("apply")
    applied = files(cli.place)
    undone = cli("apply", "--undo")

    assert caught, "none of them was killed in the middle"
    assert (done.code, undone.code) == (0, 0)
    assert (applied["many/3.txt"], "many/7.txt" in applied, applied["mine.txt"]) == ("new\n", False, "mine\n")
    assert files(cli.place) == before
    git(cli.place, "fsck", "--strict")


def test_an_apply_that_left_half_of_the_files_is_taken_back_before_the_next(cli: Cli, ran: str) -> None:
    """git removes a file before it rewrites it; if git is killed, too, that file is missing."""
    before = files(cli.place)
    died = cli("apply", env={CRASH_AT: "restore:before:files#1"})
    (cli.place / "a.txt").unlink()

    done = cli("apply")
    applied = files(cli.place)
    undone = cli("apply", "--undo")

    assert died.code == -signal.SIGKILL
    assert (done.code, undone.code) == (0, 0), done.err + undone.err
    assert (applied["a.txt"], applied["new.txt"], "old.txt" in applied) == (MENDED, "new\n", False)
    assert files(cli.place) == before
