"""`python -m untilgreen.testing.model scenario.toml` serves a scenario until it is interrupted."""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path

from untilgreen.errors import UserError
from untilgreen.testing.model.scenario import load_scenario
from untilgreen.testing.model.server import ScriptedModel


def main() -> int:
    """Serve, and print the address."""
    parser = argparse.ArgumentParser(prog="python -m untilgreen.testing.model", description=__doc__)
    parser.add_argument("scenario", type=Path, help="a TOML or JSON file")
    parser.add_argument("--port", type=int, default=8765, help="0 takes a free one")
    parser.add_argument(
        "--var", action="append", default=[], metavar="NAME=VALUE", help="for ${NAME} in texts"
    )
    given = parser.parse_args()
    try:
        variables = dict(each.split("=", 1) for each in given.var)
        scenario = load_scenario(given.scenario, **variables)
    except (UserError, ValueError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    with ScriptedModel(scenario, port=given.port) as model:
        sys.stdout.write(f"{model.url}\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
