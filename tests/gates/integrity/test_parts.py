"""The parts of the integrity gate, one by one."""

import json
import os
from pathlib import Path

import pytest

from untilgreen.gates.integrity import comparison
from untilgreen.gates.integrity.explanations import explain, find_renamed
from untilgreen.gates.integrity.protected.executed_files import files_run_by
from untilgreen.gates.integrity.protected.followed_files import files_named_in
from untilgreen.gates.integrity.protected.loaded_files import files_loaded_by, patterns_of_tests
from untilgreen.gates.integrity.protected.mixed_files import swap
from untilgreen.gates.integrity.protected.protection import Protection, Role, matches
from untilgreen.gates.integrity.protected.rust_inline_tests import swap_inline

# files that commands run


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("./run_tests.sh", {"run_tests.sh"}),
        ("bash scripts/check.sh --all", {"scripts/check.sh"}),
        ("CI=1 env python3 tools/check.py", {"tools/check.py"}),
        ("timeout 60 ./a.sh && sh b.sh; sh -c './c.sh'", {"a.sh", "b.sh", "c.sh"}),
        ("cd web && node --test checks/a.js", {"checks/a.js", "web/checks/a.js"}),
        ("uv run pytest -q checks/sums.py::test_one", {"checks/sums.py"}),
        ("pytest -p tools.quiet", {"tools/quiet.py", "tools/quiet/__init__.py"}),
        ("python -m checks.all", {"checks/all.py", "checks/all/__main__.py"}),
        ("node -r ./setup.js --test test/", {"setup.js", "test"}),
        ("just test", {"justfile", "Justfile", ".justfile"}),
        ("task test", {"Taskfile.yml", "Taskfile.yaml"}),
        ("rake test", {"Rakefile"}),
        ("make test", {"Makefile", "makefile", "GNUmakefile"}),
        ("make -f build.mk test", {"Makefile", "makefile", "GNUmakefile", "build.mk"}),
        ("bash -euo pipefail x.sh", {"x.sh"}),
        ("python -W error x.py", {"x.py"}),
        ("nice -n 5 ./x.sh", {"x.sh"}),
        ("env -u HOME A=1 timeout -k 5 60 sh a.sh", {"a.sh"}),
        ("bash -euc './c.sh'", {"c.sh"}),
        ("x=$(./y.sh) && echo `./z.sh`", {"y.sh", "z.sh"}),
        ("npm test --prefix web", {"web/package.json"}),
        ("make -C sub all", {"sub/Makefile", "sub/makefile", "sub/GNUmakefile"}),
        ("if ./a.sh; then sudo -u me ./b.sh; fi", {"a.sh", "b.sh"}),
        ("echo 'unfinished", set()),
        ("cargo test", set()),
    ],
)
def test_what_a_command_executes_is_known(command: str, files: set[str]) -> None:
    assert files_run_by(command) == files


def test_a_command_is_read_from_where_it_runs() -> None:
    assert files_run_by("./test.sh", "web") == {"web/test.sh"}


# protected files


NAMED_AS_TESTS = (
    *("tests.py", "a.test.js", "a-test.js", "src/ATest.java", "tests/a", "test/a", "spec/a", "specs/a"),
    *("__snapshots__/a", "fixtures/a"),
)
NAMED_AS_TOOLS = (
    *("pytest.ini", "tox.ini", "noxfile.py", ".coveragerc", "ruff.toml", ".flake8", "vitest.config.ts"),
    *("vite.config.ts", ".mocharc.yml", "karma.conf.js", "playwright.config.ts", "cypress.config.ts"),
    *("eslint.config.js", ".eslintrc.json", "biome.json", "tsconfig.test.json", ".npmrc", ".cargo/config"),
    *("clippy.toml", ".golangci.yml", "phpunit.xml", ".rspec"),
    *("a.pth", "a.egg-info/PKG-INFO", "pytest.py"),
)


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("test_a.py", "test"),
        ("src/a_test.go", "test"),
        ("web/a.spec.ts", "test"),
        ("pkg/testdata/golden.json", "test"),
        ("a/__tests__/b.js", "test"),
        ("sub/conftest.py", "tool"),
        ("web/jest.config.mjs", "tool"),
        ("sitecustomize.py", "tool"),
        ("argparse.py", "tool"),
        ("x.dist-info/entry_points.txt", "tool"),
        ("src/__mocks__/fs.js", "tool"),
        ("ci/run.sh", "script"),
        ("golden/a.json", "test"),
        ("src/app.py", None),
        ("lib/argparse.py", "tool"),
        ("contest.py", None),
        ("src/tests.rs", "test"),
        ("Tests/adding.py", "test"),
        ("test.js", "test"),
        ("t/basic.t", "test"),
        (".nycrc", "tool"),
        ("babel.config.js", "tool"),
        (".ruff.toml", "tool"),
        ("mypy.ini", "tool"),
        *((path, "test") for path in NAMED_AS_TESTS),
        *((path, "tool") for path in NAMED_AS_TOOLS),
    ],
)
def test_each_path_has_its_role(path: str, role: Role | None) -> None:
    assert Protection(protect=["golden/*.json"], scripts={"ci/run.sh"}).role(path) == role


