"""The single lines that pytest prints, each read by its structure alone."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.regex import regex

_LONGEST_BAR = 1_000
_TOOK = regex(r"\d+\.\d\d ?s(?:econds)?(?: \([\d:, days]{4,40}\))?$")
_COUNT = regex(r"(\d{1,9})(?:/\d{1,9})? ([a-z][a-z ]{0,40}?)(?: \(\d{1,9} deselected\))?$")
_ONE = {"errors": "error", "test collected": "tests collected"}
_KNOWN = frozenset(
    {"passed", "failed", "error", "skipped", "xfailed", "xpassed", "deselected", "tests collected", "rerun"}
    | {"warning", "warnings", "subtests passed"}
)
_COLLECTED = regex(r"(?:collecting \.\.\. ?)?collected (\d{1,9}) items?(?: / |$)")
_SELECTED = regex(r" / (\d{1,9}) selected$")
_WORKERS = regex(r"\d{1,5} workers? \[(\d{1,9}) items?\]$|gw\d{1,5} \[(\d{1,9})\](?: / |$)")
_BY_WORKER = regex(r"\[gw\d{1,5}\] (?:\[ *\d{1,3}%\] )?")
_PERCENT = regex(r"\[ *\d{1,9}(?:%|/\d{1,9})\]$")
_OUTCOME = regex(r"(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN|SUBPASSED|SUBFAILED|SUBSKIPPED)\b")
_ERROR_IN = regex(r"^ERROR (?:at (?:setup|teardown) of|collecting) ")
_BEFORE_A_NUMBER = ("collect", "gw")
_WORDS = ("FAILED ", "ERROR ", "SUBFAILED", "SUBFAIL ")


class NamedFailure(Struct, frozen=True, kw_only=True):
    """One test and what became of it; no word while it is still running."""

    test: str
    word: str = ""
    message: str = ""
    part: str = ""
    """Which subtest it is, if it is one."""


class Counts(Struct, frozen=True, kw_only=True):
    """The last line of a session."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    listed: int = 0
    """Tests that were only listed, not run."""

    @property
    def empty(self) -> bool:
        """Whether nothing ran, nothing failed, and nothing was left out on purpose."""
        return not (self.passed or self.failed or self.skipped or self.listed)


def bar_title(line: str) -> str | None:
    """The words in a line of equals signs."""
    if len(line) > _LONGEST_BAR or not (line.startswith("=") and line.endswith("=")):
        return None
    inner = line.strip("=")
    return inner.strip() if inner.startswith(" ") and inner.endswith(" ") else None


def block_title(line: str) -> str | None:
    """The words in a line of underscores: the test that the next lines explain."""
    if not (line.startswith("_") and line.endswith("_")):
        return None
    inner = line.strip("_")
    title = inner.strip()
    if not (inner.startswith(" ") and inner.endswith(" ")) or not title.strip("_ "):
        return None
    return _ERROR_IN.sub("", title)


def counts_of(text: str) -> Counts | None:
    """`3 failed, 91 passed, 2 skipped in 18.64s`, or None for anything else."""
    if not text.endswith(("s", ")")):
        return None
    said, _, took = text.rpartition(" in ")
    if len(text) > _LONGEST_BAR or not _TOOK.match(took):
        return None
    if said in ("no tests ran", "no tests collected"):
        return Counts()
    counted: dict[str, int] = {}
    for part in said.removeprefix("no tests collected, ").split(", "):
        match = _COUNT.match(part)
        if match is None:
            return None
        counted[_ONE.get(match[2], match[2])] = int(match[1])
    if not counted.keys() & _KNOWN:
        return None
    return Counts(
        passed=counted.get("passed", 0) + counted.get("xpassed", 0),
        failed=counted.get("failed", 0) + counted.get("error", 0),
        skipped=counted.get("skipped", 0) + counted.get("xfailed", 0),
        listed=counted.get("tests collected", 0),
    )


def collected(line: str) -> int | None:
    """How many tests the session is about to run."""
    if not line.startswith(_BEFORE_A_NUMBER) and not line[0].isdigit():
        return None
    if match := _COLLECTED.match(line):
        selected = _SELECTED.search(line[-40:])
        return int(selected[1] if selected else match[1])
    if match := _WORKERS.match(line):
        return int(match[1] or match[2])
    return None


def summarized(line: str, *, strict: bool) -> NamedFailure | None:
    """A line of the short test summary; outside it (`strict`) only a line that can be nothing else."""
    if line.startswith("[") and " SUBFAIL " in line:  # as the older plugin for subtests prints it
        part, _, rest = line.partition(" SUBFAIL ")
        line = f"SUBFAILED{part} {rest}"
    if not line.startswith(_WORDS):
        return None
    word = next(word for word in _WORDS if line.startswith(word))
    rest, part = line[len(word) :], ""
    if word == "SUBFAILED":
        begin = rest.rfind(" ", 0, max(rest.find("::"), 0)) + 1
        part, rest = rest[:begin].strip(), rest[begin:]
    test, message = split_message(rest)
    certain = ".py::" in test if strict else "::" in test or _is_path(test)
    return NamedFailure(test=test, word=word.strip(), message=message, part=part) if certain else None


def split_message(rest: str) -> tuple[str, str]:
    """Test and message, where the test's parameters may hold a dash themselves."""
    bracket, dash = rest.find("["), rest.find(" - ")
    if 0 <= bracket < dash:
        close = rest.find("] - ", bracket)
        if close >= 0:
            return rest[: close + 1], rest[close + 4 :]
        if rest.endswith("]"):
            return rest, ""
    test, _, message = rest.partition(" - ")
    return test, message


def outcome_of(line: str) -> NamedFailure | None:
    """A line of verbose progress: `test_a.py::test_x FAILED [ 25%]`, or `[gw0] [ 25%] FAILED …`."""
    if "::" not in line:
        return None
    worker = _BY_WORKER.match(line)
    if worker:
        line = line[worker.end() :]
        if match := _OUTCOME.match(line):
            begin = line.rfind(" ", 0, line.find("::")) + 1
            return NamedFailure(test=line[begin:], word=match[1], part=line[match.end() : begin].strip())
        return None
    file, _, rest = line.partition("::")
    if not file.endswith(".py") or " " in file:
        return None
    line = _without_percent(line)
    for match in _OUTCOME.finditer(line, len(file)):
        part = line[match.end() :]
        if line[match.start() - 1] == " " and (not part or part.startswith((" (", "["))):
            return NamedFailure(test=line[: match.start()].rstrip(), word=match[1], part=part.strip())
    return NamedFailure(test=line if "[" in rest else line.partition(" ")[0])


def _without_percent(line: str) -> str:
    begin = line.rfind("[")
    return line[:begin].rstrip() if begin > 0 and _PERCENT.match(line, begin) else line


def _is_path(text: str) -> bool:
    return bool(text) and " " not in text and ("/" in text or "." in text)
