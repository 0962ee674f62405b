"""Running a program in a turn, as every adapter does."""

import json
import os
import sys
from pathlib import Path

import anyio
import pytest

from untilgreen.agents.kit.run_cli import find_program, run_cli
from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Activity, TurnContext

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


def script(path: Path, *lines: str, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(mode)
    return path


def content(path: Path) -> str:
    return path.read_text()


def exists(path: Path) -> bool:
    return path.exists()


async def test_a_program_runs_in_the_directory_of_the_turn_with_its_variables(tmp_path: Path) -> None:
    root = tmp_path / "root"
    script(root / "cli", "pwd; cat; echo $A $B", "exit 3")
    context = TurnContext(root=root, env={"A": "1", "B": "1"})

    ran = await run_cli(["./cli"], context, stdin="hello ü\n", env={"B": "2"})

    assert (ran.status, ran.stdout) == (3, f"{root}\nhello ü\n1 2\n")


async def test_what_it_prints_is_reported_and_kept(tmp_path: Path) -> None:
    script(tmp_path / "cli", "echo one; echo two; echo oops >&2")
    seen: list[Activity] = []
    context = TurnContext(root=tmp_path, report=seen.append, transcript=tmp_path / "kept" / "003.jsonl")

    ran = await run_cli(["./cli"], context)

    assert ran.ok
    assert sorted(each.text for each in seen) == ["one", "oops", "two"]
    assert {each.kind for each in seen} == {"output"}
    assert content(tmp_path / "kept" / "003.jsonl") == "one\ntwo\n"
    assert content(tmp_path / "kept" / "003.stderr.txt") == "oops\n"


async def test_an_adapter_may_read_the_lines_itself(tmp_path: Path) -> None:
    script(tmp_path / "cli", """echo '{"a": 1}'; echo plain >&2""")
    seen: list[Activity] = []
    lines: list[object] = []

    await run_cli(
        ["./cli"],
        TurnContext(root=tmp_path, report=seen.append),
        on_line=lambda line: lines.append(json.loads(line)),
    )

    assert lines == [{"a": 1}]
    assert seen == [Activity(kind="output", text="plain")]


async def test_an_adapter_may_end_the_turn_with_its_own_error(tmp_path: Path) -> None:
    script(tmp_path / "cli", "echo not logged in; sleep 600")

    def on_line(line: str) -> None:
        raise AgentUnavailable(line)

    with anyio.fail_after(60), pytest.raises(AgentUnavailable, match="not logged in"):
        await run_cli(["./cli"], TurnContext(root=tmp_path), on_line=on_line)


async def test_the_tree_is_noted_while_it_runs(tmp_path: Path) -> None:
    script(tmp_path / "cli", "echo $$; cat run/tree")
    context = TurnContext(root=tmp_path, tree=tmp_path / "run" / "tree")

    ran = await run_cli(["./cli"], context)

    pid, note = ran.stdout.split("\n", 1)
    assert json.loads(note)["pid"] == int(pid)
    assert not exists(tmp_path / "run" / "tree")


async def test_the_turn_says_how_long_silence_may_last(tmp_path: Path) -> None:
    script(tmp_path / "cli", "sleep 600")

    with anyio.fail_after(60):
        ran = await run_cli(["./cli"], TurnContext(root=tmp_path, silence=0.5))

    assert ran.stalled


async def test_arguments_that_are_too_long_make_the_agent_unavailable(tmp_path: Path) -> None:
    with pytest.raises(AgentUnavailable, match="too long for this system"):
        await run_cli(["echo", "x" * 4_000_000], TurnContext(root=tmp_path))


def test_a_bare_name_is_looked_up_in_the_path_of_the_turn(tmp_path: Path) -> None:
    program = script(tmp_path / "bin" / "my-agent")

    assert find_program("my-agent", tmp_path, {"PATH": str(program.parent)}) == str(program)
    assert find_program("sh", tmp_path, {}).endswith("/sh")


def test_a_name_with_a_slash_is_looked_up_from_the_root(tmp_path: Path) -> None:
    script(tmp_path / "tools" / "fix.sh")

    assert find_program("tools/fix.sh", tmp_path, {}) == "tools/fix.sh"
    assert find_program(str(tmp_path / "tools" / "fix.sh"), Path("/"), {}) == str(
        tmp_path / "tools" / "fix.sh"
    )


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("no-such-agent", r"no program 'no-such-agent' on your PATH\. Install it"),
        ("./missing.sh", r"'./missing.sh': '.*/missing.sh' does not exist\. Create it, or choose another"),
        ("~/fix.sh", r"does not exist.*`~` and `\$NAME` are not expanded"),
        ("$TOOLS/fix", r"does not exist.*`~` and `\$NAME` are not expanded"),
        ("./plain", r"plain' is not executable\. Run `chmod \+x ./plain`, or .* 'cmd:sh ./plain'"),
        ("./folder", r"folder' is a directory, not a program\. Choose the program in it"),
    ],
)
def test_a_program_that_can_not_be_started_is_named_with_what_to_do(
    word: str, said: str, tmp_path: Path
) -> None:
    script(tmp_path / "plain", mode=0o644)
    (tmp_path / "folder").mkdir()

    with pytest.raises(AgentUnavailable, match=said):
        find_program(word, tmp_path, {"PATH": "/only/here"})


async def test_a_program_that_can_not_be_started_leaves_no_files(tmp_path: Path) -> None:
    context = TurnContext(root=tmp_path, transcript=tmp_path / "kept", tree=tmp_path / "tree")

    with pytest.raises(AgentUnavailable):
        await run_cli(["./missing"], context)

    assert os.listdir(tmp_path) == []  # noqa: PTH208 - ASYNC240 forbids pathlib here
