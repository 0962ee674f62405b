"""How each agent is pointed at the scripted model, with its own home and no other network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from untilgreen.errors import UserError, nearest

Variables = dict[str, str]
MODELS = {
    "claude": "claude-sonnet-4-5",
    "codex": "gpt-5.1",
    "opencode": "scripted/scripted-1",
    "gemini": "gemini-2.5-pro",
    "aider": "openai/scripted-1",
    "qwen": "scripted-1",
    "copilot": "scripted-1",
    "goose": "scripted-1",
}
"""The names of the models that agents are started with; the script answers for all of them."""
_KEY = "scripted-key"


def point(agent: str, url: str, home: Path) -> Variables:
    """The variables that make an agent talk to this server only; its settings are written into `home`."""
    if agent not in _POINTERS:
        raise UserError(f"{agent!r} can't be pointed at a scripted model. {nearest(agent, _POINTERS)}")
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
        "IS_SANDBOX": "1",  # without it, root may not skip permissions
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


def _opencode(url: str, home: Path) -> Variables:
    model = {
        "tool_call": True,
        "cost": {"input": 1, "output": 2},
        "limit": {"context": 200_000, "output": 8_192},
    }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": _KEY},
        "models": {"scripted-1": model},
    }
    names = {"model": MODELS["opencode"], "small_model": MODELS["opencode"]}
    config = {**names, "autoupdate": False, "share": "disabled", "provider": {"scripted": provider}}
    return {
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    }


def _settings(home: Path, folder: str, **settings: object) -> None:
    general = {"disableAutoUpdate": True, "maxAttempts": 2}
    quiet = {"privacy": {"usageStatisticsEnabled": False}, "general": general}
    place = home / folder / "settings.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps({**quiet, **settings}), encoding="utf-8")


def _gemini(url: str, home: Path) -> Variables:
    _settings(home, ".gemini", security={"auth": {"selectedType": "gemini-api-key"}})
    return {"GEMINI_API_KEY": _KEY, "GOOGLE_GEMINI_BASE_URL": url}


def _qwen(url: str, home: Path) -> Variables:
    memory = {"enableManagedAutoMemory": False, "enableManagedAutoDream": False}
    _settings(home, ".qwen", security={"auth": {"selectedType": "openai"}}, memory=memory)
    return {"OPENAI_API_KEY": _KEY, "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": MODELS["qwen"]}


def _copilot(url: str, home: Path) -> Variables:
    return {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": _KEY,
        "COPILOT_OFFLINE": "true",
    }


def _aider(url: str, home: Path) -> Variables:
    return {"OPENAI_API_BASE": f"{url}/v1", "OPENAI_API_KEY": _KEY, "AIDER_EDIT_FORMAT": "whole"}


def _goose(url: str, home: Path) -> Variables:
    return {
        "GOOSE_PROVIDER": "openai",
        "OPENAI_HOST": url,
        "OPENAI_API_KEY": _KEY,
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_MODEL": MODELS["goose"],
    }


_POINTERS: Mapping[str, Callable[[str, Path], Variables]] = {
    "claude": _claude,
    "codex": _codex,
    "opencode": _opencode,
    "gemini": _gemini,
    "aider": _aider,
    "qwen": _qwen,
    "copilot": _copilot,
    "goose": _goose,
}
