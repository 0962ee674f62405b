"""What must never be written down: values of secret variables, and known kinds of tokens.

Everything here works on bytes, because that is how outputs arrive, and because a secret may be cut in two.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec import json

from untilgreen.regex import regex

SECRET_NAME = regex(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SHORTEST = 8
"""Shorter values would be found in harmless words."""
LONGEST = 4096
"""No token is longer, so a longer run of its characters may be passed on piece by piece."""
_TOKEN = "[token redacted]"
_REFERENCE = regex(r"\$\{(\w+)\}")

SHAPES: tuple[tuple[bytes, re.Pattern[bytes]], ...] = tuple(
    (start, regex(shape))
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
"""The prefixes of known tokens, which are quick to search for, and their full patterns."""
_IN_TOKENS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/=.%~-&#;'\\"
_IN_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_NARROWEST = 16
"""Characters of the narrowest line of wrapped base64."""
_LAST_POINT = 0x10FFFF
_KEY_BLOCK = regex(
    rb"-----BEGIN [A-Z ]*-{0,5}(?:(?<=PRIVATE KEY-----)(?:(?!-----END [A-Z ]*PRIVATE KEY-----)(?s:.))*)?\Z"
)


def is_secret(name: str, value: str) -> bool:
    """Whether a variable's value must not be written down."""
    return len(value) >= SHORTEST and _has_secret_name(name)


@lru_cache(maxsize=1024)
def _has_secret_name(name: str) -> bool:
    """Cached, because every command starts with the same hundred names."""
    return SECRET_NAME.search(name) is not None


def references(text: str) -> list[str]:
    """The secret variables that a text names as `${NAME}`."""
    return [name for name in _REFERENCE.findall(text) if SECRET_NAME.search(name)]


class Secrets:
    """The secrets of one environment."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        named = sorted((name, value) for name, value in variables.items() if is_secret(name, value))
        self._values = {value: name for name, value in named}
        self._written = sorted(
            (
                (form, name)
                for value, name in self._values.items()
                for form in _forms(value.encode("utf-8", "surrogateescape"))
            ),
            key=lambda pair: (-len(pair[0]), pair),
        )

    def redact(self, text: str) -> str:
        """The text without any secret, each replaced by words that say so."""
        raw = text.encode("utf-8", "surrogatepass")
        clean = self.redact_bytes(raw)
        return text if clean == raw else clean.decode("utf-8", "surrogatepass")

    def redact_bytes(self, raw: bytes) -> bytes:
        """The same for bytes."""
        return self._redact(raw, _shapes_in(raw))

    def strain(self, raw: bytes) -> tuple[bytes, bytes]:
        """The bytes that can be passed on, without secrets, and a tail that may be the start of one."""
        shapes = _shapes_in(raw)
        end = len(raw) - self._open_end(raw, shapes)
        return self._redact(raw[:end], shapes), raw[end:]

    def _redact(self, raw: bytes, shapes: Sequence[re.Pattern[bytes]]) -> bytes:
        for form, name in self._written:
            if form in raw:
                raw = raw.replace(form, f"[{name} redacted]".encode())
        for spelling, name in self._respelled(raw):
            raw = spelling.sub(f"[{name} redacted]".encode(), raw)
        for shape in shapes:
            raw = shape.sub(_TOKEN.encode(), raw)
        return raw

    def _respelled(self, raw: bytes) -> list[tuple[re.Pattern[bytes], str]]:
        """Finds secrets in other spellings: partly escaped, or base64 over several lines.

        Building and searching such patterns takes time, so a decoded copy of the bytes is searched first.
        """
        found = []
        if self._values and (b"\\u" in raw or b"%" in raw or b"&" in raw) and _ESCAPED.search(raw):
            plain = _ESCAPED.sub(_plain, raw)
            for value, name in self._values.items():
                if (secret := value.encode("utf-8", "surrogateescape")) in plain:
                    found.append((_escapable(secret), name))
        if self._written and (b"\n" in raw or b"\\n" in raw):
            joined = raw.translate(None, b" \t\r\n")
            if b"\\" in joined:
                joined = joined.replace(b"\\n", b"").replace(b"\\r", b"")
            found += [(_breakable(form), name) for form, name in self._written if form in joined]
        return found

    def to_references(self, text: str) -> str:
        """The text with the values of variables as `${NAME}`."""
        for value, name in sorted(self._values.items(), key=lambda pair: -len(pair[0])):
            text = text.replace(value, f"${{{name}}}")
        return text

    def redact_to_references(self, text: str) -> str:
        """The same, and every other token redacted."""
        return self.redact(self.to_references(text))

    def _open_end(self, raw: bytes, shapes: Sequence[re.Pattern[bytes]]) -> int:
        """How many of the last bytes may be the beginning of a secret."""
        end = raw[-LONGEST:]
        block = _KEY_BLOCK.search(end)
        begun = max(
            len(end) - len(end.rstrip(_IN_TOKENS)),
            len(block[0]) if block else 0,
            _wrapped(end),
            *(_begun(form, end) for form, _ in self._written),
            0,
        )
        return len(raw) - self._gap(raw, len(raw) - begun, shapes)

    def _gap(self, raw: bytes, place: int, shapes: Sequence[re.Pattern[bytes]]) -> int:
        """The last position before that one where no secret would be cut in two."""
        for form, _ in self._written:
            found = raw.find(form, max(0, place - len(form) + 1), place + len(form) - 1)
            place = found if 0 <= found < place else place
        first = max(0, place - 2 * LONGEST)
        for spelling, _ in self._respelled(raw[first:]):
            spans = [found.span() for found in spelling.finditer(raw, first)]
            place = min([place, *(begin for begin, end in spans if begin < place < end)])
        for shape in shapes:
            spans = [found.span() for found in shape.finditer(raw, first)]
            place = min([place, *(begin for begin, end in spans if begin < place < end)])
        return place


def reinsert(text: str, variables: Mapping[str, str]) -> str:
    """The text with the values of secret variables put back; a name without a value stays."""

    def value(found: re.Match[str]) -> str:
        return variables.get(found[1], found[0]) if SECRET_NAME.search(found[1]) else found[0]

    return _REFERENCE.sub(value, text)


class Strainer:
    """Passes output on without its secrets, even those that arrive in two pieces."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._held = b""

    def take(self, chunk: bytes) -> bytes:
        """What can be passed on now."""
        ready, self._held = self._secrets.strain(self._held + chunk)
        return ready

    def close(self) -> bytes:
        """What was still held back."""
        last, self._held = self._held, b""
        return self._secrets.redact_bytes(last)


