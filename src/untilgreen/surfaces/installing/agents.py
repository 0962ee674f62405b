"""Where each agent keeps its settings and commands, and how its hooks are written there."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Literal

from msgspec import Struct

from untilgreen.errors import UserError, nearest

PROMPT_SECONDS = 120
QUICK_SECONDS = 30
BLOCK_CAP = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1000"}
"""Claude Code ends a turn after eight blocked stops unless this says otherwise."""
HOOK_NAME = "untilgreen"
_MILLISECONDS = 1000
Form = Literal["markdown", "toml", "skill", "template"]


class Target(Struct, frozen=True, kw_only=True):
    """One agent: its files, and the names that it has for our events."""

    name: str
    home: tuple[str, str, str]
    """The variable that says where its own folder is, the folder below that, and the one below the home."""
    folder: str | None
    """Its folder in a project; None where hooks of a project are not known to be called."""
    settings: str
    hooks: dict[str, str]
    commands: tuple[Form, str]
    """How a command of its own is written, and the file of one."""
    beside: tuple[str, str] | None = None
    """A further file of each command, and what stands in it."""
    unit: int = 1
    """Of a hook's time limit, in parts of a second."""
    flat: tuple[str, str] | None = None
    """The names of command and time limit where a hook stands by itself; else it is one of a group."""
    script: str = ""
    """The program in the agent's own language that its hooks are, where they are one and no settings."""
    base: dict[str, object] = {}
    """What the file has besides hooks, where it is ours alone."""
    named: bool = False
    """Whether its hooks have names, which it shows while they run."""
    most: dict[str, int] = {}
    """Seconds that it gives a hook at most, whatever its settings say."""
    env: dict[str, str] = {}
    advice: str = ""
    elsewhere: tuple[str, ...] = ()
    """Files of a project that it reads hooks from as well; nothing is installed there."""
    switch: tuple[str, object] | None = None
    """The setting, and its value, with which it calls no hooks at all."""

    def root(self, project: Path | None) -> Path:
        """The folder that is written to."""
        if project is None:
            variable, inner, below = self.home
            chosen = os.environ.get(variable)
            return Path(chosen).expanduser() / inner if chosen else Path.home() / below
        if self.folder is None:
            raise UserError(
                f"Hooks of {self.name} are a user's, not a project's. Use `install {self.name} --user`."
            )
        return project / self.folder

    def entries(self, program: str, seconds: int) -> dict[str, dict[str, object]]:
        """The entry of each hook, by the agent's own name for it."""
        limits = {"stop": seconds, "prompt": min(seconds, PROMPT_SECONDS)}
        made: dict[str, dict[str, object]] = {}
        for own, event in self.hooks.items():
            limit = limits.get(event, QUICK_SECONDS)
            limit = min(limit, self.most.get(event, limit))
            words = f"hook {event} --agent {self.name} --deadline {limit}"
            key, time = self.flat or ("command", "timeout")
            hook = {"type": "command", key: _command(program, words), time: limit * self.unit}
            if self.named:
                hook["name"] = HOOK_NAME
            made[own] = hook if self.flat else {"hooks": [hook]}
        return made


def _command(program: str, words: str) -> str:
    """It becomes the program, so that its process began when the agent started it; gone, it does nothing."""
    quoted = shlex.quote(program)
    return f"command -v {quoted} >/dev/null 2>&1 || exit 0; exec {quoted} {words}"


_CLAUDE_HOOKS = {"Stop": "stop", "UserPromptSubmit": "prompt", "SessionStart": "start", "SessionEnd": "end"}
TARGETS = {
    "claude": Target(
        name="claude",
        home=("CLAUDE_CONFIG_DIR", "", ".claude"),
        folder=".claude",
        settings="settings.json",
        hooks=_CLAUDE_HOOKS,
        commands=("markdown", "commands/{}.md"),
        env=BLOCK_CAP,
        elsewhere=(".claude/settings.local.json",),
        switch=("disableAllHooks", True),
        advice="Sessions that are open already have to be started anew.",
    ),
    "codex": Target(
        name="codex",
        home=("CODEX_HOME", "", ".codex"),
        folder=None,
        settings="hooks.json",
        hooks={**_CLAUDE_HOOKS, "Interrupt": "interrupt"},
        commands=("skill", "skills/{}/SKILL.md"),
        most={"end": 3, "interrupt": 3},
        beside=("skills/{}/agents/openai.yaml", "policy:\n  allow_implicit_invocation: false\n"),
        elsewhere=(".codex/hooks.json",),
        advice="Codex skips hooks that nobody trusts, without a word: start it, and trust them with /hooks. "
        "Our commands are skills there: $ralph TASK.",
    ),
    "qwen": Target(
        name="qwen",
        home=("QWEN_HOME", "", ".qwen"),
        folder=".qwen",
        settings="settings.json",
        hooks={"Stop": "stop", "UserPromptSubmit": "prompt", "SessionEnd": "end"},
        commands=("template", "commands/{}.md"),
        unit=_MILLISECONDS,
        switch=("disableAllHooks", True),
        advice="Qwen Code stops by itself after 8 laps in a row; `/untilgreen go` goes on then.",
    ),
    "gemini": Target(
        name="gemini",
        home=("GEMINI_CLI_HOME", ".gemini", ".gemini"),
        folder=".gemini",
        settings="settings.json",
        hooks={"AfterAgent": "stop", "BeforeAgent": "prompt", "SessionStart": "start", "SessionEnd": "end"},
        commands=("toml", "commands/{}.toml"),
        unit=_MILLISECONDS,
        named=True,
        switch=("hooksConfig.enabled", False),
        advice="Sessions that are open already have to be started anew.",
    ),
    "opencode": Target(
        name="opencode",
        home=("XDG_CONFIG_HOME", "opencode", ".config/opencode"),
        folder=".opencode",
        settings="plugin/untilgreen.js",
        hooks={},
        commands=("template", "command/{}.md"),
        script="opencode/untilgreen.js",
        advice="Start OpenCode anew. It takes a minute longer without a network, as with every plugin.",
    ),
    "copilot": Target(
        name="copilot",
        home=("COPILOT_HOME", "", ".copilot"),
        folder=None,
        settings="hooks/untilgreen.json",
        hooks={
            "agentStop": "stop",
            "userPromptSubmitted": "prompt",
            "sessionStart": "start",
            "sessionEnd": "end",
        },
        commands=("skill", "skills/{}/SKILL.md"),
        flat=("bash", "timeoutSec"),
        switch=("disableAllHooks", True),
        base={"version": 1},
        advice="GitHub Copilot CLI stops by itself after 9 laps in a row; `/untilgreen go` goes on then.",
    ),
}


def target_of(name: str) -> Target:
    """The agent that is meant."""
    if name not in TARGETS:
        raise UserError(f"There are no hooks for {name!r} that can be installed. {nearest(name, TARGETS)}")
    return TARGETS[name]
