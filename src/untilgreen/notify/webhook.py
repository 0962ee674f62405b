"""Post each message as JSON to an address: Slack, Mattermost, ntfy, or your own server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Annotated
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import anyio
import msgspec
from anyio import to_thread

from untilgreen.core.values.events import Event
from untilgreen.core.values.option_checks import about
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import duration
from untilgreen.errors import ConfigError, UntilgreenError
from untilgreen.notify.environment import VARIABLE, expanded
from untilgreen.notify.messages import USUAL, Wanted, check_kinds, news

TRIES = 3
PAUSE_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """Posts each message to an address; `${NAME}` stands for a variable, so the spec holds no secret."""

    url: Annotated[str, about("The address, http or https.")]
    on: Wanted = USUAL
    headers: Annotated[Mapping[str, str], about("Headers to send; `${NAME}` is a variable.")] = field(
        default_factory=dict
    )
    timeout: Annotated[float | str, about("How long to wait for an answer, such as 10s.")] = "10s"

    def __post_init__(self) -> None:
        check_kinds(self.on, "webhook")
        duration(self.timeout, "notify: timeout")
        if not VARIABLE.match(self.url):
            _checked(self.url)

    async def notify(self, event: Event, state: RunState) -> None:
        told = news(event, state, self.on)
        if told is None:
            return
        url = _checked(expanded(self.url))
        headers = {name: expanded(value) for name, value in self.headers.items()}
        data = msgspec.json.encode(told)
        for attempt in range(1, TRIES + 1):
            trouble = await to_thread.run_sync(self._post, url, headers, data, abandon_on_cancel=True)
            if not trouble:
                return
            if attempt < TRIES:
                await anyio.sleep(PAUSE_SECONDS * attempt)
        raise UntilgreenError(f"{urlsplit(url).hostname} {trouble}")

    def _post(self, url: str, headers: Mapping[str, str], data: bytes) -> str:
        """What went wrong, as the rest of a sentence; empty if nothing did."""
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
        except (HTTPException, ValueError) as error:  # their text repeats the address or a header
            return f"could not be called ({type(error).__name__}): check its address and its headers"


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            "The webhook's address is not an http or https address. Write it like "
            "'webhook:https://example.org/x', or as a variable like 'webhook:${SLACK_URL}'."
        )
    return url
