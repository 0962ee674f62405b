"""What stands between a fault and its harm: lines of the product, and the test that misses them.

Each `.toml` file here lists the defences of one area. `make defences` takes away one after another, in a
copy, and sees its tests go red; a test of the suite holds the table to the code.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


class Defence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One defence: where it is written, what the code would be without it, and who notices."""

    against: str
    """The fault, in words."""
    file: str
    code: str
    """It stands in that file exactly once."""
    without: str
    tests: tuple[str, ...]
    """Each of them fails without the defence: `tests/…/test_x.py::test_name`."""
    area: str = ""

    def in_(self, text: str) -> bool:
        """Whether it can be taken away from this text."""
        return text.count(self.code) == 1 and self.code != self.without

    def shown_by(self, test: str) -> bool:
        """Whether this test, or one case of a parametrized one, has to miss it."""
        return test in self.tests or test.partition("[")[0] in self.tests


def defences() -> Iterator[Defence]:
    """All of them, by area."""
    for path in sorted(HERE.glob("*.toml")):
        for each in tomllib.loads(path.read_text(encoding="utf-8"))["defence"]:
            yield msgspec.convert({**each, "area": path.stem}, Defence)
