"""Which gates a project already has, judged by its files; nothing is run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.config.sources import safe_toml
from untilgreen.regex import regex

LINT, TYPES, TESTS, OTHER = "lint", "types", "tests", "other"
STAGES = {LINT: 1, TYPES: 1, TESTS: 2, OTHER: 2}
"""Cheap checks come first: if a stage fails, later ones are skipped."""
_LARGEST = 1_000_000
_TARGETS = {
    "lint": LINT,
    "typecheck": TYPES,
    "types": TYPES,
    "mypy": TYPES,
    "test": TESTS,
    "check": TESTS,
    "tests": TESTS,  # last: in many makefiles it only builds them
}
_MAKE_TARGETS = regex(r"^([A-Za-z][\w \t.-]*+)::?(?![=:])", re.MULTILINE)
_JUST_RECIPE = regex(r"^@?([A-Za-z][\w-]*+)[^:=\n]*+:(?!=)", re.MULTILINE)
_NO_TESTS = "no test specified"
_LOCKS = {
    "pnpm": ("pnpm-lock.yaml",),
    "yarn": ("yarn.lock",),
    "bun": ("bun.lock", "bun.lockb"),
}
_CTEST = "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure"


class Detected(Struct, frozen=True, kw_only=True):
    """A gate to propose, and the file that suggests it."""

    name: str
    run: str
    role: str
    seen: str
    after: int = 0
    """A stage to use instead of its role's."""

    @property
    def stage(self) -> int:
        """Its place in the order."""
        return self.after or STAGES[self.role]


