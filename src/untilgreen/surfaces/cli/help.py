"""help: what is no verb and still wants explaining."""

from __future__ import annotations

from cyclopts import App

from untilgreen.core.exits import MEANINGS
from untilgreen.surfaces.cli.say import out

app = App(name="help", help="Explain exit codes and other things that are no verbs.")


@app.command(name="exit-codes")
def exit_codes() -> int:
    """What each exit code means."""
    for code, meaning in MEANINGS.items():
        out(f"{code:4}  {meaning}")
    return 0
