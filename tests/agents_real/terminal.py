"""An agent on a terminal of its own, with our hooks, and a person who types."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.agents_real.bench import Bench, wait_for
from untilgreen.testing.model.agent_environments import MODELS

PATIENCE = 90.0


class Terminal:
    """One agent in tmux; `ready` is what it shows when it waits for a person."""

    def __init__(self, bench: Bench, words: list[str], ready: str) -> None:
        self._bench, self._ready = bench, ready
        self._tmux = ["tmux", "-S", str(bench.home / "tmux")]
        start = ["-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "50"]
        subprocess.run([*self._tmux, *start, *words], cwd=bench.project, check=True)
        self.until(lambda: ready in self.screen())

    def screen(self) -> str:
        shown = subprocess.run(
            [*self._tmux, "capture-pane", "-p"], capture_output=True, text=True, check=False
        )
        return shown.stdout

    def says(self, text: str) -> None:
        """A person types, and means it; Enter that comes at once is taken for a part of the text."""
        self.key("-l", text)
        self.until(lambda: text[:20] in self.screen())
        time.sleep(1)
        self.key("Enter")

    def key(self, *names: str) -> None:
        subprocess.run([*self._tmux, "send-keys", *names], check=True)

    def until(self, true: Callable[[], object]) -> None:
        assert wait_for(true, PATIENCE), self.screen()

    def close(self) -> None:
        """Close the terminal, and end all that ran in it."""
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)
        wait_for(lambda: not self._bench.processes(), 5)
        for process in self._bench.processes():
            with suppress(psutil.Error):
                process.terminate()


@dataclass(frozen=True)
class Person:
    """What one has to know of an agent to sit at it."""

    words: list[str]
    ready: str
    broken_off: str
    """What it says after Esc."""
    sign: str = "/"
    """What our commands begin with."""
    says_at_a_prompt: bool = True
    """Whether it shows what a hook says about a prompt."""
    interrupts: bool = False
    """Whether it calls a hook for Esc."""
    again: str = ""
    """What it says where it wants Esc twice."""


PEOPLE = {
    "claude": Person(
        words=["claude", "--permission-mode", "bypassPermissions", "--model", MODELS["claude"]],
        ready="bypass permissions on",
        broken_off="Interrupted",
    ),
    "codex": Person(
        words=[
            "codex",
            "--dangerously-bypass-approvals-and-sandbox",
            "--dangerously-bypass-hook-trust",
            "-m",
            MODELS["codex"],
        ],
        ready="Ask Codex to do anything",
        broken_off="Conversation interrupted",
        sign="$",
        interrupts=True,
    ),
    "qwen": Person(
        words=["qwen", "--auth-type", "openai", "--yolo"],
        ready="YOLO mode",
        broken_off="Request cancelled",
        says_at_a_prompt=False,
    ),
    "copilot": Person(
        words=["copilot", "--allow-all-tools", "--no-auto-update", "--model", MODELS["copilot"]],
        ready="? help",
        broken_off="Operation cancelled by user",
        says_at_a_prompt=False,
        again="again to interrupt",
    ),
}


def _known(bench: Bench) -> None:
    """What an agent asks a person once, answered already."""
    if bench.agent == "claude":
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "bypassPermissionsModeAccepted": True,
            "customApiKeyResponses": {"approved": [os.environ["ANTHROPIC_API_KEY"][-20:]], "rejected": []},
            "projects": {str(bench.project): {"hasTrustDialogAccepted": True}},
        }
        (Path(os.environ["CLAUDE_CONFIG_DIR"]) / ".claude.json").write_text(json.dumps(known))
    if bench.agent == "codex":
        with (Path(os.environ["CODEX_HOME"]) / "config.toml").open("a") as config:
            config.write(f'[projects."{bench.project}"]\ntrust_level = "trusted"\n')
    if bench.agent == "copilot":
        (bench.home / ".copilot/config.json").write_text(
            json.dumps({"trusted_folders": [str(bench.project)]})
        )


def break_off(terminal: Terminal, person: Person) -> None:
    """Esc, as often as it takes: some want it twice in a short time."""
    terminal.key("Escape")
    for _ in range(10 if person.again else 0):
        if wait_for(lambda: person.again in terminal.screen(), 1):
            terminal.key("Escape")
        if wait_for(lambda: person.broken_off in terminal.screen(), 3):
            break
        terminal.key("Escape")
    terminal.until(lambda: person.broken_off in terminal.screen())


def sat_down(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A person starts the agent, with our hooks installed."""
    installed(bench, monkeypatch)
    _known(bench)
    person = PEOPLE[bench.agent]
    return Terminal(bench, person.words, person.ready)


def installed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our hooks in the agent's settings, and our program where they look for it."""
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for name, value in {"UNTILGREEN_STATE_DIR": str(bench.state), "PATH": here}.items():
        monkeypatch.setenv(name, value)
    code, said = bench.cli("install", "--yes", bench.agent)
    assert code == 0, said
