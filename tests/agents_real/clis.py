"""The agents' command lines that the tests run, in the versions that they were written for.

`python tests/agents_real/clis.py claude codex` installs some of them; without names, it installs all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs


@dataclass(frozen=True)
class Pin:
    """One version of a package in a registry."""

    registry: str
    package: str
    version: str
    program: str
    says: str = ""
    """The version that the program prints, if that is a different one."""

    @property
    def shown(self) -> str:
        return self.says or self.version


NODE = Pin("npm", "node", "22.23.3", "node")
"""With an older Node.js, npm silently chooses older agents."""
PINS = {
    "claude": Pin("npm", "@anthropic-ai/claude-code", "2.1.325", "claude"),
    "codex": Pin("npm", "@openai/codex", "0.166.0", "codex"),
    "opencode": Pin("npm", "opencode-ai", "1.18.33", "opencode"),
    "gemini": Pin("npm", "@google/gemini-cli", "0.61.0", "gemini"),
    "aider": Pin("PyPI", "aider-chat", "0.86.2", "aider"),
    "qwen": Pin("npm", "@qwen-code/qwen-code", "0.24.4", "qwen"),
    "copilot": Pin("npm", "@github/copilot", "1.0.102", "copilot"),
    "goose": Pin("npm", "@aaif/goose", "0.20.1", "goose", says="1.34.0"),
}
ACP_PINS = {
    "claude": Pin("npm", "@agentclientprotocol/claude-agent-acp", "0.99.1", "claude-agent-acp"),
    "codex": Pin("npm", "@agentclientprotocol/codex-acp", "2.6.0", "codex-acp"),
}
"""ACP servers that are separate packages; the other agents contain their own."""
INSPECTOR = Pin("npm", "@modelcontextprotocol/inspector", "2.12.0", "mcp-inspector")
"""A client of MCP, tested in addition to Claude Code."""


def folder() -> Path:
    """Where the agents are installed, each in its own folder."""
    chosen = os.environ.get("UNTILGREEN_AGENTS_DIR")
    return Path(chosen) if chosen else platformdirs.user_cache_path("untilgreen") / "agents"


def place(pin: Pin) -> Path:
    return folder() / f"{pin.program}-{pin.version}"


def programs(pin: Pin) -> Path:
    """The directory of its programs, for PATH."""
    return place(pin) / ("node_modules/.bin" if pin.registry == "npm" else "bin")


def installed(name: str) -> bool:
    return (programs(PINS[name]) / PINS[name].program).exists()


def acp_pin(name: str) -> Pin:
    """The package that contains an agent's ACP server."""
    return ACP_PINS.get(name, PINS[name])


def speaks_acp(name: str) -> bool:
    return (programs(acp_pin(name)) / acp_pin(name).program).exists()


def search_path(name: str) -> str:
    """PATH for one agent: its own programs, Node.js, and the PATH of this process."""
    own = [str(programs(pin)) for pin in (PINS[name], ACP_PINS.get(name)) if pin is not None]
    return os.pathsep.join([*own, str(programs(NODE)), os.environ["PATH"]])


def install(pin: Pin) -> None:
    if (programs(pin) / pin.program).exists():
        return
    print(f"installing {pin.package} {pin.version} into {place(pin)}", flush=True)
    env = {**os.environ, "PATH": os.pathsep.join([str(programs(NODE)), os.environ["PATH"]])}
    target = place(pin)
    if pin.registry == "npm":
        target.mkdir(parents=True, exist_ok=True)
        quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--no-update-notifier"]
        command = ["npm", "install", *quiet, "--prefix", str(target), f"{pin.package}@{pin.version}"]
        subprocess.run(command, env=env, check=True)
    else:
        subprocess.run([sys.executable, "-m", "venv", str(target)], check=True)
        pip = [str(target / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, f"{pin.package}=={pin.version}"], check=True)


def main(names: list[str]) -> int:
    if names == ["--left-out"]:
        print(f"Left out: tests/agents_real, which needs {', '.join(PINS)}; run it with make test-agents.")
        return 0
    unknown = [name for name in names if name not in PINS]
    if unknown:
        print(f"There is no agent {unknown[0]!r} to install. Known: {', '.join(PINS)}.", file=sys.stderr)
        return 2
    if shutil.which("npm") is None:
        print("There is no npm to install agents with. Install Node.js first.", file=sys.stderr)
        return 2
    install(NODE)
    for name in names or PINS:
        install(PINS[name])
        if name in ACP_PINS:
            install(ACP_PINS[name])
        if name == "claude":
            install(INSPECTOR)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
