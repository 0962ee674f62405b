"""install and uninstall: ours comes and goes, everything else stays as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.helpers import Cli, Done, Say

THEIRS = {
    "model": "opus",
    "env": {"A": "1"},
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./look.sh"}]}],
    },
}


def settings_of(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home / ".claude/settings.json").read_text())
    return found


def home_of(cli: Cli) -> Path:
    return Path(cli.env["HOME"])


def ok(done: Done) -> Done:
    assert done.code == 0, done
    return done


def test_what_was_there_stays_and_twice_is_once(said: Say, cli: Cli) -> None:
    home = home_of(cli)
    (home / ".claude").mkdir()
    before = json.dumps(THEIRS, indent=2) + "\n"
    (home / ".claude/settings.json").write_text(before)

    shown = ok(said("install", "claude", "--user"))
    assert "+++ " in shown.out
    settings = settings_of(home)
    assert settings["model"] == "opus"
    assert settings["env"] == {"A": "1", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1000"}
    assert [len(settings["hooks"][name]) for name in ("Stop", "PreToolUse", "UserPromptSubmit")] == [2, 1, 1]
    assert (home / ".claude/commands/ralph.md").exists()

    assert ok(said("install", "claude")).out == "Nothing has to change.\n"
    ok(said("uninstall", "claude"))
    assert (home / ".claude/settings.json").read_text() == before
    assert list((home / ".claude/commands").iterdir()) == []
    assert ok(said("uninstall", "claude")).out == "Nothing has to change.\n"


def test_a_new_time_limit_takes_the_place_of_the_old_one(said: Say, cli: Cli) -> None:
    ok(said("install", "claude"))
    ok(said("install", "claude", "--deadline", "1200"))

    (entry,) = settings_of(home_of(cli))["hooks"]["Stop"]
    (hook,) = entry["hooks"]
    assert hook["timeout"] == 1200
    assert hook["command"].endswith(" hook stop --agent claude --deadline 1200")


def test_a_dry_run_and_settings_that_are_no_json_change_nothing(said: Say, cli: Cli) -> None:
    home = home_of(cli)
    assert "UserPromptSubmit" in ok(said("install", "claude", "--dry-run")).out
    assert not (home / ".claude").exists()

    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text("{ // mine\n}")
    refused = said("install", "claude")
    assert refused.code == 2
    assert "is no JSON, so nothing was changed" in refused.err
    assert (home / ".claude/settings.json").read_text() == "{ // mine\n}"


def test_a_command_of_the_users_own_is_not_overwritten(said: Say, cli: Cli) -> None:
    mine = home_of(cli) / ".claude/commands/ralph.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("my own")

    refused = said("install", "claude")
    assert refused.code == 2
    assert "is there and not ours" in refused.err
    assert mine.read_text() == "my own"
    ok(said("uninstall", "claude"))
    assert mine.read_text() == "my own"


def test_a_project_gets_no_path_of_this_machine(said: Say, cli: Cli) -> None:
    ok(said("install", "claude", "--project"))

    text = (cli.place / ".claude/settings.json").read_text()
    assert "command -v untilgreen >/dev/null 2>&1 || exit 0; exec untilgreen hook stop" in text


@pytest.mark.parametrize(("agent", "file"), [("codex", ".codex/hooks.json"), ("qwen", ".qwen/settings.json")])
def test_other_agents_have_their_own_files(said: Say, cli: Cli, agent: str, file: str) -> None:
    ok(said("install", agent))

    hooks = json.loads((home_of(cli) / file).read_text())["hooks"]
    assert f"hook stop --agent {agent} --deadline 600" in hooks["Stop"][0]["hooks"][0]["command"]
    assert hooks["Stop"][0]["hooks"][0]["timeout"] == (600 if agent == "codex" else 600_000)
    ok(said("uninstall", agent))
    assert not (home_of(cli) / file).exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("clade",), "There are no hooks for 'clade' that can be installed. Did you mean 'claude'?"),
        (("codex", "--project"), "Hooks of codex are a user's, not a project's."),
        (("claude", "--project", "--user"), "Keep one of --project and --user."),
        (("claude", "--deadline", "3"), "--deadline 3 is too short."),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(said: Say, arguments: tuple[str, ...], sentence: str) -> None:
    refused = said("install", *arguments)

    assert refused.code == 2
    assert sentence in refused.err


def test_an_agent_can_not_install_hooks_for_itself(said: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")

    assert said("install", "claude").code == 2
