"""The shape of the code: small files, short functions, a pure core, no paths of a developer's machine."""

import ast
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "untilgreen"

LONGEST_MODULE = 400
LONGEST_FUNCTION = 60
LONGEST_RUNNER = 150

PURE = {
    "__future__",
    "binascii",
    "collections",
    "collections.abc",
    "dataclasses",
    "enum",
    "fnmatch",
    "functools",
    "hashlib",
    "heapq",
    "itertools",
    "math",
    "msgspec",
    "operator",
    "re",
    "shlex",
    "statistics",
    "string",
    "textwrap",
    "types",
    "typing",
    "untilgreen.core",
    "untilgreen.errors",
    "untilgreen.regex",
    "zlib",
}

# Built from pieces, so that this file does not find itself.
BRITISH = re.compile(
    b"|".join(
        begin + rest
        for begin, rest in (
            (rb"(?i)\b(?:un)?recogni", rb"s"),
            (rb"normali", rb"s"),
            (rb"summari", rb"s"),
            (rb"behav", rb"iour"),
            (rb"col", rb"our"),
            (rb"neighb", rb"our"),
            (rb"hon", rb"our"),
            (rb"lear", rb"nt\b"),
            (rb"catalog", rb"ue"),
            (rb"artef", rb"act"),
            (rb"judg", rb"ement"),
        )
    )
)
TRACES = [b"/".join(pieces) for pieces in ([b"", b"work", b""], [b"..", b"shared"], [b"shared", b"data"])]


def modules(folder: Path = PACKAGE) -> Iterator[tuple[str, ast.Module]]:
    """Every module in the folder, with its path from the root."""
    found = sorted(folder.rglob("*.py"))
    assert found, f"There is no module in {folder}, so this test would prove nothing."
    for path in found:
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_bytes(), filename=str(path))


def length(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def imported(path: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that the tree imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, absolute(path, node)


def absolute(path: str, node: ast.ImportFrom) -> str:
    """The full name of an imported module: one dot is the importing file's folder, two its parent."""
    above = Path(path).relative_to("src").parts[: -node.level] if node.level else ()
    return ".".join([*above, node.module] if node.module else above)


def is_pure(name: str) -> bool:
    return name in PURE or name.startswith(("untilgreen.core.", "msgspec."))


def test_no_module_is_too_long_to_read_in_one_sitting() -> None:
    lengths = {path: length(ROOT / path) for path, _ in modules()}

    assert {path: lines for path, lines in lengths.items() if lines > LONGEST_MODULE} == {}


def test_no_function_is_longer_than_a_screen() -> None:
    lengths = {
        f"{path}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FUNCTION} == {}


def test_the_loop_does_not_grow() -> None:
    assert length(PACKAGE / "engine" / "loop" / "runner.py") <= LONGEST_RUNNER


def test_no_pattern_is_compiled_before_it_is_used() -> None:
    """A verb imports many modules and uses few of their patterns, so `untilgreen.regex` compiles lazily."""
    eager = [
        f"{path}:{node.lineno}"
        for path, tree in modules()
        for statement in tree.body
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "re.compile"
    ]

    assert eager == []


def test_every_module_says_what_it_is_for() -> None:
    assert [path for path, tree in modules() if not ast.get_docstring(tree)] == []


def test_the_map_of_every_package_lists_what_is_in_it() -> None:
    wrong = {
        package.relative_to(PACKAGE).as_posix(): listed ^ held
        for package in sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
        if (listed := set(mapped(package))) != (held := set(contents(package)))
    }

    assert wrong == {}


def mapped(package: Path) -> list[str]:
    """The names in the map of a package: the lines of its docstring that read `name  what it is for`."""
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_bytes())) or ""
    return [line.split()[0] for line in docstring.splitlines() if re.match(r"\S+ {2,}\S", line)]


def contents(package: Path) -> list[str]:
    modules = [path.stem for path in package.glob("*.py") if path.name != "__init__.py"]
    return modules + [f"{path.parent.name}/" for path in package.glob("*/__init__.py")]


def test_every_path_on_the_architecture_page_exists() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", page))
    places = [PACKAGE, ROOT]

    assert len(named) > 40
    assert {path for path in named if not any((place / path).exists() for place in places)} == set()


def test_the_core_imports_nothing_that_touches_the_world() -> None:
    impure = [
        f"{path}:{line} {name}"
        for path, tree in modules(PACKAGE / "core")
        for line, name in imported(path, tree)
        if not is_pure(name)
    ]

    assert impure == []


def test_every_task_has_a_parent() -> None:
    """Tasks are started with `start_soon` or `start`, in a task group that awaits them."""
    loose = [
        f"{path}:{node.lineno}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr == "create_task")
        or (isinstance(node, ast.ImportFrom) and any(alias.name == "create_task" for alias in node.names))
    ]

    assert loose == []


def tracked() -> Iterator[tuple[str, bytes]]:
    """Every file that git tracks: its path from the root and its content."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("only a git checkout knows which files are tracked")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    names = [name.decode() for name in listed.split(b"\0") if name]
    yield from ((name, (ROOT / name).read_bytes()) for name in names if (ROOT / name).is_file())


def test_one_spelling_is_used_throughout() -> None:
    """American spelling, as in git, uv and ruff; vendored and quoted files stay as they are."""
    ours = (".py", ".md", ".js", ".css", ".html", ".toml", ".sql")
    found = [
        f"{name}: {word.group().decode()}"
        for name, content in tracked()
        if name.endswith(ours) and "/vendor/" not in name and not name.startswith("tests/seeds/")
        for word in BRITISH.finditer(content)
    ]

    assert found == []


def test_no_file_mentions_the_machine_it_was_written_on() -> None:
    assert {
        f"{name}: {trace.decode()}" for name, content in tracked() for trace in TRACES if trace in content
    } == set()
