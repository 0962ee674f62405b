"""Draw the pictures of docs/serve.md from a real run of the demo; needs `make test-browser` once."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
COMMAND = [sys.executable, "-m", "untilgreen"]
CHROMIUM = "/usr/bin/chromium"


def main() -> int:
    """One picture for each screen, of what the demo's green and stuck runs left."""
    sync_api = import_module("playwright.sync_api")
    with tempfile.TemporaryDirectory() as folder:
        for story in ("--stuck", ""):
            words = [*COMMAND, "demo", *story.split()]
            env = {"TMPDIR": folder, "PATH": "/usr/bin:/bin", "HOME": folder}
            subprocess.run(words, env=env, check=False, capture_output=True)  # noqa: TID251 - nothing else runs
        runs = sorted(Path(folder).glob("untilgreen-demo-*/state/runs/*"))
        state = Path(folder) / "state" / "runs"
        state.mkdir(parents=True)
        for run in runs:
            run.rename(state / run.name)
        _shoot(sync_api, state)
    return 0


def _shoot(sync_api: object, state: Path) -> None:
    words = [*COMMAND, "serve", "--port", "0", "--state-dir", str(state.parent)]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().strip()
    green = sorted(path.name for path in state.iterdir())[-1]
    screens = {"run": f"#/run/{green}", "lap": f"#/run/{green}/lap/3"}
    with sync_api.sync_playwright() as playwright:  # type: ignore[attr-defined]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        page.goto(address)
        for name, screen in screens.items():
            page.evaluate("address => { location.hash = address }", screen)
            page.wait_for_timeout(1500)
            page.screenshot(path=HERE / f"page-{name}.png")
        browser.close()
    server.send_signal(signal.SIGINT)
    server.wait(timeout=30)


if __name__ == "__main__":
    sys.exit(main())
