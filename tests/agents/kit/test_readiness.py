"""Whether an agent can be used is known before a gate runs: installed, logged in, allowed as this user."""

import os
import sys
from pathlib import Path

import pytest

from untilgreen.agents.acp.agent import Acp
from untilgreen.agents.claude import Claude
from untilgreen.agents.codex import Codex
from untilgreen.agents.command import CommandAgent
from untilgreen.agents.goose import Goose
from untilgreen.agents.kit.readiness import ChecksItself, Conditions
from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Agent

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
ROOT_ONLY = pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="needs to run as root")


def program(folder: Path, script: str) -> str:
    path = folder / "agent"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


async def ready(agent: Agent, root: Path | None, *, yolo: bool = False, sandboxed: bool = False) -> str:
    """The reason why the agent can't be used; empty if it can."""
    assert isinstance(agent, ChecksItself)
    try:
        await agent.ready(Conditions(permissions="all" if yolo else "gates", root=root, sandboxed=sandboxed))
    except AgentUnavailable as error:
        return str(error)
    return ""


async def test_a_missing_program_is_named_with_the_command_that_installs_it_and_without_the_path(
    tmp_path: Path,
) -> None:
    assert await ready(Claude(program="no-such-claude"), tmp_path) == (
        "There is no program 'no-such-claude' on your PATH. "
        "Install it with `npm install -g @anthropic-ai/claude-code`, or give its full path."
    )
    assert "There is no program 'no-such-server'" in await ready(Acp("no-such-server --acp"), tmp_path)


async def test_a_relative_command_is_looked_for_where_the_agent_will_work(tmp_path: Path) -> None:
    agent = CommandAgent("./agent --quick")
    assert "does not exist" in await ready(agent, tmp_path)
    assert await ready(agent, None) == "", "the worktree does not exist yet"
    program(tmp_path, "exit 1")

    assert await ready(agent, tmp_path) == ""


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("""[ "$*" = 'auth status --json' ] && echo '{"loggedIn": false}' && exit 1""", "is not logged in"),
        ("""echo '{"loggedIn": true}'""", ""),
        ("echo 'unknown option --json' >&2; exit 1", ""),
        ("kill -9 $$", ""),
    ],
    ids=["logged-out", "logged-in", "old-version", "crash"],
)
async def test_only_an_agent_that_says_so_itself_is_not_logged_in(
    tmp_path: Path, script: str, said: str
) -> None:
    why = await ready(Claude(program=program(tmp_path, script)), tmp_path)

    assert said in why
    assert bool(said) == bool(why)
    assert not said or "use /login, or set ANTHROPIC_API_KEY" in why


async def test_arguments_may_name_another_account_so_nothing_is_asked(tmp_path: Path) -> None:
    out = program(tmp_path, """echo '{"loggedIn": false}'; exit 1""")

    assert await ready(Claude(program=out, args=("--settings", "own.json")), tmp_path) == ""


@pytest.mark.parametrize("way", ["key", "provider", "login"])
async def test_codex_needs_no_login_with_a_key_or_a_custom_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    for name in ("CODEX_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    if way == "key":
        monkeypatch.setenv("CODEX_API_KEY", "sk-1")
    if way == "provider":
        (tmp_path / "config.toml").write_text('model_provider = "mine"\n')

    why = await ready(Codex(program=program(tmp_path, "echo 'Not logged in' >&2; exit 1")), tmp_path)

    assert ("is not logged in. Run `codex login`" in why) == (way == "login")


@ROOT_ONLY
async def test_root_with_yolo_is_shown_the_variable_that_permits_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Claude(program=program(tmp_path, "exit 0"))
    monkeypatch.delenv("IS_SANDBOX", raising=False)
    why = await ready(agent, tmp_path, yolo=True)

    assert "refuses to run as root with --yolo" in why
    assert "set IS_SANDBOX=1 and try again" in why
    assert "--sandbox" not in why, "root's own sandbox is refused"
    assert await ready(agent, tmp_path) == ""
    assert await ready(agent, tmp_path, yolo=True, sandboxed=True) == ""
    monkeypatch.setenv("IS_SANDBOX", "1")
    assert await ready(agent, tmp_path, yolo=True) == ""


async def test_an_agent_that_only_works_with_everything_permitted_says_so(tmp_path: Path) -> None:
    agent = Goose(program=program(tmp_path, "exit 0"))

    assert 'works only with permissions = "all"' in await ready(agent, tmp_path)
    assert await ready(agent, tmp_path, yolo=True) == ""
