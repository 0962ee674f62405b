"""One event loop for all stories, and the environment of a developer."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _at_a_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where CI is set, vitest refuses `.only` by itself, and a cheat would not get as far as us."""
    monkeypatch.delenv("CI", raising=False)
