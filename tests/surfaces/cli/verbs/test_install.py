"""install and uninstall: our own settings come and go; everything else stays as it was."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.helpers import Cli, Done, Invoke

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


def test_other_settings_stay_and_installing_twice_changes_nothing(invoke: Invoke, cli: Cli) -> None:
    home = home_of(cli)
    (home / ".claude").mkdir()
    before = json.dumps(THEIRS, indent=2) + "\n"
    (home / ".claude/settings.json").write_text(before)

    shown = ok(invoke("install", "--yes", "claude", "--user"))
    assert "+++ " in shown.out
    settings = settings_of(home)
    assert settings["model"] == "opus"
    assert settings["env"] == {"A": "1", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1000"}
    assert [len(settings["hooks"][name]) for name in ("Stop", "PreToolUse", "UserPromptSubmit")] == [2, 1, 1]
    assert (home / ".claude/commands/ralph.md").exists()

    assert ok(invoke("install", "--yes", "claude")).out == "Nothing to change.\n"
    ok(invoke("uninstall", "--yes", "claude"))
    assert (home / ".claude/settings.json").read_text() == before
    assert list((home / ".claude/commands").iterdir()) == []
    assert ok(invoke("uninstall", "--yes", "claude")).out == "Nothing to change.\n"


def test_a_new_time_limit_takes_the_place_of_the_old_one(invoke: Invoke, cli: Cli) -> None:
    ok(invoke("install", "--yes", "claude"))
    ok(invoke("install", "--yes", "claude", "--deadline", "1200"))

    (entry,) = settings_of(home_of(cli))["hooks"]["Stop"]
    (hook,) = entry["hooks"]
    assert hook["timeout"] == 1200
    assert hook["command"].endswith(" hook stop --agent claude --deadline 1200")


def test_a_dry_run_and_settings_that_are_not_json_change_nothing(invoke: Invoke, cli: Cli) -> None:
    home = home_of(cli)
    assert "UserPromptSubmit" in ok(invoke("install", "--yes", "claude", "--dry-run")).out
    assert not (home / ".claude").exists()

    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text("{ // mine\n}")
    refused = invoke("install", "--yes", "claude")
    assert refused.code == 2
    assert "is not valid JSON, so nothing was changed" in refused.err
    assert (home / ".claude/settings.json").read_text() == "{ // mine\n}"


def test_a_command_of_the_users_own_is_not_overwritten(invoke: Invoke, cli: Cli) -> None:
    mine = home_of(cli) / ".claude/commands/ralph.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("my own")

    refused = invoke("install", "--yes", "claude")
    assert refused.code == 2
    assert "exists and was not written by untilgreen" in refused.err
    assert mine.read_text() == "my own"
    ok(invoke("uninstall", "--yes", "claude"))
    assert mine.read_text() == "my own"


def test_a_project_gets_no_path_of_this_machine(invoke: Invoke, cli: Cli) -> None:
    ok(invoke("install", "--yes", "claude", "--project"))

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
    invoke: Invoke, cli: Cli, agent: str, file: str, hook: tuple[str, int]
) -> None:
    event, limit = hook
    ok(invoke("install", "--yes", agent))

    (entry,) = json.loads((home_of(cli) / file).read_text())["hooks"][event]
    assert f"hook stop --agent {agent} --deadline 600" in entry["hooks"][0]["command"]
    assert entry["hooks"][0]["timeout"] == limit
    assert ok(invoke("install", "--yes", agent)).out == "Nothing to change.\n"
    ok(invoke("uninstall", "--yes", agent))
    assert not (home_of(cli) / file).exists()


def test_commands_of_gemini_are_toml_that_passes_the_arguments_on(invoke: Invoke, cli: Cli) -> None:
    ok(invoke("install", "--yes", "gemini"))

    command = tomllib.loads((home_of(cli) / ".gemini/commands/ralph.toml").read_text())
    assert command["prompt"].startswith("untilgreen: /ralph\n")
    assert "{{args}}" not in command["prompt"]
    ok(invoke("uninstall", "--yes", "gemini"))
    assert list((home_of(cli) / ".gemini/commands").iterdir()) == []


def test_copilot_has_a_separate_file_for_hooks_and_skills_for_commands(invoke: Invoke, cli: Cli) -> None:
    home = home_of(cli) / ".copilot"
    ok(invoke("install", "--yes", "copilot"))
    settings = json.loads((home / "hooks/untilgreen.json").read_text())
    (hook,) = settings["hooks"]["agentStop"]
    assert (settings["version"], hook["timeoutSec"]) == (1, 600)
    assert "hook stop --agent copilot --deadline 600" in hook["bash"]
    assert "untilgreen: /ralph\n" in (home / "skills/ralph/SKILL.md").read_text()
    assert ok(invoke("install", "--yes", "copilot")).out == "Nothing to change.\n"

    theirs = {"type": "command", "bash": "say done"}
    settings["hooks"]["agentStop"].insert(0, theirs)
    (home / "hooks/untilgreen.json").write_text(json.dumps(settings))
    ok(invoke("uninstall", "--yes", "copilot"))
    kept = json.loads((home / "hooks/untilgreen.json").read_text())
    assert kept == {"version": 1, "hooks": {"agentStop": [theirs]}}
    assert list((home / "skills").iterdir()) == []


def test_commands_of_codex_are_skills_that_no_model_takes_by_itself(invoke: Invoke, cli: Cli) -> None:
    home = home_of(cli) / ".codex"
    ok(invoke("install", "--yes", "codex"))
    assert "untilgreen: /ralph\n" in (home / "skills/ralph/SKILL.md").read_text()
    assert "allow_implicit_invocation: false" in (home / "skills/ralph/agents/openai.yaml").read_text()
    (home / "skills/mine").mkdir()
    (home / "skills/mine/SKILL.md").write_text("my own")

    assert ok(invoke("install", "--yes", "codex")).out == "Nothing to change.\n"
    ok(invoke("uninstall", "--yes", "codex"))
    assert [each.name for each in (home / "skills").iterdir()] == ["mine"]


def test_commands_of_qwen_are_markdown(invoke: Invoke, cli: Cli) -> None:
    ok(invoke("install", "--yes", "qwen"))

    assert "untilgreen: /ralph\n" in (home_of(cli) / ".qwen/commands/ralph.md").read_text()
    ok(invoke("uninstall", "--yes", "qwen"))
    assert list((home_of(cli) / ".qwen/commands").iterdir()) == []


def test_opencode_has_a_plugin_that_knows_our_program_and_its_time_limit(invoke: Invoke, cli: Cli) -> None:
    folder = home_of(cli) / ".config/opencode"
    mine = folder / "plugin/mine.js"
    mine.parent.mkdir(parents=True)
    mine.write_text("export const Mine = async () => ({})\n")
    ok(invoke("install", "--yes", "opencode", "--deadline", "90"))

    text = (folder / "plugin/untilgreen.js").read_text()
    assert "const SECONDS = { idle: 90, error: 90, prompt: 90, deleted: 30 }\n" in text
    assert "@" not in text.replace("@opencode", "")
    assert "untilgreen: /ralph\n" in (folder / "command/ralph.md").read_text()
    assert ok(invoke("install", "--yes", "opencode", "--deadline", "90")).out == "Nothing to change.\n"
    ok(invoke("uninstall", "--yes", "opencode"))
    assert [each.name for each in folder.rglob("*") if each.is_file()] == ["mine.js"]


def test_a_plugin_of_the_users_own_is_not_overwritten(invoke: Invoke, cli: Cli) -> None:
    mine = cli.place / ".opencode/plugin/untilgreen.js"
    mine.parent.mkdir(parents=True)
    mine.write_text("// my own\n")

    assert (
        "exists and was not written by untilgreen" in invoke("install", "--yes", "opencode", "--project").err
    )
    ok(invoke("uninstall", "--yes", "opencode", "--project"))
    assert mine.read_text() == "// my own\n"


@pytest.mark.parametrize("agent", ["claude", "gemini", "copilot"])
def test_a_hook_whose_program_is_gone_says_nothing_and_does_no_harm(
    invoke: Invoke, cli: Cli, agent: str
) -> None:
    shown = ok(invoke("install", "--yes", agent, "--dry-run")).out
    (line,) = [each for each in shown.splitlines() if "hook stop --agent" in each]
    command = json.loads("{" + line.lstrip("+ ").rstrip(",") + "}").popitem()[1]
    gone = re.sub(r"(command -v |exec )\S+", r"\1/nowhere/untilgreen", command)

    done = subprocess.run(["sh", "-c", gone], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("clade",), "untilgreen has no hooks for 'clade'. Did you mean 'claude'?"),
        (("codex", "--project"), "Codex has no project hooks, only user hooks."),
        (("claude", "--project", "--user"), "--project and --user can't be combined."),
        (("claude", "--deadline", "3"), "--deadline 3 is too short."),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(
    invoke: Invoke, arguments: tuple[str, ...], sentence: str
) -> None:
    refused = invoke("install", "--yes", *arguments)

    assert refused.code == 2
    assert sentence in refused.err


def test_an_agent_can_not_install_hooks_for_itself(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")

    assert invoke("install", "--yes", "claude").code == 2


@pytest.mark.parametrize(
    ("agent", "file"), [("claude", ".claude/settings.json"), ("copilot", ".copilot/hooks/untilgreen.json")]
)
def test_a_state_directory_of_ones_own_is_written_into_the_hooks(
    invoke: Invoke, cli: Cli, tmp_path: Path, agent: str, file: str
) -> None:
    chosen = tmp_path / "my runs"

    ok(invoke("install", "--yes", agent, "--state-dir", str(chosen)))

    text = (home_of(cli) / file).read_text()
    assert text.count(f"--state-dir '{chosen}'") == text.count(f"--agent {agent}")
    assert ok(invoke("install", "--yes", agent, "--state-dir", str(chosen))).out == "Nothing to change.\n"
    (row,) = [line for line in invoke("doctor", "--json").lines if line.get("name") == f"hooks {agent}"]
    assert row["status"] == "ok", row


def test_the_plugin_of_opencode_has_the_state_directory(invoke: Invoke, cli: Cli, tmp_path: Path) -> None:
    ok(invoke("install", "--yes", "opencode", "--state-dir", str(tmp_path / "runs")))

    plugin = (home_of(cli) / ".config/opencode/plugin/untilgreen.js").read_text()
    assert f'const STATE_DIR = ["--state-dir", "{tmp_path}/runs"]' in plugin


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("\n", 2)])
def test_at_a_terminal_the_change_is_shown_and_asked_about(cli: Cli, typed: str, code: int) -> None:
    terminal = cli.on_a_terminal("install", "claude")
    terminal.type(typed)
    ended, seen = terminal.end()

    assert seen.index("UserPromptSubmit") < seen.index("file? [y/N]" if "file?" in seen else "files? [y/N]")
    assert ended == code
    assert ('Next: type /ralph "TASK" --gate "pytest -q" in Claude Code' in seen) == (code == 0)
    assert "error:" not in seen, "saying no is not an error"
    assert "\x1b[32m+" in seen, "added lines are not green"
    assert any(Path(cli.env["HOME"]).rglob("settings.json")) == (code == 0)


def test_scripts_have_to_say_yes(cli: Cli, invoke: Invoke) -> None:
    done = invoke("install", "claude")

    assert (done.code, "then add --yes" in done.err) == (2, True)
    assert "UserPromptSubmit" in done.out
    assert not any(Path(cli.env["HOME"]).rglob("settings.json"))
