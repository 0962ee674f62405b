"""Everything that differs between the agents whose sessions can have loops: one row for each agent."""

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
GO = "/untilgreen go"
_MILLISECONDS = 1000
Form = Literal["markdown", "toml", "skill", "template"]
Transcript = Literal["claude", "gemini", "copilot"]


class Target(Struct, frozen=True, kw_only=True):
    """One agent: where its settings are, how its hooks are written, and how it reads what a hook answers."""

    name: str
    title: str
    """What people call it."""
    home: tuple[str, str, str]
    """The variable that names its folder, the folder below that, and the folder below the user's home."""
    folder: str | None
    """Its folder in a project; None if the hooks of a project are not known to be called."""
    settings: str
    """The file with its hooks, in its folder."""
    hooks: dict[str, str]
    """Its own name for each event, and ours."""
    commands: tuple[Form, str]
    """How the agent's custom slash commands are written, and their file."""
    command_extra: tuple[str, str] | None = None
    """A further file of each command, and its content."""
    command_mark: str = "/"
    """The character that a person types before our commands."""
    time_unit: int = 1
    """How many units of a hook's time limit make a second."""
    flat: tuple[str, str] | None = None
    """The names of command and time limit, if hooks are not grouped."""
    script: str = ""
    """Our plugin in the agent's own language, for an agent whose hooks are not settings."""
    own_file: dict[str, object] = {}
    """What the settings file has besides hooks, where the file is ours alone."""
    named_hooks: bool = False
    """Whether its hooks have names, which it shows while they run."""
    longest: dict[str, int] = {}
    """The most seconds that it gives the hook of an event, whatever its settings say."""
    env: dict[str, str] = {}
    """Variables to set in its settings."""
    elsewhere: tuple[str, ...] = ()
    """Other files of a project from which it reads hooks; nothing is installed there."""
    off_switch: tuple[str, object] | None = None
    """The setting, and its value, that turns off all hooks."""
    session_variable: str = ""
    """The variable in which its commands find the id of their session."""
    laps_in_a_row: int | None = None
    """How many times in a row it lets a hook continue a turn, if that can't be changed."""
    answer: Literal["claude", "copilot", "opencode"] = "claude"
    """The form of the answers that it reads."""
    shows_messages: bool = True
    """Whether it shows its user the messages of a hook at all."""
    shows_prompt_messages: bool = True
    """Whether it shows a hook's message about a prompt that goes to the model."""
    escapes_angles: bool = False
    """Whether it replaces angle brackets in what a hook adds to a prompt."""
    stamps_calls: bool = False
    """Whether it says when it called its hooks, which may run one after the other."""
    transcript: Transcript | None = None
    """The format of its transcript, for an agent whose payload does not always have its last words."""
    advice: str = ""
    """What to tell the user after an installation."""

    @property
    def notes(self) -> str:
        """What the user has to know after an installation."""
        capped = (
            f"{self.title} stops after {self.laps_in_a_row} laps in a row; continue with `{GO}`."
            if self.laps_in_a_row
            else ""
        )
        return " ".join(part for part in (self.advice, capped) if part)

    @property
    def prompt_event(self) -> str:
        """Its own name for a prompt."""
        return next((own for own, event in self.hooks.items() if event == "prompt"), "")

    def root(self, project: Path | None) -> Path:
        """The folder to write to."""
        if project is None:
            variable, inner, below = self.home
            chosen = os.environ.get(variable)
            return Path(chosen).expanduser() / inner if chosen else Path.home() / below
        if self.folder is None:
            raise UserError(
                f"{self.title} has no project hooks, only user hooks. "
                f"Use `untilgreen install {self.name} --user`."
            )
        return project / self.folder

    def entries(self, program: str, seconds: int, state_dir: str = "") -> dict[str, dict[str, object]]:
        """The entry of each hook, by the agent's own name for it."""
        limits = {"stop": seconds, "prompt": min(seconds, PROMPT_SECONDS)}
        made: dict[str, dict[str, object]] = {}
        for own, event in self.hooks.items():
            limit = limits.get(event, QUICK_SECONDS)
            limit = min(limit, self.longest.get(event, limit))
            words = f"hook {event} --agent {self.name} --deadline {limit}" + _state_dir(state_dir)
            key, time = self.flat or ("command", "timeout")
            hook = {"type": "command", key: _command(program, words), time: limit * self.time_unit}
            if self.named_hooks:
                hook["name"] = HOOK_NAME
            made[own] = hook if self.flat else {"hooks": [hook]}
        return made


