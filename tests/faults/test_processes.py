"""Misbehaving drivers, agents and files: one process drives, none is left over, and errors say what to do."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.faults.floods import flooded
from tests.faults.races import meet, race
from tests.faults.stage import Act, Stage, Story
from tests.faults.stories import COUNTING, MAKING, RUN, waits_for_approval
from tests.surfaces.cli.helpers import COMMAND, eventually, git
from untilgreen.core.loop.fold import fold
from untilgreen.core.values.events import RunFinished
from untilgreen.journal.codec import End, encode

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
HANGING = f"""\
if ! test -e "$OUTSIDE/began"; then
  echo $$ > "$OUTSIDE/began"
  while ! test -e "$OUTSIDE/go"; do sleep 0.05; done
fi
{COUNTING}"""
COLLECTING = f"{COUNTING}\ngit gc --quiet --prune=now || true\n"
APPROVE = Act(words=("answer", "{run}", "approve", "--as", "ann"))


def staged(tmp_path: Path, agent: str = COUNTING) -> Stage:
    return Stage(tmp_path / "stage", Story(name="processes", agent=agent, acts=()))


def begun(stage: Stage, *flags: str) -> subprocess.Popen[str]:
    """Start a run in the background."""
    words = [word.replace("{agent}", f"cmd:{stage.folder / 'agent'}") for word in (*RUN, *flags)]
    return subprocess.Popen(
        [*COMMAND, *words],
        cwd=stage.work,
        env=stage.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def waiting(stage: Stage) -> str:
    """Start a run that waits for a person, and return its id."""
    done = stage.play(waits_for_approval("--no-input"))
    assert done.code == 5, done.err
    return stage.runs[0].name


def test_of_processes_that_resume_a_run_at_once_exactly_one_drives(tmp_path: Path) -> None:
    assert race(tmp_path, times=2, at_once=3) == []


def test_commands_sent_at_the_same_time_are_done_or_refused(tmp_path: Path) -> None:
    assert meet(tmp_path, times=1) == []


def test_a_driver_that_is_stopped_keeps_its_run_and_continues(tmp_path: Path) -> None:
    stage = staged(tmp_path, HANGING)
    driver = begun(stage)
    eventually((stage.folder / "began").exists)

    driver.send_signal(signal.SIGSTOP)
    refused = stage.say("resume")
    (stage.folder / "go").touch()
    driver.send_signal(signal.SIGCONT)
    out, err = driver.communicate(timeout=60)

    assert (refused.code, f"being driven by process {driver.pid} on" in refused.err) == (2, True), refused.err
    assert driver.returncode == 0, err
    assert json.loads(out.splitlines()[-1])["outcome"] == "converged"
    assert stage.alive() == []


def test_an_agent_that_is_stopped_is_ended_with_its_lap_and_the_run_continues(tmp_path: Path) -> None:
    """A stopped process doesn't react to SIGINT or SIGTERM, only to SIGKILL."""
    stage = staged(
        tmp_path, f'if ! test -e "$OUTSIDE/began"; then touch "$OUTSIDE/began"; kill -STOP $$; fi\n{COUNTING}'
    )

    out, err = begun(stage, "--set", "limits.lap='1s'", "--max-iterations", "5").communicate(timeout=100)

    result = json.loads(out.splitlines()[-1])
    assert result["outcome"] == "converged", err
    assert result["history"][0]["error"] == "timeout"
    assert stage.alive() == []


def test_git_may_collect_its_garbage_at_any_time(tmp_path: Path) -> None:
    """`git gc` runs in turns, in gates, and all the time in parallel with the run."""
    stage = staged(tmp_path, COLLECTING)
    done = threading.Event()

    def collect() -> None:
        while not done.is_set():
            command = ["git", "gc", "--quiet", "--prune=now"]
            subprocess.run(command, cwd=stage.work, capture_output=True, check=False)

    collector = threading.Thread(target=collect)
    collector.start()
    try:
        out, err = begun(stage, "--gate", "gc=git gc --quiet --prune=now || true").communicate(timeout=100)
    finally:
        done.set()
        collector.join()

    assert json.loads(out.splitlines()[-1])["outcome"] == "converged", err
    assert stage.faults({}) == []
    git(stage.work, "gc", "--quiet", "--prune=now")
    assert stage.say("restore", f"{stage.runs[0].name}@1").code == 0
    assert (stage.work / "counter.txt").read_text() == "1\n"


