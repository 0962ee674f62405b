"""One event loop is enough: journals use anyio and threads, and nothing specific to a backend."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
