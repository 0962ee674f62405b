#!/usr/bin/env python3
"""Stands in for an agent's command line: does the work that `work.sh` beside it says, and speaks as recorded.

The name it is called by says whose recorded stream it plays; the last words in it become the promise
that its brief asks for. An agent without a stream prints just these words.
"""

import re
import subprocess
import sys
from pathlib import Path

STREAMS = Path(__file__).parents[1] / "agents" / "streams"
RECORDED = {"claude": "claude-continued", "codex": "codex-done"}
WORDS = "Done."

folder, name, *arguments = sys.argv[1:]
if "--version" in arguments:
    print("1.0.0 (a stand-in)")
    sys.exit(0)
brief = sys.stdin.read()
subprocess.run(["/bin/sh", "-eu", f"{folder}/work.sh"], check=True, stdout=sys.stderr)
asked = re.search(r"<promise>[^<]+</promise>", brief)
said = asked[0] if asked else WORDS
if name in RECORDED:
    sys.stdout.write((STREAMS / f"{RECORDED[name]}.jsonl").read_text().replace(f'"{WORDS}"', f'"{said}"'))
else:
    print(said)
