"""The user's own settings, which change what a gate runs, are compared too: no room can put them back."""

from pathlib import Path

import pytest

from untilgreen.gates.integrity.trial_rooms.unkept_files import compare, files_outside, recall, remember


@pytest.mark.parametrize(
    "name",
    [
        ".config/go/env",
        ".cargo/config.toml",
        ".npmrc",
        ".gradle/init.d/quiet.gradle",
        ".local/lib/python3.11/site-packages/quiet.pth",
    ],
)
def test_new_and_changed_settings_of_the_user_are_seen(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    top, settings, memory = tmp_path / "work", tmp_path / "home" / name, tmp_path / "memory"
    top.mkdir()
    settings.parent.mkdir(parents=True)
    remember(top, files_outside(top), memory)

    settings.write_text("GOFLAGS=-run=TestZero\n")
    new = compare(top, files_outside(top), recall(memory), ()).hidden
    remember(top, files_outside(top), memory)
    same = compare(top, files_outside(top), recall(memory), ()).hidden
    settings.write_text("GOFLAGS=-run=TestNone\n")
    changed = compare(top, files_outside(top), recall(memory), ()).hidden

    assert (new, same, changed) == ([str(settings)], [], [str(settings)])
