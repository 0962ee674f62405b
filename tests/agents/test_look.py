"""Whether an agent can be used here."""

import shutil
import sys
from pathlib import Path

import pytest

from untilgreen.agents.claude import Claude
from untilgreen.agents.codex import Codex
from untilgreen.agents.command import CommandAgent
from untilgreen.agents.look import Look, look
from untilgreen.core.brief import Brief
from untilgreen.core.model import Reply
from untilgreen.ports import Desk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


def program(folder: Path, version: str, helped: str, code: int = 0) -> str:
    path = folder / "agent"
    path.write_text(
        f'#!/bin/sh\ncase "$*" in *--version*) echo "{version}"; exit {code};; *) echo "{helped}";; esac\n'
    )
    path.chmod(0o755)
    return str(path)


async def test_version_and_place_are_said(tmp_path: Path) -> None:
    path = program(tmp_path, "2.1.325 (Claude Code)", " ".join(Claude.about.flags))

    seen = await look(Claude(program=path), tmp_path)

    assert seen is not None
    assert (seen.program, seen.version, seen.lacks, seen.trouble) == (path, "2.1.325", (), "")
    assert seen.seconds > 0


async def test_flags_that_this_version_lacks_are_named_with_the_update(tmp_path: Path) -> None:
    path = program(tmp_path, "codex-cli 0.1.0", "--json --model --config resume-last --skip-git-repo-checks")

    seen = await look(Codex(program=path), tmp_path)

    assert seen is not None
    assert seen.lacks == ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "resume")
    assert seen.trouble.startswith("Version 0.1.0 does not know --skip-git-repo-check,")
    assert "npm install -g @openai/codex" in seen.trouble


async def test_one_that_is_missing_comes_with_its_installation(tmp_path: Path) -> None:
    seen = await look(Claude(program="no-such-claude"), tmp_path)

    assert seen is not None
    assert seen.program is None
    assert "npm install -g @anthropic-ai/claude-code" in seen.trouble


async def test_one_that_fails_to_say_its_version_is_trouble(tmp_path: Path) -> None:
    path = program(tmp_path, "no", "", code=3)

    seen = await look(Claude(program=path), tmp_path)

    assert seen is not None
    assert "failed (exit code 3)" in seen.trouble


async def test_a_command_is_looked_for_and_not_started(tmp_path: Path) -> None:
    there = await look(CommandAgent("sh -c 'exit 9'"), tmp_path)
    missing = await look(CommandAgent("./fix.sh now"), tmp_path)

    assert there == Look(program=shutil.which("sh"))
    assert missing is not None
    assert "'./fix.sh'" in missing.trouble


async def test_an_agent_that_is_no_program_can_not_be_looked_at(tmp_path: Path) -> None:
    class Own:
        async def work(self, brief: Brief, desk: Desk) -> Reply:
            return Reply()

    assert await look(Own(), tmp_path) is None
