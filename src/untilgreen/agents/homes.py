"""What an agent needs of its user's home directory inside of a sandbox, where all else of it is hidden.

Settings can be read and neither changed nor added: a hook planted there would run in the user's next
session, outside. Conversations last. What the agent makes beside them is forgotten after the turn.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from untilgreen.ports import Mount, Walls

ITSELF = "."
"""The whole directory, in place of names in it."""
PROVIDERS = (
    *("ANTHROPIC_*", "OPENAI_*", "AZURE_OPENAI_*", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"),
    *("DEEPSEEK_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY", "OLLAMA_*"),
)
"""Variables of those who offer models, for agents that work with any of them."""


@dataclass(frozen=True, kw_only=True)
class Home:
    """One directory of an agent, and what of it is let in."""

    place: str
    """Where it usually is, from `~` on."""
    moved: tuple[str, str] = ("", "")
    """The variable that moves it, and what is below the place that the variable names."""
    reads: tuple[str, ...] = ()
    """Names or patterns."""
    writes: tuple[str, ...] = ()
    """Names; one that ends in a slash is a directory, which is made where it is not there yet."""

    def mounts(self, env: Mapping[str, str]) -> Iterator[Mount]:
        """All that can be seen of it; the rest is empty, and new files in it are forgotten."""
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


def let_in(walls: Walls, homes: Sequence[Home], names: tuple[str, ...], env: Mapping[str, str]) -> Walls:
    """The walls with doors to what the agent needs."""
    return walls.opened(*(mount for home in homes for mount in home.mounts(env)), env=names)
