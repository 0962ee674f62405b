"""Which files are tests, and which can change what a test runner or another tool does."""

from __future__ import annotations

TESTS = (
    *("test_*", "*_test.*", "*.test.*", "*.spec.*", "*_spec.*"),
    *("tests/", "test/", "__tests__/", "spec/", "__snapshots__/", "testdata/"),
)
CONFIGURATION = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "noxfile.py"),
    *(".coveragerc", "ruff.toml", ".ruff.toml", "mypy.ini", ".mypy.ini", ".flake8", ".pylintrc", "pylintrc"),
    *("pyrightconfig.json", ".pre-commit-config.yaml"),
    *("jest.config.*", "vitest.config.*", "vitest.workspace.*", "vite.config.*", ".mocharc*", "karma.conf.*"),
    *(
        "playwright.config.*",
        "cypress.config.*",
        "ava.config.*",
        ".taprc",
        ".npmrc",
        ".yarnrc*",
        "bunfig.toml",
    ),
    *(".eslintrc*", "eslint.config.*", ".eslintignore", "biome.json*", "tsconfig*.json"),
    *(".golangci.*", "clippy.toml", ".clippy.toml", ".cargo/", ".config/nextest.toml"),
    *("phpunit.xml*", ".rspec", "phpstan.neon*"),
)
PLUGINS = (
    *("sitecustomize.py", "usercustomize.py", "*.pth", "*.egg-info/", "*.dist-info/"),
    *("pytest.py", "pytest/", "_pytest/", "unittest.py", "unittest/", "pluggy/", "py.py"),
    "__mocks__/",
)
"""What Python, pytest or jest loads without being asked, or in place of themselves."""
CACHES = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".eslintcache", ".git"}
)
"""Ignored files that a copy does without: they would say what was true elsewhere."""

INTERPRETERS = (
    r"(?:sh|bash|dash|ksh|zsh|fish|source|\.|python[\d.]*|pypy[\d.]*|node|deno|bun|tsx|ts-node|ruby|perl|php|lua|"
    r"Rscript)"
)
RUNNERS = r"(?:pytest|py\.test|unittest|jest|vitest|mocha|ava|tap|rspec|phpunit|bats)"
WRAPPERS = frozenset(
    {
        "env",
        "time",
        "exec",
        "nice",
        "nohup",
        "command",
        "sudo",
        "xvfb-run",
        "npx",
        "pnpx",
        "bunx",
        "!",
        "then",
    }
    | {"do", "if", "else", "while", "{", "("}
)
RUN_BY = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "gmake": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile",),
}
"""Tools that read a file which no command names."""
