"""Runs an agent of our own, an object, over two wrong prices, one a lap."""

from dataclasses import dataclass

import untilgreen
from untilgreen import Brief, Reply, TurnContext


@dataclass(frozen=True)
class Mender:
    """Puts a right value in place of a wrong one: what a real agent takes longer for."""

    wrong: str
    right: str

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        """One turn."""
        path = context.root / "prices.py"
        path.write_text(path.read_text().replace(self.wrong, self.right, 1))
        return Reply(text=f"{self.wrong} was wrong; it is {self.right} now.")


def main() -> None:
    """Until green, or at most five laps."""
    laps = []
    state = untilgreen.run_sync(
        "Correct the prices",
        agent=Mender("13", "12"),
        gates={"prices": "python3 check_prices.py"},
        limits={"iterations": 5},
        on_event=lambda event, state: laps.append(type(event).__name__),
    )
    print(f"{state.outcome} after {len(state.laps)} laps; {laps.count('GateChecked')} verdicts")
    assert state.outcome == "converged", state.reason


if __name__ == "__main__":
    main()
