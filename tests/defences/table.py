"""The defences against faults: lines of the product, and the tests that fail without them.

Each `.toml` file here lists the defences of one area. `make defences` removes one after another, in a copy,
and checks that its tests go red; a test of the suite checks that the table matches the code.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


class Defence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One defence: its code, the code without it, and the tests that notice when it is missing."""

    against: str
    """The fault, in words."""
    file: str
    code: str
    """Text that occurs in that file exactly once."""
    without: str
    tests: tuple[str, ...]
    """Tests that fail without the defence, each as `tests/…/test_x.py::test_name`."""
    area: str = ""

    def in_(self, text: str) -> bool:
        """Whether the defence can be removed from this text."""
        return text.count(self.code) == 1 and self.code != self.without

    def shown_by(self, test: str) -> bool:
        """Whether this test, or the test that it is a case of, has to fail without the defence."""
        return test in self.tests or test.partition("[")[0] in self.tests


def defences() -> Iterator[Defence]:
    """All defences, by area."""
    for path in sorted(HERE.glob("*.toml")):
        for each in tomllib.loads(path.read_text(encoding="utf-8"))["defence"]:
            yield msgspec.convert({**each, "area": path.stem}, Defence)
