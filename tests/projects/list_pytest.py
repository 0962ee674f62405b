"""A pytest plugin that writes the failed tests to a file."""

import json
import os
from pathlib import Path

FAILED: list[str] = []


def pytest_runtest_logreport(report):  # type: ignore[no-untyped-def]  # pytest calls it
    if report.failed and report.nodeid not in FAILED:
        FAILED.append(report.nodeid)


def pytest_sessionfinish(session):  # type: ignore[no-untyped-def]  # pytest calls it
    Path(os.environ["LISTING"]).write_text(json.dumps(FAILED))
