"""Where runs are stored; a hook needs this before anything else is imported."""

import os
import sys


def state_dir() -> str:
    """Where runs are stored by default."""
    chosen = os.environ.get("UNTILGREEN_STATE_DIR")
    if chosen:
        return os.path.expanduser(chosen)  # noqa: PTH111 - pathlib would double the time of a hook
    if sys.platform == "linux":
        home = os.environ.get("XDG_STATE_HOME", "").strip() or os.path.expanduser("~/.local/state")  # noqa: PTH111 - pathlib would double the time of a hook
        return f"{home}/untilgreen"
    from platformdirs import user_state_dir  # noqa: PLC0415 - not needed on Linux, where most hooks run

    return user_state_dir("untilgreen", appauthor=False)
