"""Directories that go, whatever is in them."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from untilgreen.crash import passing


def remove_tree(path: Path) -> None:
    """Remove a directory, also one with directories in it that nobody may write."""
    passing("remove", "before", "tree")
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except PermissionError:
        for folder, inner, _ in os.walk(path):
            here = Path(folder)
            for each in (here, *(here / name for name in inner)):
                if not each.is_symlink():
                    each.chmod(stat.S_IRWXU)
        shutil.rmtree(path)
    passing("remove", "after", "tree")
