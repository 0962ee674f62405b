"""The program that `launch` starts: it drives one run, and its questions are answered elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from untilgreen.core.exit_codes import exit_code
from untilgreen.engine.driving.drive import DriveOptions, drive
from untilgreen.engine.loop.seat import SERVED
from untilgreen.engine.store.runs import Store
from untilgreen.engine.worktree.premises import LocalPremises
from untilgreen.errors import UntilgreenError


def main(state_dir: str, run: str) -> int:
    """Drive the run until it is over or waits for a person; warnings go to stderr."""
    store = Store(Path(state_dir))

    def warn(sentence: str) -> None:
        sys.stderr.write(f"{sentence}\n")

    async def go() -> int:
        options = DriveOptions(signals=True, warn=warn)
        state = await drive(store.record(run), LocalPremises(store, warn=warn), SERVED, options)
        return exit_code(state)

    try:
        return anyio.run(go)
    except UntilgreenError as error:
        warn(str(error))
        return 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