def test_what_is_let_through_has_no_role() -> None:
    protection = Protection(allow=["tests/golden/"], allowed=["test_a.py", "./web"], below="app/")

    assert protection.role("app/tests/golden/a.txt") is None
    assert protection.role("tests/golden/a.txt") is None
    assert protection.role("app/test_a.py") is None
    assert protection.role("web/a.spec.ts") is None
    assert protection.role("webs/a.spec.ts") == "test"


@pytest.mark.parametrize(
    ("path", "pattern", "matched"),
    [
        ("a/tests/b.py", "tests/", True),
        ("tests.py", "tests/", False),
        ("a/b.spec.js", "*.spec.*", True),
        ("a/b", "a/b", True),
        ("a/b/c", "a/b", True),
        ("x/a/b", "a/b", False),
        ("a/b", "./a/b", True),
    ],
)
def test_patterns(path: str, pattern: str, matched: bool) -> None:
    assert matches(path, pattern) is matched


# parts of files


def test_only_the_tools_part_of_a_file_is_put_back() -> None:
    old = b"[project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-q'\n[tool.poetry]\nname = 'a'\n"
    new = old.replace(b"'a'", b"'b'").replace(b"-q", b"-k none")

    swapped = swap("pyproject.toml", old, new)

    assert swapped is not None
    assert swapped.keys == ("tool.pytest",)
    assert swapped.content is not None
    assert b'"-q"' in swapped.content
    assert b'name = "b"' in swapped.content
    assert swap("pyproject.toml", old, old.replace(b"'a'", b"'b'")) is None


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        ({"scripts": {"test": "jest"}}, {"scripts": {"test": "true"}}, ("scripts.test",)),
        ({"scripts": {"test": "jest"}}, {"scripts": {"test": "jest", "build": "tsc"}}, None),
        (
            {"scripts": {"test": "jest"}},
            {"scripts": {"test": "jest", "pretest": "exit 0"}},
            ("scripts.pretest",),
        ),
        ({"name": "a"}, {"name": "a", "jest": {"testMatch": []}}, ("jest",)),
        ({"name": "a", "jest": {}}, {"name": "a"}, ("jest",)),
        ({"dependencies": {}}, {"dependencies": {"a": "1"}}, None),
    ],
)
def test_packages_of_node(old: object, new: object, keys: tuple[str, ...] | None) -> None:
    swapped = swap("package.json", json.dumps(old).encode(), json.dumps(new).encode())

    assert (swapped.keys if swapped else None) == keys
    if swapped is not None:
        assert swapped.content is not None
        again = swap("package.json", json.dumps(old).encode(), swapped.content)
        assert again is None


@pytest.mark.parametrize("broken", [b"{", b"\xff", b"[" * 100_000])
def test_a_file_that_can_not_be_divided_is_put_back_as_a_whole(broken: bytes) -> None:
    swapped = swap("package.json", b"{}", broken)

    assert swapped is not None
    assert (swapped.keys, swapped.content) == (("the whole file",), None)


# files that configuration loads


@pytest.mark.parametrize(
    ("path", "text", "files"),
    [
        (
            "conftest.py",
            'pytest_plugins = ["tools.quiet", "quiet"]\n',
            {"tools/quiet.py", "quiet/__init__.py"},
        ),
        ("conftest.py", 'pytest_plugins: list[str] = [\n    "tools.quiet",\n]\n', {"tools/quiet.py"}),
        ("web/package.json", '{"main": "i.js", "jest": {"setupFiles": ["<rootDir>/s.js"]}}', {"web/s.js"}),
        ("vitest.config.ts", "test: { globalSetup: './web/s', include: ['a.ts'] }", {"web/s.js"}),
        ("jest.config.js", "reporters: ['./web/s.js']", {"web/s.js"}),
        (".mocharc.yml", "require:\n  - ./hooks\n  - ts-node/register\n", {"hooks.js"}),
        ("pytest.ini", "[pytest]\naddopts = -ra -p quiet\n", {"quiet/__init__.py"}),
        ("pytest.ini", "[pytest]\ntestpaths = quiet\n", set()),
    ],
)
def test_what_configuration_has_loaded_is_known(path: str, text: str, files: set[str]) -> None:
    known = ["tools/quiet.py", "quiet/__init__.py", "web/s.js", "hooks.js", "a.ts", "i.js", "web/i.js"]

    assert files_loaded_by(path, text, known) == files


