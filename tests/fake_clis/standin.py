#!/usr/bin/env python3
"""Stand in for an agent's command line: run `work.sh` from its folder, and print a recorded stream.

The name that it is called by selects the stream, in which the last message is replaced with the promise that
the brief asks for. An agent without a recorded stream prints only that message.
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
