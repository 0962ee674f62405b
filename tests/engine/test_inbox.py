"""Commands as files: nothing is lost, nothing is read in halves, nothing in an inbox can end a run."""

import json
import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer
from typing import get_args

import anyio
import msgspec
import pytest

from untilgreen.core.inside import Deleted, Failed, Go, Left, Stopped, Take, TookOver
from untilgreen.core.model import Moment
from untilgreen.core.receive import Answer, Arrival, Cancel, Pause, Resume, Steer, Stop
from untilgreen.engine.inbox import LARGEST, collect, done, reply, respond, send, set_aside
from untilgreen.engine.store import RunFolder, Store
from untilgreen.errors import JournalError, RunGone, UserError

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes and modes are those of POSIX")

EVERY: list[Arrival] = [
    Stop(at=1.0, by="ana"),
    Cancel(at=2.0, reason="enough"),
    Pause(at=3.0),
    Resume(at=4.0),
    Steer(at=5.0, id="n1", note="look at ä.py\n"),
    Answer(at=6.0, choice="rollback", argument="2", note="since"),
    Stopped(at=7.0, session="s1", began=Moment(clock="boot", seconds=1.5), kept_going=True, text="done"),
    TookOver(at=8.0, session="s1"),
    Left(at=9.0, session="s1"),
    Failed(at=10.0, session="s1", detail="overloaded"),
    Deleted(at=11.0, session="s1"),
    Go(at=12.0, session="s1"),
    Take(at=13.0),
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return Store(tmp_path / "state").create(1_785_000_000.0, workspace=tmp_path)


def arrived(run: RunFolder) -> list[Arrival | None]:
    return [arrival for _, arrival in collect(run)]


def test_every_kind_of_command_arrives_as_it_was_sent(run: RunFolder) -> None:
    for arrival in EVERY:
        send(run, arrival)

    assert arrived(run) == EVERY
    assert {type(arrival) for arrival in EVERY} == set(get_args(Arrival))


def test_commands_arrive_in_the_order_of_their_time(run: RunFolder) -> None:
    for at in (5.0, 1.0, 1e9, 1e10, 1.000001):
        send(run, Resume(at=at))

    assert [arrival.at for arrival in arrived(run) if arrival] == [1.0, 1.000001, 5.0, 1e9, 1e10]


def test_commands_of_one_moment_arrive_in_the_order_of_sending(run: RunFolder) -> None:
    notes = [Steer(at=7.0, id=f"n{number}", note="x") for number in range(30)]
    for each in notes:
        send(run, each)

    assert arrived(run) == notes


def test_commands_sent_at_the_same_time_all_arrive(run: RunFolder) -> None:
    notes = [Steer(at=7.0, id=f"n{number:02d}", note="x") for number in range(50)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: send(run, each), notes))

    found = [arrival.id for arrival in arrived(run) if isinstance(arrival, Steer)]

    assert sorted(found) == [each.id for each in notes]


def test_a_command_stays_until_it_is_done(run: RunFolder) -> None:
    first, second = send(run, Pause(at=1.0)), send(run, Resume(at=2.0))
    assert [path for path, _ in collect(run)] == [first, second]
    assert [path for path, _ in collect(run)] == [first, second], "looking takes nothing away"

    done(first)
    done(first)

    assert arrived(run) == [Resume(at=2.0)]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"type":"Explode","at":1}',
        b'{"type":"Stop"}',
        b'{"type":"Stop","at":"now"}',
        b'{"type":"Stop","at":1,"extra":' + b"[" * 200_000,
        b'{"type":"Stop","at":1,"reason":"' + b"x" * LARGEST + b'"}',
    ],
    ids=["empty", "half", "bytes", "unknown", "no time", "wrong time", "deep", "large"],
)
def test_what_is_no_command_is_given_as_none_and_the_rest_arrives(run: RunFolder, content: bytes) -> None:
    bad = run.inbox / "00000000000000000-bad.json"
    bad.write_bytes(content)
    send(run, Stop(at=1.0))

    assert collect(run)[0] == (bad, None)
    assert arrived(run) == [None, Stop(at=1.0)]


@posix
def test_what_is_no_file_is_given_as_none(run: RunFolder) -> None:
    """A pipe would keep the driver waiting, a link would lead it elsewhere."""
    os.mkfifo(run.inbox / "1.json")
    (run.inbox / "2.json").symlink_to(run.inbox / "nowhere")
    (run.inbox / "3.json").symlink_to("/dev/zero")
    (run.inbox / "4.json").mkdir()

    assert arrived(run) == [None, None, None, None]


