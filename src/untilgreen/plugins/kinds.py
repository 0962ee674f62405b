"""The five kinds of plugin: the method that each must have, and the plugins that ship with untilgreen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from untilgreen.errors import ConfigError, nearest

Kind = Literal["strategy", "detector", "gate", "agent", "notifier"]


class Contract(Struct, frozen=True, kw_only=True):
    """The one method that a kind of plugin must have."""

    method: str
    arguments: tuple[str, ...]
    protocol: str
    """Where the contract is defined; as text, because this layer can't import the ports."""
    awaited: bool
    """Whether the engine awaits what the method returns."""

    def __str__(self) -> str:
        head = "async def" if self.awaited else "def"
        return f"{head} {self.method}({', '.join(('self', *self.arguments))})"


CONTRACTS: Mapping[Kind, Contract] = {
    "strategy": Contract(
        method="decide",
        arguments=("state", "signals"),
        protocol="untilgreen.core.values.rules.Strategy",
        awaited=False,
    ),
    "detector": Contract(
        method="detect", arguments=("state",), protocol="untilgreen.core.values.rules.Detector", awaited=False
    ),
    "gate": Contract(
        method="check", arguments=("workspace",), protocol="untilgreen.ports.Gate", awaited=True
    ),
    "agent": Contract(
        method="work", arguments=("brief", "context"), protocol="untilgreen.ports.Agent", awaited=True
    ),
    "notifier": Contract(
        method="notify", arguments=("event", "state"), protocol="untilgreen.ports.Notifier", awaited=True
    ),
}

BUILT_IN: Mapping[Kind, Mapping[str, str]] = {
    "strategy": {
        "fixed": "untilgreen.core.strategies.fixed:Fixed",
        "hybrid": "untilgreen.core.strategies.hybrid:Hybrid",
        "ralph": "untilgreen.core.strategies.ralph:Ralph",
        "manual": "untilgreen.core.strategies.manual:Manual",
        "adaptive": "untilgreen.core.strategies.adaptive:Adaptive",
    },
    "detector": {
        "cycle": "untilgreen.core.detectors.cycle:Cycle",
        "similar": "untilgreen.core.detectors.similar:Similar",
        "stall": "untilgreen.core.detectors.stall:Stall",
        "errors": "untilgreen.core.detectors.errors:Errors",
        "claims": "untilgreen.core.detectors.claims:Claims",
        "noop": "untilgreen.core.detectors.noop:Noop",
    },
    "gate": {
        "command": "untilgreen.gates.command:CommandGate",
        "levels": "untilgreen.gates.levels.gate:LevelsGate",
        "ci": "untilgreen.gates.ci:CiGate",
        "judge": "untilgreen.gates.judge:JudgeGate",
        "approval": "untilgreen.gates.approval:ApprovalGate",
    },
    "agent": {
        "command": "untilgreen.agents.command:CommandAgent",
        "acp": "untilgreen.agents.acp.agent:Acp",
        "claude": "untilgreen.agents.claude:Claude",
        "codex": "untilgreen.agents.codex:Codex",
        "opencode": "untilgreen.agents.opencode:OpenCode",
        "gemini": "untilgreen.agents.gemini:Gemini",
        "aider": "untilgreen.agents.aider:Aider",
        "qwen": "untilgreen.agents.qwen:Qwen",
        "copilot": "untilgreen.agents.copilot:Copilot",
        "goose": "untilgreen.agents.goose:Goose",
    },
    "notifier": {
        "bell": "untilgreen.notify.bell:Bell",
        "desktop": "untilgreen.notify.desktop:Desktop",
        "command": "untilgreen.notify.command:CommandNotifier",
        "webhook": "untilgreen.notify.webhook:Webhook",
        "apprise": "untilgreen.notify.apprise:Apprise",
        "traces": "untilgreen.notify.traces:Traces",
    },
}


def contract_of(kind: Kind) -> Contract:
    """The contract of a kind; the kind may come from the command line, so a wrong one is an error."""
    if kind not in CONTRACTS:
        raise ConfigError(f"There is no kind of plugin called {kind!r}. {nearest(kind, CONTRACTS)}")
    return CONTRACTS[kind]
