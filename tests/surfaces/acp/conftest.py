"""The editor that the tests of `untilgreen acp` use."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surfaces.acp.editor import Editor


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Editor]:
    """An editor that has opened a project; it is closed after the test."""
    monkeypatch.delenv("UNTILGREEN_INSIDE", raising=False)
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=project, check=True)
    editor = Editor(project, tmp_path / "state")
    yield editor
    if editor.process.poll() is None:
        editor.close()
