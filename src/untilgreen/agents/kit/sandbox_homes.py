"""What an agent needs from the user's home directory inside a sandbox.

Its settings can be read, but neither changed nor added: a hook planted there would run in the user's next
session, outside. Conversations are kept. Everything else the agent writes there is lost after the turn.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from untilgreen.ports import Mount, Sandbox

ITSELF = "."
"""Stands for the whole directory instead of names in it."""
PROVIDERS = (
    *("ANTHROPIC_*", "OPENAI_*", "AZURE_OPENAI_*", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"),
    *("DEEPSEEK_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY", "OLLAMA_*"),
)
"""Variables of model providers, for agents that work with any of them."""


@dataclass(frozen=True, kw_only=True)
class Home:
    """One directory of an agent, and which parts of it the sandbox shows."""

    place: str
    """Its usual path, beginning with `~`."""
    moved: tuple[str, str] = ("", "")
    """The variable that moves it, and the path below the directory that the variable names."""
    reads: tuple[str, ...] = ()
    """Names or patterns."""
    writes: tuple[str, ...] = ()
    """Names; one that ends in a slash is a directory, which is made if it does not exist."""

    def mounts(self, env: Mapping[str, str]) -> Iterator[Mount]:
        """What is visible of it; the rest is empty, and new files there are lost."""
        variable, below = self.moved
        base = Path(os.path.realpath(Path(env.get(variable, ""), below)))
        if not env.get(variable):
            base = Path(os.path.realpath(Path(self.place).expanduser()))
        if ITSELF in self.writes:
            base.mkdir(parents=True, exist_ok=True, mode=0o700)
            yield Mount(path=base, way="write")
        elif base.is_dir() or self.writes:
            yield Mount(path=base, way="empty")
        for pattern in self.reads:
            for path in base.glob(pattern) if base.is_dir() else ():
                yield Mount(path=path, way="read")
        for name in self.writes:
            if name.endswith("/"):
                (base / name).mkdir(parents=True, exist_ok=True, mode=0o700)
            if name != ITSELF:
                yield Mount(path=base / name.rstrip("/"), way="write")


def with_homes(
    sandbox: Sandbox, homes: Sequence[Home], names: tuple[str, ...], env: Mapping[str, str]
) -> Sandbox:
    """The sandbox with access to what the agent needs."""
    return sandbox.opened(*(mount for home in homes for mount in home.mounts(env)), env=names)
