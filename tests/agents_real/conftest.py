"""Real command lines against the scripted model; those that are not installed are skipped by name."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents_real.bench import Bench
from tests.agents_real.clis import PINS, installed
from tests.agents_real.terminal import Terminal, open_terminal


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=PINS)
def agent(request: pytest.FixtureRequest) -> str:
    """Every agent in turn; a test for some of them selects them with an indirect parametrize."""
    name: str = request.param
    return name


@pytest.fixture
def bench(agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A project, a home and a state directory for the agent that the test names."""
    wanted = os.environ.get("AGENTS", "").split()
    if wanted and agent not in wanted:
        pytest.skip(f"{agent} is left out: AGENTS names others")
    if not installed(agent):
        pytest.skip(f"{agent} {PINS[agent].version} is not installed: make test-agents AGENTS={agent}")
    for variable in [
        each for each in os.environ if each.startswith(("CLAUDE", "CODEX", "OPENAI_", "UNTILGREEN_"))
    ]:
        if variable != "UNTILGREEN_AGENTS_DIR":
            monkeypatch.delenv(variable)
    # If bubblewrap is installed, Codex can't create its own sandbox with a home below /tmp.
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as home:
        bench = Bench(agent, tmp_path, Path(home), monkeypatch)
        yield bench
        assert bench.end_all() == []


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Bench], Terminal]]:
    """Opens terminals, and closes them at the end."""
    terminals: list[Terminal] = []

    def open_it(bench: Bench) -> Terminal:
        terminals.append(open_terminal(bench, monkeypatch))
        return terminals[-1]

    yield open_it
    for terminal in terminals:
        terminal.close()
