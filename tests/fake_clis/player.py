#!/usr/bin/env python3
"""Plays a recorded stream as an agent's command line would print it: STREAM names the file, EXIT the code.

What it was started with goes to the file that HEARD names.
"""

import json
import os
import sys
from pathlib import Path

heard = {"argv": sys.argv[1:], "stdin": sys.stdin.read(), "env": dict(os.environ)}
Path(os.environ["HEARD"]).write_text(json.dumps(heard))
sys.stdout.write(Path(os.environ["STREAM"]).read_text())
sys.stdout.flush()
sys.stderr.write(os.environ.get("ERRORS", ""))
if sent := os.environ.get("SIGNAL"):
    os.kill(os.getpid(), int(sent))
sys.exit(int(os.environ.get("EXIT", "0")))