def _shapes_in(raw: bytes) -> list[re.Pattern[bytes]]:
    """The kinds of tokens that the bytes may hold.

    Nearly all output has none, so this is the usual cost; for prefixes as short as these, `rfind`
    takes a third to two thirds of the time of `in`.
    """
    return [shape for start, shape in SHAPES if raw.rfind(start) >= 0]


def _forms(value: bytes) -> Iterable[bytes]:
    """A secret as it is, in JSON, and in base64 at any alignment; `_respelled` finds the rest."""
    forms = {value, json.encode(value.decode("utf-8", "replace"))[1:-1]}
    for before in range(3):
        whole = b2a_base64(b"\0" * before + value, newline=False)
        first = -(-before * 8 // 6)
        last = (before + len(value)) * 8 // 6
        forms.add(whole[first:last])
    return forms


_ESCAPED = regex(
    rb"\\u([0-9a-fA-F]{4})|%([0-9a-fA-F]{2})|&#([0-9]{1,7});|&#[xX]([0-9a-fA-F]{1,6});|&(amp|lt|gt|quot|apos);"
    rb"|\\([\"\\/])"
)
_BREAKS = regex(rb"(?:\r?\n|\\r|\\n)[ \t]*")
_ENTITIES = {"&": b"amp", "<": b"lt", ">": b"gt", '"': b"quot", "'": b"apos"}
_NAMED = {name: char.encode() for char, name in _ENTITIES.items()}


def _plain(found: re.Match[bytes]) -> bytes:
    """What an escape stands for."""
    if found[2]:
        return bytes([int(found[2], 16)])
    if found[5] or found[6]:
        return _NAMED[found[5]] if found[5] else found[6]
    point = int(found[3]) if found[3] else int(found[1] or found[4], 16)
    return chr(point).encode("utf-8", "surrogatepass") if point <= _LAST_POINT else found[0]


def _escapable(value: bytes) -> re.Pattern[bytes]:
    """The value with each character as it is, or escaped as in JSON, in an address or in HTML."""
    parts = []
    for char in value.decode("utf-8", "surrogateescape"):
        raw, point = char.encode("utf-8", "surrogateescape"), ord(char)
        ways: list[bytes] = [re.escape(raw), b"".join(b"(?i:%%%02x)" % byte for byte in raw)]
        ways += [b"&#0*%d;" % point, b"(?i:&#x0*%x;)" % point, rb"(?i:\\u%04x)" % point]
        ways += [b"&%s;" % _ENTITIES[char]] if char in _ENTITIES else []
        ways += [rb"\\" + re.escape(raw)] if char in '"\\/' else []
        parts.append(b"(?:%s)" % b"|".join(reversed(ways)))
    return re.compile(b"".join(parts))


def _breakable(form: bytes) -> re.Pattern[bytes]:
    """The form with line breaks anywhere in it, as base64 is wrapped."""
    between = b"(?:%s)*" % _BREAKS.pattern
    return re.compile(between.join(re.escape(form[at : at + 1]) for at in range(len(form))))


def _wrapped(end: bytes) -> int:
    """How many of the last bytes are base64 over several lines that may continue."""
    *lines, last = end.split(b"\n")
    if last.strip(b" \t\r").strip(_IN_BASE64):
        return 0
    size = 0
    for line in reversed(lines):
        text = line.strip(b" \t\r")
        if len(text) < _NARROWEST or text.strip(_IN_BASE64):
            break
        size += len(line) + 1
    return size + len(last) if size else 0


def _begun(form: bytes, raw: bytes) -> int:
    """How much of the beginning of the secret is at the end of the bytes."""
    for size in range(min(len(form) - 1, len(raw)), 0, -1):
        if raw.endswith(form[:size]):
            return size
    return 0
