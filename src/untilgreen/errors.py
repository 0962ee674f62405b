"""Every error a person can meet, as a sentence that ends with what to do about it."""

from collections.abc import Iterable


class UntilgreenError(Exception):
    """The base class: its message is a sentence for the person at the terminal."""


class UserError(UntilgreenError):
    """Something the user wrote or asked for can't be done as it stands (exit 2, no traceback)."""

    def __init__(self, message: str, *, key: tuple[str | int, ...] = (), line: int = 0) -> None:
        """`key` is the wrong key in a spec, and `line` its line, if known."""
        super().__init__(message)
        self.key = key
        self.line = line


class ConfigError(UserError):
    """A key or value of the spec is wrong; the message names file, line and key if known."""


class UnknownPlugin(UserError):
    """No plugin has that name; the message suggests the nearest one."""


class UnknownRun(UserError):
    """No run has that id in the state directory or fleet that was searched."""


class WorkspaceNotReady(UserError):
    """The directory can't be used as it is."""


class ArrivalRefused(UserError):
    """A run refused what was sent to it; the message says why."""


class AgentUnavailable(UntilgreenError):
    """The agent is missing, not logged in, or out of quota (exit 4); the run stays open."""

    def __init__(self, message: str, *, retry_at: float | None = None) -> None:
        super().__init__(message)
        self.retry_at = retry_at


class JournalError(UntilgreenError):
    """The journal can't be read or written."""


class JournalLocked(JournalError):
    """Another process drives this run."""


class JournalTaken(JournalError):
    """Another driver has taken the run over; what this one would still write is refused."""


class RunGone(JournalError):
    """The run was removed after it was looked up (exit 2)."""

    def __init__(self, run: str) -> None:
        super().__init__(
            f"Run {run} no longer exists: it has been pruned. `untilgreen list` shows the others."
        )


class JournalDamaged(JournalError):
    """A line of the journal is not what was written."""


class PluginFailed(UntilgreenError):
    """What a plugin raised, with the plugin's kind and name in front of it."""


def only(error: BaseException) -> BaseException:
    """The one error worth reporting, taken out of the exception groups around it.

    If another driver took the run over, that explains everything else that failed. If the journal can't be
    written, every task that was about to write fails in the same way.
    """
    refused = None
    if isinstance(error, BaseExceptionGroup):
        unwritten, others = error.split(JournalError)
        refused = error.subgroup(JournalTaken) or (unwritten if others is None else None)
    error = refused or error
    while isinstance(error, BaseExceptionGroup) and (refused or len(error.exceptions) == 1):
        error = error.exceptions[0]
    return error


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error message: the name that was probably meant, or all known names."""
    names = sorted(known)
    by_lower = {each.lower(): each for each in names}
    import difflib  # noqa: PLC0415 - only a wrong word needs it

    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    if close:
        return f"Did you mean {by_lower[close[0]]!r}?"
    return "Known: " + (", ".join(names) or "none") + "."


def readable(text: str, what: str) -> str:
    """The text, unless it has bytes that can be neither stored in a journal nor shown."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UserError(f"{what} is not UTF-8: {text!r}. Write it in UTF-8.") from None
    return text
