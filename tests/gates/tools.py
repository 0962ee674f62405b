"""Which programs of other people can be used here."""

import shutil
import subprocess
from functools import cache


@cache
def works(program: str) -> bool:
    """Whether it is installed and starts; one that only stands in for another may not."""
    asks = "version" if program == "go" else "--version"
    found = shutil.which(program)
    return (
        found is not None and subprocess.run([found, asks], capture_output=True, check=False).returncode == 0
    )