class Project:
    """The files of a directory that show how it is checked."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def has(self, *names: str) -> str:
        """The first of these files that exists, or an empty string."""
        return next((name for name in names if (self.root / name).is_file()), "")

    def text(self, name: str) -> str:
        """The content of a file; empty if it can't be read or is too large."""
        path = self.root / name
        try:
            if not path.is_file() or path.stat().st_size > _LARGEST:
                return ""
            return path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    @cached_property
    def pyproject(self) -> dict[str, Any]:
        """The table of that name; an unreadable one is empty."""
        try:
            return safe_toml.loads(self.text("pyproject.toml"))
        except (ValueError, RecursionError):
            return {}

    @cached_property
    def package(self) -> dict[str, Any]:
        """package.json, likewise."""
        try:
            found = json.loads(self.text("package.json") or "{}")
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def tool(self, name: str) -> bool:
        """Whether pyproject.toml has a table of that tool."""
        tools = self.pyproject.get("tool", {})
        return isinstance(tools, dict) and name in tools

    def needs(self, package: str) -> bool:
        """Whether any of the usual lists of Python dependencies names the package."""
        words = json.dumps([self.pyproject.get(key, {}) for key in ("project", "dependency-groups")])
        names = ("requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "setup.cfg", "tox.ini")
        text = "\n".join([words, *map(self.text, names)])
        return re.search(rf"(?<![\w-]){re.escape(package)}(?![\w-])", text) is not None

    def python(self, command: str) -> str:
        """A command run in the project's own environment, as far as its files show it."""
        program = command.split(maxsplit=1)[0]
        if self.has("uv.lock"):
            return f"uv run {command}"
        if self.has("poetry.lock"):
            return f"poetry run {command}"
        return f".venv/bin/{command}" if self.has(f".venv/bin/{program}") else command


def detect(root: Path) -> tuple[list[Detected], list[Detected]]:
    """The gates to propose, and other commands that check the same things."""
    project, chosen, others = Project(root), list[Detected](), list[Detected]()
    for look in (_python, _node, _deno, _cargo, _go, _cmake, _jvm, _dotnet, _swift, _bazel):
        chosen += look(project)
    for found in _environments(project):
        (others if any(each.role == TESTS for each in chosen) else chosen).append(found)
    for found in (*_targets(project, "make"), *_targets(project, "just")):
        taken = {each.role for each in chosen}
        (others if found.role in taken else chosen).append(found)
    return _named_apart(chosen), others


def _named_apart(found: list[Detected]) -> list[Detected]:
    """Two tools for the same check get different names."""
    names: dict[str, Detected] = {}
    for each in found:
        name = (
            each.name if each.name not in names else f"{each.name}-{each.run.split()[0].rpartition('/')[2]}"
        )
        names[name] = replace(each, name=name)
    return list(names.values())


def _python(project: Project) -> Iterator[Detected]:
    if project.tool("ruff") or project.has("ruff.toml", ".ruff.toml"):
        seen = project.has("ruff.toml", ".ruff.toml") or "pyproject.toml"
        yield Detected(name="lint", run=project.python("ruff check"), role=LINT, seen=seen)
    if project.tool("mypy") or project.has("mypy.ini", ".mypy.ini") or "[mypy" in project.text("setup.cfg"):
        files = "files" in project.text(project.has("mypy.ini", ".mypy.ini", "setup.cfg")) or (
            project.tool("mypy") and "files" in project.pyproject["tool"]["mypy"]
        )
        seen = project.has("mypy.ini", ".mypy.ini") or (
            "pyproject.toml" if project.tool("mypy") else "setup.cfg"
        )
        run = project.python("mypy" if files else "mypy .")
        yield Detected(name="types", run=run, role=TYPES, seen=seen)
    if seen := _pytest(project):
        yield Detected(name="tests", run=project.python("pytest -q"), role=TESTS, seen=seen)
    elif seen := _test_file(project):
        folder = Path(seen).parent.as_posix()
        found = folder == "." or project.has(f"{folder}/__init__.py")
        run = "python3 -m unittest -q" if found else f"python3 -m unittest discover -q -s {folder}"
        yield Detected(name="tests", run=run, role=TESTS, seen=seen)


def _pytest(project: Project) -> str:
    """What shows that the tests are run with pytest."""
    if found := project.has("pytest.ini", "pytest.toml", "conftest.py", "tests/conftest.py"):
        return found
    if project.tool("pytest") or project.needs("pytest"):
        return project.has(
            "pyproject.toml", "setup.cfg", "tox.ini", "requirements-dev.txt", "requirements.txt"
        )
    test = _test_file(project)
    plain = test and "unittest" not in project.text(test)
    return test if plain else ""


def _test_file(project: Project) -> str:
    for folder in ("", "tests", "test"):
        for path in sorted((project.root / folder).glob("test*.py")):
            return path.relative_to(project.root).as_posix()
    return ""


def _node(project: Project) -> Iterator[Detected]:
    if not project.package:
        return
    scripts = project.package.get("scripts")
    scripts = scripts if isinstance(scripts, dict) else {}
    needs = json.dumps([project.package.get(key, {}) for key in ("dependencies", "devDependencies")])
    tool = next((tool for tool, locks in _LOCKS.items() if project.has(*locks)), "npm")
    test = str(scripts.get("test", ""))
    if "lint" in scripts:
        yield Detected(name="lint", run=f"{tool} run lint", role=LINT, seen="package.json")
    if project.has("tsconfig.json") and '"typescript"' in needs:
        yield Detected(name="types", run="npx tsc --noEmit", role=TYPES, seen="tsconfig.json")
    if re.fullmatch(r"\s*vitest(\s+watch)?\s*", test) or (not test and '"vitest"' in needs):
        # Without `run`, vitest may keep watching for changes.
        yield Detected(name="tests", run="npx vitest run", role=TESTS, seen="package.json")
    elif test and _NO_TESTS not in test:
        # `bun test` is bun's own runner, not the script.
        run = "bun run test" if tool == "bun" else f"{tool} test"
        yield Detected(name="tests", run=run, role=TESTS, seen="package.json")
    elif tool == "bun" and (seen := _bun_test(project)):
        yield Detected(name="tests", run="bun test", role=TESTS, seen=seen)


def _bun_test(project: Project) -> str:
    """A file that `bun test` would run, in one of the usual folders."""
    for folder in ("", "test", "tests", "__tests__", "src"):
        for path in sorted((project.root / folder).glob("*.[jt]s*")):
            if path.stem.endswith((".test", "_test", ".spec", "_spec")):
                return path.relative_to(project.root).as_posix()
    return ""


def _cargo(project: Project) -> Iterator[Detected]:
    if project.has("Cargo.toml"):
        yield Detected(name="tests", run="cargo test", role=TESTS, seen="Cargo.toml")


def _go(project: Project) -> Iterator[Detected]:
    if project.has("go.mod"):
        yield Detected(name="vet", run="go vet ./...", role=LINT, seen="go.mod")
        yield Detected(name="tests", run="go test ./...", role=TESTS, seen="go.mod")


def _environments(project: Project) -> Iterator[Detected]:
    """Runners that install the project first: slower, so only if nothing else runs the tests."""
    if project.has("tox.ini") or project.tool("tox"):
        seen = project.has("tox.ini") or "pyproject.toml"
        yield Detected(name="tests", run="tox", role=TESTS, seen=seen)
    if project.has("noxfile.py"):
        yield Detected(name="tests", run="nox", role=TESTS, seen="noxfile.py")


def _deno(project: Project) -> Iterator[Detected]:
    if seen := project.has("deno.json", "deno.jsonc"):
        yield Detected(name="lint", run="deno lint", role=LINT, seen=seen)
        yield Detected(name="tests", run="deno test", role=TESTS, seen=seen)


def _cmake(project: Project) -> Iterator[Detected]:
    if re.search(r"\b(?:enable_testing|add_test|include\s*\(\s*CTest)\b", project.text("CMakeLists.txt")):
        yield Detected(name="tests", run=_CTEST, role=TESTS, seen="CMakeLists.txt")


def _jvm(project: Project) -> Iterator[Detected]:
    if project.has("pom.xml"):
        run = "./mvnw -B test" if project.has("mvnw") else "mvn -B test"
        yield Detected(name="tests", run=run, role=TESTS, seen="pom.xml")
    if seen := project.has("build.gradle.kts", "build.gradle"):
        run = "./gradlew test" if project.has("gradlew") else "gradle test"
        yield Detected(name="tests", run=run, role=TESTS, seen=seen)


def _dotnet(project: Project) -> Iterator[Detected]:
    found = sorted(path.name for path in project.root.glob("*.sln*"))
    if found:
        yield Detected(name="tests", run="dotnet test", role=TESTS, seen=found[0])


def _swift(project: Project) -> Iterator[Detected]:
    if project.has("Package.swift"):
        yield Detected(name="tests", run="swift test", role=TESTS, seen="Package.swift")


def _bazel(project: Project) -> Iterator[Detected]:
    if seen := project.has("MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel"):
        yield Detected(name="tests", run="bazel test //... --test_output=errors", role=TESTS, seen=seen)


def _make_targets(text: str) -> list[str]:
    return [name for names in _MAKE_TARGETS.findall(text) for name in names.split()]


_FILES: dict[str, tuple[tuple[str, ...], Callable[[str], list[str]]]] = {
    "make": (("GNUmakefile", "makefile", "Makefile"), _make_targets),
    "just": (("justfile", "Justfile", ".justfile"), _JUST_RECIPE.findall),
}


def _targets(project: Project, tool: str) -> Iterator[Detected]:
    """Targets whose name shows what they check, the most usual name of each check first."""
    names, targets_in = _FILES[tool]
    file = project.has(*names)
    targets = set(targets_in(project.text(file))) if file else set()
    for target, role in _TARGETS.items():
        if target in targets:
            yield Detected(name=role, run=f"{tool} {target}", role=role, seen=file)
