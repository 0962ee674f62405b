"""Debian's chromium, driven by Playwright; `make test-browser` installs both if needed."""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = "/usr/bin/chromium"
QUIET = (
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
Opener = Callable[..., Any]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    try:
        driver = import_module("playwright.sync_api")  # by name: `make check` runs without Playwright
    except ModuleNotFoundError:
        pytest.fail("Playwright is missing here. Run `make test-browser`, which installs it.")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Opener]:
    """Open a file in the browser; the page records its requests, console messages and errors."""
    contexts: list[Any] = []

    def open_(file: Path, *, scheme: str = "light", width: int = 1200) -> Any:
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.asked = []
        page.got = []
        page.findings = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("requestfinished", lambda request: page.got.append(request.url))
        page.on("console", lambda message: page.findings.append(message.text))
        page.on("pageerror", lambda error: page.findings.append(str(error)))
        page.on("dialog", lambda dialog: page.findings.append(dialog.message))
        page.goto(file.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
