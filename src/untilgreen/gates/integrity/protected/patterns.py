"""Which files are tests, and which can change what a test runner or another tool does."""

from __future__ import annotations

TESTS = (
    *(
        "test_*",
        "*_test.*",
        "*.test.*",
        "*.spec.*",
        "*_spec.*",
        "*_tests.*",
        "*-test.*",
        "*-spec.*",
        "test-*",
    ),
    *("tests.*", "test.py", "test.js", "test.mjs", "test.cjs", "test.ts", "test.rb", "test.sh", "*.bats"),
    *(
        "*Test.java",
        "*Tests.java",
        "*Test.kt",
        "*Test.php",
        "*Tests.cs",
        "*Test.cs",
        "*Tests.swift",
        "*.snap",
    ),
    *("tests/", "test/", "__tests__/", "spec/", "specs/", "__snapshots__/", "testdata/", "Tests/", "Test/"),
    *("__fixtures__/", "fixtures/", "test_*/", "*_tests/", "e2e/", "*.golden", "*/t/*.t", "t/*.t"),
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
    *("babel.config.*", ".babelrc*", ".swcrc", ".nycrc*", "nyc.config.*", ".c8rc*", "jest.setup.*"),
    *("vitest.setup.*", "setupTests.*", "wallaby.*", ".stylelintrc*", ".prettierrc*", "xo.config.*"),
    *("pytype.cfg", ".pycodestyle", ".pydocstyle*", ".bandit", "bandit.yaml", ".yamllint*"),
    *(".golangci.*", "clippy.toml", ".clippy.toml", ".cargo/", ".config/nextest.toml"),
    *("phpunit.xml*", ".rspec", ".rubocop.yml", "phpstan.neon*", "psalm.xml*", "CTestConfig.cmake"),
    *("CTestCustom.*", ".proverc", "tap.config.*", ".env.test", "go.work", ".cargo/config*"),
    *(
        ".env",
        ".env.local",
        ".envrc",
        ".python-version",
        ".tool-versions",
        "mise.toml",
        ".mise.toml",
        ".nvmrc",
    ),
    *(".node-version", ".ruby-version", ".java-version", "rust-toolchain", "rust-toolchain.toml", "uv.toml"),
    *("nx.json", "turbo.json", "lerna.json", ".pnpmfile.cjs", ".pnp.*", "deno.json*", ".oxlintrc.json"),
    *(".bazelrc", ".bundle/", ".mvn/", "gradle.properties", "*.runsettings", "Directory.Build.*", "ty.toml"),
    *("pyrefly.toml", ".importlinter", "pip.conf", ".coveragerc.toml"),
)
PLUGINS = (
    *("sitecustomize.py", "usercustomize.py", "*.pth", "*.egg-info/", "*.dist-info/"),
    *("pytest.py", "pytest/", "_pytest/", "unittest.py", "unittest/", "pluggy/", "py.py"),
    "__mocks__/",
)
"""What Python, pytest or jest loads by itself, or in place of its own modules."""
RUNNER_MODULES = frozenset(
    {
        "pytest",
        "_pytest",
        "pluggy",
        "iniconfig",
        "packaging",
        "exceptiongroup",
        "tomli",
        "colorama",
        "py",
        "attr",
    }
    | {
        "coverage",
        "pytest_cov",
        "hypothesis",
        "xdist",
        "anyio",
        "pytest_asyncio",
        "mock",
        "nose2",
        "mypy",
        "ruff",
    }
    | {"typing_extensions", "pygments", "execnet", "tox", "nox", "unittest"}
)
"""Modules of test runners and of what they load: a new file of that name would be imported in their place."""
USER_SETTINGS = (
    *(".config/go/env", ".cargo/config", ".cargo/config.toml", ".npmrc", ".proverc", ".rspec", ".bazelrc"),
    *(".gradle/gradle.properties", ".gradle/init.gradle*", ".gradle/init.d/*", ".m2/settings.xml"),
    *(".local/lib/python*/site-packages/*.pth", ".local/lib/python*/site-packages/usercustomize.py"),
)
"""Files below the home directory that change how tools run tests in every workspace."""
CACHES = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".eslintcache", ".git"}
)
"""Ignored files that a copy leaves out: caches describe another directory."""

INTERPRETERS = (
    r"(?:sh|bash|dash|ksh|zsh|fish|source|\.|python[\d.]*|pypy[\d.]*|node|deno|bun|tsx|ts-node|ruby|perl|php|lua|"
    r"Rscript)"
)
RUNNERS = r"(?:pytest|py\.test|unittest|jest|vitest|mocha|ava|tap|tape|rspec|phpunit|bats|prove|nose2|trial)"
RUN_BY = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "gmake": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile",),
}
"""Tools that read a file by default, and the names that it may have."""
