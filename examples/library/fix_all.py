"""Run an agent that is an object; it corrects two wrong prices, one per lap."""

from dataclasses import dataclass

import untilgreen
from untilgreen import Brief, Reply, TurnContext


@dataclass(frozen=True)
class Fixer:
    """Replaces a wrong value with the right one; a real agent would take longer."""

    wrong: str
    right: str

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        """Do one turn."""
        path = context.root / "prices.py"
        path.write_text(path.read_text().replace(self.wrong, self.right, 1))
        return Reply(text=f"{self.wrong} was wrong; it is {self.right} now.")


def main() -> None:
    """Run until green, for at most five laps."""
    laps = []
    state = untilgreen.run_sync(
        "Correct the prices",
        agent=Fixer("13", "12"),
        gates={"prices": "python3 check_prices.py"},
        limits={"iterations": 5},
        on_event=lambda event, state: laps.append(type(event).__name__),
    )
    print(f"{state.outcome} after {len(state.laps)} laps; {laps.count('GateChecked')} verdicts")
    assert state.outcome == "converged", state.reason


if __name__ == "__main__":
    main()
