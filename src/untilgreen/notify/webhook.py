"""News as JSON to an address: Slack, Mattermost, ntfy, a server of one's own."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import anyio
import msgspec
from anyio import to_thread

from untilgreen.core.events import Event
from untilgreen.core.state import RunState
from untilgreen.core.units import duration
from untilgreen.errors import ConfigError, UntilgreenError
from untilgreen.notify.news import USUAL, known, news

TRIES = 3
PAUSE_SECONDS = 1.0
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """Posts each piece of news to an address; `${NAME}` stands for a variable, so that secrets stay out."""

    url: str
    on: Sequence[str] = USUAL
    """Which news are sent."""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float | str = "10s"

    def __post_init__(self) -> None:
        known(self.on, "webhook")
        duration(self.timeout, "notify: timeout")
        if not _VARIABLE.match(self.url):
            _checked(self.url)

    async def notify(self, event: Event, state: RunState) -> None:
        told = news(event, state, self.on)
        if told is None:
            return
        url = _checked(_expanded(self.url))
        headers = {name: _expanded(value) for name, value in self.headers.items()}
        data = msgspec.json.encode(told)
        for attempt in range(1, TRIES + 1):
            trouble = await to_thread.run_sync(self._post, url, headers, data, abandon_on_cancel=True)
            if not trouble:
                return
            if attempt < TRIES:
                await anyio.sleep(PAUSE_SECONDS * attempt)
        raise UntilgreenError(f"{urlsplit(url).hostname} {trouble}")

    def _post(self, url: str, headers: Mapping[str, str], data: bytes) -> str:
        """What went wrong, as the rest of a sentence; empty when nothing did."""
        ours = {"Content-Type": "application/json", "User-Agent": "untilgreen"}
        request = Request(url, data=data, headers={**ours, **headers}, method="POST")
        try:
            with urlopen(request, timeout=duration(self.timeout, "notify: timeout")):
                return ""
        except HTTPError as error:
            with error:
                return f"answered {error.code} {error.reason}"
        except OSError as error:
            return f"could not be reached: {getattr(error, 'reason', error)}"
        except (HTTPException, ValueError) as error:  # whose words repeat the address or a header
            return f"could not be asked ({type(error).__name__}): look at its address and its headers"


def _expanded(text: str) -> str:
    """With variables in their places; one that is not set is said, not guessed."""
    for name in _VARIABLE.findall(text):
        if name not in os.environ:
            raise UntilgreenError(f"the variable {name} is not set")
    return _VARIABLE.sub(lambda found: os.environ[found[1]], text)


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            "The webhook's address is no http or https address. Write it like "
            "'webhook:https://example.org/x', or as a variable like 'webhook:${SLACK_URL}'."
        )
    return url
