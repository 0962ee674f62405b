"""Removes directories, including read-only ones, and replaces files without following links."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from pathlib import Path

from untilgreen.crash_points import passing


def remove_tree(path: Path) -> None:
    """Remove a directory, even if it contains read-only directories, or very many inside one another."""
    passing("remove", "before", "tree")
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        if path.is_symlink() or not path.is_dir():
            raise
        _flatten(path)
        shutil.rmtree(path)
    passing("remove", "after", "tree")


def _flatten(path: Path) -> None:
    """Move every directory to the top, and make it writable.

    Removing nested directories takes a stack frame and a descriptor per level; an agent can exhaust both.
    """
    left = [os.fspath(path)]
    while left:
        folder = left.pop()
        os.chmod(folder, stat.S_IRWXU)  # noqa: PTH101 - a string as it comes
        with os.scandir(folder) as entries:
            inner = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        for each in inner:
            os.chmod(each, stat.S_IRWXU)  # noqa: PTH101 - as above
            aside = os.path.join(path, secrets.token_hex(8))  # noqa: PTH118 - as above
            os.rename(each, aside)  # noqa: PTH104 - as above
            left.append(aside)


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
