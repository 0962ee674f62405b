"""The agents whose ACP servers we measured, one row each; any other command works without a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Counting = Literal["turn", "request", "session"]
"""What the `usage` of a finished prompt covers: this turn, only its last request, or the whole session."""


@dataclass(frozen=True, kw_only=True)
class KnownAgent:
    """One agent's ACP server, as it was measured."""

    argv: tuple[str, ...]
    native: str
    """The adapter that drives the same agent without ACP; its login and homes are the same."""
    install: str = ""
    """The command that installs the server, if that is a separate package."""
    counts: Counting = "turn"
    env: Mapping[str, str] = field(default_factory=dict)
    all_mode: str = ""
    """The session mode in which it may do everything; asking for it needs `permissions = "all"`."""
    all_option: tuple[str, str] | None = None
    """The configuration option that does the same."""
    model_env: str = ""
    """The variable that sets the model, if the protocol can't."""
    gates_mode: str = ""
    """The session mode in which it asks before each call, if it does not by default."""
    refused: str = ""
    """A pattern in the result of a call that the agent refused by rules we set, without asking us."""
    tools: Mapping[str, str] = field(default_factory=dict)
    """The kinds of its tools by their titles, if it reports every kind as "other"."""


KNOWN: Mapping[str, KnownAgent] = {
    "claude": KnownAgent(
        argv=("claude-agent-acp",),
        native="claude",
        install="npm install -g @agentclientprotocol/claude-agent-acp",
        env={"CLAUDE_CODE_MAX_RETRIES": "3"},
        all_mode="bypassPermissions",
        model_env="ANTHROPIC_MODEL",
    ),
    "codex": KnownAgent(
        argv=("codex-acp",),
        native="codex",
        install="npm install -g @agentclientprotocol/codex-acp",
        all_mode="agent-full-access",
    ),
    "opencode": KnownAgent(
        argv=("opencode", "acp"),
        native="opencode",
        counts="request",
        env={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
        refused=r"rule which prevents|rejected permission",
    ),
    "gemini": KnownAgent(
        argv=("gemini", "--acp"),
        native="gemini",
        env={"GEMINI_CLI_NO_RELAUNCH": "true"},
        all_mode="yolo",
        model_env="GEMINI_MODEL",
    ),
    "qwen": KnownAgent(
        argv=("qwen", "--acp"),
        native="qwen",
        # By default it waits silently for most of an hour when rate-limited. The file has the version of
        # its settings, since it rewrites an older one in place.
        env={"QWEN_CODE_SYSTEM_DEFAULTS_PATH": str(Path(__file__).with_name("qwen_defaults.json"))},
        all_mode="yolo",
        model_env="OPENAI_MODEL",
    ),
    "goose": KnownAgent(
        argv=("goose", "acp"),
        native="goose",
        counts="request",
        all_mode="auto",
        gates_mode="approve",
        tools={"write": "edit", "edit": "edit", "shell": "execute", "tree": "read", "read_image": "read"},
        model_env="GOOSE_MODEL",
    ),
    "copilot": KnownAgent(
        argv=("copilot", "--acp"),
        native="copilot",
        counts="session",
        all_option=("allow_all", "on"),
        model_env="COPILOT_MODEL",
    ),
}
