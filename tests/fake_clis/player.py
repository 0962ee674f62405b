#!/usr/bin/env python3
"""Print a recorded stream like an agent's command line: STREAM names the file, EXIT the exit code.

Its arguments, stdin and environment are written to the file that HEARD names.
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