def _state_dir(path: str) -> str:
    """A custom state directory, for hooks that run without the variable."""
    return f" --state-dir {shlex.quote(path)}" if path else ""


def _command(program: str, words: str) -> str:
    """`exec` keeps the start time of the process that the agent started; without the program, do nothing."""
    quoted = shlex.quote(program)
    return f"command -v {quoted} >/dev/null 2>&1 || exit 0; exec {quoted} {words}"


_CLAUDE_HOOKS = {"Stop": "stop", "UserPromptSubmit": "prompt", "SessionStart": "start", "SessionEnd": "end"}
_RESTART = "Restart sessions that are already open."
_TARGETS = (
    Target(
        name="claude",
        title="Claude Code",
        home=("CLAUDE_CONFIG_DIR", "", ".claude"),
        folder=".claude",
        settings="settings.json",
        hooks=_CLAUDE_HOOKS,
        commands=("markdown", "commands/{}.md"),
        env=BLOCK_CAP,
        elsewhere=(".claude/settings.local.json",),
        off_switch=("disableAllHooks", True),
        session_variable="CLAUDE_CODE_SESSION_ID",
        transcript="claude",
        advice=_RESTART,
    ),
    Target(
        name="codex",
        title="Codex",
        home=("CODEX_HOME", "", ".codex"),
        folder=None,
        settings="hooks.json",
        hooks={**_CLAUDE_HOOKS, "Interrupt": "interrupt"},
        commands=("skill", "skills/{}/SKILL.md"),
        command_extra=("skills/{}/agents/openai.yaml", "policy:\n  allow_implicit_invocation: false\n"),
        command_mark="$",
        longest={"end": 3, "interrupt": 3},
        elsewhere=(".codex/hooks.json",),
        session_variable="CODEX_THREAD_ID",
        advice="Codex silently skips hooks that you have not trusted: start it, and trust them with /hooks. "
        "Our commands are skills there: $ralph TASK.",
    ),
    Target(
        name="gemini",
        title="Gemini CLI",
        home=("GEMINI_CLI_HOME", ".gemini", ".gemini"),
        folder=".gemini",
        settings="settings.json",
        hooks={"AfterAgent": "stop", "BeforeAgent": "prompt", "SessionStart": "start", "SessionEnd": "end"},
        commands=("toml", "commands/{}.toml"),
        time_unit=_MILLISECONDS,
        named_hooks=True,
        off_switch=("hooksConfig.enabled", False),
        escapes_angles=True,
        transcript="gemini",
        advice=_RESTART,
    ),
    Target(
        name="qwen",
        title="Qwen Code",
        home=("QWEN_HOME", "", ".qwen"),
        folder=".qwen",
        settings="settings.json",
        hooks={"Stop": "stop", "UserPromptSubmit": "prompt", "SessionEnd": "end"},
        commands=("template", "commands/{}.md"),
        time_unit=_MILLISECONDS,
        off_switch=("disableAllHooks", True),
        session_variable="QWEN_CODE_SESSION_ID",
        laps_in_a_row=8,
        shows_prompt_messages=False,
    ),
    Target(
        name="copilot",
        title="GitHub Copilot CLI",
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
        off_switch=("disableAllHooks", True),
        own_file={"version": 1},
        session_variable="COPILOT_AGENT_SESSION_ID",
        laps_in_a_row=9,
        answer="copilot",
        shows_messages=False,
        shows_prompt_messages=False,
        stamps_calls=True,
        transcript="copilot",
    ),
    Target(
        name="opencode",
        title="OpenCode",
        home=("XDG_CONFIG_HOME", "opencode", ".config/opencode"),
        folder=".opencode",
        settings="plugin/untilgreen.js",
        hooks={},
        commands=("template", "command/{}.md"),
        script="opencode/untilgreen.js",
        answer="opencode",
        stamps_calls=True,
        advice="Restart OpenCode. Without a network it takes a minute longer to start, as with every plugin.",
    ),
)
TARGETS = {each.name: each for each in _TARGETS}


def target_of(name: str) -> Target:
    """The agent of that name."""
    if name not in TARGETS:
        raise UserError(f"untilgreen has no hooks for {name!r}. {nearest(name, TARGETS)}")
    return TARGETS[name]
