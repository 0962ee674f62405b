"""What of an agent's own directory can be seen and changed inside a sandbox."""

from pathlib import Path

from untilgreen.agents.kit.sandbox_homes import ITSELF, Home, let_in
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

    sandbox = let_in(Sandbox(), (AGENT,), ("AGENT_KEY",), {"AGENT_HOME": str(tmp_path)})

    assert sandbox.mounts[0] == Mount(path=tmp_path, way="empty")
    assert {(mount.path.name, mount.way) for mount in sandbox.mounts[1:]} == {
        ("settings.json", "read"),
        ("settings.local.json", "read"),
        ("sessions", "write"),
        ("login.json", "write"),
    }
    assert (tmp_path / "sessions").is_dir()
    assert sandbox.env == ("AGENT_KEY",)


def test_only_an_agent_that_keeps_nothing_but_conversations_there_has_it_whole(tmp_path: Path) -> None:
    data = Home(place="~/.data", moved=("DATA", "agent"), writes=(ITSELF,))

    assert list(data.mounts({"DATA": str(tmp_path)})) == [Mount(path=tmp_path / "agent", way="write")]
