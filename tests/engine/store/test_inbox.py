"""Commands as files: none is lost or read half-written, and nothing in an inbox can end a run."""

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

from untilgreen.core.loop.receive import AddLaps, Answer, Arrival, Cancel, Pause, Resume, Steer, Stop
from untilgreen.core.loop.session_arrivals import Deleted, Failed, Go, Left, Stopped, Take, TookOver
from untilgreen.core.values.model import Moment
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.inbox import LARGEST, Inbox
from untilgreen.engine.store.runs import Store
from untilgreen.errors import JournalError, RunGone, UserError

posix = pytest.mark.skipif(sys.platform == "win32", reason="named pipes and file modes are POSIX only")

EVERY: list[Arrival] = [
    AddLaps(at=0.5, laps=5),
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
def run(tmp_path: Path) -> FolderRecord:
    return Store(tmp_path / "state").create(1_785_000_000.0, workspace=tmp_path)


@pytest.fixture
def inbox(run: FolderRecord) -> Inbox:
    return Inbox(run.inbox, run.id)


def arrived(inbox: Inbox) -> list[Arrival]:
    return [arrival for _, arrival in inbox.arrived()]


def unreadable(inbox: Inbox) -> list[str]:
    return sorted(path.name for path in inbox.folder.glob("*.unreadable"))


def test_every_kind_of_command_arrives_as_it_was_sent(inbox: Inbox) -> None:
    for arrival in EVERY:
        inbox.send(arrival)

    assert arrived(inbox) == EVERY
    assert {type(arrival) for arrival in EVERY} == set(get_args(Arrival))


def test_commands_arrive_in_the_order_of_their_time(inbox: Inbox) -> None:
    for at in (5.0, 1.0, 1e9, 1e10, 1.000001):
        inbox.send(Resume(at=at))

    assert [arrival.at for arrival in arrived(inbox) if arrival] == [1.0, 1.000001, 5.0, 1e9, 1e10]


def test_commands_of_one_moment_arrive_in_the_order_of_sending(inbox: Inbox) -> None:
    notes = [Steer(at=7.0, id=f"n{number}", note="x") for number in range(30)]
    for each in notes:
        inbox.send(each)

    assert arrived(inbox) == notes


def test_commands_sent_at_the_same_time_all_arrive(inbox: Inbox) -> None:
    notes = [Steer(at=7.0, id=f"n{number:02d}", note="x") for number in range(50)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(inbox.send, notes))

    found = [arrival.id for arrival in arrived(inbox) if isinstance(arrival, Steer)]

    assert sorted(found) == [each.id for each in notes]


def test_a_command_stays_until_it_is_done(inbox: Inbox) -> None:
    first, second = inbox.send(Pause(at=1.0)), inbox.send(Resume(at=2.0))
    assert [letter for letter, _ in inbox.arrived()] == [first, second]
    assert [letter for letter, _ in inbox.arrived()] == [first, second], "reading removes nothing"

    inbox.answered(first, "")
    inbox.answered(first, "")

    assert arrived(inbox) == [Resume(at=2.0)]


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
def test_what_is_not_a_command_is_set_aside_and_the_rest_arrives(inbox: Inbox, content: bytes) -> None:
    bad = inbox.folder / "00000000000000000-bad.json"
    bad.write_bytes(content)
    inbox.send(Stop(at=1.0))

    assert arrived(inbox) == [Stop(at=1.0)]
    assert not bad.exists()
    assert bad.with_name(f"{bad.name}.unreadable").read_bytes() == content


@posix
def test_what_is_not_a_file_is_set_aside(inbox: Inbox) -> None:
    """A pipe would keep the driver waiting, and a link would lead it elsewhere."""
    os.mkfifo(inbox.folder / "1.json")
    (inbox.folder / "2.json").symlink_to(inbox.folder / "nowhere")
    (inbox.folder / "3.json").symlink_to("/dev/zero")
    (inbox.folder / "4.json").mkdir()

    assert arrived(inbox) == []
    assert unreadable(inbox) == [f"{number}.json.unreadable" for number in (1, 2, 3, 4)]


@posix
def test_a_pipe_or_a_link_with_a_command_in_it_is_not_a_command(inbox: Inbox, tmp_path: Path) -> None:
    """The writer of a pipe could keep the driver waiting; here it closes the pipe after a second."""
    told = msgspec.json.encode(Stop(at=1.0))
    os.mkfifo(inbox.folder / "1.json")
    pipe = os.open(inbox.folder / "1.json", os.O_RDWR)
    os.write(pipe, told)
    closed = Timer(1.0, os.close, [pipe])
    (tmp_path / "elsewhere").write_bytes(told)
    (inbox.folder / "2.json").symlink_to(tmp_path / "elsewhere")
    closed.start()

    found = arrived(inbox)

    closed.join()
    assert found == []
    assert unreadable(inbox) == ["1.json.unreadable", "2.json.unreadable"]


def test_drafts_and_replies_are_not_commands(inbox: Inbox) -> None:
    (inbox.folder / ".1.json.abcd").write_text("{")
    (inbox.folder / ".2.json").write_text("{")
    (inbox.folder / "notes.txt").write_text("{")
    inbox.answered(inbox.send(Stop(at=1.0)), "no")

    assert inbox.arrived() == []


def test_a_run_that_has_gone_has_no_commands(run: FolderRecord, inbox: Inbox) -> None:
    inbox.folder.rmdir()

    assert inbox.arrived() == []
    with pytest.raises(JournalError, match=f"Nothing can be sent to run {run.id}"):
        inbox.send(Stop(at=1.0))
    run.path.rename(run.path.with_name("gone"))
    with pytest.raises(RunGone, match=f"Run {run.id} no longer exists"):
        inbox.send(Stop(at=1.0))


def test_a_command_that_is_too_long_is_not_sent(inbox: Inbox) -> None:
    with pytest.raises(UserError, match=r"The steer is too long: .* Shorten it"):
        inbox.send(Steer(at=1.0, id="n", note="x" * LARGEST))

    assert inbox.arrived() == []


def test_a_command_with_broken_characters_is_not_sent(inbox: Inbox) -> None:
    """What people type into a terminal is not always valid text."""
    with pytest.raises(UserError, match="The text of the steer is not valid UTF-8"):
        inbox.send(Steer(at=1.0, id="n", note="\udcff"))

    assert inbox.arrived() == []


@posix
def test_only_the_owner_can_read_commands_and_answers(inbox: Inbox) -> None:
    letter = inbox.send(Stop(at=1.0))
    assert stat.S_IMODE((inbox.folder / letter).stat().st_mode) == 0o600

    inbox.answered(letter, "")

    answer = inbox.folder / "replies" / letter
    assert stat.S_IMODE(answer.stat().st_mode) == 0o600
    assert stat.S_IMODE(answer.parent.stat().st_mode) == 0o700


def test_an_answer_is_a_file_that_people_can_read(inbox: Inbox) -> None:
    letter = inbox.send(Stop(at=1.0))
    inbox.answered(letter, "The run has ended.")

    assert json.loads((inbox.folder / "replies" / letter).read_text()) == {"refused": "The run has ended."}


@pytest.mark.parametrize("refused", ["", "Run abc is already paused."])
async def test_the_sender_hears_what_came_of_its_command(inbox: Inbox, refused: str) -> None:
    path = inbox.send(Pause(at=1.0))
    heard: list[str | None] = []

    async def wait() -> None:
        heard.append(await inbox.reply(path, 60))

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.sleep(0.1)
        assert heard == []
        for each, _ in inbox.arrived():
            inbox.answered(each, refused)

    assert heard == [refused]
    assert list((inbox.folder / "replies").iterdir()) == [], "an answer is read once"


async def test_each_sender_hears_its_own_answer(inbox: Inbox) -> None:
    first, second = inbox.send(Pause(at=1.0)), inbox.send(Pause(at=1.0))
    inbox.answered(second, "paused already")
    inbox.answered(first, "")

    assert (await inbox.reply(first, 60), await inbox.reply(second, 60)) == ("", "paused already")


async def test_where_nobody_drives_nobody_answers(inbox: Inbox) -> None:
    path = inbox.send(Pause(at=1.0))

    assert await inbox.reply(path, 0.05) is None
    assert arrived(inbox) == [Pause(at=1.0)], "the command waits for the next driver"


SENDER = """
import sys
from pathlib import Path
from threading import Timer
import anyio
import msgspec
from untilgreen.core.loop.receive import Steer
from untilgreen.engine.store.folder_record import FolderRecord

async def main(folder):
    letter = await folder.send(Steer(at=1.0, id="n1", note="from another process"))
    print(await folder.reply(letter, 60))

anyio.run(main, FolderRecord(Path(sys.argv[1])))
"""


async def test_another_process_sends_and_hears(run: FolderRecord) -> None:
    said: list[str] = []

    async def sender() -> None:
        process = await anyio.run_process([sys.executable, "-c", SENDER, str(run.path)])
        said.append(process.stdout.decode().strip())

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(sender)
            while True:
                if found := await run.arrived():
                    break
                await anyio.sleep(0.02)
            await run.answered(found[0][0], "not now")

    assert found[0][1] == Steer(at=1.0, id="n1", note="from another process")
    assert said == ["not now"]
