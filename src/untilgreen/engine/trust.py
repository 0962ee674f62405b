"""Which spec files a person has looked at: by place and by content, so that a changed one is asked about."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec import Struct

from untilgreen.config.load import Loaded
from untilgreen.config.trust import Demand, demand_of
from untilgreen.engine.store import Store, put
from untilgreen.errors import UserError


class Trusted(Struct, frozen=True, kw_only=True):
    """One file that was looked at."""

    path: str
    digest: str
    at: float
    lines: tuple[str, ...] = ()


class Untrusted(UserError):
    """A spec file that nobody has looked at in its present form."""

    def __init__(self, demand: Demand, before: Trusted | None) -> None:
        state = "has changed since it was trusted" if before else "has not been trusted yet"
        super().__init__(f"{demand.path} {state}, and nothing of it was run.")
        self.demand = demand
        self.before = before

    @property
    def news(self) -> frozenset[str]:
        """The lines that were not there when the file was trusted."""
        return frozenset(self.demand.lines) - frozenset(self.before.lines if self.before else ())


class TrustBook:
    """What was trusted, one file for each spec, in the state directory."""

    def __init__(self, store: Store) -> None:
        self._folder = store.state_dir / "trust"
        self._store = store

    def require(self, loaded: Loaded) -> None:
        """Raise `Untrusted` where a person has to look first."""
        demand = demand_of(loaded)
        if demand is None:
            return
        before = self.entry(demand.path)
        if before is None or before.digest != demand.digest:
            raise Untrusted(demand, before)

    def entry(self, path: str) -> Trusted | None:
        """What is known of a file; a note that can't be read is none."""
        try:
            found = msgspec.json.decode(self._note(path).read_bytes(), type=Trusted)
        except (OSError, ValueError):
            return None
        return found if found.path == path else None

    def remember(self, demand: Demand, at: float) -> None:
        """From now on this content needs no question."""
        note = Trusted(path=demand.path, digest=demand.digest, at=at, lines=demand.lines)
        with self._store.used():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            put(self._note(demand.path), msgspec.json.encode(note))

    def revoke(self, path: str) -> bool:
        """Forget a file; whether it was known."""
        note = self._note(path)
        if not note.exists():
            return False
        with self._store.used():
            note.unlink()
        return True

    def entries(self) -> Iterator[Trusted]:
        """All that is trusted, sorted by path."""
        notes = []
        for path in sorted(self._folder.glob("*.json")):
            try:
                notes.append(msgspec.json.decode(path.read_bytes(), type=Trusted))
            except (OSError, ValueError):
                continue
        yield from sorted(notes, key=lambda note: note.path)

    def _note(self, path: str) -> Path:
        mark = blake2b(path.encode(errors="surrogateescape"), digest_size=12).hexdigest()
        return self._folder / f"{mark}.json"
