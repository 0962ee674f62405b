"""gcc and clang: `a.c:3:4: error: message`, and symbols that the linker can't find."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, finding_at, linter_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "gcc"
_PLACE = regex(
    r"(\S.{0,500}?):(\d{1,7})(?::\d{1,7})?: (?:(fatal error|error|warning|sorry, unimplemented): )(\S.*)$"
)
_C_FILE = regex(
    r"\.(?:[chlySsm]|cc|cp|cxx|cpp|CPP|c\+\+|C|hh|hpp|hxx|h\+\+|H|ipp|inl|tcc|tpp|ll|yy|mm|cu|cuh)$"
)
_BARE = regex(
    r"(?:\S{0,200}/)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|cc1|cc1plus)(?:-\d{1,3})?"
    r": (?:fatal )?error: (\S.*)$"
)
_MISSING = regex(r"(undefined reference to [`'\u2018].{1,500}['\u2019]|undefined symbol: \S.{0,500})$")
_MULTIPLE = regex(r"(multiple definition of [`'\u2018][^'\u2019]{1,500}['\u2019])")
_LINKER = regex(r"(?:\S{0,300}/)?(?:ld|ld\.\w{1,10}|ld64\.lld|collect2)(?:\.exe)?: (?:error: )?(\S.*)$")
_LINKER_ENDED = regex(r"(?:error: )?ld returned \d{1,3} exit status$")
_NO_TROUBLE = ("warning:", "NOTE:")
_IN_FUNCTION = regex(r".{0,600}: [Ii]n function ")


def read(lines: Sequence[str]) -> ToolResult | None:
    """What the compiler or the linker says in these lines; None if neither printed them."""
    errors: list[Finding] = []
    warnings: list[Finding] = []
    ends = 0
    for line in lines:
        if ":" not in line:
            continue
        if (place := _PLACE.match(line)) is not None and _C_FILE.search(place[1]):
            found = finding_at(place[1], int(place[2]), f"{place[3]}: {place[4]}")
            (warnings if place[3] == "warning" else errors).append(found)
        elif (missing := _MISSING.search(line[-600:]) or _MULTIPLE.search(line[:2_000])) is not None:
            errors.append(finding_about(missing[1], missing[1]))
        elif (bare := _BARE.match(line)) is not None:
            errors.append(finding_about(bare[1], bare[1]))
        elif (linker := _LINKER.match(line)) is not None:
            ends += 1
            errors += _from_the_linker(linker[1])
    if not (errors or warnings or ends):
        return None
    return linter_result(
        TOOL, errors or ([finding_about("link failed", "The linker failed.")] if ends else []), warnings
    )


def _from_the_linker(said: str) -> list[Finding]:
    """The linker's own messages, without those that only introduce or close others."""
    if said.startswith(_NO_TROUBLE) or _LINKER_ENDED.match(said) or _IN_FUNCTION.match(said):
        return []
    return [finding_about(said, said)]
