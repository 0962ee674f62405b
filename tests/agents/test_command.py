"""A command as an agent: how it gets the brief, and what becomes of its output, exit and usage."""

import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import anyio
import psutil
import pytest

from untilgreen.agents.command import CommandAgent
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Reply, Usage
from untilgreen.errors import AgentUnavailable, ConfigError
from untilgreen.ports import Activity, Agent, TurnContext

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")

BRIEF = Brief(lap=1, text="Make it green.\n{prompt_file} $HOME 'ü'")


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "root"
    root.mkdir()
    yield root
    assert [path.name for path in root.iterdir() if path.name.startswith("untilgreen-")] == []


def script(root: Path, *lines: str) -> None:
    path = root / "fix.sh"
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)


async def work(command: str, root: Path, brief: Brief = BRIEF) -> tuple[Reply, list[Activity]]:
    seen: list[Activity] = []
    reply = await CommandAgent(command).work(brief, TurnContext(root=root, report=seen.append))
    return reply, seen


def exists(path: str) -> bool:
    return Path(path).exists()


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_it_is_an_agent() -> None:
    assert isinstance(CommandAgent("true"), Agent)


async def test_the_brief_comes_on_standard_input_and_the_output_is_the_reply(root: Path) -> None:
    script(root, "cat; echo; echo $0 $1; pwd")

    reply, seen = await work("./fix.sh 'one word'", root)

    assert reply == Reply(text=f"{BRIEF.text}\n./fix.sh one word\n{root}\n", exit_code=0)
    assert [each.kind for each in seen] == ["output"] * 4


async def test_no_shell_reads_the_command(root: Path) -> None:
    reply, _ = await work("echo $HOME ';' '&&' '|' '>' x", root)

    assert reply.text == "$HOME ; && | > x\n"
    assert not exists(str(root / "x"))


async def test_the_brief_can_be_an_argument_or_a_part_of_one(root: Path) -> None:
    script(root, 'printf "%s|" "$@"; wc -c')

    reply, _ = await work("./fix.sh -p {prompt} --message={prompt}", root)

    assert reply.text == f"-p|{BRIEF.text}|--message={BRIEF.text}|0\n"


async def test_the_brief_can_be_a_private_file_outside_of_the_workspace(root: Path) -> None:
    script(root, 'echo "$1"; ls -l "${1#--file=}" | cut -c1-10; cat "${1#--file=}"; wc -c; ls -A')

    reply, _ = await work("./fix.sh --file={prompt_file}", root)

    named, permissions, rest = reply.text.split("\n", 2)
    file = Path(named.removeprefix("--file="))
    assert rest == f"{BRIEF.text}0\nfix.sh\n"
    assert permissions == "-rw-------"
    assert not file.is_relative_to(root)
    assert not exists(str(file.parent))


