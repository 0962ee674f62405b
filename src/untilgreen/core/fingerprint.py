"""Telling whether two texts say the same: exactly after normalising, or nearly by a sketch.

Both cost time linear in the text. A sketch is small enough to live in an event, so that laps can be
compared without their whole outputs.
"""

import re
from hashlib import blake2b
from heapq import nsmallest
from itertools import pairwise
from zlib import crc32

SKETCH_SIZE = 256
FEWEST_WORDS = 5
"""Below that many words a text says too little to be called similar to another."""

_BOUNDARY = 3  # one word in four ends a chunk
_TO_LOWER_WITHOUT_DIGITS = bytes(
    byte + 32 if 65 <= byte <= 90 else 32 if byte < 128 and not (97 <= byte <= 122) else byte
    for byte in range(256)
)

LONGEST_WORD = 256

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")
_NOISE = tuple(
    (re.compile(pattern), mark)
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


class _Quiet(dict[str, str]):
    """Words without their noise; texts repeat their words, so each is looked at once."""

    def __missing__(self, word: str) -> str:
        quiet = word
        if len(word) > LONGEST_WORD:  # patterns may look back and forth over a word, so a long one gets none
            quiet = word.translate(_DIGITS)
        elif "0" in word or "/" in word or "\\" in word or not word.isascii():
            for pattern, mark in _NOISE:
                quiet = pattern.sub(mark, quiet)
        if len(self) >= _MOST_WORDS_KEPT:
            self.clear()
        self[word] = quiet
        return quiet


_QUIET = _Quiet()


def normalise(text: str) -> str:
    """The text without what changes from run to run: numbers, times, directories, ids, colours."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    # Any digit is as good as another here; as one digit, words that differ in numbers are looked at once.
    digits = text.lower().encode("utf-8", "surrogatepass").translate(_ANY_DIGIT_AS_0)
    words = digits.decode("utf-8", "surrogatepass").split()
    return " ".join(filter(None, map(_QUIET.__getitem__, words)))


def fingerprint(text: str) -> str:
    """Equal for texts that differ only in noise; empty for a text that says nothing."""
    said = normalise(text)
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() if said else ""


def sketch(text: str) -> tuple[int, ...]:
    """The smallest hashes of the text's chunks; empty where the text is too short to compare.

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
    """How much of two sketched texts is the same, from 0 to 1; None where either says too little.

    Dice's coefficient of the chunks, estimated from the smallest hashes of the union.
    """
    if not one or not other:
        return None
    union = nsmallest(SKETCH_SIZE, set(one) | set(other))
    shared = len(set(one) & set(other) & set(union))
    overlap = shared / len(union)
    return 2 * overlap / (1 + overlap)
