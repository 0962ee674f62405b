"""Adapters for coding agents: each takes a brief, works for one turn, and returns a reply.

command   Any command as an agent: `cmd:./fix.sh` gets the brief, changes files, and its output is the reply.
claude    Claude Code: `claude -p` with a stream of JSON objects.
codex     Codex: `codex exec --json`, a stream of JSON objects about threads, turns and items.
opencode  OpenCode: `opencode run --format json`, a stream of steps and their parts.
gemini    Gemini CLI: a stream of JSON objects, with messages in pieces.
qwen      Qwen Code: Gemini CLI's command line with Claude Code's stream.
copilot   GitHub Copilot CLI: a stream of JSON objects about messages and tools.
goose     Goose: a stream of JSON objects after a banner; its exit code is always 0.
aider     Aider: lines of text, no JSON and no sessions; its exit code is always 0.
acp/      The Agent Client Protocol: any agent that speaks it.
kit/      What the adapters share: one turn of a command-line agent, from its start to its reply.

Used by: the plugin registry, which loads adapters by name. Authors of adapters import everything from
`untilgreen.agents`, which re-exports the kit.
Uses: process (to start programs), core values, ports and errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from untilgreen.agents.kit.cli_agent import CliAgent as CliAgent
    from untilgreen.agents.kit.gate_commands import simple_commands as simple_commands
    from untilgreen.agents.kit.json_lines import JsonObject as JsonObject
    from untilgreen.agents.kit.readiness import Conditions as Conditions
    from untilgreen.agents.kit.run_cli import Ran as Ran
    from untilgreen.agents.kit.run_cli import run_cli as run_cli
    from untilgreen.agents.kit.sandbox_homes import Home as Home
    from untilgreen.agents.kit.take_turn import About as About
    from untilgreen.agents.kit.take_turn import CommandLine as CommandLine
    from untilgreen.agents.kit.take_turn import Listeners as Listeners
    from untilgreen.agents.kit.take_turn import take_turn as take_turn
    from untilgreen.agents.kit.turn import Turn as Turn
    from untilgreen.core.briefing.brief import Brief as Brief
    from untilgreen.core.values.model import Reply as Reply
    from untilgreen.core.values.model import Usage as Usage
    from untilgreen.errors import AgentUnavailable as AgentUnavailable
    from untilgreen.ports import Activity as Activity
    from untilgreen.ports import TurnContext as TurnContext

_HOMES = {
    "untilgreen.agents.kit.cli_agent": ("CliAgent",),
    "untilgreen.agents.kit.gate_commands": ("simple_commands",),
    "untilgreen.agents.kit.json_lines": ("JsonObject",),
    "untilgreen.agents.kit.readiness": ("Conditions",),
    "untilgreen.agents.kit.run_cli": ("Ran", "run_cli"),
    "untilgreen.agents.kit.sandbox_homes": ("Home",),
    "untilgreen.agents.kit.take_turn": ("About", "CommandLine", "Listeners", "take_turn"),
    "untilgreen.agents.kit.turn": ("Turn",),
    "untilgreen.core.briefing.brief": ("Brief",),
    "untilgreen.core.values.model": ("Reply", "Usage"),
    "untilgreen.errors": ("AgentUnavailable",),
    "untilgreen.ports": ("Activity", "TurnContext"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = [*_HOME_OF]  # noqa: PLE0604 - every name is a string


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: a `cmd:` agent needs none of the adapters' kit."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'untilgreen.agents' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - as above

    return getattr(import_module(_HOME_OF[name]), name)