@posix
def test_a_pipe_or_a_link_with_a_command_in_it_is_no_command(run: RunFolder, tmp_path: Path) -> None:
    """Whoever fills the pipe could keep the driver waiting; here it is emptied after a second."""
    told = msgspec.json.encode(Stop(at=1.0))
    os.mkfifo(run.inbox / "1.json")
    pipe = os.open(run.inbox / "1.json", os.O_RDWR)
    os.write(pipe, told)
    emptied = Timer(1.0, os.close, [pipe])
    (tmp_path / "elsewhere").write_bytes(told)
    (run.inbox / "2.json").symlink_to(tmp_path / "elsewhere")
    emptied.start()

    found = arrived(run)

    emptied.join()
    assert found == [None, None]


def test_what_is_set_aside_is_kept_but_does_not_come_again(run: RunFolder) -> None:
    bad = run.inbox / "1.json"
    bad.write_text("hello?")

    kept = set_aside(bad)

    assert collect(run) == []
    assert kept.read_text() == "hello?"


def test_drafts_and_replies_are_no_commands(run: RunFolder) -> None:
    (run.inbox / ".1.json.abcd").write_text("{")
    (run.inbox / ".2.json").write_text("{")
    (run.inbox / "notes.txt").write_text("{")
    path = send(run, Stop(at=1.0))
    respond(path, "no")
    done(path)

    assert collect(run) == []


def test_a_run_that_has_gone_has_no_commands(run: RunFolder) -> None:
    run.inbox.rmdir()

    assert collect(run) == []
    with pytest.raises(JournalError, match=f"Nothing can be sent to run {run.id}"):
        send(run, Stop(at=1.0))
    run.path.rename(run.path.with_name("gone"))
    with pytest.raises(RunGone, match=f"Run {run.id} is not there any more"):
        send(run, Stop(at=1.0))


def test_a_command_that_is_too_long_is_not_sent(run: RunFolder) -> None:
    with pytest.raises(UserError, match=r"The steer is too long: .* Shorten it"):
        send(run, Steer(at=1.0, id="n", note="x" * LARGEST))

    assert collect(run) == []


def test_a_command_with_broken_characters_is_not_sent(run: RunFolder) -> None:
    """What a terminal hands over is not always text."""
    with pytest.raises(UserError, match="The words of the steer are not all text"):
        send(run, Steer(at=1.0, id="n", note="\udcff"))

    assert collect(run) == []


@posix
def test_only_the_owner_can_read_commands_and_answers(run: RunFolder) -> None:
    path = send(run, Stop(at=1.0))
    respond(path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    answer = path.parent / "replies" / path.name
    assert stat.S_IMODE(answer.stat().st_mode) == 0o600
    assert stat.S_IMODE(answer.parent.stat().st_mode) == 0o700


def test_an_answer_is_a_file_that_people_can_read(run: RunFolder) -> None:
    path = send(run, Stop(at=1.0))
    respond(path, "The run has ended.")

    assert json.loads((run.inbox / "replies" / path.name).read_text()) == {"refused": "The run has ended."}


@pytest.mark.parametrize("refused", ["", "Run abc is paused already."])
async def test_the_sender_hears_what_came_of_its_command(run: RunFolder, refused: str) -> None:
    path = send(run, Pause(at=1.0))
    heard: list[str | None] = []

    async def wait() -> None:
        heard.append(await reply(path, 60))

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.sleep(0.1)
        assert heard == []
        for each, _ in collect(run):
            respond(each, refused)
            done(each)

    assert heard == [refused]
    assert list((run.inbox / "replies").iterdir()) == [], "an answer is heard once"


async def test_each_sender_hears_its_own_answer(run: RunFolder) -> None:
    first, second = send(run, Pause(at=1.0)), send(run, Pause(at=1.0))
    respond(second, "paused already")
    respond(first)

    assert (await reply(first, 60), await reply(second, 60)) == ("", "paused already")


async def test_where_nobody_drives_nobody_answers(run: RunFolder) -> None:
    path = send(run, Pause(at=1.0))

    assert await reply(path, 0.05) is None
    assert arrived(run) == [Pause(at=1.0)], "the command waits for the next driver"


SENDER = """
import sys
from pathlib import Path
from threading import Timer
import anyio
import msgspec
from untilgreen.core.receive import Steer
from untilgreen.engine.inbox import reply, send
from untilgreen.engine.store import RunFolder

async def main(folder):
    path = send(folder, Steer(at=1.0, id="n1", note="from another process"))
    print(await reply(path, 60))

anyio.run(main, RunFolder(Path(sys.argv[1])))
"""


async def test_another_process_sends_and_hears(run: RunFolder) -> None:
    said: list[str] = []

    async def sender() -> None:
        process = await anyio.run_process([sys.executable, "-c", SENDER, str(run.path)])
        said.append(process.stdout.decode().strip())

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(sender)
            while True:
                if found := collect(run):
                    break
                await anyio.sleep(0.02)
            respond(found[0][0], "not now")

    assert found[0][1] == Steer(at=1.0, id="n1", note="from another process")
    assert said == ["not now"]