# test modules inside Rust code

RUST = "fn one() -> char { '{' }\n\n#[cfg(test)]\nmod tests {\n    // }\n    const A: &str = r#\"}\"#;\n}\n"


def test_a_test_module_of_rust_is_found_whatever_is_in_it() -> None:
    changed = RUST.replace("'{'", "'}'").replace("// }", "// none")

    swapped = swap_inline(RUST.encode(), changed.encode())

    assert swapped is not None
    assert swapped.keys == ("mod tests",)
    assert swapped.content == RUST.replace("'{'", "'}'").encode()


def test_a_test_module_that_is_gone_comes_back_and_a_new_one_stays() -> None:
    other = "fn one() {}\n#[cfg(test)]\nmod more { }\n"

    swapped = swap_inline(RUST.encode(), other.encode())

    assert swapped is not None
    assert swapped.content is not None
    assert b"mod more { }" in swapped.content
    assert b"mod tests {" in swapped.content


@pytest.mark.parametrize("text", ["fn one() {}\n", "#[cfg(test)]\nmod tests {\n", "mod tests { }\n"])
def test_a_file_without_whole_test_modules_has_nothing_to_put_back(text: str) -> None:
    assert swap_inline(text.encode(), b"fn two() {}\n") is None
    assert swap_inline(None, RUST.encode()) is None


# explanations


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("def test_a():\n    assert x == 1\n", "", "t.py was emptied. Removed or renamed tests: test_a."),
        ("def test_a(): pass\n", "def test_b(): pass\n", "tests: test_a; new tests: test_b"),
        ("it('adds', f)\n", "it.skip('adds', f)\n", "skipped: `it.skip('adds', f)`"),
        ("assert x == 1\n", "assert x\n", "loosened: was `assert x == 1`, now `assert x`"),
        ("expect(a).toBe(1)\n", "a\n", "assertions removed: was `expect(a).toBe(1)`"),
        ("x = 1\n", "x = 1\nimport os; os._exit(0)\n", "ends the process itself"),
        ("x = 1\n", "x = 2\n", "was `x = 1`, now `x = 2`"),
        ("#[test]\nfn adds() {}\n", "fn adds() {}\n", "tests: adds"),
    ],
)
def test_a_change_is_explained_in_words(old: str, new: str, words: str) -> None:
    assert words in explain("t.py", "modified", old, new)


def test_removed_new_and_hidden_files_are_told_apart() -> None:
    assert explain("t.py", "deleted", "def test_a(): pass", "", moved_to="u.py").startswith(
        "t.py was removed: renamed to u.py. Removed or renamed tests: test_a"
    )
    assert explain("c.py", "added", "", "os._exit(0)").startswith(
        "c.py is new and can change what the tools do. It ends the process itself"
    )
    assert "hidden by a changed .gitignore" in explain("c.py", "hidden", "", "x")


def test_a_renamed_file_is_found_by_its_text() -> None:
    old = "\n".join(f"line {number}" for number in range(20))

    assert find_renamed(old, [("a", "other"), ("b", f"{old}\nmore")]) == "b"
    assert find_renamed(old, [("a", "other")]) == ""


def test_a_command_of_any_length_is_searched_for_its_scripts_in_time() -> None:
    assert "check.sh" in files_run_by(f"sh check.sh\n{'a' * 500_000}")


