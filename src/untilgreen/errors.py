"""Every error a person can meet, as a sentence that ends with what to do about it."""

import difflib
from collections.abc import Iterable


class UntilgreenError(Exception):
    """The root: its message is a sentence for the person at the terminal."""


class UserError(UntilgreenError):
    """Something the user wrote or asked for can't be done as it stands (exit 2, no traceback)."""


class ConfigError(UserError):
    """A key or value of the spec is wrong; the message names file, line and key where they are known."""


class UnknownPlugin(UserError):
    """A name that no plugin answers to; the message names the nearest one."""


class WorkspaceNotReady(UserError):
    """The directory can't be worked in as it is."""


class ArrivalRefused(UserError):
    """A run can't take what was sent to it; the message says why."""


class AgentUnavailable(UntilgreenError):
    """The agent is missing, not logged in, or out of quota (exit 4); the run stays open."""

    def __init__(self, message: str, *, retry_at: float | None = None) -> None:
        super().__init__(message)
        self.retry_at = retry_at


class JournalError(UntilgreenError):
    """The journal can't be read or written."""


class JournalLocked(JournalError):
    """Another process drives this run."""


class RunGone(JournalError):
    """Somebody removed the run after it was looked up (exit 2)."""

    def __init__(self, run: str) -> None:
        super().__init__(
            f"Run {run} is not there any more: somebody has pruned it. `untilgreen list` shows the others."
        )


class JournalDamaged(JournalError):
    """A line of the journal is not what was written."""


class PluginFailed(UntilgreenError):
    """What a plugin raised, with the plugin's kind and name in front of it."""


def only(error: BaseException) -> BaseException:
    """The one thing that went wrong, out of the groups around it."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error sentence: the name that was probably meant, or all that there are."""
    names = sorted(known)
    by_lower = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    if close:
        return f"Did you mean {by_lower[close[0]]!r}?"
    return "Known: " + (", ".join(names) or "none") + "."


def readable(text: str, what: str) -> str:
    """Bytes that are no text can't be kept in a journal, nor shown."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UserError(f"{what} is not UTF-8: {text!r}. Write it in UTF-8.") from None
    return text
