"""Disks that are full, read-only or broken: a clear error, nothing is lost, and `resume` continues."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.stage import Act, Stage, Story
from tests.faults.stories import COUNTING, LASTING
from tests.surfaces.cli.helpers import COMMAND, Done
from untilgreen.core.values.events import Resumed
from untilgreen.errors import JournalError
from untilgreen.journal.codec import End
from untilgreen.journal.file import FileJournal

ENOUGH = ("--gate", 'enough=test "$(cat counter.txt)" -ge 1')
RUN = ("run", "Count up.", "--agent", "{agent}", *ENOUGH, *LASTING, "--json")
# The first turn fills its disk.
FILLING = f"""\
if ! test -e "$OUTSIDE/full"; then
  touch "$OUTSIDE/full"
  head -c 200000000 /dev/zero > "$DISK/ballast"
fi
{COUNTING}"""


def _allowed() -> bool:
    """Whether a process may have its own mounts, even without being root."""
    if sys.platform != "linux" or not shutil.which("unshare"):
        return False
    tried = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


own_mounts = pytest.mark.skipif(not _allowed(), reason="needs its own mounts: unshare --mount")


def told(stage: Stage, lines: str) -> dict[str, Done]:
    """Run a script with its own mounts; return how each command ended that it ran with `say NAME WORDS`."""
    ends = stage.folder / "ends"
    ends.mkdir()
    say = (
        f'say() {{ name=$1; shift; code=0; {shlex.join(COMMAND)} "$@" > {ends}/$name.out 2> {ends}/$name.err '
        f"|| code=$?; echo $code > {ends}/$name.code; }}"
    )
    command = ["unshare", "--map-root-user", "--mount", "sh", "-ec", f"{say}\n{lines}"]
    done = subprocess.run(
        command, cwd=stage.work, env=stage.env, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return {
        code.stem: Done(
            int(code.read_text()), code.with_suffix(".out").read_text(), code.with_suffix(".err").read_text()
        )
        for code in ends.glob("*.code")
    }


def words(stage: Stage, *parts: str) -> str:
    return shlex.join(part.replace("{agent}", f"cmd:{stage.folder / 'agent'}") for part in parts)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path / "stage", Story(name="disks", agent=FILLING, acts=(Act(words=RUN),)))
    (stage.folder / "state").mkdir()
    yield stage
    assert stage.alive() == []


@own_mounts
def test_a_state_directory_that_is_already_full_is_a_clear_error(stage: Stage) -> None:
    disk = stage.folder / "state"
    fill = f"mount -t tmpfs -o size=64k tmpfs {disk}; dd if=/dev/zero of={disk}/ballast bs=1k count=60 2>&1"
    ends = told(stage, f"{fill}; cd {stage.work}\nsay full {words(stage, *RUN)}")

    assert "error: No space left on device" in ends["full"].err
    assert "choose another state directory with --state-dir" in ends["full"].err
    assert "a bug" not in ends["full"].err


@own_mounts
@pytest.mark.parametrize("full", ["state", "work"])
def test_an_agent_that_fills_the_disk_loses_nothing_and_resume_continues(stage: Stage, full: str) -> None:
    disk = stage.folder / full
    copied = stage.folder / "copied"
    move = f"cp -a {disk} {copied}; mount -t tmpfs -o size=2m tmpfs {disk}; cp -a {copied}/. {disk}"
    ends = told(
        stage,
        f"{move}; cd {stage.work}; export DISK={disk}\n"
        f"say filled {words(stage, *RUN)}\nrm {disk}/ballast\n"
        f"say again resume --json\ncat counter.txt > {stage.folder}/counted\n"
        f"cat {stage.folder}/state/runs/*/journal.jsonl > {stage.folder}/kept",
    )

    assert ends["filled"].code not in (0, 3), ends["filled"].out
    assert "No space left on device" in ends["filled"].err
    assert ends["filled"].err.count("ontinue with `untilgreen resume") == 1, ends["filled"].err
    assert "Traceback" not in ends["filled"].err + ends["again"].err
    assert (ends["again"].code, (stage.folder / "counted").read_text()) == (0, "1\n"), ends["again"].err
    kept = (stage.folder / "kept").read_text()
    assert all(f'"at":{event["at"]!r}' in kept for event in ends["filled"].events)


@own_mounts
def test_a_state_directory_that_became_read_only_is_reported_and_can_still_be_read(stage: Stage) -> None:
    state, here = stage.folder / "state", f"cd {stage.work}"
    (stage.folder / "full").touch()
    ends = told(
        stage,
        f"mount -t tmpfs tmpfs {state}; {here}\n"
        f"say begun {words(stage, *RUN, '--no-input', '--set', WAITING)}\n"
        f"mount -o remount,ro {state}\n"
        "say resumed resume --no-input\nsay started run x -a cmd:true -g true\nsay listed list\n"
        "say shown show\nsay steered steer @last hello\nsay stopped stop\n"
        f"mount -o remount,rw {state}\n"
        "say answered answer @last approve --as ann\nsay done resume --no-input",
    )

    assert ends["begun"].code == 5, ends["begun"].err
    for name in ("resumed", "started", "steered", "stopped"):
        assert ends[name].code != 0, name
        assert "Read-only file system" in ends[name].err, name
        assert "Traceback" not in ends[name].err
    assert (ends["listed"].code, ends["shown"].code) == (0, 0), ends["listed"].err + ends["shown"].err
    assert (ends["answered"].code, ends["done"].code) == (0, 0), ends["done"].err


WAITING = "gates.sign-off={kind='approval', people=['ann'], stage=2}"


@own_mounts
def test_a_repository_that_can_not_keep_objects_is_reported_and_nothing_is_touched(stage: Stage) -> None:
    (stage.folder / "full").touch()
    objects = stage.work / ".git" / "objects"
    ends = told(
        stage,
        f"mount --bind {objects} {objects}; mount -o remount,bind,ro {objects}; echo mine > mine.txt\n"
        f"say refused {words(stage, *RUN)}\n"
        f"umount {objects}\nsay done {words(stage, *RUN)}",
    )

    assert ends["refused"].code != 0
    assert "Read-only file system" in ends["refused"].err or "insufficient permission" in ends["refused"].err
    assert "Traceback" not in ends["refused"].err
    assert ends["done"].code == 0, ends["done"].err


@pytest.mark.skipif(sys.platform == "win32", reason="needs a device that can't be synced")
async def test_an_event_that_does_not_reach_the_disk_is_not_acknowledged(tmp_path: Path) -> None:
    """The null device accepts every byte, but can't be synced."""
    path = tmp_path / "journal.jsonl"
    path.symlink_to("/dev/null")

    with pytest.raises(JournalError, match="can't be written: Invalid argument"):
        await FileJournal(path, End()).append(Resumed(at=1.0))


