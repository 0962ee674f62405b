"""Who is calling, and what they may do: by the token, or by a trusted proxy."""

from __future__ import annotations

import ipaddress
import secrets
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, field

from untilgreen.errors import UserError

Role = Literal["viewer", "operator", "admin"]
ROLES: tuple[Role, ...] = ("viewer", "operator", "admin")
"""Each may do what those before it may, and more: view; answer and steer; start runs, apply results."""
ANYONE = "*"
LONGEST_NAME = 200
SHORTEST_SECRET = 32


class Person(Struct, frozen=True, kw_only=True):
    """The caller."""

    name: str
    role: Role

    def may(self, needed: Role) -> bool:
        """Whether their role is enough."""
        return ROLES.index(self.role) >= ROLES.index(needed)


class Proxy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """A reverse proxy that has people log in, and says who they are."""

    peers: tuple[str, ...]
    """Addresses that it connects from."""
    secret: str
    """The secret that it sends, so that no other program at that address is trusted."""
    identity_header: str = "X-Forwarded-User"
    secret_header: str = "X-Untilgreen-Secret"
    roles: dict[Role, tuple[str, ...]] = field(default_factory=dict)
    """Names by role; `*` is everybody the proxy lets through."""

    def person(self, address: str, head: Mapping[str, str]) -> Person | None:
        """The person the proxy vouches for; None if it is not the proxy, or names nobody with a role."""
        given = head.get(self.secret_header.lower(), "").encode("utf-8", "surrogateescape")
        name = head.get(self.identity_header.lower(), "").strip()
        if not secrets.compare_digest(given, self.secret.encode()) or not _same(address, self.peers):
            return None
        if not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
            return None
        for role in reversed(ROLES):
            names = self.roles.get(role, ())
            if name in names or ANYONE in names:
                return Person(name=name, role=role)
        return None


def read_proxy(path: Path) -> Proxy:
    """The file of `--proxy`; it holds a secret, so nobody else may be able to read it."""
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise UserError(f"{path} holds a secret and others can read it. Run `chmod 600 {path}`.")
        proxy = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Proxy)
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}.") from error
    except (ValueError, msgspec.ValidationError) as error:
        raise UserError(f"{path} is not valid for `untilgreen serve --proxy`: {error}.") from error
    if len(proxy.secret) < SHORTEST_SECRET:
        raise UserError(f"The secret in {path} is short. Make one: openssl rand -hex 32")
    for peer in proxy.peers:
        try:
            ipaddress.ip_address(peer)
        except ValueError as error:
            raise UserError(f"peers in {path} are addresses such as 127.0.0.1, not {peer!r}.") from error
    return proxy


def _same(address: str, peers: tuple[str, ...]) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    plain = getattr(found, "ipv4_mapped", None) or found
    return any(ipaddress.ip_address(peer) in (found, plain) for peer in peers)
