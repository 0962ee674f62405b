"""tsc, eslint, ruff, mypy, gcc and clang: places, rules, and what is worse than a warning."""

import json

import pytest

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult


def read(tool: str, text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == tool
    return seen


def ids(tool: str, text: str) -> list[str]:
    return [each.id for each in read(tool, text).findings]


TSC = "src/till.ts({line},13): error TS7006: Parameter 'y' implicitly has an 'any' type.\n"
ESLINT = (
    "\n"
    "/home/me/till.js\n"
    "  {line}:7   error    'a' is never used  no-unused-vars\n"
    "\n"
    "✖ 1 problem (1 error, 0 warnings)\n"
)
RUFF = (
    "till.py:{line}:8: F401 [*] `os` imported but unused\n"
    "Found 1 error.\n"
    "[*] 1 fixable with the `--fix` option.\n"
)
RUFF_FULL = (
    "F401 [*] `os` imported but unused\n"
    " --> till.py:{line}:8\n"
    "  |\n"
    "1 | import os\n"
    "  |        ^^\n"
    "\n"
    "Found 1 error.\n"
)
MYPY = (
    'till.py:{line}: error: Name "y" is not defined  [name-defined]\n'
    "Found 1 error in 1 file (checked 1 source file)\n"
)
GCC = "till.c: In function 'main':\ntill.c:{line}:24: error: 'y' undeclared (first use in this function)\n"


@pytest.mark.parametrize(
    ("tool", "text", "name"),
    [
        ("tsc", TSC, "src/till.ts: TS7006 parameter 'y' implicitly has an 'any' type."),
        ("eslint", ESLINT, "/home/me/till.js: no-unused-vars 'a' is never used"),
        ("ruff", RUFF, "till.py: F401 `os` imported but unused"),
        ("ruff", RUFF_FULL, "till.py: F401 `os` imported but unused"),
        ("mypy", MYPY, 'till.py: error: name "y" is not defined [name-defined]'),
        ("gcc", GCC, "till.c: error: 'y' undeclared (first use in this function)"),
    ],
)
def test_a_finding_is_known_by_file_and_words_and_not_by_its_line(tool: str, text: str, name: str) -> None:
    assert ids(tool, text.format(line=3)) == ids(tool, text.format(line=40)) == [name]
    assert read(tool, text.format(line=40)).findings[0].line == 40


def test_pretty_tsc_says_the_same() -> None:
    pretty = (
        "\x1b[96msrc/till.ts\x1b[0m:\x1b[93m3\x1b[0m:\x1b[93m13\x1b[0m"
        " - \x1b[91merror\x1b[0m\x1b[90m TS7006: \x1b[0m"
    )

    said = f"{pretty}Parameter 'y' implicitly has an 'any' type.\n\n3 f(y)\n"

    assert ids("tsc", said) == ids("tsc", TSC.format(line=3))


def test_warnings_of_eslint_are_findings_only_where_there_is_no_error() -> None:
    warning = "till.js\n  1:2  warning  Missing semicolon  semi\n"
    error = "door.js\n  4:1  error  Parsing error: Unexpected token =\n"

    assert ids("eslint", warning) == ["till.js: semi missing semicolon"]
    assert ids("eslint", f"{warning}\n{error}") == ["door.js: parsing error: unexpected token ="]


def test_eslint_that_can_not_begin_says_why() -> None:
    seen = read(
        "eslint", "Oops! Something went wrong! :(\n\nESLint: 9.1.0\n\nError: no config file\n    at x\n"
    )

    assert [(each.id, each.message) for each in seen.findings] == [
        ("eslint: crashed", "Error: no config file")
    ]


def eslint_json(line: int, severity: int) -> str:
    message = {"ruleId": "no-undef", "severity": severity, "message": "'y' is not defined.", "line": line}
    padding = "x" * 9_000  # longer than any line that is read
    return json.dumps([{"filePath": "/home/me/till.js", "messages": [message], "source": padding}])


def test_eslint_in_json_is_read_whole_and_with_words_around_it() -> None:
    text = f"> shop@1.0.0 lint\n> eslint -f json\n\n{eslint_json(3, 2)}\nnpm error code 1\n"

    assert (
        ids("eslint", text)
        == ids("eslint", eslint_json(9, 1))
        == ["/home/me/till.js: no-undef 'y' is not defined."]
    )


def test_ruff_in_json_says_the_same_as_in_lines() -> None:
    row = {
        "code": "F401",
        "filename": "till.py",
        "location": {"column": 8, "row": 3},
        "message": "`os` imported but unused",
        "noqa_row": 3,
    }

    assert ids("ruff", json.dumps([row], indent=2)) == ids("ruff", RUFF.format(line=3))
    assert read("ruff", json.dumps([row], indent=2)).findings[0].line == 3


@pytest.mark.parametrize(
    "text", ['[{"filePath": 3, "messages": []}]', '[{"noqa_row": "filename"', "[" * 100_000]
)
def test_json_of_another_shape_is_not_recognized(text: str) -> None:
    assert recognize(text) is None


def test_files_that_ruff_would_format_are_findings() -> None:
    assert ids(
        "ruff", "Would reformat: till.py\n1 file would be reformatted, 3 files already formatted\n"
    ) == ["till.py: would be reformatted"]


def test_flake8_is_not_mistaken_for_ruff() -> None:
    seen = recognize("till.py:3:8: F401 'os' imported but unused\n")

    assert seen is not None
    assert seen.tool == "lines"


def test_notes_of_mypy_are_not_errors() -> None:
    note = 'till.py:3: note: Revealed type is "int"\n'

    assert ids("mypy", note + MYPY.format(line=4)) == ids("mypy", MYPY.format(line=4))


def test_what_the_linker_misses_is_known_by_its_name() -> None:
    def told(object_file: str, address: str) -> str:
        return (
            f"/usr/bin/ld: /tmp/{object_file}.o: in function `main':\n"
            f"till.c:(.text+{address}): undefined reference to `gone'\n"
            "collect2: error: ld returned 1 exit status\n"
        )

    assert (
        ids("gcc", told("cc2uyO3Y", "0x5"))
        == ids("gcc", told("ccAAAAA1", "0x99"))
        == ["undefined reference to `gone'"]
    )


def test_warnings_of_the_compiler_are_findings_only_where_there_is_no_error() -> None:
    warning = "till.c:3:21: warning: unused variable 'u' [-Wunused-variable]\n"

    assert ids("gcc", warning) == ["till.c: warning: unused variable 'u' [-wunused-variable]"]
    assert ids("gcc", warning + GCC.format(line=3)) == ids("gcc", GCC.format(line=3))
