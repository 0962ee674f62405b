"""How each agent is pointed at the scripted model, with a home of its own and no other network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from untilgreen.errors import UserError, nearest

Variables = dict[str, str]
MODELS = {"claude": "claude-sonnet-4-5", "codex": "gpt-5.1"}
"""The names of models that the agents are asked for; what answers is the script."""
_KEY = "scripted-key"


def point(agent: str, url: str, home: Path) -> Variables:
    """The variables that make an agent talk to this server only; its settings are written into `home`."""
    if agent not in _POINTERS:
        raise UserError(
            f"There is no way to point {agent!r} at a scripted model. {nearest(agent, _POINTERS)}"
        )
    home.mkdir(parents=True, exist_ok=True)
    nowhere = "http://127.0.0.1:9"
    common = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
    return common | _POINTERS[agent](url, home)


def _claude(url: str, home: Path) -> Variables:
    return {
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": _KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "IS_SANDBOX": "1",  # root may not permit everything without it
    }


def _codex(url: str, home: Path) -> Variables:
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    provider = {
        "name": "scripted",
        "base_url": f"{url}/v1",
        "env_key": "SCRIPTED_KEY",
        "wire_api": "responses",
        "request_max_retries": 0,
        "stream_max_retries": 1,
    }
    lines = [
        'model_provider = "scripted"',
        "check_for_update_on_startup = false",
        "[model_providers.scripted]",
    ]
    lines += [f"{key} = {json.dumps(value)}" for key, value in provider.items()]
    (folder / "config.toml").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return {"CODEX_HOME": str(folder), "SCRIPTED_KEY": _KEY}


_POINTERS: Mapping[str, Callable[[str, Path], Variables]] = {"claude": _claude, "codex": _codex}
