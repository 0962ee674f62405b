"""A server in memory over real run folders, and clients for it."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.surfaces.cli.conftest import cli, env
from tests.surfaces.web.helpers import HOST, TOKEN, at_once, keep
from untilgreen.engine.store.runs import Store
from untilgreen.surfaces.web.application import application
from untilgreen.surfaces.web.backend import opened

__all__ = ["cli", "env"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "state")


@pytest.fixture
async def anonymous(store: Store) -> AsyncIterator[httpx.AsyncClient]:
    """A client without the token."""
    async with opened(store.state_dir) as service:
        app = application(at_once(service), hosts={HOST}, token=TOKEN, me="ann")
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            yield client


@pytest.fixture
async def client(anonymous: httpx.AsyncClient) -> httpx.AsyncClient:
    """A client with the token."""
    anonymous.headers["authorization"] = f"Bearer {TOKEN}"
    return anonymous


@pytest.fixture
async def green(store: Store, tmp_path: Path) -> str:
    """A run of three laps that converged."""
    return await keep(store, tmp_path, "green")


@pytest.fixture
async def asking(store: Store, tmp_path: Path) -> str:
    """A run that waits for an answer and has no driver."""
    return await keep(store, tmp_path, "asking")
