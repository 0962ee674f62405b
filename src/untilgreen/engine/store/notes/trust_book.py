"""Which spec files a person has reviewed, by path and content, so that a changed one is asked about again."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec import Struct

from untilgreen.config.load import Loaded
from untilgreen.config.trust_request import TrustRequest, trust_request_of
from untilgreen.engine.store.atomic_file import put
from untilgreen.engine.store.runs import Store
from untilgreen.errors import UserError


class Trusted(Struct, frozen=True, kw_only=True):
    """One reviewed file."""

    path: str
    digest: str
    at: float
    lines: tuple[str, ...] = ()


class Untrusted(UserError):
    """A spec file that nobody has reviewed in its present form."""

    def __init__(self, request: TrustRequest, before: Trusted | None) -> None:
        state = "has changed since it was trusted" if before else "has not been trusted yet"
        super().__init__(f"{request.path} {state}, so nothing in it was run.")
        self.request = request
        self.before = before

    @property
    def news(self) -> frozenset[str]:
        """The lines that were not there when the file was trusted."""
        return frozenset(self.request.lines) - frozenset(self.before.lines if self.before else ())


class TrustQuestion(Struct, frozen=True, kw_only=True):
    """What a person is asked before a spec file is used: what it would run, and its digest."""

    path: str
    digest: str
    lines: tuple[str, ...]
    new: tuple[str, ...]
    """The lines that were not there when the file was last trusted."""
    changed: bool
    """Whether it was trusted before, with different content."""


class TrustBook:
    """What was trusted, one file for each spec, in the state directory."""

    def __init__(self, store: Store) -> None:
        self._folder = store.state_dir / "trust"
        self._store = store

    def require(self, loaded: Loaded) -> None:
        """Raise `Untrusted` if a person has to review it first."""
        request = trust_request_of(loaded)
        if request is None:
            return
        before = self.entry(request.path)
        if before is None or before.digest != request.digest:
            raise Untrusted(request, before)

    def question(self, loaded: Loaded) -> TrustQuestion | None:
        """What to ask about a spec; None if it may be used."""
        try:
            self.require(loaded)
        except Untrusted as unknown:
            request = unknown.request
            return TrustQuestion(
                path=request.path,
                digest=request.digest,
                lines=request.lines,
                new=tuple(line for line in request.lines if line in unknown.news),
                changed=unknown.before is not None,
            )
        return None

    def accept(self, loaded: Loaded, digest: str, at: float) -> None:
        """Trust what a person was shown; raise if the file has changed since."""
        request = trust_request_of(loaded)
        if request is None:
            return
        if request.digest != digest:
            raise UserError(f"{request.path} has changed since you reviewed it. Review it again.")
        self.remember(request, at)

    def entry(self, path: str) -> Trusted | None:
        """What is known about a file; an unreadable note counts as none."""
        try:
            found = msgspec.json.decode(self._note(path).read_bytes(), type=Trusted)
        except (OSError, ValueError):
            return None
        return found if found.path == path else None

    def remember(self, request: TrustRequest, at: float) -> None:
        """Trust this content from now on."""
        note = Trusted(path=request.path, digest=request.digest, at=at, lines=request.lines)
        with self._store.explaining_errors():
            self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.mkdir(mode=0o700, exist_ok=True)
            put(self._note(request.path), msgspec.json.encode(note))

    def revoke(self, path: str) -> bool:
        """Forget a file; returns whether it was known."""
        note = self._note(path)
        if not note.exists():
            return False
        with self._store.explaining_errors():
            note.unlink()
        return True

    def entries(self) -> Iterator[Trusted]:
        """Everything that is trusted, sorted by path."""
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
