"""install and uninstall: ours comes and goes, everything else stays as it was."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
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


@pytest.mark.parametrize(
    ("agent", "file", "hook"),
    [
        ("codex", ".codex/hooks.json", ("Stop", 600)),
        ("qwen", ".qwen/settings.json", ("Stop", 600_000)),
        ("gemini", ".gemini/settings.json", ("AfterAgent", 600_000)),
    ],
)
def test_other_agents_have_their_own_files(
    said: Say, cli: Cli, agent: str, file: str, hook: tuple[str, int]
) -> None:
    event, limit = hook
    ok(said("install", agent))

    (entry,) = json.loads((home_of(cli) / file).read_text())["hooks"][event]
    assert f"hook stop --agent {agent} --deadline 600" in entry["hooks"][0]["command"]
    assert entry["hooks"][0]["timeout"] == limit
    assert ok(said("install", agent)).out == "Nothing has to change.\n"
    ok(said("uninstall", agent))
    assert not (home_of(cli) / file).exists()


def test_commands_of_gemini_are_toml_that_hands_on_what_was_typed(said: Say, cli: Cli) -> None:
    ok(said("install", "gemini"))

    command = tomllib.loads((home_of(cli) / ".gemini/commands/ralph.toml").read_text())
    assert command["prompt"].startswith("untilgreen: /ralph\n")
    assert "{{args}}" not in command["prompt"]
    ok(said("uninstall", "gemini"))
    assert list((home_of(cli) / ".gemini/commands").iterdir()) == []


def test_copilot_has_a_file_of_its_own_for_hooks_and_skills_for_commands(said: Say, cli: Cli) -> None:
    home = home_of(cli) / ".copilot"
    ok(said("install", "copilot"))
    settings = json.loads((home / "hooks/untilgreen.json").read_text())
    (hook,) = settings["hooks"]["agentStop"]
    assert (settings["version"], hook["timeoutSec"]) == (1, 600)
    assert "hook stop --agent copilot --deadline 600" in hook["bash"]
    assert "untilgreen: /ralph\n" in (home / "skills/ralph/SKILL.md").read_text()
    assert ok(said("install", "copilot")).out == "Nothing has to change.\n"

    theirs = {"type": "command", "bash": "say done"}
    settings["hooks"]["agentStop"].insert(0, theirs)
    (home / "hooks/untilgreen.json").write_text(json.dumps(settings))
    ok(said("uninstall", "copilot"))
    kept = json.loads((home / "hooks/untilgreen.json").read_text())
    assert kept == {"version": 1, "hooks": {"agentStop": [theirs]}}
    assert list((home / "skills").iterdir()) == []


def test_commands_of_codex_are_skills_that_no_model_takes_by_itself(said: Say, cli: Cli) -> None:
    home = home_of(cli) / ".codex"
    ok(said("install", "codex"))
    assert "untilgreen: /ralph\n" in (home / "skills/ralph/SKILL.md").read_text()
    assert "allow_implicit_invocation: false" in (home / "skills/ralph/agents/openai.yaml").read_text()
    (home / "skills/mine").mkdir()
    (home / "skills/mine/SKILL.md").write_text("my own")

    assert ok(said("install", "codex")).out == "Nothing has to change.\n"
    ok(said("uninstall", "codex"))
    assert [each.name for each in (home / "skills").iterdir()] == ["mine"]


def test_commands_of_qwen_are_markdown(said: Say, cli: Cli) -> None:
    ok(said("install", "qwen"))

    assert "untilgreen: /ralph\n" in (home_of(cli) / ".qwen/commands/ralph.md").read_text()
    ok(said("uninstall", "qwen"))
    assert list((home_of(cli) / ".qwen/commands").iterdir()) == []


def test_opencode_has_a_plugin_that_knows_our_program_and_its_time_limit(said: Say, cli: Cli) -> None:
    folder = home_of(cli) / ".config/opencode"
    mine = folder / "plugin/mine.js"
    mine.parent.mkdir(parents=True)
    mine.write_text("export const Mine = async () => ({})\n")
    ok(said("install", "opencode", "--deadline", "90"))

    text = (folder / "plugin/untilgreen.js").read_text()
    assert "const SECONDS = { idle: 90, error: 90, prompt: 90, deleted: 30 }\n" in text
    assert "@" not in text.replace("@opencode", "")
    assert "untilgreen: /ralph\n" in (folder / "command/ralph.md").read_text()
    assert ok(said("install", "opencode", "--deadline", "90")).out == "Nothing has to change.\n"
    ok(said("uninstall", "opencode"))
    assert [each.name for each in folder.rglob("*") if each.is_file()] == ["mine.js"]


def test_a_plugin_of_the_users_own_is_not_overwritten(said: Say, cli: Cli) -> None:
    mine = cli.place / ".opencode/plugin/untilgreen.js"
    mine.parent.mkdir(parents=True)
    mine.write_text("// my own\n")

    assert "is there and not ours" in said("install", "opencode", "--project").err
    ok(said("uninstall", "opencode", "--project"))
    assert mine.read_text() == "// my own\n"


@pytest.mark.parametrize("agent", ["claude", "gemini", "copilot"])
def test_a_hook_whose_program_is_gone_says_nothing_and_does_no_harm(said: Say, cli: Cli, agent: str) -> None:
    shown = ok(said("install", agent, "--dry-run")).out
    (line,) = [each for each in shown.splitlines() if "hook stop --agent" in each]
    command = json.loads("{" + line.lstrip("+ ").rstrip(",") + "}").popitem()[1]
    gone = re.sub(r"(command -v |exec )\S+", r"\1/nowhere/untilgreen", command)

    done = subprocess.run(["sh", "-c", gone], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


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
