"""Product code that checks whether it is being tested, and could give right answers only then.

In the copy that gates run in again, the text that a new line compares with is replaced by one that never
matches: code that is right in itself stays green, and code that is right only in a test does not.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise

from untilgreen.gates.integrity.protected.mixed_files import Swap
from untilgreen.regex import regex

_NONE = "untilgreen-none"
_NAME = "NO_SUCH_VARIABLE"
_VARIABLES = (
    r"(?:CI|CONTINUOUS_INTEGRATION|GITHUB_ACTIONS|GITLAB_CI|BUILD_NUMBER|npm_lifecycle_\w+|UNTILGREEN\w*|"
    r"(?:PYTEST|JEST|VITEST|MOCHA|HARNESS|NODE_TEST|RUST_TEST|TEST_WORKER|CTEST|TOX|NOX)(?:_\w+)?)"
)
"""Variables that a test runner, or a service that runs tests, sets."""
_GLOBALS = r"(?:jest|describe|it|test|expect|vi|suite|beforeEach)"
_LITERAL = regex(r"(?P<quote>[\"'`/])(?P<text>(?:\\.|(?!(?P=quote))[^\\\n]){1,200})(?P=quote)")
_VARIABLE = regex(_VARIABLES)
_RUNNER = regex(
    r"py\.?test|unittest|\bnose|jest|vitest|mocha|jasmine|rspec|phpunit|minitest|conftest|\btest\.v\b|HARNESS_|"
    r"(?:\\?\.|_|-)(?:test|spec|t)\b|\b__tests__\b|\btest_\w"
)
"""Names of test modules, test programs and test files."""
_INSPECTS = regex(
    r"\bmodules\b|_getframe|currentframe|inspect\.|\bf_back\b|co_filename|\bextract_stack|\.stack\b|get_objects|"
    r"captureStackTrace|require\.(?:main|cache)|module\.(?:parent|constructor)|runtime\.Caller|find_spec|\bcaller\b"
)
"""Ways to find out who the caller is; the name of a test may then be on another line."""
_STARTED = regex(
    r"argv|execArgv|os\.Args|flag\.Lookup|current_exe|env::args|program_invocation|/proc/|\$0\b|__progname|"
    r"thread::current"
)
"""Ways to find out how the process was started; they count if the same line names a runner."""
_READS_VARIABLES = regex(r"env", re.I)
"""os.environ, getenv, process.env, env::var, ENV: without it, "CI" may be a country."""
_MODES = regex(r"\b(?:NODE|APP|RAILS|RACK|MIX|FLASK|DJANGO)_ENV\b|import\.meta\.env")
_MODE = frozenset({"test", "testing"})
_SPELLINGS = (
    (regex(rf"\benv\.{_VARIABLES}\b"), f"env.{_NAME}"),
    (regex(rf"\bENV\{{\s{{0,4}}{_VARIABLES}\s{{0,4}}\}}"), f"ENV{{{_NAME}}}"),
    (regex(rf"\btypeof\s{{1,4}}{_GLOBALS}\b"), "typeof untilgreen_none"),
    (regex(rf"\bglobal(?:This)?\.{_GLOBALS}\b"), "globalThis.untilgreen_none"),
    (regex(r"\btesting\.Testing\(\)"), "(testing.Testing() && false)"),
    (regex(r"\bcfg!\(test\)"), "cfg!(any())"),
)
"""Checks that need no text in quotes, and what replaces them."""
_IN_SHELL = regex(rf"(\$\{{?){_VARIABLES}\b")
_FOR_TESTS, _FOR_OTHERS = regex(r"#\[cfg\(test\)\]"), regex(r"\bcfg\(not\(test\)\)")
_MODULE = regex(r"\bmod\s{1,4}\w+")
_WORD = regex(r"[\w-]{4,}")
_CODE = regex(
    r".*\.(?:py|[cm]?[jt]s|[jt]sx|go|rs|rb|php|p[lm]|c|cc|cpp|h|hpp|java|kt|cs|sh|bash|lua|exs?)", re.S
)


def may_check(path: str) -> bool:
    """Whether it is code of a known language."""
    return _CODE.fullmatch(path) is not None


def swap_runner_checks(
    path: str, names: Collection[str], original: bytes | None, current: bytes | None
) -> Swap | None:
    """The file as it is now, blind to test runners and to tests of these names; None if it already is."""
    if current is None:
        return None
    before = set((original or b"").decode(errors="surrogateescape").splitlines())
    lines = current.decode(errors="surrogateescape").splitlines(keepends=True)
    new = [line for line in lines if line.rstrip("\r\n") not in before]
    looks = any(_INSPECTS.search(line) for line in new)
    reads = any(_READS_VARIABLES.search(line) for line in new)
    two_ways = any(_FOR_OTHERS.search(line) for line in new)
    shell = path.endswith((".sh", ".bash"))
    found, blinded = [], []
    for line, following in pairwise([*lines, ""]):
        bare = line
        if line.rstrip("\r\n") not in before:
            bare = _blinded(line, names, looks=looks, reads=reads, shell=shell)
        bare = _one_way(bare, following) if two_ways else bare
        if bare != line:
            found.append(line.strip()[:80])
        blinded.append(bare)
    if not found:
        return None
    content = "".join(blinded).encode(errors="surrogateescape")
    return Swap(tuple(dict.fromkeys(found)), content, only_new=original is None)


def _blinded(line: str, names: Collection[str], *, looks: bool, reads: bool, shell: bool) -> str:
    looks = looks or _STARTED.search(line) is not None
    mode = _MODES.search(line) is not None

    def is_a_check(text: str) -> bool:
        if (reads and _VARIABLE.fullmatch(text)) or (mode and text in _MODE):
            return True
        return looks and bool(_RUNNER.search(text) or any(word in names for word in _WORD.findall(text)))

    for pattern, instead in _SPELLINGS:
        line = pattern.sub(instead, line)
    line = _IN_SHELL.sub(rf"\g<1>{_NAME}", line) if shell else line
    return _LITERAL.sub(
        lambda use: f"{use['quote']}{_NONE}{use['quote']}" if is_a_check(use["text"]) else use[0], line
    )


def _one_way(line: str, following: str) -> str:
    """A line of Rust that differs under `cfg(test)`, as it is elsewhere; modules of tests stay."""
    if not _MODULE.search(line) and not _MODULE.match(following.strip()):
        line = _FOR_TESTS.sub("#[cfg(any())]", line)
    return _FOR_OTHERS.sub("cfg(all())", line)
