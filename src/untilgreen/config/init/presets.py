"""Specs that people ask for by name: a task, and gates that fit the project."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from untilgreen.config.init.detect import LINT, TESTS, TYPES, Detected, Project
from untilgreen.errors import UserError, nearest

COVERAGE = 80
"""Percent of lines that `raise-coverage` asks for at first."""
_LAST = 3
"""The stage after the tests: slow, and useless while they fail."""


class Preset(Struct, frozen=True, kw_only=True):
    """A preset's task, and the gates that show that it is done."""

    about: str
    task: str
    role: str = ""
    """The role of the gates to propose; those of the tests are added, so that nothing breaks."""
    made: Callable[[Project], Detected | None]
    """The gate for a project that has none."""


class Proposal(Struct, frozen=True, kw_only=True):
    """A task and its gates."""

    task: str
    gates: tuple[Detected, ...]


def propose(name: str, root: Path, found: Sequence[Detected]) -> Proposal:
    """The preset's proposal for this project; an error says what the project lacks."""
    preset = PRESETS.get(name)
    if preset is None:
        raise UserError(f"There is no preset {name!r}. {nearest(name, PRESETS)}")
    tests = [gate for gate in found if gate.role == TESTS]
    wanted = [gate for gate in found if preset.role and gate.role == preset.role]
    if not wanted:
        made = preset.made(Project(root))
        if made is None:
            raise UserError(
                f"The preset {name!r} finds nothing to check in {str(root)!r}. "
                f"Write a spec with `untilgreen init` and add a gate of your own."
            )
        wanted = [made]
    gates = list(dict.fromkeys([*wanted, *tests]))
    return Proposal(task=preset.task, gates=tuple(gates))


def _no_tests(project: Project) -> Detected | None:
    return None


def _types(project: Project) -> Detected | None:
    if project.has("tsconfig.json"):
        return Detected(name="types", run="npx tsc --noEmit", role=TYPES, seen="tsconfig.json")
    if seen := _python(project):
        return Detected(name="types", run=project.python("mypy ."), role=TYPES, seen=seen)
    if project.has("Cargo.toml"):
        return Detected(name="types", run="cargo check --all-targets", role=TYPES, seen="Cargo.toml")
    if project.has("go.mod"):
        return Detected(name="types", run="go vet ./...", role=TYPES, seen="go.mod")
    return None


def _lint(project: Project) -> Detected | None:
    if seen := _python(project):
        return Detected(name="lint", run=project.python("ruff check"), role=LINT, seen=seen)
    if project.has("Cargo.toml"):
        return Detected(name="lint", run="cargo clippy -- -D warnings", role=LINT, seen="Cargo.toml")
    if project.package:
        return Detected(name="lint", run="npx eslint .", role=LINT, seen="package.json")
    return None


def _coverage(project: Project) -> Detected | None:
    if project.package and (run := _node_coverage(project)):
        return _last("coverage", run, "package.json")
    if project.has("Cargo.toml"):
        return _last("coverage", f"cargo llvm-cov --fail-under-lines {COVERAGE}", "Cargo.toml")
    if project.has("go.mod"):
        total = f"awk '{{print}} /^total:/ {{exit ($3 + 0 < {COVERAGE})}}'"
        run = f'out=$(mktemp) && go test ./... -coverprofile="$out" && go tool cover -func="$out" | {total}'
        return _last("coverage", run, "go.mod")
    if seen := _python(project):
        run, report = project.python("coverage run -m pytest -q"), project.python("coverage report")
        return _last("coverage", f"{run} && {report} --fail-under={COVERAGE}", seen)
    return None


def _node_coverage(project: Project) -> str:
    needs = json.dumps([project.package.get(key, {}) for key in ("dependencies", "devDependencies")])
    if '"vitest"' in needs:
        return f"npx vitest run --coverage --coverage.thresholds.lines={COVERAGE}"
    if '"jest"' in needs:
        limits = json.dumps({"global": {"lines": COVERAGE}})
        return f"npx jest --coverage --coverageThreshold='{limits}'"
    return ""


def _outdated(project: Project) -> Detected | None:
    if project.package:
        return _last("outdated", "npm outdated", "package.json")
    if project.has("Cargo.toml"):
        return _last("outdated", "cargo outdated --root-deps-only --exit-code 1", "Cargo.toml")
    if project.has("go.mod"):
        listed = "go list -u -m -f '{{if and .Update (not .Indirect)}}{{.}}{{end}}' all"
        return _last("outdated", _nothing(listed), "go.mod")
    if seen := _python(project):
        own = "--not-required --exclude pip"  # what others pin can't be upgraded
        pip = "uv pip list" if project.has("uv.lock") else f"{project.python('pip list')} {own}"
        return _last("outdated", _nothing(f"{pip} --outdated"), seen)
    return None


def _nothing(command: str) -> str:
    """A command that succeeds if the given one works and lists nothing; it prints the list for the agent."""
    return f'out=$({command}) && echo "$out" && test -z "$out"'


def _last(name: str, run: str, seen: str) -> Detected:
    return Detected(name=name, run=run, role=TESTS, seen=seen, after=_LAST)


def _python(project: Project) -> str:
    """What shows that this is a Python project."""
    return project.has("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt") or next(
        (path.name for path in sorted(project.root.glob("*.py"))), ""
    )


PRESETS = {
    "fix-tests": Preset(
        about="Make failing tests pass.",
        task="Make all tests pass. Fix the code, not the tests.",
        role=TESTS,
        made=_no_tests,
    ),
    "fix-types": Preset(
        about="Fix type errors.",
        task="Fix all type errors without changing behavior. Don't silence them with ignores or casts.",
        role=TYPES,
        made=_types,
    ),
    "fix-lint": Preset(
        about="Fix lint findings.",
        task="Fix all lint findings without changing behavior. Don't disable rules.",
        role=LINT,
        made=_lint,
    ),
    "raise-coverage": Preset(
        about=f"Raise test coverage to {COVERAGE}%.",
        task=f"Raise test coverage to {COVERAGE}% with tests of behavior that matters. "
        "Don't change the code under test.",
        made=_coverage,
    ),
    "upgrade-deps": Preset(
        about="Upgrade outdated dependencies.",
        task="Upgrade all outdated dependencies to their latest versions, and adapt the code to them.",
        made=_outdated,
    ),
}
