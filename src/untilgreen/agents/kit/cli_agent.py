"""What adapters for command-line agents have in common: their options, and how they take a turn.

Annotations are evaluated here, not postponed: an adapter's module does not know their names.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar

from untilgreen.agents.kit.readiness import Conditions, check_ready
from untilgreen.agents.kit.take_turn import About, CommandLine, Listeners, take_turn
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Reply
from untilgreen.core.values.option_checks import about
from untilgreen.ports import TurnContext

Program = Annotated[str, about("The program to start: a name on the PATH, or a path.")]


@dataclass(frozen=True, kw_only=True)
class CliAgent(ABC):
    """Starts `program` for every turn; `args` go to its command line unchanged.

    An adapter adds its `about`, its `listeners`, and the command line.
    """

    model: Annotated[str | None, about("The model; default: the agent's own choice.")] = None
    program: Program
    args: Annotated[tuple[str, ...], about("More arguments for its command line.")] = ()
    streams: ClassVar[bool] = True
    """It prints as it works, so a long silence means trouble."""
    about: ClassVar[About]
    listeners: ClassVar[Listeners]

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        """Take one turn."""
        return await take_turn(self.about, self.command, brief, context, self.listeners)

    async def ready(self, conditions: Conditions) -> None:
        """Check that the program exists and is logged in, unless `args` may select another account."""
        await check_ready(self.about, self.program, conditions, ask=not self.args)

    @abstractmethod
    def command(self, brief: Brief) -> CommandLine:
        """The command line of one turn."""
