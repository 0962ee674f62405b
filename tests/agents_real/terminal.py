"""An agent on its own terminal, with our hooks, and a person who types."""

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
        """Type a line and press Enter, but not at once: that would count as part of the text."""
        self.key("-l", text)
        self.until(lambda: text[:20] in self.screen())
        time.sleep(1)
        self.key("Enter")

    def key(self, *names: str) -> None:
        subprocess.run([*self._tmux, "send-keys", *names], check=True)

    def until(self, true: Callable[[], object]) -> None:
        assert wait_for(true, PATIENCE), self.screen()

    def close(self) -> None:
        """Close the terminal, and end everything that ran in it."""
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)
        wait_for(lambda: not self._bench.processes(), 5)
        for process in self._bench.processes():
            with suppress(psutil.Error):
                process.terminate()


@dataclass(frozen=True)
class Person:
    """What a person needs to know about an agent to use it on a terminal."""

    words: list[str]
    ready: str
    after_esc: str
    """What the agent shows after Esc."""
    prefix: str = "/"
    """The prefix of our commands."""
    shows_prompt_messages: bool = True
    """Whether it shows a hook's message about a prompt."""
    has_interrupt_hook: bool = False
    """Whether Esc calls a hook."""
    wants_again: str = ""
    """What it shows if it wants Esc a second time; empty if once is enough."""


PEOPLE = {
    "claude": Person(
        words=["claude", "--permission-mode", "bypassPermissions", "--model", MODELS["claude"]],
        ready="bypass permissions on",
        after_esc="Interrupted",
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
        after_esc="Conversation interrupted",
        prefix="$",
        has_interrupt_hook=True,
    ),
    "qwen": Person(
        words=["qwen", "--auth-type", "openai", "--yolo"],
        ready="YOLO mode",
        after_esc="Request cancelled",
        shows_prompt_messages=False,
    ),
    "copilot": Person(
        words=["copilot", "--allow-all-tools", "--no-auto-update", "--model", MODELS["copilot"]],
        ready="? help",
        after_esc="Operation cancelled by user",
        shows_prompt_messages=False,
        wants_again="again to interrupt",
    ),
}


def _known(bench: Bench) -> None:
    """Answer in advance what an agent asks only once."""
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


def press_esc(terminal: Terminal, person: Person) -> None:
    """Press Esc as often as it takes: some agents want it twice in quick succession."""
    terminal.key("Escape")
    for _ in range(10 if person.wants_again else 0):
        if wait_for(lambda: person.wants_again in terminal.screen(), 1):
            terminal.key("Escape")
        if wait_for(lambda: person.after_esc in terminal.screen(), 3):
            break
        terminal.key("Escape")
    terminal.until(lambda: person.after_esc in terminal.screen())


def open_terminal(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Start the agent on a terminal, with our hooks installed."""
    installed(bench, monkeypatch)
    _known(bench)
    person = PEOPLE[bench.agent]
    return Terminal(bench, person.words, person.ready)


def installed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install our hooks in the agent's settings, and put our program where they look for it."""
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for name, value in {"UNTILGREEN_STATE_DIR": str(bench.state), "PATH": here}.items():
        monkeypatch.setenv(name, value)
    code, said = bench.cli("install", "--yes", bench.agent)
    assert code == 0, said
