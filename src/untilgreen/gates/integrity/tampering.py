"""What a run changed in the files that gates depend on, and what is put back in a copy."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from anyio import to_thread
from msgspec import Struct, field
from msgspec.structs import replace

from untilgreen.core.values.model import Change, GateSpec, Verdict
from untilgreen.gates.command import CANNOT_RUN
from untilgreen.gates.integrity.protected.cmake_tests import declares_tests, swap_cmake
from untilgreen.gates.integrity.protected.derivation import commands_of, derive
from untilgreen.gates.integrity.protected.installed_plugins import (
    IMPORTS,
    installed_among,
    module_of,
    modules_imported,
    modules_run_by,
    names_of,
)
from untilgreen.gates.integrity.protected.mixed_files import Swap, is_mixed, swap
from untilgreen.gates.integrity.protected.protection import Protection
from untilgreen.gates.integrity.protected.python_doctests import may_have_examples, swap_docstrings
from untilgreen.gates.integrity.protected.runner_checks import may_check, swap_runner_checks
from untilgreen.gates.integrity.protected.rust_inline_tests import has_tests_inside, swap_inline
from untilgreen.gates.integrity.protected.suppressions import may_suppress, swap_suppressions
from untilgreen.gates.integrity.trees import Trees
from untilgreen.gates.integrity.trial_rooms.unkept_files import is_cache
from untilgreen.gates.output.tool_result import NO_TESTS
from untilgreen.ports import CheckContext

Swapping: TypeAlias = Callable[[bytes | None, bytes | None], Swap | None]
_SHORT = 4
"""Names of tests up to this length are words that any code may use."""


class Touched(Struct, frozen=True, kw_only=True):
    """One protected path that is not as it was."""

    path: str
    status: str
    part: str = ""
    """Which part of the file, if only parts are protected."""


class Tampering(Struct, frozen=True, kw_only=True):
    """Everything protected that differs from the untouched tree."""

    original: str
    """The untouched tree."""
    changes: Sequence[Change] = ()
    """Everything that differs, protected or not."""
    touched: tuple[Touched, ...] = ()
    """Changed or removed, or new and able to change what a tool does: everything that is put back."""
    new_tests: tuple[str, ...] = ()
    """New tests, which are welcome."""
    hidden: frozenset[str] = frozenset()
    """New files that a changed .gitignore hides."""
    caches: frozenset[str] = frozenset()
    """New and changed cache files that git does not ignore, so that the snapshot has them."""
    overlays: Mapping[str, bytes] = field(default_factory=dict)
    """Files of which only parts are put back."""
    known: frozenset[str] = frozenset()
    """The protected files of the untouched tree."""
    accepted: bool = False
    """Whether a path changed that the spec or a person allows to change, so the tests may differ."""
    judged: bool = False
    """Whether a gate had something to judge before the run, with or without protected files."""

    @property
    def paths(self) -> frozenset[str]:
        """Paths that are put back as a whole."""
        whole = frozenset(each.path for each in self.touched) - self.overlays.keys() - self.hidden
        return whole | self.caches

    def __bool__(self) -> bool:
        """If nothing was protected or judged before the run, nothing can be weakened."""
        old = (
            self.judged
            or bool(self.known)
            or any(each.status not in ("added", "hidden") for each in self.touched)
        )
        return old and bool(self.touched or self.new_tests)


async def find_tampering(
    trees: Trees,
    context: CheckContext,
    protection: Protection,
    gates: Sequence[GateSpec],
    keep: Collection[str] = (),
) -> Tampering:
    """Compare the tree with the untouched one."""
    original = context.base or await trees.first()
    changes = await trees.changes(original, context.snapshot)
    if not changes:
        return Tampering(original=original)
    caches = {path for path in caches_among(changes, keep) if not protection.lets_through(path)}
    listed = await trees.files(original)
    files = frozenset(listed)
    derived = await derive(trees, original, files, protection.below, gates, context.baseline)
    protection = replace(
        protection,
        scripts=derived.scripts,
        tests=derived.tests,
        plugins=derived.plugins,
        programs=derived.programs,
        files=files,
        top=str(await trees.top()),
    )
    links = [path for path, is_link in listed.items() if is_link and protection.role(path)]
    targets = [await _target(trees, original, path) for path in links]
    protection = replace(protection, tests=(*derived.tests, *targets))
    roles = {path: role for path in files if (role := protection.role(path))}
    found = Tampering(
        original=original,
        changes=changes,
        caches=frozenset(caches),
        known=frozenset(roles),
        accepted=any(protection.lets_through(change.path) for change in changes),
        judged=any(_judged_something(verdict) for verdict in context.baseline.values()),
    )
    protection = await _with_libraries(protection, trees, original, changes, frozenset(roles), gates)
    tests = [path for path, role in roles.items() if role == "test"]
    names = _names_of_tests(tests, context.baseline, derived.examples)
    parts = partial(_of_product, names, doctests=bool(derived.examples))
    for change in changes:
        if change.path in caches:
            continue
        found = await _with(found, change, trees, context.snapshot, protection, parts)
    if any(posixpath.basename(change.path) == ".gitignore" for change in changes):
        found = await _with_hidden(found, trees, protection)
    return found


async def _with_libraries(  # noqa: PLR0917 - everything that is known about what is imported
    protection: Protection,
    trees: Trees,
    original: str,
    changes: Sequence[Change],
    known: frozenset[str],
    gates: Sequence[GateSpec],
) -> Protection:
    """Protect installed modules that commands run or tests import from new files that shadow them."""
    new = {module_of(each.path) for each in changes if each.status == "added" and each.path.endswith(".py")}
    own = {name for path in protection.files if path.endswith(".py") for name in names_of(path)}
    commands = [command for gate in gates for command in commands_of(gate.options)]
    installed = await to_thread.run_sync(installed_among, commands, protection.top, new - own)
    if not installed:
        return protection
    lines = await trees.lines(original, IMPORTS, "*.py")
    imported = modules_imported(line for path, found in lines.items() if path in known for line in found)
    used = installed & (modules_run_by(commands) | imported)
    return replace(protection, plugins=frozenset(protection.plugins) | used)


def caches_among(changes: Sequence[Change], keep: Collection[str]) -> frozenset[str]:
    """Changed cache files, which a tool reads in place of the files they were made from."""
    return frozenset(change.path for change in changes if is_cache(change.path, keep))


async def _with(  # noqa: PLR0917 - one change, and what it is judged by
    found: Tampering,
    change: Change,
    trees: Trees,
    snapshot: str,
    protection: Protection,
    parts_of: Callable[[str], list[Swapping]],
) -> Tampering:
    path = change.path
    role = protection.role(path)
    if is_mixed(path) and role not in ("test", "fixed") and not protection.lets_through(path):
        return await _with_parts(found, change, trees, snapshot, partial(swap, path))
    if role is None and not protection.lets_through(path):
        parts = parts_of(path)
        return (
            await _with_parts(found, change, trees, snapshot, partial(_swap_all, parts)) if parts else found
        )
    if role is None:
        return found
    if change.status == "added" and role == "test":
        return replace(found, new_tests=(*found.new_tests, path))
    return replace(found, touched=(*found.touched, Touched(path=path, status=change.status)))


def _of_product(names: frozenset[str], path: str, *, doctests: bool) -> list[Swapping]:
    """How to put back the parts of a product file that may decide what a gate says."""
    parts: list[Swapping] = [swap_inline] if has_tests_inside(path) else []
    parts += [swap_cmake] if declares_tests(path) else []
    parts += [swap_docstrings] if doctests and may_have_examples(path) else []
    parts += [partial(swap_suppressions, path)] if may_suppress(path) else []
    return parts + ([partial(swap_runner_checks, path, names)] if may_check(path) else [])


def _swap_all(parts: Sequence[Swapping], original: bytes | None, current: bytes | None) -> Swap | None:
    """Apply one swap after the other."""
    swapped: list[Swap] = []
    for part in parts:
        if (each := part(original, current)) is None:
            continue
        swapped.append(each)
        if each.content is None:
            break
        current = each.content
    if not swapped:
        return None
    keys = tuple(key for each in swapped for key in each.keys)
    return Swap(keys, swapped[-1].content, only_new=all(each.only_new for each in swapped))


def _names_of_tests(
    tests: Sequence[str], baseline: Mapping[str, Verdict], examples: frozenset[str]
) -> frozenset[str]:
    """The names of test files and failed tests, which product code has no reason to look for.

    Examples are left out: they are named after the product's own functions.
    """
    files = {posixpath.basename(path).split(".")[0] for path in tests}
    failed = {
        word
        for verdict in baseline.values()
        if any(tool.total for tool in verdict.tools)
        for finding in verdict.findings
        if finding.id not in examples
        for word in re.findall(r"[\w-]+", re.split(r"::|[. ]", finding.id)[-1])
    }
    return frozenset(word for word in files | failed if len(word) > _SHORT)


async def _with_parts(
    found: Tampering, change: Change, trees: Trees, snapshot: str, swapping: Swapping
) -> Tampering:
    path = change.path
    swapped = swapping(await trees.content(found.original, path), await trees.content(snapshot, path))
    if swapped is None:
        return found
    status = "added" if swapped.only_new else change.status
    touched = (*found.touched, Touched(path=path, status=status, part=", ".join(swapped.keys)))
    if swapped.content is None:
        return replace(found, touched=touched)
    return replace(found, touched=touched, overlays={**found.overlays, path: swapped.content})


async def _with_hidden(found: Tampering, trees: Trees, protection: Protection) -> Tampering:
    """Ignored files do not count, unless the ignore rules were changed to hide one."""
    hidden = [path for path in await trees.unkept() if protection.role(path) == "tool"]
    if not hidden:
        return found
    touched = tuple(Touched(path=path, status="hidden") for path in hidden)
    return replace(found, touched=(*found.touched, *touched), hidden=frozenset(hidden))


async def _target(trees: Trees, original: str, link: str) -> str:
    """What a test that is a link points to: the link itself stays the same when that file changes."""
    aim = os.fsdecode(await trees.content(original, link) or b"")
    return posixpath.normpath(posixpath.join(posixpath.dirname(link), aim))


def _judged_something(verdict: Verdict) -> bool:
    """Whether anything was judged: not without tests, nor if the command was missing."""
    nothing = any(finding.id in (NO_TESTS, CANNOT_RUN) for finding in verdict.findings)
    return (
        verdict.status in ("pass", "fail") and not nothing and (bool(verdict.findings) or bool(verdict.tools))
    )
