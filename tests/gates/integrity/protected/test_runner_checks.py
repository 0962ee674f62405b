"""Code that looks for a test runner finds none in the copy, and other code stays as it is."""

import pytest

from untilgreen.gates.integrity.protected.runner_checks import may_check, swap_runner_checks

NAMES = frozenset({"test_calc", "test_two_numbers"})


@pytest.mark.parametrize(
    ("path", "line", "blinded"),
    [
        ("a.py", "if 'pytest' in sys.modules:", "if 'untilgreen-none' in sys.modules:"),
        ("a.py", 'os.environ.get("PYTEST_CURRENT_TEST")', 'os.environ.get("untilgreen-none")'),
        ("a.py", "os.getenv('CI')", "os.getenv('untilgreen-none')"),
        ("a.py", "sys.argv[0].endswith('pytest')", "sys.argv[0].endswith('untilgreen-none')"),
        ("a.py", "sys.modules['test_calc']", "sys.modules['untilgreen-none']"),
        ("a.js", "process.env.JEST_WORKER_ID", "process.env.NO_SUCH_VARIABLE"),
        ("a.js", "process.env.NODE_ENV === 'test'", "process.env.NODE_ENV === 'untilgreen-none'"),
        ("a.ts", "typeof describe === 'function'", "typeof untilgreen_none === 'function'"),
        ("a.js", "globalThis.expect", "globalThis.untilgreen_none"),
        (
            "a.js",
            'require.main.filename.endsWith(".test.js")',
            'require.main.filename.endsWith("untilgreen-none")',
        ),
        ("a.go", "testing.Testing()", "(testing.Testing() && false)"),
        (
            "a.go",
            'strings.HasSuffix(os.Args[0], ".test")',
            'strings.HasSuffix(os.Args[0], "untilgreen-none")',
        ),
        ("a.rs", "if cfg!(test) {", "if cfg!(any()) {"),
        ("a.pl", "$ENV{HARNESS_ACTIVE}", "$ENV{NO_SUCH_VARIABLE}"),
        (
            "a.sh",
            '[ -n "${CI:-}" ] || [ "$CI" ]',
            '[ -n "${NO_SUCH_VARIABLE:-}" ] || [ "$NO_SUCH_VARIABLE" ]',
        ),
    ],
)
def test_a_new_check_finds_nothing(path: str, line: str, blinded: str) -> None:
    swapped = swap_runner_checks(path, NAMES, b"one\n", f"one\n{line}\r\ntwo".encode())

    assert may_check(path)
    assert swapped is not None
    assert swapped.content == f"one\n{blinded}\r\ntwo".encode()


def test_what_is_compared_may_be_on_another_line() -> None:
    swapped = swap_runner_checks(
        "a.py", NAMES, None, b"known = sys.modules\nif 'unittest' in known:\n    pass\n"
    )

    assert swapped is not None
    assert swapped.content == b"known = sys.modules\nif 'untilgreen-none' in known:\n    pass\n"
    assert swapped.only_new


def test_rust_code_is_compiled_as_outside_of_tests_and_test_modules_stay() -> None:
    code = b"#[cfg(test)]\nfn a() {}\n#[cfg(not(test))]\nfn a() {}\n#[cfg(test)]\nmod tests {}\n"
    swapped = swap_runner_checks("a.rs", NAMES, b"", code)

    assert swapped is not None
    assert swapped.content == (
        b"#[cfg(any())]\nfn a() {}\n#[cfg(all())]\nfn a() {}\n#[cfg(test)]\nmod tests {}\n"
    )


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "x = 'pytest' in sys.modules\n", "y = 1\nx = 'pytest' in sys.modules\n"),
        ("a.py", "", "COMMANDS = ['pytest', 'unittest']\n"),
        ("a.py", "", "if sys.argv[1] == 'test':\n    serve()\n"),
        ("a.py", "", "level = os.environ.get('LEVEL', 'test_1')\n"),
        ("a.js", "", "const mode = 'test'\nconst cities = ['CIA']\n"),
        ("a.rs", "", "#[cfg(test)]\nuse helper;\n"),
        ("a.js", "", "echo('$CI')\n"),
        ("a.py", "", "COUNTRIES = {'CH': 'Switzerland', 'CI': 'Ivory Coast'}\n"),
    ],
    ids=[
        "there before",
        "a runner to start",
        "a subcommand",
        "another variable",
        "words",
        "for tests",
        "no shell",
        "a country",
    ],
)
def test_other_code_stays_as_it_is(path: str, before: str, after: str) -> None:
    assert swap_runner_checks(path, NAMES, before.encode(), after.encode()) is None


def test_a_file_that_is_gone_looks_for_nothing() -> None:
    assert swap_runner_checks("a.py", NAMES, b"import os\n", None) is None
    assert not may_check("a.txt")
