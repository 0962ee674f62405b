"""A fleet on the page of `untilgreen serve`, in a real browser: its runs, and the fleet itself."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from tests.browser.conftest import CHROMIUM, QUIET
from tests.fleet.audit import audit
from tests.fleet.fleet_bench import FleetBench, over
from tests.fleet.test_commands import Typed
from tests.fleet.test_served import asking
from untilgreen.core.values.events import Answered
from untilgreen.core.values.model import Outcome
from untilgreen.fleet.client import Fleet

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]
TWO = "test $(wc -l < lines) -ge 2"


@pytest.fixture
async def page(bench: FleetBench, fleet: Fleet, tmp_path: Path) -> AsyncIterator[Any]:
    """The list of runs on the page of `untilgreen serve`, with the fleet's address set."""
    typed = Typed(tmp_path, tmp_path / "state")
    typed.env["UNTILGREEN_FLEET"] = bench.url
    server = typed.start("serve", "--port", "0")
    assert server.stdout is not None
    address = (await to_thread.run_sync(server.stdout.readline)).strip()
    playwright = import_module("playwright.async_api")  # by name: `make check` runs without Playwright
    try:
        async with playwright.async_playwright() as driver:
            browser = await driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
            page = await browser.new_page(viewport={"width": 1200, "height": 900})
            page.set_default_timeout(60_000)
            page.findings = []
            page.on("console", lambda message: page.findings.append(message.text))
            page.on("pageerror", lambda error: page.findings.append(str(error)))
            await page.goto(address)
            await page.get_by_role("heading", name="Runs").wait_for()
            yield page
            await browser.close()
    finally:
        server.send_signal(signal.SIGINT)
        await to_thread.run_sync(server.communicate)


async def test_a_run_of_the_fleet_is_opened_and_its_question_answered(
    fleet: Fleet, bench: FleetBench, page: Any
) -> None:
    await bench.ready("one")
    record = await asking(fleet, bench)

    await page.locator(f'a[href="#/run/{record.id}"]').first.click()
    question = page.get_by_role("region", name=f"Question of run {record.id}")
    await question.get_by_role("link", name="What lap 1 changed").click()
    await page.get_by_text("+++ b/lines").or_(page.get_by_text("lines", exact=True)).first.wait_for()
    await page.go_back()
    await question.get_by_label("Note (optional)").fill("Another line.")
    await question.get_by_role("button", name="continue").click()
    await page.get_by_text("converged", exact=True).first.wait_for()

    events = await audit(fleet, bench, record)
    given = [(each.choice, each.note) for each in events if isinstance(each, Answered)]
    assert given == [("continue", "Another line.")]
    assert page.findings == []


async def test_a_run_of_the_fleet_is_stopped_from_the_page(
    fleet: Fleet, bench: FleetBench, page: Any
) -> None:
    await bench.ready("one")
    record = await asking(fleet, bench)

    await page.locator(f'a[href="#/run/{record.id}"]').first.click()
    controls = page.get_by_role("region", name="Control this run")
    await controls.get_by_role("button", name="Stop after this lap").click()
    await controls.get_by_text("Press Stop again to confirm.").wait_for()
    assert (await record.load()).state.outcome is None
    await controls.get_by_role("button", name="Stop after this lap").click()
    await page.get_by_text("cancelled", exact=True).first.wait_for()

    await audit(fleet, bench, record, Outcome.CANCELLED)
    assert page.findings == []


async def test_workers_queues_limits_and_takeovers_are_on_the_page(
    fleet: Fleet, bench: FleetBench, page: Any
) -> None:
    await bench.ready("one", "two")
    taken = await bench.begin(fleet, bench.agent(1.0), TWO)
    first = await bench.driving(taken)
    second = bench.other(first)
    first.die()
    await over(taken)
    await fleet.limit("narrow", 1)
    await fleet.records.set("limit:narrow", "1")
    held = [await bench.begin(fleet, bench.agent(120), TWO, limit="narrow") for _ in range(2)]
    queued = await bench.begin(fleet, bench.agent(0.1), TWO, labels={"riscv": ""})
    driven = await _driven(bench, held)

    waits = page.get_by_role("listitem").filter(has=page.locator(f'a[href="#/run/{queued.id}"]'))
    await waits.get_by_text("queued", exact=True).wait_for()
    await page.get_by_role("link", name="Fleet").click()
    worker = page.get_by_role("region", name=f"Worker {second.name}-")
    await worker.get_by_text("1 of 8 slots").wait_for()
    await page.get_by_text("1 of 1, 1 waiting").wait_for()
    await page.get_by_role("region", name="Queues").get_by_role("row", name="riscv 1 none").wait_for()
    takeovers = page.get_by_role("listitem").filter(has_text=taken.id)
    await takeovers.get_by_text(f"{first.name}-").wait_for()
    await worker.get_by_role("link", name="Do it.").click()
    await page.get_by_text("is working on lap 1").wait_for()

    assert page.url.endswith(f"#/run/{driven.id}")
    assert page.findings == []
    await bench.end_runs(fleet, *held, queued)


async def _driven(bench: FleetBench, records: list[Any]) -> Any:
    """Wait until one of these runs has the only permit and is driven, and return it."""
    with anyio.fail_after(120):
        while True:
            for each in records:
                if await each.driver() is not None:
                    await bench.driving(each)
                    return each
            await anyio.sleep(0.2)
