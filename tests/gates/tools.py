"""Which third-party programs can be used on this machine."""

import shutil
import subprocess
from functools import cache


@cache
def works(program: str) -> bool:
    """Whether the program is installed and starts; a shim may exist without the program behind it."""
    asks = "version" if program == "go" else "--version"
    found = shutil.which(program)
    return (
        found is not None and subprocess.run([found, asks], capture_output=True, check=False).returncode == 0
    )
