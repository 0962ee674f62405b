"""Whether two texts say the same thing: exactly, after normalizing, or nearly, by a sketch.

Both cost time linear in the text. A sketch is small enough to live in an event, so that laps can be
compared without their whole outputs.
"""

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from heapq import nsmallest
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from untilgreen.regex import regex

SKETCH_SIZE = 256
FEWEST_WORDS = 5
"""A text with fewer words is too short to compare."""

_BOUNDARY = 3  # one word in four ends a chunk
_TO_LOWER_WITHOUT_DIGITS = bytes(
    byte + 32 if 65 <= byte <= 90 else 32 if byte < 128 and not (97 <= byte <= 122) else byte
    for byte in range(256)
)

LONGEST_WORD = 256

_ESCAPES = regex(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")
_NOISE = tuple(
    (regex(pattern), mark)
    for pattern, mark in (
        (r"\d{4}-\d\d-\d\d(?:t\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:z|[+-]\d\d:?\d\d)?)?", "<time>"),
        (r"\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\b", "<time>"),
        (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<id>"),
        (r"\b0x[0-9a-f]+\b", "<id>"),
        (r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b", "<id>"),
        (r"(?:/private)?/(?:tmp|var/folders|var/tmp)/[^'\":,;()\[\]<>]*", "<tmp>"),
        (r"(?:\b[a-z]:)?(?:[\w.+@~-]*[/\\])+(?=[\w.+@~-]+)", ""),
        (r"\b\d+(?:\.\d+)?(?:ns|us|µs|ms|s|sec|secs|seconds?|m|min|minutes?|h)\b", "<time>"),
        (r"\d+(?:[.,]\d+)*", "<n>"),
    )
)
_DIGITS = str.maketrans("", "", "0123456789")
_ANY_DIGIT_AS_0 = bytes(48 if 49 <= byte <= 57 else byte for byte in range(256))
_MOST_WORDS_KEPT = 50_000
_ARTICLES = {"a", "an", "the"}


class _Quiet(dict[str, str]):
    """Words without their noise; texts repeat their words, so each is cleaned once."""

    def __missing__(self, word: str) -> str:
        quiet = word
        if len(word) > LONGEST_WORD:  # patterns may backtrack over a word, so a long one skips them
            quiet = word.translate(_DIGITS)
        elif "0" in word or "/" in word or "\\" in word or not word.isascii():
            for pattern, mark in _NOISE:
                quiet = pattern.sub(mark, quiet)
        if len(self) >= _MOST_WORDS_KEPT:
            self.clear()
        self[word] = quiet
        return quiet


_QUIET = _Quiet()

_FAILURE = (
    r"(?:errors?|fail(?:ed|s|ing|ures?)?|left|remain(?:s|ing)?|missing|differ(?:s|ent|ences?)?"
    r"|warnings?|problems?|issues?|todos?)"
)
_KINDS = tuple(
    (kind, regex(pattern))
    for kind, pattern in (
        ("number", r"[(\[*\"']*0{1,7}[)\]*\"']*"),
        ("ended", r"[(\[*\"']*0{1,7}[)\]*\"']*[.,;]?"),
        ("place", r"\W*(?:lines?|col(?:umn)?|row|char|port|pid|code|status|id|seed|version)\W*"),
        ("turn", r"\W*(?:lap|step|attempt|try|iteration|round)\W*"),
        ("pair", rf"\W*(?:{_FAILURE}[:=]0{{1,7}}|0{{1,7}}[-_]?{_FAILURE})\W*"),
        ("share", r"\W*(?:0{1,7}/0{1,7}|0{1,7}(?:\.0+)?%)\W*"),
        ("named", rf"\W*{_FAILURE}\W*[:=]\W*"),
        ("failure", rf"\W*{_FAILURE}\W*"),
        ("percent", r"%\W*"),
    )
)
_COUNTED_BEHIND = regex(r"fail|failures|errors|left|remaining|missing|warnings|problems|issues|todos")
"""Words that a count may follow directly; "error 404" and "failed 3 times" are something else."""
_REACH = 3
"""The most words from a count to what it counts, as in "7 type errors" or "3 tests are failing"."""


class _Kind(dict[str, str]):
    """The part that a word can play in a count: the number itself, or the word for a failure beside it."""

    def __missing__(self, word: str) -> str:
        fits = (kind for kind, pattern in _KINDS if len(word) <= LONGEST_WORD and pattern.fullmatch(word))
        kind = next(fits, "")
        if len(self) >= _MOST_WORDS_KEPT:
            self.clear()
        self[word] = kind
        return kind


_KIND = _Kind()


class Count(NamedTuple):
    """A number that says how much still fails, and the words around it."""

    words: str
    number: float
    falls: bool
    """Whether lower is better; False for a share such as 2/7 or 71 %, where that is unknown."""


def normalize(text: str) -> str:
    """The text without what changes from run to run: numbers, times, directories, ids, colors."""
    return " ".join(filter(None, map(_QUIET.__getitem__, _without_digits(_lower(text)).split())))


def fingerprint(text: str) -> str:
    """Equal for texts that differ only in noise; empty for a text that says nothing.

    How much still fails is not noise: "7 errors left" and "6 errors left" differ.
    """
    alike, written = _words(text)
    return _digest(alike, written, _counted(alike))


def output_fingerprint(text: str) -> str:
    """The same for an output that names no finding: numbers that are not times, places or ids count, too."""
    alike, written = _words(text)
    return _digest(alike, written, [*_counted(alike), *_plain(alike)])


def _digest(alike: list[str], written: list[str], kept: Iterable[int]) -> str:
    quiet = list(map(_QUIET.__getitem__, alike))
    for place in kept:
        quiet[place] = written[place].strip(_AROUND)
    said = " ".join(filter(None, quiet))
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() if said else ""


def counts(text: str) -> list[Count]:
    """The numbers in a text that say how much still fails."""
    alike, written = _words(text)
    found = []
    for place, kind in _counted(alike).items():
        number = float(_NUMBER.findall(written[place])[0])
        around = [*alike[max(0, place - 2) : place], kind, *map(_singular, alike[place + 1 : place + 4])]
        found.append(Count(_ZEROS.sub("#", " ".join(around)), number, kind != "share"))
    return found


def _singular(word: str) -> str:
    """So that "2 tests are failing" counts the same thing as "1 test is failing"."""
    return "is" if word == "are" else word if word.endswith(("ss", "is")) else word.removesuffix("s")


_AROUND = "()[]{}<>,;:.!*\"'`"
_NUMBER = regex(r"\d+(?:\.\d+)?")
_MARK = regex(r"[^\w\s]")
_ZEROS = regex(r"0+")
_UNIT = regex(
    r"\W*(?:ns|us|µs|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?|b|bytes?|[kmg]i?b|characters|lines?)\W*"
)
_LOCATED = regex(r"[\w)\]]:0|[a-z_#@]0|0-0|^0+:|/0|0/|seed=0")
"""A number in a name or a place: `auth.ts:45`, `utf8`, `#12`, `45-52`, `/proc/12/fd`, `45:` before a line;
and a seed, which a runner draws for each run."""
_QUOTED = regex(r"[^'\"`]*0['\"`]\W*")
"""The end of a quotation that began earlier, as in "near 'LIMIT 3 OFFSET 2'": an echo, not a measurement."""


def _words(text: str) -> tuple[list[str], list[str]]:
    """The words with every digit as 0, so that words that differ in numbers share a cache, and as written."""
    text = _lower(text)
    return _without_digits(text).split(), text.split()


def _lower(text: str) -> str:
    return (_ESCAPES.sub("", text) if "\x1b" in text else text).lower()


def _without_digits(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").translate(_ANY_DIGIT_AS_0).decode("utf-8", "surrogatepass")


def _counted(words: list[str]) -> dict[int, str]:
    """The places of numbers that say how much still fails, with what kind of count each is."""
    kinds = list(map(_KIND.__getitem__, words))
    found: dict[int, str] = {}
    for place, kind in enumerate(kinds):
        if not kind:
            continue
        if kind in ("share", "pair"):
            found[place] = kind
        elif kind == "percent":
            if place and kinds[place - 1] == "number":
                found[place - 1] = "share"
        elif kind == "named" and kinds[place + 1 : place + 2] in (["number"], ["ended"]):
            found[place + 1] = "number"
        elif kind in ("named", "failure") and words[place : place + 2] != ["left", "out"]:
            if (each := _before(words, kinds, place)) is None:
                each = _behind(words, kinds, place)
            if each is not None and (each == 0 or kinds[each - 1] not in ("place", "turn")):
                found[each] = "number"
    return found


def _before(words: list[str], kinds: list[str], place: int) -> int | None:
    """The number before a word for failure, as in "7 type errors"; of "3 of 7 tests failed", the 3."""
    near = [each for each in range(max(0, place - _REACH), place) if kinds[each] == "number"]
    if not near:
        return None
    part = near[-1] - (3 if words[max(0, near[-1] - 2) : near[-1]] == ["out", "of"] else 2)
    return part if part >= 0 and words[near[-1] - 1] == "of" and kinds[part] == "number" else near[-1]


def _behind(words: list[str], kinds: list[str], place: int) -> int | None:
    """The number after a word for failure, as in "errors = 3" or "# fail 3"."""
    if words[place + 1 : place + 2] in (["="], [":"]):
        each = place + 2
    elif _COUNTED_BEHIND.fullmatch(words[place]):
        each = place + 1
    else:
        return None
    fits = kinds[each : each + 1] in (["number"], ["ended"]) and not _measured(words, each)
    return each if fits else None


def plain_numbers(text: str) -> tuple[str, ...]:
    """The numbers in a text that are not times, places or ids, in their order."""
    alike, written = _words(text)
    return tuple(number for place in _plain(alike) for number in _NUMBER.findall(written[place]))


def _plain(words: list[str]) -> list[int]:
    """The places of numbers that are not times, places or ids."""
    return [
        place
        for place, word in enumerate(words)
        if "0" in word
        and "<n>" in _QUIET[word]
        and not _LOCATED.search(word)
        and not _QUOTED.fullmatch(word)
        and not (place and _KIND[words[place - 1]] == "place")
        and not _measured(words, place)
    ]


def _measured(words: list[str], place: int) -> bool:
    """Whether a number is a time or a size: "3 seconds", "12 MB", "257 more lines"."""
    behind = words[place + 1 : place + 3]
    return any(map(_UNIT.fullmatch, behind[1:] if behind[:1] == ["more"] else behind[:1]))


def jaccard(one: str, other: str) -> float:
    """The share of two texts' distinct words that are in both; 0 if either has none."""
    mine, yours = (set(text.lower().split()) - _ARTICLES for text in (one, other))
    return len(mine & yours) / len(mine | yours) if mine and yours else 0.0


def marks_alike(one: str, other: str) -> float:
    """The share of the punctuation and operators of two texts that both have; 1 if neither has any."""
    mine, yours = Counter(_MARK.findall(one)), Counter(_MARK.findall(other))
    every = mine.total() + yours.total()
    return 2 * (mine & yours).total() / every if every else 1.0


def sketch(text: str) -> tuple[int, ...]:
    """The smallest hashes of the text's chunks; empty if the text is too short to compare.

    Chunks end at words picked by their own hash, so a change moves no chunk but its own.
    """
    words = text.encode("utf-8", "surrogatepass").translate(_TO_LOWER_WITHOUT_DIGITS).split()
    if len(words) < FEWEST_WORDS:
        return ()
    ends = [place for place, word in enumerate(map(crc32, words), 1) if not word & _BOUNDARY]
    if not ends or ends[-1] < len(words):
        ends.append(len(words))
    chunks = {crc32(b" ".join(words[start:end])) for start, end in pairwise([0, *ends])}
    return tuple(nsmallest(SKETCH_SIZE, chunks))


def similarity(one: tuple[int, ...], other: tuple[int, ...]) -> float | None:
    """How much of two sketched texts is the same, from 0 to 1; None if either says too little.

    Dice's coefficient of the chunks, estimated from the smallest hashes of the union.
    """
    if not one or not other:
        return None
    union = nsmallest(SKETCH_SIZE, set(one) | set(other))
    shared = len(set(one) & set(other) & set(union))
    overlap = shared / len(union)
    return 2 * overlap / (1 + overlap)
