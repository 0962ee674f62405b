"""Slack, Telegram, Discord, mail, ntfy and a hundred more, through Apprise: the extra `notify`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from anyio import to_thread

from untilgreen.core.values.events import Event
from untilgreen.core.values.option_checks import about
from untilgreen.core.values.state import RunState
from untilgreen.errors import ConfigError, UntilgreenError
from untilgreen.notify.environment import VARIABLE, expanded
from untilgreen.notify.messages import USUAL, News, Wanted, check_kinds, news

if TYPE_CHECKING:
    from apprise import Apprise as Sender

EXTRA = "Install it with: pip install 'untilgreen[notify]'"
_TYPES = {"finished": "success", "stuck": "failure", "waiting": "warning", "escalated": "warning"}


@dataclass(frozen=True, kw_only=True)
class Apprise:
    """Sends each message to an Apprise address, such as `ntfys://ntfy.example.org/topic` or `slack://…`."""

    url: Annotated[str, about("The address; `${NAME}` is a variable, so the spec holds no secret.")]
    on: Wanted = USUAL

    def __post_init__(self) -> None:
        check_kinds(self.on, "apprise")
        _sender(self.url if not VARIABLE.search(self.url) else "")

    async def notify(self, event: Event, state: RunState) -> None:
        told = news(event, state, self.on)
        if told is not None:
            await to_thread.run_sync(self._send, told, abandon_on_cancel=True)

    def _send(self, told: News) -> None:
        kind = _TYPES.get(told.news, "info")
        if told.news == "finished" and not told.well:
            kind = "failure"
        sender = _sender(expanded(self.url))
        sent = sender.notify(
            body=told.body, title=f"untilgreen: {told.outcome or told.news}", notify_type=kind
        )
        if not sent:
            raise UntilgreenError(f"{self.url.partition(':')[0]} did not accept the message")


def _sender(url: str) -> Sender:
    """An empty address only checks that Apprise is installed."""
    try:
        from apprise import Apprise as Sender  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigError(f"The notifier 'apprise' needs the package apprise. {EXTRA}") from error
    sender = Sender()
    if url and not sender.add(url):
        scheme = url.partition(":")[0]  # the rest may hold a token
        raise ConfigError(
            f"The address {scheme}:… is not one that Apprise knows. Write it like 'apprise:ntfys://host/topic'."
        )
    return sender