@pytest.mark.parametrize("left", [1, 40, -1])
def test_a_journal_whose_last_line_was_cut_off_continues_from_the_one_before(
    tmp_path: Path, left: int
) -> None:
    stage = staged(tmp_path, MAKING)
    run = waiting(stage)
    journal = stage.runs[0] / "journal.jsonl"
    *whole, last = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(whole) + last[:left])

    done = [stage.say("resume", run, "--no-input"), stage.play(APPROVE), stage.say("resume", run)]

    assert [each.code for each in done] == [5, 0, 0], done
    assert isinstance(stage.events(stage.runs[0])[-1], RunFinished)


def test_a_journal_with_a_flipped_bit_is_refused_with_its_line_and_left_as_it_is(tmp_path: Path) -> None:
    stage = staged(tmp_path, MAKING)
    run = waiting(stage)
    journal = stage.runs[0] / "journal.jsonl"
    data = bytearray(journal.read_bytes())
    place = data.index(b'"at":', len(data) // 2) + len(b'"at":1')  # it stays a digit: only the seal shows it
    data[place] ^= 1
    journal.write_bytes(data)

    refused = stage.say("resume", run)

    assert refused.code != 0
    assert f"Line {len(data[:place].splitlines())} of {journal}" in refused.err
    assert "start a new run" in refused.err
    assert journal.read_bytes() == data
    assert stage.say("list").code == 0


def test_files_next_to_the_journal_may_be_gone(tmp_path: Path) -> None:
    stage = staged(tmp_path, MAKING)
    run = waiting(stage)
    for path in (*stage.runs[0].glob("activity/*"), *stage.runs[0].glob("output/*")):
        path.unlink()

    looked = [stage.say(*words) for words in (("show", run), ("why", run), ("report", run), ("follow", run))]
    done = [stage.play(APPROVE), stage.say("resume", run)]

    assert stage.trouble == []
    assert all("defect" not in each.err for each in looked), looked
    assert [each.code for each in done] == [0, 0], done


def test_a_lock_with_the_name_of_another_host_keeps_nobody_out(tmp_path: Path) -> None:
    """The text in the lock file is only for people; the lock itself is the kernel's."""
    stage = staged(tmp_path, MAKING)
    run = waiting(stage)
    (stage.runs[0] / "lock").write_text('{"pid":1,"host":"elsewhere","since":"2020-01-01 00:00:00"}\n')

    done = [stage.play(APPROVE), stage.say("resume", run)]

    assert [each.code for each in done] == [0, 0], done


def test_a_clock_that_went_back_by_a_day_changes_nothing(tmp_path: Path) -> None:
    """The journal is written as if the clock had been a day ahead when the run began."""
    stage = staged(tmp_path, MAKING)
    run, data, end = waiting(stage), b"", End()
    before = fold(stage.events(stage.runs[0]))
    for event in stage.events(stage.runs[0]):
        line, end = encode(replace(event, at=event.at + 86_400), end)
        data += line
    (stage.runs[0] / "journal.jsonl").write_bytes(data)

    done = [stage.play(APPROVE), stage.say("resume", run)]

    assert [each.code for each in done] == [0, 0], done
    state = fold(stage.events(stage.runs[0]))
    assert state is not None
    assert before is not None
    assert state.outcome == "converged"
    assert state.now == before.now + 86_400
    assert state.elapsed == before.elapsed


def test_endless_output_that_is_not_text_costs_no_memory_and_does_no_harm(tmp_path: Path) -> None:
    assert flooded(tmp_path, 20_000_000) == []
