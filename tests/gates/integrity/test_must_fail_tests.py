"""A test that must fail does so in each language, and passes only if an assertion is disarmed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from untilgreen.gates.integrity.must_fail_tests import with_canary, with_canary_inside

NODE = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
PERL = pytest.mark.skipif(shutil.which("prove") is None, reason="needs perl")
CC = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


def passes(command: list[str], place: Path) -> bool:
    return subprocess.run(command, cwd=place, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    "disarmed",
    ["", *(f"unittest.TestCase.{name} = lambda *words: None" for name in ("assertTrue", "assertIn", "fail"))],
)
def test_python(tmp_path: Path, disarmed: str) -> None:
    test = with_canary("test_a.py", f"import unittest\n{disarmed}\n")
    (tmp_path / "test_a.py").write_text(test)

    assert passes([sys.executable, "-m", "unittest", "-q"], tmp_path) is bool(disarmed)


@pytest.mark.parametrize("disarmed", ["", "pytest.raises = lambda *kinds: contextlib.nullcontext()"])
def test_pytest(tmp_path: Path, disarmed: str) -> None:
    test = with_canary("test_a.py", f"import contextlib\nimport pytest\n{disarmed}\n")
    (tmp_path / "test_a.py").write_text(test)
    alone = ["-p", "no:randomly", "-p", "no:inline_snapshot", "-p", "no:xdist", "-p", "no:cacheprovider"]

    assert passes([sys.executable, "-m", "pytest", "-q", *alone], tmp_path) is bool(disarmed)


@NODE
@pytest.mark.parametrize("disarmed", ["", "assert.deepEqual = () => {}", "assert.ok = () => {}"])
def test_node(tmp_path: Path, disarmed: str) -> None:
    text = f"const test = require('node:test')\nconst assert = require('node:assert')\n{disarmed}\n"
    (tmp_path / "a.test.js").write_text(with_canary("a.test.js", text))

    assert passes(["node", "--test", "a.test.js"], tmp_path) is bool(disarmed)


@PERL
@pytest.mark.parametrize("plan", ["tests => 2", "'no_plan'", ""])
@pytest.mark.parametrize(
    "misled",
    [
        "",
        "*main::like = sub {};",
        "*Test::Builder::ok = sub { 1 };",
        'print "1..2\\nok 1\\nok 2\\n"; exit 0;',
    ],
)
def test_perl(tmp_path: Path, plan: str, misled: str) -> None:
    if "exit" in misled and plan:
        misled = 'print "ok 1\\nok 2\\n"; require POSIX; $| = 1; print ""; POSIX::_exit(0);'
        misled = 'print "1..2\\n";' + misled if "no_plan" in plan else misled
    loads = f"use strict;\nuse Test::More {plan};\nno warnings;\n"
    done = "" if plan else "done_testing();\n"
    text = f"{loads}{misled}\nis(1, 1, 'one');\nok(1);\n{done}__END__\nok 3\n"
    (tmp_path / "a.t").write_text(with_canary("a.t", text))

    assert passes(["prove", "a.t"], tmp_path) is bool(misled)


def test_a_perl_test_that_loads_no_test_module_gets_no_must_fail_test() -> None:
    assert with_canary("a.t", 'print "1..1\\nok 1\\n";\n') == ""


@CC
@pytest.mark.parametrize("flag", ["-g", "-DNDEBUG"])
def test_c(tmp_path: Path, flag: str) -> None:
    text = "#include <assert.h>\nint main(void) { assert(1 == 1); return 0; }\n"
    (tmp_path / "a_test.c").write_text(with_canary("a_test.c", text))
    assert passes(["cc", flag, "-o", "a_test", "a_test.c"], tmp_path)

    assert passes(["./a_test"], tmp_path) is (flag == "-DNDEBUG")


def test_rust_gets_the_must_fail_test_among_its_own_tests() -> None:
    text = with_canary_inside("lib.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n")

    assert text.startswith("fn a() {}\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n#[test]")
    assert text.endswith("}\n}\n")
    assert with_canary_inside("lib.rs", "fn a() {}\n") == ""
    assert with_canary_inside("a.py", "") == ""
    assert with_canary("notes.txt", "words") == ""
