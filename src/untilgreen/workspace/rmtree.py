"""Removes directories, including read-only ones, and replaces files without following links."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from pathlib import Path

from untilgreen.crash_points import passing


def remove_tree(path: Path) -> None:
    """Remove a directory, even if it contains read-only directories."""
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


def replace_file(path: Path, content: bytes) -> None:
    """Put a file at a path; whatever was there, such as a link, is replaced and not followed."""
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def copy_over(source: Path, path: Path) -> None:
    """Like `replace_file`, with the content of another file."""
    replace_file(path, source.read_bytes())