async def test_private_files_stay_out_of_a_workspace_that_holds_the_temporary_directory(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(root, 'echo "$1"')
    monkeypatch.setattr("tempfile.tempdir", str(root))

    reply, _ = await work("./fix.sh {prompt_file}", root)

    assert not Path(reply.text.strip()).is_relative_to(root)


async def test_private_files_are_gone_after_a_turn_that_was_cancelled(root: Path) -> None:
    script(root, 'echo "$1"; sleep 600')
    seen: list[str] = []
    with anyio.fail_after(60), anyio.CancelScope() as scope:

        def report(activity: Activity) -> None:
            seen.append(activity.text)
            assert exists(activity.text)
            scope.cancel()

        await CommandAgent("./fix.sh {prompt_file}").work(BRIEF, TurnContext(root=root, report=report))

    assert scope.cancelled_caught
    assert len(seen) == 1
    assert not exists(seen[0])


async def test_a_brief_that_no_argument_can_hold_is_cleaned(root: Path) -> None:
    reply, _ = await work("echo {prompt}", root, Brief(lap=1, text="a\0b\ud800c"))

    assert reply.text == "ab?c\n"


async def test_a_brief_that_is_too_long_for_an_argument_says_how_else(root: Path) -> None:
    with pytest.raises(AgentUnavailable, match=r"\{prompt_file\}"):
        await work("echo {prompt}", root, Brief(lap=1, text="x" * 3_000_000))

    reply, _ = await work("wc -c {prompt_file}", root, Brief(lap=1, text="x" * 3_000_000))
    assert reply.text.startswith("3000000 ")


async def test_a_failing_command_is_a_crash_with_its_last_words(root: Path) -> None:
    script(root, "echo partly done", "for i in $(seq 100); do echo line $i >&2; done", "exit 7")

    reply, _ = await work("./fix.sh", root)

    assert (reply.error, reply.text, reply.ok) == ("crash", "partly done\n", False)
    assert reply.detail.splitlines() == ["exit code 7", *(f"line {number}" for number in range(81, 101))]


async def test_a_command_that_dies_of_a_signal_is_a_crash(root: Path) -> None:
    script(root, "kill -9 $$")

    reply, _ = await work("./fix.sh", root)

    assert (reply.error, reply.detail) == ("crash", "ended by SIGKILL")


async def test_silence_is_a_stall_only_where_it_is_watched(root: Path) -> None:
    script(root, "echo begun; sleep ${1:-600}")

    with anyio.fail_after(60):
        stalled = await CommandAgent("./fix.sh").work(BRIEF, TurnContext(root=root, silence=1.5))
    patient, _ = await work("./fix.sh 2", root)

    assert (stalled.error, stalled.detail) == ("stalled", "no output for 1.5 seconds")
    assert (patient.error, patient.text) == (None, "begun\n")


async def test_a_huge_output_keeps_both_ends(root: Path) -> None:
    script(root, "echo first; yes | head -c 3000000; echo last")

    reply, seen = await work("./fix.sh", root)

    assert reply.text.startswith("first\ny\n")
    assert reply.text.endswith("y\nlast\n")
    assert "bytes left out" in reply.text
    assert 900_000 < len(reply.text) < 1_100_000
    assert len(seen) < 10_000
    assert seen[-1].text.endswith("more lines are in the transcript.")


@pytest.mark.parametrize(
    ("written", "usage", "session"),
    [
        (
            '{"input_tokens": 12, "output_tokens": 3, "cost": 0.25, "session": "s-1"}',
            Usage(input_tokens=12, output_tokens=3, cost=0.25, source="reported"),
            "s-1",
        ),
        ('{"output_tokens": 3, "cached_tokens": 2}', Usage(output_tokens=3, cached_tokens=2), None),
        ('{"cost": 0, "other": [1]}', Usage(cost=0.0, source="reported"), None),
        ("{}", Usage(), None),
    ],
)
async def test_a_command_may_say_what_it_used(
    written: str, usage: Usage, session: str | None, root: Path
) -> None:
    script(root, f"echo '{written}' > $UNTILGREEN_USAGE_FILE")

    reply, seen = await work("./fix.sh", root)

    assert (reply.usage, reply.session) == (usage, session)
    assert (reply.ok, seen) == (True, [])


@pytest.mark.parametrize(
    "write",
    [
        "echo nonsense >",
        "printf '' >",
        """echo '{"cost": "much"}' >""",
        """echo '{"input_tokens": -1}' >""",
        "echo '[]' >",
        "yes | head -c 1000000 >",
        "printf '\\377' >",
    ],
)
async def test_an_invalid_usage_file_is_ignored_and_reported(write: str, root: Path) -> None:
    script(root, f"{write} $UNTILGREEN_USAGE_FILE; echo done")

    reply, seen = await work("./fix.sh", root)

    assert reply == Reply(text="done\n", exit_code=0)
    assert [each.kind for each in seen] == ["output", "note"]
    assert seen[1].text.startswith("The command's usage file was ignored: ")


@pytest.mark.parametrize("make", ["mkdir", "mkfifo", "ln -s /dev/zero"])
async def test_a_usage_file_that_is_not_a_file_is_silently_ignored(make: str, root: Path) -> None:
    script(root, f"{make} $UNTILGREEN_USAGE_FILE; echo done")

    with anyio.fail_after(60):
        reply, seen = await work("./fix.sh", root)

    assert reply == Reply(text="done\n", exit_code=0)
    assert [each.kind for each in seen] == ["output"]


async def test_a_usage_file_of_any_size_takes_little_memory(root: Path) -> None:
    script(root, "truncate -s 200M $UNTILGREEN_USAGE_FILE; echo done")

    tracemalloc.start()
    try:
        reply, _ = await work("./fix.sh", root)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert reply == Reply(text="done\n", exit_code=0)
    assert peak < 100_000_000


async def test_the_session_of_the_lap_before_is_handed_on(root: Path) -> None:
    script(root, "echo ${UNTILGREEN_AGENT_SESSION-none}")

    fresh, _ = await work("./fix.sh", root)
    kept, _ = await work("./fix.sh", root, Brief(lap=2, text="go on", session="s-1"))

    assert (fresh.text, kept.text) == ("none\n", "s-1\n")


async def test_a_missing_program_makes_the_agent_unavailable(root: Path) -> None:
    with pytest.raises(AgentUnavailable, match=r"no program './fix.sh'.*Create it"):
        await work("./fix.sh", root)


async def test_a_server_that_the_command_left_running_is_ended(root: Path) -> None:
    script(root, "setsid sleep 600 > /dev/null 2>&1 &", "echo $!")

    reply, _ = await work("./fix.sh", root)

    assert reply.ok
    assert not is_running(int(reply.text))


@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'a; b | c'",
        'sh -c "a && b"',
        r"find . -exec x \;",
        "find . -exec x ';'",
        "a {prompt} # b",
        r"it\'s",
    ],
)
def test_quoted_shell_syntax_needs_no_shell(command: str) -> None:
    assert CommandAgent(command).command == command


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("./fix.sh 'open", r"\"./fix.sh 'open\" can't be split into words: No closing quotation\. Check"),
        ("touch f; echo hi", r"contains ';', .* To use one, write cmd:sh -c 'touch f; echo hi'$"),
        ("a && b", r"contains '&&'"),
        ("./fix.sh >log", r"contains '>'"),
        ("echo $(date)", r"contains '\('"),
        ("", "The agent command is empty"),
        ("   ", "The agent command is empty"),
    ],
)
def test_a_command_that_can_not_be_read_is_an_error_at_once(command: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        CommandAgent(command)
