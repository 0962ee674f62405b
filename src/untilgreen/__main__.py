"""The command line's front door: quick answers first, everything else from `untilgreen.surfaces.cli`."""

import os
import sys

HOOKS = ("stop", "start", "end", "prompt", "interrupt", "idle", "error", "deleted")


def main() -> None:
    """What the `untilgreen` command runs."""
    if sys.argv[1:] == ["--version"]:
        from untilgreen import __version__

        sys.stdout.write(f"untilgreen {__version__}\n")
        return
    if len(sys.argv) > 2 and sys.argv[1] == "hook" and sys.argv[2] in HOOKS and not sys.stdin.isatty():
        _hook(sys.argv[2:])
        return
    import gc

    from untilgreen.surfaces.cli.main import call

    code = call(sys.argv[1:])
    gc.freeze()  # all goes now: looking for garbage in it would take a tenth of a short command's time
    sys.exit(code)


def _hook(words: list[str]) -> None:
    """A session that has no run of ours waits for this at every stop, so its hook ends at once."""
    import time

    entered = time.time()
    data = sys.stdin.buffer.read()
    if not _concerns_us(words, data):
        return
    from untilgreen.surfaces.hook.flags import answered

    code = answered(words, data, entered)
    sys.stdout.flush()
    os._exit(code)  # nothing is left to do, and the agent waits


def _concerns_us(words: list[str], data: bytes) -> bool:
    """Whether the payload may name a session that has a run, or be a command of ours."""
    if words[0] == "prompt" and (b"ralph" in data or b"untilgreen" in data):
        return True
    chosen = [word for word in words if word.startswith("--state-dir")]
    if chosen:
        place = words.index(chosen[0]) + 1
        folder = chosen[0][12:] or (words[place] if place < len(words) else "")
    else:
        from untilgreen.home import state_dir

        folder = state_dir()
    try:
        notes = os.listdir(f"{folder}/sessions")  # noqa: PTH208 - pathlib would double the time of a hook
    except OSError:
        return False
    return any(name[0] == "~" or name.encode() in data for name in notes)


if __name__ == "__main__":
    # `python -m` would import what an agent left in this directory in place of the modules that we need.
    if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):  # noqa: PTH109 - see above
        del sys.path[0]
    main()
