"""An agent in the run's own code: it is rate-limited the first time, then it writes a line."""

from __future__ import annotations

import time
from typing import Any

from untilgreen import Reply


class Limited:
    """Replies with the time at which it may continue."""

    def __init__(self, seconds: float = 6.0) -> None:
        self.seconds = seconds

    async def work(self, brief: Any, desk: Any) -> Reply:
        mark, lines = desk.root / "limited", desk.root / "lines"
        if not mark.exists():
            mark.write_text("once\n")
            return Reply(error="rate_limited", detail="slow down", retry_at=time.time() + self.seconds)
        lines.write_text("line\n")
        return Reply(text="One more line.")
