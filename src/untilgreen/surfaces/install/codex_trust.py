"""Which hooks Codex calls: those whose content its user has trusted, by a hash in its config.toml.

The keys and the hash are Codex's own (0.166.0), as `hooks/list` of its app server reports them.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from untilgreen.regex import regex
from untilgreen.surfaces.install.file_edits import OurHook

TRUST = "start codex in a terminal and trust them with /hooks"
SWITCH_ON = "start codex in a terminal and turn them on with /hooks"
_WORD = regex(r"(?<=[a-z])(?=[A-Z])")


def problems(home: Path, path: Path, hooks: Sequence[OurHook]) -> Iterator[tuple[str, str]]:
    """What Codex silently skips, and how to fix that."""
    config = home / "config.toml"
    settings = _read(config)
    if _table(settings, "features").get("hooks") is False:
        yield (
            f"codex skips all hooks, because {config} has features.hooks = false",
            ("codex features enable hooks"),
        )
        return
    states = _table(_table(settings, "hooks"), "state")
    known = {hook.event: _state(states, path, hook) for hook in hooks}
    off = sorted(event for event, state in known.items() if state.get("enabled") is False)
    if off:
        yield f"codex skips {', '.join(off)}, which is turned off", SWITCH_ON
    never = sorted(event for event, state in known.items() if "trusted_hash" not in state)
    if never:
        yield f"codex skips {', '.join(never)}, which has not been trusted", TRUST
    changed = sorted(
        hook.event
        for hook in hooks
        if "trusted_hash" in known[hook.event] and known[hook.event]["trusted_hash"] != fingerprint(hook)
    )
    if changed:
        yield f"codex skips {', '.join(changed)}, which has changed since it was trusted", TRUST


def fingerprint(hook: OurHook) -> str:
    """The hash that Codex keeps of a trusted hook."""
    kept = {
        "async": False,
        "command": hook.command,
        "timeout": hook.entry.get("timeout"),
        "type": "command",
    }
    said = {"event_name": _snake(hook.event), "hooks": [kept]}
    raw = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(raw.encode()).hexdigest()}"


def key_of(path: Path, hook: OurHook) -> str:
    """The name under which Codex knows a hook."""
    return f"{path}:{_snake(hook.event)}:{hook.group}:{hook.place}"


def _state(states: dict[str, Any], path: Path, hook: OurHook) -> dict[str, Any]:
    names = (key_of(path, hook), key_of(Path(os.path.realpath(path)), hook))
    return next((_table(states, name) for name in names if name in states), {})


def _snake(event: str) -> str:
    return _WORD.sub("_", event).lower()


def _table(values: dict[str, Any], name: str) -> dict[str, Any]:
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
