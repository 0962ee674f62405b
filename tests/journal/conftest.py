"""One event loop is enough: journals use anyio and threads, nothing of a backend."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
