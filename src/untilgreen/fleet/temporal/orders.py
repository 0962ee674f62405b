"""What travels through Temporal: a run's id and a few numbers, never text of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

QUEUE = "untilgreen"
"""The task queue of workflows, and of runs without labels."""


@dataclass
class Order:
    """Drive this run."""

    run: str
    queue: str = QUEUE
    heartbeat: float = 30.0
    """Seconds after which a silent worker counts as dead."""
    deaf: float = 30.0
    """Seconds without the database after which a driver ends its own turn."""
    patience: float = 3.0
    """The longest wait of a driver in seconds; longer waits are Temporal timers."""
    limit: str = ""
    """The pool from which a drive needs a permit, such as an agent's account."""
    labels: list[str] = field(default_factory=list)
    agent: str = ""
    generation: int = 0
    """When the workflow started, so that tokens keep growing when it is started again."""
    drive: int = 0
    cancel: bool = False
    """The run was cancelled through Temporal while nobody drove it."""
    failures: int = 0
    """How many drives in a row have failed for a reason outside of the run, such as its remote."""


@dataclass
class Rest:
    """Where a drive left the run: over, waiting for a time or a person, or to be driven elsewhere."""

    kind: str
    until: float | None = None
    outcome: str | None = None
    seq: int = 0
    place: str = ""
    failures: int = 0
    """See `Order`."""


@dataclass
class Repeat:
    """Begin another run of a plan, from a branch as it is then."""

    run: str
    """The run whose plan it is."""
    branch: str = "HEAD"


@dataclass(frozen=True)
class Identity:
    """What a worker says about itself whenever it asks Temporal for a run."""

    name: str
    slots: int = 0
    labels: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.name, f"slots={self.slots}", *(f"label={each}" for each in self.labels)])

    @classmethod
    def read(cls, text: str) -> Identity:
        """Parse what `str` returns; of any other text, take the first word as the name."""
        name, *facts = text.split(" ")
        given = [fact.partition("=") for fact in facts]
        slots = next((int(value) for key, _, value in given if key == "slots" and value.isdigit()), 0)
        return cls(name, slots, tuple(value for key, _, value in given if key == "label"))


def queue_of(labels: list[str]) -> str:
    """The task queue of workers that have all these labels."""
    return ".".join([QUEUE, *sorted(labels)])
