"""What the tests of gates share: an event loop, and an empty workspace to check."""

import sys
from pathlib import Path

import pytest

from untilgreen.ports import CheckContext


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def context(tmp_path: Path) -> CheckContext:
    root = tmp_path / "workspace"
    root.mkdir()
    return CheckContext(root=root, output=tmp_path / "output.txt")


@pytest.fixture
def real_pytest() -> str:
    """The command of real pytest, without the plugins that happen to be installed here."""
    return (
        f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTEST_ADDOPTS= '{sys.executable}' -m pytest -p no:cacheprovider"
    )


@pytest.fixture
def real_unittest() -> str:
    return f"'{sys.executable}' -m unittest"
