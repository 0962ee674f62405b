"""Fixtures for all stories: asyncio as the event loop, and the environment of a developer."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _at_a_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset CI: with it, vitest itself refuses `.only`, and that cheat would never reach our check."""
    monkeypatch.delenv("CI", raising=False)
