"""Blocks in the docs that tests generate, each below a comment with its name.

`WRITE_TRANSCRIPTS=1 pytest …` writes them; otherwise a test fails if the page differs.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def same_as_the_page(page: str, name: str, text: str) -> None:
    """Compare a transcript with its block on a page, or write it there."""
    path = DOCS / page
    block = re.compile(rf"(<!-- transcript: {re.escape(name)} -->\n+```[a-z-]*\n)(.*?)(```\n)", re.DOTALL)
    whole = path.read_text()
    found = block.search(whole)
    assert found is not None, f"{page} has no transcript {name!r}"
    text = text.rstrip("\n") + "\n"
    if os.environ.get("WRITE_TRANSCRIPTS"):
        path.write_text(whole[: found.start(2)] + text + whole[found.end(2) :])
    else:
        assert found[2] == text
