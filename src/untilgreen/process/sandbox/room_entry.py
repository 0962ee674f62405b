"""Runs a command with a room in place of the workspace: a separate script, never imported.

It makes a mount namespace, lays the room over the workspace at the workspace's path, and becomes the
command. Unless it is root, it has no rights left by then to undo any of it.

It runs before every command in a room, so it imports next to nothing: importing json, shutil and typing
would take longer than everything it does.
"""

from __future__ import annotations

import ctypes
import os
import sys

NEW_NAMESPACE, NEW_USER = 0x00020000, 0x10000000
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
DETACH = 2
FAILED = 126

_libc = ctypes.CDLL(None, use_errno=True)


def main(cwd: str, at: str, stash: str, overlays: str, hidden: str, *words: str) -> None:
    """Enter the room, and become the command.

    `words` holds three words for each overlay, one for each hidden path, then the command.
    """
    covers, hides = 3 * int(overlays), int(hidden)
    room, command = words[:covers], words[covers + hides :]
    try:
        _enter(at, stash, [room[first : first + 3] for first in range(0, covers, 3)])
        inside = {os.stat(place).st_dev for place in room[::3]}  # noqa: PTH116 - pathlib costs an import
        for path in words[covers : covers + hides]:
            _hide(path, inside)
    except OSError as error:
        sys.stderr.write(f"untilgreen: the room can't be entered: {error}\n")
        raise SystemExit(FAILED) from error
    os.chdir(cwd)
    os.execvp(command[0], command)


def _enter(at: str, stash: str, overlays: list[tuple[str, ...]]) -> None:
    _leave_the_old_namespace()
    _mount("none", "/", "", RECURSIVE | PRIVATE)
    # Once the room is mounted over it, the workspace can be reached only through the stash.
    _mount(at, stash, "", BIND | RECURSIVE)
    for place, upper, work in overlays:
        below = stash + place[len(at) :] if place == at or place.startswith(f"{at}/") else place
        options = f"lowerdir={_plain(below)},upperdir={_plain(upper)},workdir={_plain(work)}"
        _mount("overlay", place, "overlay", 0, f"{options},userxattr")
    _checked(_libc.umount2(os.fsencode(stash), DETACH), stash)


def _leave_the_old_namespace() -> None:
    """Root needs no user namespace, in which other users' files would belong to nobody."""
    user, group = os.geteuid(), os.getegid()
    if user == 0 and _libc.unshare(NEW_NAMESPACE) == 0:
        return
    _checked(_libc.unshare(NEW_NAMESPACE | NEW_USER), "a user namespace")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123 - runs in every gate
            file.write(text)


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    arguments = (os.fsencode(source), os.fsencode(target), kind.encode() or None, flags, os.fsencode(options))
    _checked(_libc.mount(*arguments), target)


def _checked(status: int, what: str) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def _plain(path: str) -> str:
    """Escaped for the option string: a colon or a comma would end the path."""
    return path.replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")


def _hide(path: str, inside: set[int]) -> None:
    """Remove it from the room; a link on the way may lead out, where nothing may be removed."""
    folder = os.path.dirname(path)  # noqa: PTH120 - as above
    if not os.path.isdir(folder) or os.stat(folder).st_dev not in inside:  # noqa: PTH112, PTH116 - as above
        return
    if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114 - as above
        import shutil  # noqa: PLC0415 - as above, and seldom needed

        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.unlink(path)  # noqa: PTH108 - as above


if __name__ == "__main__":
    main(*sys.argv[1:])
