"""A command of the user's own, which gets the news as JSON on stdin and in variables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import msgspec

from untilgreen.core.events import Event
from untilgreen.core.model import NO_SANDBOX, Plan
from untilgreen.core.state import RunState
from untilgreen.core.units import duration
from untilgreen.errors import ConfigError, UntilgreenError
from untilgreen.notify.news import USUAL, News, known, news
from untilgreen.process.run import run
from untilgreen.process.sandbox import outside, top_of
from untilgreen.process.start import shell


@dataclass(frozen=True, kw_only=True)
class CommandNotifier:
    """Runs a line of shell for each piece of news, such as `notify-send "$UNTILGREEN_NEWS_TEXT"`."""

    command: str
    on: Sequence[str] = USUAL
    """Which news it is run for."""
    timeout: float | str = "30s"

    def __post_init__(self) -> None:
        known(self.on, "command")
        duration(self.timeout, "notify: timeout")
        if not self.command.strip():
            raise ConfigError("The notifier's command is empty. Write one after 'command:'.")

    async def notify(self, event: Event, state: RunState) -> None:
        told = news(event, state, self.on)
        if told is None:
            return
        seconds = duration(self.timeout, "notify: timeout")
        with anyio.move_on_after(seconds):
            ran = await run(
                shell(self.command),
                cwd=Path.cwd(),
                env={**_variables(told), **_beside(state.plan)},
                stdin=msgspec.json.encode(told) + b"\n",
            )
            if not ran.ok:
                last = (ran.stderr.strip() or ran.stdout.strip()).splitlines()[-1:]
                raise UntilgreenError(f"its command had {ran.ending}{': ' if last else ''}{''.join(last)}")
            return
        raise UntilgreenError(f"its command took longer than {self.timeout} and was ended")


def _beside(plan: Plan) -> dict[str, str]:
    """News are told outside of the sandbox, by no program that lies in the workspace."""
    start = plan.workspace.get("start")
    if plan.sandbox.mode == NO_SANDBOX or start is None:
        return {}
    return {"PATH": outside(os.environ.get("PATH", os.defpath), [top_of(Path(start))])}


def _variables(told: News) -> dict[str, str]:
    """What a line of shell can use without reading JSON; nothing in it is ever parsed as shell."""
    values = {
        "KIND": told.news,
        "RUN": told.run,
        "TASK": told.task,
        "TEXT": told.text,
        "OUTCOME": told.outcome or "",
        "COMMAND": told.command,
    }
    return {f"UNTILGREEN_NEWS_{name}": text.replace("\0", "") for name, text in values.items()}
