"""What must not be written down: values of variables whose names say so, and tokens that show what they are.

Everything here works on bytes, because that is how outputs come, and because a secret may be cut in two.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Iterable, Mapping

from msgspec import json

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SHORTEST = 8
"""Shorter values would be found in harmless words."""
LONGEST = 4096
"""No token is longer, so a longer run of its characters may be passed on piece by piece."""
_TOKEN = "[a token was cut out]"
_REFERENCE = re.compile(r"\$\{(\w+)\}")

SHAPES: tuple[tuple[bytes, re.Pattern[bytes]], ...] = tuple(
    (start, re.compile(shape))
    for start, shape in (
        (b"sk-", rb"\bsk-(?=[\w-]{0,200}?\d)[\w-]{20,}"),
        (b"k_live_", rb"\b[rs]k_live_\w{16,}"),
        (b"gh", rb"\bgh[oprsu]_\w{36,}"),
        (b"github_pat_", rb"\bgithub_pat_\w{22,}"),
        (b"glpat-", rb"\bglpat-[\w-]{20,}"),
        (b"xox", rb"\bxox[abeprs]-[\w-]{10,}"),
        (b"AKIA", rb"\bAKIA[0-9A-Z]{16}\b"),
        (b"ASIA", rb"\bASIA[0-9A-Z]{16}\b"),
        (b"AIza", rb"\bAIza[\w-]{35,}"),
        (b"npm_", rb"\bnpm_\w{36}"),
        (b"pypi-", rb"\bpypi-[\w-]{50,}"),
        (b"hf_", rb"\bhf_[A-Za-z0-9]{30,}"),
        (b"eyJ", rb"\beyJ[\w-]{8,1000}\.eyJ[\w-]{8,}\.[\w-]*"),
        (
            b"-----BEGIN",
            rb"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]|-(?!----)){0,4096}+"
            rb"(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
        ),
    )
)
"""How known tokens begin, which is quick to look for, and what they look like as a whole."""
_IN_TOKENS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/=.%~-"
_IN_ADDRESSES = re.compile(rb"[^A-Za-z0-9_.~-]")
_KEY_BLOCK = re.compile(
    rb"-----BEGIN [A-Z ]*-{0,5}(?:(?<=PRIVATE KEY-----)(?:(?!-----END [A-Z ]*PRIVATE KEY-----)(?s:.))*)?\Z"
)


def is_secret(name: str, value: str) -> bool:
    """Whether a variable's value must not be written down."""
    return bool(SECRET_NAME.search(name)) and len(value) >= SHORTEST


def references(text: str) -> list[str]:
    """The secret variables that a text names as `${NAME}`."""
    return [name for name in _REFERENCE.findall(text) if SECRET_NAME.search(name)]


class Secrets:
    """The secrets of one environment."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._values = {value: name for name, value in sorted(variables.items()) if is_secret(name, value)}
        self._written = sorted(
            (
                (form, name)
                for value, name in self._values.items()
                for form in _forms(value.encode("utf-8", "surrogateescape"))
            ),
            key=lambda pair: (-len(pair[0]), pair),
        )

    def cut(self, text: str) -> str:
        """The text without any secret, each replaced by words that say so."""
        raw = text.encode("utf-8", "surrogatepass")
        clean = self.cut_bytes(raw)
        return text if clean == raw else clean.decode("utf-8", "surrogatepass")

    def cut_bytes(self, raw: bytes) -> bytes:
        """The same for bytes."""
        for form, name in self._written:
            if form in raw:
                raw = raw.replace(form, f"[{name} was cut out]".encode())
        for start, shape in SHAPES:
            if start in raw:
                raw = shape.sub(_TOKEN.encode(), raw)
        return raw

    def name(self, text: str) -> str:
        """The text with the values of variables as `${NAME}`."""
        for value, name in sorted(self._values.items(), key=lambda pair: -len(pair[0])):
            text = text.replace(value, f"${{{name}}}")
        return text

    def veil(self, text: str) -> str:
        """The same, and without tokens."""
        return self.cut(self.name(text))

    def open_end(self, raw: bytes) -> int:
        """How many of the last bytes may be the beginning of a secret."""
        end = raw[-LONGEST:]
        block = _KEY_BLOCK.search(end)
        begun = max(
            len(end) - len(end.rstrip(_IN_TOKENS)),
            len(block[0]) if block else 0,
            *(_begun(form, end) for form, _ in self._written),
            0,
        )
        return len(raw) - self._gap(raw, len(raw) - begun)

    def _gap(self, raw: bytes, place: int) -> int:
        """The last place up to that one where nothing secret would be cut in two."""
        for form, _ in self._written:
            found = raw.find(form, max(0, place - len(form) + 1), place + len(form) - 1)
            place = found if 0 <= found < place else place
        for start, shape in SHAPES:
            if start in raw:
                spans = [found.span() for found in shape.finditer(raw)]
                place = min([place, *(begin for begin, end in spans if begin < place < end)])
        return place


def unveil(text: str, variables: Mapping[str, str]) -> str:
    """A text with the values back in the places of secret variables; a name without a value stays."""

    def value(found: re.Match[str]) -> str:
        return variables.get(found[1], found[0]) if SECRET_NAME.search(found[1]) else found[0]

    return _REFERENCE.sub(value, text)


class Strainer:
    """Lets an output through without its secrets, also those that come in two pieces."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._held = b""

    def take(self, chunk: bytes) -> bytes:
        """What can be passed on now."""
        raw = self._held + chunk
        held = self._secrets.open_end(raw)
        ready, self._held = raw[: len(raw) - held], raw[len(raw) - held :]
        return self._secrets.cut_bytes(ready)

    def close(self) -> bytes:
        """What was still held back."""
        last, self._held = self._held, b""
        return self._secrets.cut_bytes(last)


def _forms(value: bytes) -> Iterable[bytes]:
    """A secret as it is, in JSON, in an address, and in base64 wherever it begins there."""
    forms = {value, json.encode(value.decode("utf-8", "replace"))[1:-1], _IN_ADDRESSES.sub(_percent, value)}
    for before in range(3):
        whole = b2a_base64(b"\0" * before + value, newline=False)
        first = -(-before * 8 // 6)
        last = (before + len(value)) * 8 // 6
        forms.add(whole[first:last])
    return forms


def _percent(found: re.Match[bytes]) -> bytes:
    return b"%%%02X" % found[0][0]


def _begun(form: bytes, raw: bytes) -> int:
    """How much of the secret's beginning the end of the bytes is."""
    for size in range(min(len(form) - 1, len(raw)), 0, -1):
        if raw.endswith(form[:size]):
            return size
    return 0