def _traced() -> bool:
    strace = shutil.which("strace")
    tried = ["strace", "-o", "/dev/null", "true"]
    return bool(strace) and subprocess.run(tried, capture_output=True, check=False).returncode == 0


FIRST_EVENT = """
import sys
from pathlib import Path
import anyio
from untilgreen.core.values.events import Resumed
from untilgreen.errors import JournalError
from untilgreen.journal.file import FileJournal

try:
    anyio.run(FileJournal(Path(sys.argv[1])).append, Resumed(at=1.0))
except JournalError as error:
    print(error)
"""


@pytest.mark.skipif(not _traced(), reason="needs strace, to make fsync fail")
def test_a_new_journal_that_its_folder_may_forget_is_not_acknowledged(tmp_path: Path) -> None:
    """Only the fsync of the folder fails, which a new file needs."""
    path = tmp_path / "journal.jsonl"
    failing = ("strace", "-f", "-qq", "-o", "/dev/null", "-P", str(tmp_path), "-e", "trace=fsync")
    command = [*failing, "-e", "inject=fsync:error=EIO", sys.executable, "-c", FIRST_EVENT, str(path)]

    said = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (said.returncode, said.stderr) == (0, "")
    assert "can't be written: Input/output error" in said.stdout
    assert path.read_bytes() == b""


@pytest.mark.skipif(not _traced(), reason="needs strace, to make fsync fail")
def test_a_run_whose_disk_stops_syncing_says_so_and_continues_once_it_is_fixed(stage: Stage) -> None:
    (stage.folder / "full").touch()
    failing = [
        "strace",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=fsync",
        "-e",
        "inject=fsync:error=EIO:when=4+",
    ]
    filled = [part.replace("{agent}", f"cmd:{stage.folder / 'agent'}") for part in RUN]
    broken = subprocess.run(
        [*failing, *COMMAND, *filled],
        cwd=stage.work,
        env=stage.env,
        capture_output=True,
        text=True,
        check=False,
    )
    acknowledged = Done(broken.returncode, broken.stdout, broken.stderr).events
    told_of = len(acknowledged)

    again = stage.say("resume", "--json")

    assert broken.returncode not in (0, 3)
    assert "Input/output error" in broken.stderr
    assert "resume" in broken.stderr
    assert "Traceback" not in broken.stderr
    assert again.code == 0, again.err
    assert told_of > 0
    assert [event["type"] for event in acknowledged] == [
        type(event).__name__ for event in stage.events(stage.runs[0])[:told_of]
    ]