@pytest.mark.parametrize("piece", [" " * 40 + "\n", "#[test", "#[test]\n"])
def test_a_file_of_nothing_but_beginnings_is_explained_in_time(piece: str) -> None:
    assert explain("t.py", "modified", piece * (500_000 // len(piece)), "assert a\n").startswith("t.py")


@pytest.mark.timeout(30)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_hidden_file_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "conftest.py").symlink_to("pipe")

    assert comparison._on_disk(tmp_path, "conftest.py") == ""


# files that other files lead to


@pytest.mark.parametrize(
    ("path", "text", "files"),
    [
        ("Makefile", "test:\n\t@./a.sh\n\t-sh b.sh\n", {"a.sh", "b.sh"}),
        ("Makefile", "include rules/test.mk\n", {"rules/test.mk"}),
        (
            "Makefile",
            "PY = python3\ntest: ; $(PY) c.py\n\t$(MAKE) -C sub\n",
            {"c.py", "sub/Makefile", "sub/makefile", "sub/GNUmakefile"},
        ),
        (
            "web/package.json",
            '{"scripts": {"test": "node run.js && ./all.sh"}}',
            {"web/run.js", "web/all.sh"},
        ),
        ("package.json", "{", set()),
        ("ci/check.py", "import os\nfrom rules import strict\n", {"ci/os.py", "ci/os/__init__.py"}),
        ("check.py", "from calc import add\nimport check_rules\n", {"check_rules.py"}),
        ("ci/run.js", "const a = require('./rules')\n", {"ci/rules.js"}),
        ("check.sh", "sh a.sh\n. ./b.sh\nif ./c.sh; then exec ./d\nfi\n", {"a.sh", "b.sh", "c.sh", "d"}),
        ("check.sh", "# don't stop\n./a.sh # it's short\n./b.sh\n", {"a.sh", "b.sh"}),
        ("ci/all.sh", 'HERE=$(cd "$(dirname "$0")" && pwd)\n"$HERE/a.sh"\n', {"ci/a.sh"}),
        ("ci/all.sh", 'sh "$(dirname "$0")"/a.sh && "${HERE}/b.sh"\n', {"ci/a.sh", "ci/b.sh"}),
    ],
)
def test_what_a_file_of_a_gate_leads_to_is_known(path: str, text: str, files: set[str]) -> None:
    assert files <= files_named_in(path, text, "")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("check.py", "from calc import add\n"),
        ("check.sh", 'test "$(python3 calc.py 1 2)" = 3\n'),
        ("check.sh", 'test "$(python3 calc.py "$(cat one)" $((1 + 1)))" = 3\n'),
        ("ci/check.sh", "test `python3 calc.py 1 2` = 3\n"),
    ],
)
def test_the_program_that_a_check_runs_is_not_part_of_the_check(path: str, text: str) -> None:
    assert "calc.py" not in files_named_in(path, text, "")


@pytest.mark.parametrize(
    ("path", "text", "patterns"),
    [
        ("pytest.ini", "[pytest]\npython_files = check_*.py probe_*.py\n", {"check_*.py", "probe_*.py"}),
        ("pyproject.toml", '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\n', {"check_*.py"}),
        (
            "jest.config.js",
            'module.exports = {testMatch: ["**/verify/**/*.{js,ts}"]}',
            {"verify/*.js", "verify/*.ts", "*/verify/*.js", "*/verify/*.ts"},
        ),
        (".mocharc.json", '{"spec": ["probes/**/*.js"]}', {"probes/*.js"}),
        (
            "jest.config.js",
            "{testMatch: ['**/checks/**/*.[jt]s?(x)', '<rootDir>/?(*.)+(check|probe).js'], x: 1}",
            {
                *("checks/*.[jt]s", "checks/*.[jt]sx", "*/checks/*.[jt]s", "*/checks/*.[jt]sx"),
                *("check.js", "probe.js", "*.check.js", "*.probe.js"),
            },
        ),
        (".mocharc.yml", "spec: probes/**/*.js\n", {"probes/*.js"}),
        ("cypress.config.js", "{e2e: {specPattern: 'e2e/**/*.{js,ts}'}}", {"e2e/*.js", "e2e/*.ts"}),
    ],
)
def test_patterns_of_tests_come_from_the_tools_configuration(
    path: str, text: str, patterns: set[str]
) -> None:
    assert set(patterns_of_tests(path, text)) == patterns


def test_a_module_in_a_package_shadows_nothing_and_an_old_file_is_just_work() -> None:
    protection = Protection(files={"lib/__init__.py", "queue.py"})

    assert protection.role("lib/argparse.py") is None
    assert protection.role("queue.py") is None
    assert protection.role("src/typing.py") == "tool"
    assert protection.role("src/pluggy/__init__.py") == "tool"
    assert protection.role("src/iniconfig/__init__.py") == "tool"
    assert protection.role("pluggy.py") == "tool"


def test_where_only_some_files_may_be_edited_every_other_file_is_fixed() -> None:
    protection = Protection(editable=["src/**"], allow=["docs/"])

    assert protection.role("src/calc.py") is None
    assert protection.role("docs/a.md") is None
    assert protection.role("README.md") == "fixed"
