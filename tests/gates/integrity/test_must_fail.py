"""A test that must fail does so in each language, and passes where an assertion is disarmed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from untilgreen.gates.integrity.must_fail import with_canary, with_canary_inside

NODE = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
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


@CC
@pytest.mark.parametrize("flag", ["-g", "-DNDEBUG"])
def test_c(tmp_path: Path, flag: str) -> None:
    text = "#include <assert.h>\nint main(void) { assert(1 == 1); return 0; }\n"
    (tmp_path / "a_test.c").write_text(with_canary("a_test.c", text))
    assert passes(["cc", flag, "-o", "a_test", "a_test.c"], tmp_path)

    assert passes(["./a_test"], tmp_path) is (flag == "-DNDEBUG")


def test_rust_gets_it_among_its_own_tests() -> None:
    text = with_canary_inside("lib.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n")

    assert text.startswith("fn a() {}\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n#[test]")
    assert text.endswith("}\n}\n")
    assert with_canary_inside("lib.rs", "fn a() {}\n") == ""
    assert with_canary_inside("a.py", "") == ""
    assert with_canary("notes.txt", "words") == ""
