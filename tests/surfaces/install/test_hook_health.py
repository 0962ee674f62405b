"""Hooks that are registered twice, stale, skipped or untrusted are found, each with its fix."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.helpers import script
from untilgreen.engine.operations.doctor import Row
from untilgreen.surfaces.install.codex_trust import fingerprint, key_of
from untilgreen.surfaces.install.file_edits import edits_to_install, our_hooks
from untilgreen.surfaces.install.hook_health import Programs, hook_rows, managed_off
from untilgreen.surfaces.install.targets import TARGETS

USUAL = 600


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for target in TARGETS.values():
        monkeypatch.delenv(target.home[0], raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    (tmp_path / "project").mkdir()
    (tmp_path / "bin").mkdir()
    script(tmp_path / "bin" / "untilgreen", "exit 0\n")
    return tmp_path / "home"


@pytest.fixture
def project(home: Path) -> Path:
    return home.parent / "project"


@pytest.fixture
def look(home: Path, project: Path) -> Callable[[], list[Row]]:
    own = str(home.parent / "bin" / "untilgreen")
    return lambda: list(hook_rows(project, Programs(own=own, shared="untilgreen"), USUAL))


def install(agent: str, home: Path, project: Path | None = None, seconds: int = USUAL) -> Path:
    """Install hooks as the command does; the file that they are in."""
    target = TARGETS[agent]
    program = str(home.parent / "bin" / "untilgreen") if project is None else "untilgreen"
    for edit in edits_to_install(target, target.root(project), program, seconds):
        edit.write()
    return target.root(project) / target.settings


def change(path: Path, edit: Callable[[Any], None]) -> None:
    settings = json.loads(path.read_text()) if path.exists() else {}
    edit(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings))


def test_where_nothing_is_installed_one_line_says_how(look: Callable[[], list[Row]]) -> None:
    (row,) = look()

    assert (row.name, row.status, row.fix) == ("hooks", "absent", "untilgreen install AGENT")


@pytest.mark.parametrize("agent", [name for name in TARGETS if name != "codex"])  # it must trust hooks
def test_hooks_that_were_just_installed_are_well(
    agent: str, home: Path, project: Path, look: Callable[[], list[Row]]
) -> None:
    path = install(agent, home, seconds=900)
    (row,) = look()
    assert (row.name, row.status) == (f"hooks {agent}", "ok")
    assert str(path) in row.detail

    if TARGETS[agent].folder is not None:
        path.unlink()
        install(agent, home, project)
        assert [row.status for row in look()] == ["ok"]


def test_hooks_installed_for_the_user_and_in_the_project_are_reported(
    home: Path, project: Path, look: Callable[[], list[Row]]
) -> None:
    own, shared = install("claude", home), install("claude", home, project)

    (row,) = look()
    assert (row.status, row.fix) == ("warn", "untilgreen uninstall claude --project")
    assert row.detail == f"they are installed in both {own} and {shared}"


def test_hooks_that_are_twice_in_one_file_are_fixed_by_installing_again(
    home: Path, look: Callable[[], list[Row]]
) -> None:
    path = install("claude", home, seconds=900)
    change(path, lambda settings: settings["hooks"]["Stop"].append(settings["hooks"]["Stop"][0]))

    (first, *_) = look()
    assert first.detail == f"Stop is installed twice in {path}"
    assert first.fix == "untilgreen install claude --user --deadline 900"
    install("claude", home, seconds=900)
    assert [row.status for row in look()] == ["ok"]


def test_hooks_in_files_that_nothing_is_installed_in_are_found(
    home: Path, project: Path, look: Callable[[], list[Row]]
) -> None:
    local = project / ".claude" / "settings.local.json"
    local.parent.mkdir()
    local.write_text(install("claude", home).read_text())

    (row,) = look()
    assert row.fix == f"remove them from {local}"


@pytest.mark.parametrize("agent", TARGETS)
def test_a_program_that_is_gone_is_reported(agent: str, home: Path, look: Callable[[], list[Row]]) -> None:
    path = install(agent, home, seconds=900)
    (home.parent / "bin" / "untilgreen").unlink()

    (row, *_) = look()
    assert row.detail.startswith(f"{path} calls '{home.parent}/bin/untilgreen', which does not exist")
    assert row.fix == f"untilgreen install {agent} --user --deadline 900"


def test_another_program_or_other_arguments_than_today_are_stale(
    home: Path, look: Callable[[], list[Row]]
) -> None:
    path = install("qwen", home)
    path.write_text(path.read_text().replace("--agent qwen", "--agent qwen --quick"))

    (row,) = look()
    assert row.detail == f"they are out of date: {path}"
    install("qwen", home)
    assert [row.status for row in look()] == ["ok"]

    other = script(home.parent / "untilgreen", "exit 0\n")
    path.write_text(path.read_text().replace(f"{home.parent}/bin/untilgreen", str(other)))
    assert [row.fix for row in look()] == ["untilgreen install qwen --user --deadline 600"]


def test_white_space_other_hooks_and_other_settings_do_not_matter(
    home: Path, look: Callable[[], list[Row]]
) -> None:
    theirs = {"hooks": [{"type": "command", "command": "say done"}]}
    path = install("claude", home)

    def behind_ours(settings: Any) -> None:
        settings["model"] = "opus"
        settings["hooks"]["Stop"].append(theirs)

    change(path, behind_ours)
    assert [row.status for row in look()] == ["ok"]
    change(path, lambda settings: settings.pop("env"))
    assert ["out of date" in row.detail for row in look()] == [True]


def test_commands_that_are_gone_are_stale(home: Path, look: Callable[[], list[Row]]) -> None:
    install("claude", home)
    (home / ".claude" / "commands" / "ralph.md").unlink()

    (row,) = look()
    assert row.detail.endswith("commands/ralph.md")


@pytest.mark.parametrize("agent", ["claude", "qwen", "copilot"])
def test_hooks_that_are_switched_off_are_reported_with_the_file(
    agent: str, home: Path, project: Path, look: Callable[[], list[Row]]
) -> None:
    path = install(agent, home)
    change(path, lambda settings: settings.update(disableAllHooks=True))
    (row,) = look()
    assert row.detail == f"{agent} skips all hooks, because {path} has disableAllHooks = true"
    assert row.fix == f"remove disableAllHooks from {path}"

    above = project / f".{agent}" / "settings.json" if agent != "copilot" else path
    change(above, lambda settings: settings.update(disableAllHooks=False))
    assert [row.status for row in look()] == ["ok"]


def test_hooks_of_gemini_can_be_switched_off_together_and_by_name(
    home: Path, project: Path, look: Callable[[], list[Row]]
) -> None:
    path = install("gemini", home)
    change(path, lambda settings: settings.update(hooksConfig={"disabled": ["theirs", "untilgreen"]}))
    (row,) = look()
    assert row.detail == f"gemini skips these hooks, because {path} has them in hooksConfig.disabled"
    assert row.fix == "start gemini and turn them on with /hooks enable untilgreen"

    change(path, lambda settings: settings.update(hooksConfig={"enabled": False}))
    (row,) = look()
    assert row.detail == f"gemini skips all hooks, because {path} has hooksConfig.enabled = false"


def test_what_an_organization_forbids_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "managed-settings.json"
    assert list(managed_off(path)) == []

    path.write_text('{"allowManagedHooksOnly": true}')
    ((detail, _),) = managed_off(path)
    assert f"{path} has allowManagedHooksOnly = true" in detail


def test_settings_that_are_not_json_are_reported(home: Path, look: Callable[[], list[Row]]) -> None:
    install("claude", home).write_text("{ // mine\n}")

    (row,) = look()
    assert (row.name, row.status) == ("hooks claude", "warn")
    assert "is not valid JSON" in row.detail


def test_codex_skips_what_nobody_trusts_what_changed_and_what_is_switched_off(
    home: Path, look: Callable[[], list[Row]]
) -> None:
    path = install("codex", home)
    config = home / ".codex" / "config.toml"
    (row,) = look()
    assert row.detail == (
        "codex skips Interrupt, SessionEnd, SessionStart, Stop, UserPromptSubmit, which has not been trusted"
    )
    assert "/hooks" in row.fix

    states = {key_of(path, hook): fingerprint(hook) for hook in our_hooks(path)}
    trusted = "".join(f'[hooks.state."{key}"]\ntrusted_hash = "{mark}"\n' for key, mark in states.items())
    config.write_text(trusted)
    assert [row.status for row in look()] == ["ok"]

    config.write_text(trusted + "enabled = false\n")
    (row,) = look()
    assert row.detail.endswith("which is turned off")

    config.write_text("[features]\nhooks = false\n" + trusted)
    (row,) = look()
    assert (row.fix, "features.hooks = false" in row.detail) == ("codex features enable hooks", True)

    config.write_text(trusted)
    install("codex", home, seconds=900)
    (row,) = look()
    assert row.detail == "codex skips Stop, which has changed since it was trusted"
