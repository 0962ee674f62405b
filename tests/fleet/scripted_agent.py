"""An agent that writes a mark to `half`, waits some seconds, writes it to `lines`, and notes both in NOTES.

`scripted_agent.py NOTES SECONDS`
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from pathlib import Path

notes, seconds = Path(sys.argv[1]), float(sys.argv[2])
run, mark, lines = os.environ.get("UNTILGREEN_INSIDE", ""), secrets.token_hex(4), Path("lines")
sys.stdin.read()


def note(what: str) -> None:
    with notes.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"run": run, "what": what, "mark": mark}) + "\n")


note("begin")
with Path("half").open("a", encoding="utf-8") as half:
    half.write(f"{mark}\n")
time.sleep(seconds)
with lines.open("a", encoding="utf-8") as whole:
    whole.write(f"{mark}\n")
note("end")
sys.stdout.write("One more line.\n")
