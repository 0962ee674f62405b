"""An agent that speaks the Agent Client Protocol: `acp:gemini`, or any command as `acp:./my-agent --acp`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Annotated, ClassVar

from untilgreen.agents.acp.conversation import Conversation
from untilgreen.agents.acp.known_agents import KNOWN, KnownAgent
from untilgreen.agents.kit.json_lines import JsonObject
from untilgreen.agents.kit.readiness import Conditions, check_installed
from untilgreen.agents.kit.run_cli import split_command
from untilgreen.agents.kit.take_turn import About, CommandLine, Listeners, take_turn
from untilgreen.agents.kit.turn import Turn
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Reply
from untilgreen.core.values.option_checks import about
from untilgreen.errors import ConfigError
from untilgreen.ports import TurnContext

_ANY = About(
    install="its own installer",
    login="Log in with the agent's own command, then continue.",
    permit="Allow the command by making it a gate, or run the agent in a sandbox with permissions = 'all'.",
    fenced="edit files, and run: {gates}, where it asks first; untilgreen denies the rest",
)


@dataclass(frozen=True)
class Acp:
    """Drives an ACP agent: a known name, or the command that starts its server."""

    command: Annotated[str, about("A known agent's name, or the command that starts its server.")]
    model: Annotated[str | None, about("The model, for agents that let a client choose it.")] = None
    streams: ClassVar[bool] = True
    """It reports what it does as it works, so a long silence means trouble."""

    def __post_init__(self) -> None:
        if not split_command(self.command):
            known = ", ".join(KNOWN)
            raise ConfigError(f"The ACP agent is empty. Name a known one ({known}), or write its command.")
        if self.model and (self.known is None or not self.known.model_env):
            raise ConfigError(
                f"The model of {self.command!r} can't be set here. Choose it in the agent's own settings."
            )

    @property
    def known(self) -> KnownAgent | None:
        """What was measured about this agent; None for any other command."""
        return KNOWN.get(self.command.strip())

    @property
    def about(self) -> About:
        """How to install it and log in; taken from the agent's own adapter if there is one."""
        if self.known is None:
            return _ANY
        about: About = import_module(f"untilgreen.agents.{self.known.native}").ABOUT
        fenced = About.fenced if self.known.gates_mode else about.fenced
        whole = self.known.counts != "request"
        about = replace(about, flags=(), permit=_ANY.permit, fenced=fenced, tells_all_tokens=whole)
        return replace(about, install=self.known.install) if self.known.install else about

    @property
    def argv(self) -> list[str]:
        """The command that starts its server."""
        return list(self.known.argv) if self.known else split_command(self.command)

    async def ready(self, conditions: Conditions) -> None:
        """Check that the program exists; whether it is logged in shows in the first turn."""
        check_installed(self.about, self.argv[0], conditions)

    def server(self, brief: Brief) -> CommandLine:
        """The command line of its server."""
        env = dict(self.known.env) if self.known else {}
        if self.known and self.known.native == "opencode":
            from untilgreen.agents.opencode import permission_rules  # noqa: PLC0415 - for this agent only

            env["OPENCODE_PERMISSION"] = permission_rules(brief)
        if self.known and self.model:
            env[self.known.model_env] = self.model
        return CommandLine(argv=self.argv, env=env)

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        """Take one turn; each turn starts the program and loads its session again."""
        turn = _AcpTurn(self, str(context.root))
        return await take_turn(self.about, turn.command, brief, context, Listeners(event=turn.hear))


class _AcpTurn:
    """One turn's conversation; a second attempt starts a new one."""

    def __init__(self, agent: Acp, root: str) -> None:
        self._agent, self._root = agent, root
        self._conversation: Conversation | None = None

    def command(self, brief: Brief) -> CommandLine:
        """The server's command line, and what we say to it."""
        self._conversation = Conversation(brief, self._agent.known, self._root)
        return replace(self._agent.server(brief), stdin=self._conversation.talk)

    def hear(self, message: JsonObject, turn: Turn) -> None:
        """Handle one message from the agent."""
        if self._conversation is not None:
            self._conversation.hear(message, turn)
