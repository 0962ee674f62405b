"""The entry point: version, hooks and `serve` start fast, everything else goes through the parser."""

import gc
import os
import sys

_COLLECT_AFTER = 200_000
"""New objects before the garbage collector runs: loading the program makes objects that stay."""


def main() -> None:
    """What the `untilgreen` command runs."""
    _open_closed_streams()
    gc.set_threshold(_COLLECT_AFTER)
    if sys.argv[1:] == ["--version"]:
        from untilgreen import __version__

        sys.stdout.write(f"untilgreen {__version__}\n")
        return
    if sys.argv[1:2] == ["hook"] and not sys.stdin.isatty():
        from untilgreen.surfaces.hook.events import EVENTS

        if sys.argv[2:] and sys.argv[2] in EVENTS:
            _hook(sys.argv[2:])
            return
    if sys.argv[1:2] == ["serve"]:
        from untilgreen.surfaces.cli.quick_serve import quick

        if (code := quick(sys.argv[2:])) is not None:
            sys.exit(code)
    from untilgreen.surfaces.cli.main import call

    code = call(sys.argv[1:])
    if "temporalio" in sys.modules:
        _end_at_once(code)
    gc.freeze()  # the process ends now; collecting garbage would take a tenth of a short command's time
    sys.exit(code)


def _end_at_once(code: int) -> None:
    """Exit without finalizing: Temporal's threads may still be running, and would abort the interpreter."""
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the reader may have closed the pipe
            stream.flush()
    os._exit(code)


def _open_closed_streams() -> None:
    """Replace streams that were closed (`>&-`): the next file opened would get their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115


def _hook(words: list[str]) -> None:
    """Every stop of every session waits for this, so a session without a run returns at once."""
    import time

    entered = time.time()
    data = sys.stdin.buffer.read()
    if not _concerns_us(words, data):
        return
    from untilgreen.surfaces.hook.flags import answered

    code = answered(words, data, entered)
    sys.stdout.flush()
    os._exit(code)  # nothing is left to do, and the agent is waiting


def _concerns_us(words: list[str], data: bytes) -> bool:
    """Whether the payload may name a session that has a run, or be one of our commands."""
    if words[0] == "prompt" and (b"ralph" in data or b"untilgreen" in data):
        return True
    chosen = [word for word in words if word.startswith("--state-dir")]
    if chosen:
        place = words.index(chosen[0]) + 1
        folder = chosen[0][12:] or (words[place] if place < len(words) else "")
    else:
        from untilgreen.state_dir import state_dir

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
