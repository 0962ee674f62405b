"""Run a command for each message, with the message as JSON on stdin and in variables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import anyio
import msgspec

from untilgreen.core.values.events import Event
from untilgreen.core.values.option_checks import about
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import duration
from untilgreen.errors import ConfigError, UntilgreenError
from untilgreen.notify.environment import path_for
from untilgreen.notify.messages import USUAL, News, Wanted, check_kinds, news
from untilgreen.process.run import run
from untilgreen.process.start import shell


@dataclass(frozen=True, kw_only=True)
class CommandNotifier:
    """Runs a shell command for each message, such as `notify-send "$UNTILGREEN_NEWS_TEXT"`."""

    command: Annotated[str, about("The command, for /bin/sh.")]
    on: Wanted = USUAL
    timeout: Annotated[float | str, about("How long it may take, such as 30s.")] = "30s"

    def __post_init__(self) -> None:
        check_kinds(self.on, "command")
        duration(self.timeout, "notify: timeout")
        if not self.command.strip():
            raise ConfigError("The notifier's command is empty. Write it after 'command:'.")

    async def notify(self, event: Event, state: RunState) -> None:
        told = news(event, state, self.on)
        if told is None:
            return
        seconds = duration(self.timeout, "notify: timeout")
        with anyio.move_on_after(seconds):
            ran = await run(
                shell(self.command),
                cwd=Path.cwd(),
                env={**_variables(told), "PATH": path_for(state.plan)},
                stdin=msgspec.json.encode(told) + b"\n",
            )
            if not ran.ok:
                last = (ran.stderr.strip() or ran.stdout.strip()).splitlines()[-1:]
                raise UntilgreenError(
                    f"its command failed ({ran.ending}){': ' if last else ''}{''.join(last)}"
                )
            return
        raise UntilgreenError(f"its command took longer than {self.timeout} and was stopped")


def _variables(told: News) -> dict[str, str]:
    """The message as environment variables, for commands that don't read JSON; never parsed as shell."""
    values = {
        "KIND": told.news,
        "RUN": told.run,
        "TASK": told.task,
        "TEXT": told.text,
        "OUTCOME": told.outcome or "",
        "COMMAND": told.command,
    }
    return {f"UNTILGREEN_NEWS_{name}": text.replace("\0", "") for name, text in values.items()}
