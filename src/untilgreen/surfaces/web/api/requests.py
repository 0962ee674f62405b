"""What requests to the API carry, and the two short answers; the types of all other answers are in `values`.

They are in a module of their own, since a server that has not answered anything yet needs only them.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

PROBLEM = "application/problem+json"


class Problem(Struct, frozen=True, kw_only=True):
    """What went wrong, as RFC 9457 has it; `detail` is the sentence that the command line prints."""

    title: str
    status: int
    detail: str = ""
    type: str = "about:blank"


class Page(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which runs to list."""

    status: str = ""
    workspace: str = ""
    label: str = ""
    """`name=value`."""
    search: str = ""
    before: str = ""
    limit: int = 50


class Offset(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to begin in a long text."""

    offset: int = 0
    limit: int = 100_000


class From(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to begin in the agent's activity; below 0 counts from its end."""

    offset: Annotated[int, Meta(ge=-1_000_000_000, le=1_000_000_000_000)] = 0


class Names(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Runs by name, separated by commas."""

    runs: str


class Format(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which form a report takes."""

    format: str = "html"


class Strategies(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to replay your runs with; empty is the usual ones."""

    strategies: str = ""
    """Built-in ones, separated by semicolons: `fixed; { use = "hybrid", base = 4 }`."""
    workspace: str = ""
    """Only the runs of this directory."""


class After(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """From which event on to follow; the header `Last-Event-ID` comes first."""

    after: int = 0


class Nothing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No parameters."""


class Reason(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why, for the journal."""

    reason: str = ""


class Note(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A note for the agent's next brief."""

    note: str


class LineComment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A comment on lines of a diff; it becomes a note for the agent."""

    lap: int
    file: str
    first: int
    last: int
    text: str
    quoted: str = ""
    """The lines it is about."""


class AnswerBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer to a run's question."""

    choice: str
    question: str = ""
    """The id of the question; an answer to an older one is refused."""
    argument: str | None = None
    note: str = ""


class NewRun(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run to plan or to start; what is empty comes from the spec of the workspace."""

    workspace: str = ""
    """A directory within the server's roots; empty is the first root."""
    profile: str = ""
    """One of the profiles of that spec."""
    spec: dict[str, Any] = {}
    """Values as a spec has them, laid over the spec of the workspace: `{"task": "…", "agent": "claude"}`."""
    max_iterations: str = ""
    trust: str = ""
    """The digest of an untrusted spec that a person has reviewed and trusts."""


class Place(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a run would be started; empty is the server's first root."""

    workspace: str = ""


class ForkRun(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another run from the files of a lap."""

    lap: int
    note: str = ""
    more: int | None = None
    """How many laps it may take; null is as many as the first run."""


class RestoreLap(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which files to bring back."""

    lap: int
    """0 is the beginning."""


class ApplyRun(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which files to merge into the user's."""

    lap: int | None = None
    """null is the result of the run."""
    dry_run: bool = False
    markers: bool = False
    """Write conflicts into the files, between markers."""
    undo: bool = False
    """Take the last one back instead."""


class Done(Struct, frozen=True, kw_only=True):
    """It is recorded, or on its way to the run's driver."""

    run: str
    status: str


class Health(Struct, frozen=True, kw_only=True):
    """The server answers."""

    status: str = "ok"
