"""A person at the real Copilot, which shows no messages of hooks: the terminal's title shows them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents_real.bench import Bench, wait_for

pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.parametrize("agent", ["copilot"], indirect=True),
]
DONE = "<promise>DONE</promise>"
PATIENCE_SECONDS = 60.0


def test_the_title_of_the_terminal_says_how_the_loop_stands(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = {"text": "I look at it, and that takes a moment.", "chunk": 4, "chunk_delay": 0.5}
    with bench.model([slow, slow, {"text": f"There.\n\n{DONE}"}]):
        monkeypatch.setenv("UNTILGREEN_STATE_DIR", str(bench.state))
        monkeypatch.setenv("COPILOT_MODEL", "scripted-1")
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        assert bench.cli("install", "--yes", "copilot")[0] == 0
        trusted = {"trusted_folders": [str(bench.project)]}
        (bench.home / ".copilot" / "config.json").write_text(json.dumps(trusted))
        tmux = ["tmux", "-S", str(bench.home / "tmux")]
        words = ["copilot", "--allow-all-tools", "--no-auto-update"]
        start = ["-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "50"]
        subprocess.run([*tmux, *start, *words], cwd=bench.project, check=True)

        def asked(*arguments: str) -> str:
            return subprocess.run([*tmux, *arguments], capture_output=True, text=True, check=True).stdout

        def titled(words: str) -> Callable[[], bool]:
            return lambda: words in asked("display-message", "-p", "#{pane_title}")

        try:
            assert wait_for(lambda: "? help" in asked("capture-pane", "-p"), PATIENCE_SECONDS)
            asked("send-keys", "/ralph look at it")
            assert wait_for(lambda: "/ralph look at it" in asked("capture-pane", "-p"), PATIENCE_SECONDS)
            asked("send-keys", "Enter")
            assert wait_for(titled("untilgreen: loop started, lap 1 of 20"), PATIENCE_SECONDS)
            assert wait_for(titled("untilgreen: lap 2 of 20"), PATIENCE_SECONDS)
            assert wait_for(titled("untilgreen: complete after 3 laps: claimed"), PATIENCE_SECONDS)
        finally:
            subprocess.run([*tmux, "kill-server"], check=False)
