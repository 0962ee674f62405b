"""The demo's agent: a program without a model that reads its brief and plays its part.

Started by untilgreen as `python -m untilgreen.testing.demo.agent STORY`, with the brief on stdin.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

PAUSE_SECONDS = 0.5
DONE = "<promise>DONE</promise>"
Edit = tuple[str, str]

_ALL_BUT_THE_FIRST: Edit = ("sum(prices[1:])", "sum(prices)")
_PERCENT: Edit = ("price - percent", "price * (100 - percent) // 100")
_DEBUG: Edit = ("    return sum(prices)", '    print("total of", prices)\n    return sum(prices)')
_NO_DEBUG: Edit = ('    print("total of", prices)\n', "")
_FREE: Edit = ("        return 490\n    return 0", "        return 990\n    return 0")
_SHIPPING: Edit = ("        return 990\n    return 0", "        return 990\n    return 490")
_RECEIPT: Edit = (
    '", ".join(name for name, price in items)',
    '", ".join(f"{name} {price / 100:.2f}" for name, price in items)',
)
_WRONG: Edit = ("price - percent", "price - percent  # percent of the price")
_UNWRONG: Edit = ("price - percent  # percent of the price", "price - percent")

GREEN: list[tuple[str, list[Edit]]] = [
    ("total() skipped the first price. I made it add them all.", [_ALL_BUT_THE_FIRST]),
    (f"The discount looks right to me now, so everything should work.\n{DONE}", [_WRONG]),
    (
        "The discount is a share of the price, and heavy parcels cost 9.90. I print totals to see more.",
        [_UNWRONG, _PERCENT, _FREE, _DEBUG],
    ),
    (
        f"Light parcels, the receipt, and no print any more. I ran both gates: they pass.\n{DONE}",
        [_NO_DEBUG, _SHIPPING, _RECEIPT],
    ),
]
STUCK: list[tuple[str, list[Edit]]] = [
    ("The discount needs a comment that says what it is. That should do it.", [_WRONG]),
    ("The comment was misleading; without it the discount is clear.", [_UNWRONG]),
]
STORIES = {"green": GREEN, "stuck": STUCK}


def main() -> int:
    """Take one turn in the current directory."""
    story = STORIES[sys.argv[1]]
    lap = int((re.search(r"This is lap (\d+)", sys.stdin.read()) or [0, 1])[1])
    said, edits = story[(lap - 1) % len(story)]
    code = Path("cart.py")
    print("reading cart.py", flush=True)
    time.sleep(PAUSE_SECONDS)  # noqa: TID251 - a separate program, slow enough to watch
    for old, new in edits:
        print(f"editing cart.py: {old.strip().splitlines()[0]}", flush=True)
        code.write_text(code.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        time.sleep(PAUSE_SECONDS)  # noqa: TID251 - as above
    print(said, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
