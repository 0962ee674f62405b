"""Named points at which a test can kill a real process, as kill -9 does; without a test they do nothing.

`UNTILGREEN_CRASH_AT="append:after:GateChecked#3"` is the moment after the third such event was written;
`"list:FILE"` appends the name of every point that is passed to a file instead. The variable is read once and
removed from the environment, so no agent, gate or git process inherits it, and it can only harm this process.
"""

import os

CRASH_AT = "UNTILGREEN_CRASH_AT"
_LIST = "list:"


class _Armed:
    """Counts how often each point is passed, and kills the process at the chosen one."""

    def __init__(self, wanted: str) -> None:
        from threading import Lock  # noqa: PLC0415 - only a test pays for it

        self._wanted = wanted
        self._passed: dict[str, int] = {}
        self._turn = Lock()

    def __call__(self, what: str, when: str, name: str) -> None:
        with self._turn:
            point = f"{what}:{when}:{name}"
            self._passed[point] = times = self._passed.get(point, 0) + 1
            if self._wanted.startswith(_LIST):
                self._note(f"{point}#{times}\n".encode())
            elif self._wanted == f"{point}#{times}":
                self._die()

    def _note(self, line: bytes) -> None:
        handle = os.open(self._wanted.removeprefix(_LIST), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(handle, line)
        os.close(handle)

    def _die(self) -> None:
        import signal  # noqa: PLC0415 - only a test pays for it

        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def _unarmed(what: str, when: str, name: str) -> None:
    """Do nothing."""


_wanted = os.environ.pop(CRASH_AT, "")
passing = _Armed(_wanted) if _wanted else _unarmed
"""Called with what is done, `before` or `after`, and the name of the thing."""
