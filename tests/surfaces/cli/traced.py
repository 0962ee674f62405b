"""Run the real program and record the calls to some of its functions, in order.

Usage: `python traced.py FILE command …`. FILE gets a line for each call to a function in WATCHED.
Resuming a coroutine doesn't count as another call.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

WATCHED = {
    "journal/reader.py:read": "journal read",
    "engine/loop/steps.py:perform": "step",
    "core/loop/receive.py:refusal": "refusal",
    "core/briefing/brief.py:compose": "brief",
    "workspace/git/repository.py:find_repository": "repository",
    "process/table.py:look": "processes",
}


def calls_of(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: bytes = b""
) -> tuple[int, list[str]]:
    """Run a command; return its exit code and the watched calls that it made."""
    written = cwd.parent / "calls"
    done = subprocess.run(
        [sys.executable, __file__, str(written), *arguments],
        cwd=cwd,
        env={**env},
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert written.exists(), done.stderr.decode()
    return done.returncode, written.read_text().splitlines()


def _main(written: str, arguments: list[str]) -> None:
    calls = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)  # unbuffered: a hook ends with os._exit
    frames: set[FrameType] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        _, _, path = frame.f_code.co_filename.rpartition("/untilgreen/")
        name = WATCHED.get(f"{path}:{frame.f_code.co_qualname}")
        if event == "call" and name is not None and frame not in frames:
            frames.add(frame)
            os.write(calls, f"{name}\n".encode())

    sys.argv = ["untilgreen", *arguments]
    threading.setprofile(look)
    sys.setprofile(look)
    from untilgreen.__main__ import main

    main()


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2:])
