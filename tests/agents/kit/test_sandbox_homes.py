"""Which parts of an agent's own directory can be read and written inside a sandbox."""

from pathlib import Path

import pytest

from untilgreen.agents import claude, codex
from untilgreen.agents.kit.sandbox_homes import ITSELF, Home, with_homes
from untilgreen.agents.kit.take_turn import About
from untilgreen.ports import Mount, Sandbox

AGENT = Home(
    place="~/.agent",
    moved=("AGENT_HOME", ""),
    reads=("settings*.json",),
    writes=("sessions/", "login.json"),
)


def test_settings_are_read_conversations_kept_and_the_rest_is_hidden(tmp_path: Path) -> None:
    for name in ("settings.json", "settings.local.json", "history", "login.json"):
        (tmp_path / name).touch()

    sandbox = with_homes(Sandbox(), (AGENT,), ("AGENT_KEY",), {"AGENT_HOME": str(tmp_path)})

    assert sandbox.mounts[0] == Mount(path=tmp_path, way="empty")
    assert {(mount.path.name, mount.way) for mount in sandbox.mounts[1:]} == {
        ("settings.json", "read"),
        ("settings.local.json", "read"),
        ("sessions", "write"),
        ("login.json", "write"),
    }
    assert (tmp_path / "sessions").is_dir()
    assert sandbox.env == ("AGENT_KEY",)


@pytest.mark.parametrize(
    ("about", "setting", "kept"),
    [
        (claude.ABOUT, ".claude/settings.json", {"projects", ".credentials.json"}),
        (codex.ABOUT, ".codex/config.toml", {"sessions", "auth.json"}),
    ],
)
def test_claude_and_codex_keep_conversations_and_logins_and_change_no_setting(
    about: About, setting: str, kept: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / setting
    file.parent.mkdir()
    file.touch()

    ways = {mount.path: mount.way for mount in with_homes(Sandbox(), about.homes, (), {}).mounts}

    assert (ways[file.parent], ways[file]) == ("empty", "read")
    assert kept <= {path.name for path, way in ways.items() if way == "write"}


def test_claude_has_the_variables_that_it_reads() -> None:
    assert "ANTHROPIC_*" in with_homes(Sandbox(), (), claude.ABOUT.variables, {}).env


def test_only_an_agent_that_keeps_nothing_but_conversations_there_has_it_whole(tmp_path: Path) -> None:
    data = Home(place="~/.data", moved=("DATA", "agent"), writes=(ITSELF,))

    assert list(data.mounts({"DATA": str(tmp_path)})) == [Mount(path=tmp_path / "agent", way="write")]
